// bench-floor: the blind floor. It never looks at requests: after so many bytes it sends one prepared answer.
// Only the first complete request ever seen is searched for its blank line, to learn that number, unless --request-bytes gives it.
#include "socket_loop.hpp"

namespace {

class blind_floor {
public:
    struct state {
        std::uint32_t carried = 0;  // bytes of a request that is not complete yet
    };

    explicit blind_floor(std::size_t request_bytes) : request_bytes_(request_bytes) {
        std::string one;
        one.append(bench::status_line).append(bench::server_field).append(bench::date_name);
        date_offset_ = one.size();
        one.append(bench::date_bytes, ' ').append("\r\n").append(bench::type_field);
        one.append(bench::length_name).append(std::to_string(bench::body.size())).append("\r\n\r\n").append(bench::body);
        answer_bytes_ = one.size();
        for (std::size_t i = 0; i < answers_prepared; ++i) prepared_ += one;
    }

    void tick(std::time_t second) {
        char date[bench::date_bytes];
        bench::write_date(date, second);
        for (std::size_t i = 0; i < answers_prepared; ++i) {
            std::memcpy(prepared_.data() + i * answer_bytes_ + date_offset_, date, bench::date_bytes);
        }
    }

    std::size_t serve(state& peer, const char* data, std::size_t bytes, bench::sender& out) {
        if (request_bytes_ == 0 && !learn(data, bytes)) [[unlikely]]
            return 0;
        const std::size_t total = peer.carried + bytes;
        std::size_t answers = total / request_bytes_;
        peer.carried = static_cast<std::uint32_t>(total - answers * request_bytes_);
        while (answers > answers_prepared) [[unlikely]] {
            out.send(prepared_.data(), answers_prepared * answer_bytes_);
            answers -= answers_prepared;
        }
        if (answers != 0) out.send(prepared_.data(), answers * answer_bytes_);
        return bytes;
    }

private:
    static constexpr std::size_t answers_prepared = 256;

    [[gnu::cold, gnu::noinline]] bool learn(const char* data, std::size_t bytes) {
        const std::string_view seen(data, bytes);
        const std::size_t blank = seen.find("\r\n\r\n");
        if (blank == std::string_view::npos) return false;
        request_bytes_ = blank + 4;
        return true;
    }

    std::size_t request_bytes_;
    std::size_t answer_bytes_ = 0;
    std::size_t date_offset_ = 0;
    std::string prepared_;
};

}  // namespace

int main(int argc, char** argv) {
    const auto chosen = bench::parse_options(
        argc, argv, "Answers every N bytes with a prepared response, unread. N is --request-bytes, or the length of the first request.",
        true);
    blind_floor program(chosen.request_bytes);
    bench::socket_loop loop(program, chosen);
    return loop.run();
}
