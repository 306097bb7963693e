// bench-floor: the blind floor. It never looks at requests: after so many bytes it sends one prepared answer.
// Only the first complete request ever seen is searched for its blank line, to learn that number, unless --request-bytes gives it.
#include "prepared.hpp"
#include "socket_loop.hpp"

namespace {

class blind_floor {
public:
    struct state {
        std::uint32_t carried = 0;  // bytes of a request that is not complete yet
    };

    explicit blind_floor(const bench::options& chosen) : request_bytes_(chosen.request_bytes), answers_(chosen.answer_file) {}

    void tick(std::time_t second) { answers_.tick(second); }

    std::size_t serve(state& peer, const char* data, std::size_t bytes, bench::sender& out) {
        if (request_bytes_ == 0 && !learn(data, bytes)) [[unlikely]]
            return 0;
        const std::size_t total = peer.carried + bytes;
        const std::size_t answers = total / request_bytes_;
        peer.carried = static_cast<std::uint32_t>(total - answers * request_bytes_);
        answers_.send(answers, out);
        return bytes;
    }

private:
    [[gnu::cold, gnu::noinline]] bool learn(const char* data, std::size_t bytes) {
        const std::string_view seen(data, bytes);
        const std::size_t blank = seen.find("\r\n\r\n");
        if (blank == std::string_view::npos) return false;
        request_bytes_ = blank + 4;
        return true;
    }

    std::size_t request_bytes_;
    bench::prepared_answers answers_;
};

}  // namespace

int main(int argc, char** argv) {
    const auto chosen = bench::parse_options(
        argc, argv,
        "Answers every N bytes with a prepared response, unread. N is --request-bytes, or the length of the first request.\n"
        "The response is what --answer FILE holds, or a hello world.",
        true);
    blind_floor program(chosen);
    bench::socket_loop loop(program, chosen);
    return loop.run();
}
