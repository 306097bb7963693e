// bench-render: the floor, plus finding the end of each request and building each response from its parts.
// What it adds over bench-floor is the least that any server does which answers requests and not bytes.
#include "find_end.hpp"
#include "socket_loop.hpp"

namespace {

class renderer {
public:
    struct state {};

    renderer() : output_(std::make_unique<char[]>(output_bytes_max)) {}

    void tick(std::time_t second) { bench::write_date(date_, second); }

    std::size_t serve(state&, const char* data, std::size_t bytes, bench::sender& out) {
        char* end = output_.get();
        std::size_t used = 0;
        for (std::size_t next = bench::find_end(data, 0, bytes); next != bench::none; next = bench::find_end(data, used, bytes)) {
            used = next;
            if (end > output_.get() + output_bytes_max - response_bytes_max) [[unlikely]] {
                out.send(output_.get(), static_cast<std::size_t>(end - output_.get()));
                end = output_.get();
            }
            end = render(end, bench::body);
        }
        if (end != output_.get()) out.send(output_.get(), static_cast<std::size_t>(end - output_.get()));
        return used;
    }

private:
    static constexpr std::size_t output_bytes_max = 64 * 1024;
    static constexpr std::size_t response_bytes_max = 512;

    static char* put(char* at, std::string_view text) {
        std::memcpy(at, text.data(), text.size());
        return at + text.size();
    }

    char* render(char* at, std::string_view body) const {
        at = put(at, bench::status_line);
        at = put(at, bench::server_field);
        at = put(at, bench::date_name);
        at = put(at, std::string_view(date_, bench::date_bytes));
        at = put(at, "\r\n");
        at = put(at, bench::type_field);
        at = put(at, bench::length_name);
        at = std::to_chars(at, at + 20, body.size()).ptr;
        at = put(at, "\r\n\r\n");
        return put(at, body);
    }

    char date_[bench::date_bytes] = {};
    std::unique_ptr<char[]> output_;
};

}  // namespace

int main(int argc, char** argv) {
    const auto chosen =
        bench::parse_options(argc, argv, "Finds the end of each request and builds a response for each; checks nothing.", false);
    renderer program;
    bench::socket_loop loop(program, chosen);
    return loop.run();
}
