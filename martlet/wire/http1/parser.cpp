#include <martlet/wire/http1/parser.hpp>

#include <atomic>

#include <martlet/wire/http1/parser_internal.hpp>

namespace martlet::inline v0::http1 {

namespace {

using detail::head_access;

parser_kind find_widest() noexcept {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")) return parser_kind::avx2;
    return parser_kind::sse2;
#else
    return parser_kind::scalar;
#endif
}

detail::head_parser parser_of(parser_kind kind) noexcept {
#if defined(__x86_64__)
    if (kind == parser_kind::avx2 && find_widest() == parser_kind::avx2) return &detail::parse_head_avx2;
    if (kind == parser_kind::sse2) return &detail::parse_head_sse2;
#else
    static_cast<void>(kind);
#endif
    return &detail::parse_head_scalar;
}

parse_status choose_and_parse(const char* data, std::size_t bytes, const detail::limit_numbers& limits, detail::head_data& head,
                              detail::scan_position& position) noexcept;

// One pointer for the whole parser. It begins at a function that finds the right one, so that there is no start-up code and no order of
// it; threads that meet there store the same.
constinit std::atomic<detail::head_parser> chosen{&choose_and_parse};

parse_status choose_and_parse(const char* data, std::size_t bytes, const detail::limit_numbers& limits, detail::head_data& head,
                              detail::scan_position& position) noexcept {
    const detail::head_parser parser = parser_of(find_widest());
    chosen.store(parser, std::memory_order_relaxed);
    return parser(data, bytes, limits, head, position);
}

parse_status parse_with(detail::head_parser parser, std::string_view bytes, const head_limits& limits, request_head& out,
                        resume_state& resume) noexcept {
    return parser(bytes.data(), bytes.size(), limits.numbers(), head_access::data(out), head_access::position(resume));
}

}  // namespace

parser_kind widest_parser() noexcept { return find_widest(); }

parse_status parse_request(padded_view bytes, const head_limits& limits, request_head& out, resume_state& resume) noexcept {
    return parse_with(chosen.load(std::memory_order_relaxed), bytes, limits, out, resume);
}

parse_status parse_request(std::string_view bytes, const head_limits& limits, request_head& out, resume_state& resume) noexcept {
    return parse_with(&detail::parse_head_scalar, bytes, limits, out, resume);
}

parse_status parse_request(parser_kind kind, padded_view bytes, const head_limits& limits, request_head& out,
                           resume_state& resume) noexcept {
    return parse_with(parser_of(kind), bytes, limits, out, resume);
}

}  // namespace martlet::inline v0::http1
