// bench-render: the floor, plus finding the end of each request and building each response from its parts.
// What it adds over bench-floor is the least that any server does which answers requests and not bytes.
#include "socket_loop.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

// Offset behind the first blank line at or after `from`, or none. Reads up to 64 bytes behind `bytes`.
std::size_t find_end(const char* data, std::size_t from, std::size_t bytes) {
#if defined(__SSE2__)
    const __m128i returns = _mm_set1_epi8('\r');
    for (std::size_t at = from; at < bytes; at += 16) {
        const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + at));
        const __m128i third = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + at + 2));
        const __m128i both = _mm_and_si128(_mm_cmpeq_epi8(first, returns), _mm_cmpeq_epi8(third, returns));
        for (unsigned mask = static_cast<unsigned>(_mm_movemask_epi8(both)); mask != 0; mask &= mask - 1) {
            const std::size_t start = at + static_cast<std::size_t>(__builtin_ctz(mask));
            if (start + 4 > bytes) return none;
            if (std::memcmp(data + start, "\r\n\r\n", 4) == 0) return start + 4;
        }
    }
    return none;
#else
    const void* found = ::memmem(data + from, bytes - from, "\r\n\r\n", 4);
    return found == nullptr ? none : static_cast<std::size_t>(static_cast<const char*>(found) - data) + 4;
#endif
}

class renderer {
public:
    struct state {};

    renderer() : output_(std::make_unique<char[]>(output_bytes_max)) {}

    void tick(std::time_t second) { bench::write_date(date_, second); }

    std::size_t serve(state&, const char* data, std::size_t bytes, bench::sender& out) {
        char* end = output_.get();
        std::size_t used = 0;
        for (std::size_t next = find_end(data, 0, bytes); next != none; next = find_end(data, used, bytes)) {
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
