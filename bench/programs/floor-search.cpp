// bench-floor-search: the floor that looks for the blank line of each request and sends one prepared answer for it.
// What it adds over bench-floor is the search alone; what bench-render adds over it is the building of each answer.
#include "find_end.hpp"
#include "prepared.hpp"
#include "socket_loop.hpp"

namespace {

class searching_floor {
public:
    struct state {};

    explicit searching_floor(const bench::options& chosen) : answers_(chosen.answer_file) {}

    void tick(std::time_t second) { answers_.tick(second); }

    std::size_t serve(state&, const char* data, std::size_t bytes, bench::sender& out) {
        std::size_t used = 0;
        std::size_t answers = 0;
        for (std::size_t next = bench::find_end(data, 0, bytes); next != bench::none; next = bench::find_end(data, used, bytes)) {
            used = next;
            ++answers;
        }
        answers_.send(answers, out);
        return used;
    }

private:
    bench::prepared_answers answers_;
};

}  // namespace

int main(int argc, char** argv) {
    const auto chosen =
        bench::parse_options(argc, argv,
                             "Finds the blank line of each request and answers with a prepared response: what --answer FILE\n"
                             "holds, or a hello world. --request-bytes is not needed here.",
                             true);
    searching_floor program(chosen);
    bench::socket_loop loop(program, chosen);
    return loop.run();
}
