#include <martlet/wire/http1/response_parser.hpp>

#include <algorithm>

#include <martlet/base/scan.hpp>
#include <martlet/wire/http1/parser_internal.hpp>

namespace martlet::inline v0::http1 {

namespace detail {

namespace {

constexpr std::string_view protocol = "HTTP/";
constexpr std::size_t version_bytes = 8;
constexpr std::size_t status_bytes = 3;

errc judge_response_start(const char* line, std::size_t bytes, const limit_numbers& limits) noexcept {
    const std::size_t judged = std::min<std::size_t>({bytes, protocol.size(), limits.request_line_bytes});
    return std::string_view(line, judged) == protocol.substr(0, judged) ? errc::none : errc::bad_status_line;
}

// HTTP-version SP 3DIGIT [SP reason-phrase] (RFC 9112 section 4). The SP behind the status is required there and often missing.
errc parse_status_line(const char* line, std::size_t bytes, const limit_numbers&, head_data& head) noexcept {
    const std::string_view text(line, bytes);
    if (const errc why = parse_version(text.substr(0, text.find(' ')), head); why != errc::none) return why;
    const std::string_view rest = text.substr(std::min(version_bytes, bytes));
    if (rest.size() < 1 + status_bytes || rest[0] != ' ') return errc::bad_status_line;
    const std::string_view digits = rest.substr(1, status_bytes);
    if (!scan::all_in(scan::byte_class::digit, digits) || digits[0] == '0') return errc::bad_status_line;
    const std::string_view after = rest.substr(1 + status_bytes);
    if (!after.empty() && after[0] != ' ') return errc::bad_status_line;

    head.base = line;
    head.line.flags &= flag_asked;
    head.status = static_cast<std::uint16_t>((digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0'));
    head.reason_bytes = static_cast<std::uint16_t>(after.empty() ? 0 : after.size() - 1);
    return errc::none;
}

}  // namespace

constinit const head_grammar response_grammar = {&judge_response_start, &parse_status_line, &finish_response, errc::head_too_large,
                                                 http::field_ids};

}  // namespace detail

parse_status parse_response(std::string_view bytes, const head_limits& limits, response_context context, response_head& out,
                            response_resume& resume) noexcept {
    using detail::head_access;
    detail::limit_numbers numbers = limits.numbers();
    numbers.leading_empty_lines = 0;
    detail::head_data& head = head_access::data(out);
    head.line.method = context.method();
    head.line.flags = static_cast<std::uint8_t>(context.asks_upgrade() ? detail::flag_asked : 0);

    detail::scan_position& position = head_access::position(resume);
    const bool first_look = position.scanned == 0;
    detail::scan_result found = scan_head(detail::response_grammar, bytes.data(), bytes.size(), numbers, position, head, first_look);
    if (found.why == errc::none && found.consumed != 0 && !first_look) {
        // All lines are there and were judged. Now they are recorded, from the start.
        position = {};
        found = scan_head(detail::response_grammar, bytes.data(), bytes.size(), numbers, position, head, true);
    }
    if (found.why != errc::none) return parse_status::failed(found.why);
    if (found.consumed == 0) return parse_status::need_more();
    position = {};
    std::uint16_t& interim_heads = head_access::interim_heads(resume);
    if (!out.is_interim()) {
        interim_heads = 0;
    } else if (interim_heads >= numbers.interim_heads) {
        return parse_status::failed(errc::too_many_interim_heads);
    } else {
        ++interim_heads;
    }
    return parse_status(found.consumed);
}

}  // namespace martlet::inline v0::http1
