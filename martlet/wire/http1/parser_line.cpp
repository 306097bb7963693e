// The request line (RFC 9112 section 3), for all parsers: exact, byte by byte.
#include <algorithm>

#include <martlet/base/scan.hpp>
#include <martlet/wire/http/authority.hpp>
#include <martlet/wire/http/char_class.hpp>
#include <martlet/wire/http1/parser_internal.hpp>

namespace martlet::inline v0::http1::detail {

namespace {

using scan::byte_class;

std::uint16_t narrow(std::size_t number) noexcept { return static_cast<std::uint16_t>(number); }

bool is_hex(char c) noexcept { return scan::is_in(byte_class::hex_digit, c); }

// The bytes of `text` that are a path: pchar, '/', and escapes of anything but NUL.
std::size_t path_bytes_of(std::string_view text) noexcept {
    std::size_t i = 0;
    while (i < text.size()) {
        if (scan::is_in(byte_class::path, text[i])) {
            ++i;
        } else if (text[i] == '%' && i + 2 < text.size() && is_hex(text[i + 1]) && is_hex(text[i + 2]) && text.substr(i + 1, 2) != "00") {
            i += 3;
        } else {
            break;
        }
    }
    return i;
}

// path [ "?" query ], all of `text`; the path may be empty only when the caller allows it.
bool parse_path_and_query(std::string_view text, std::size_t skip, head_data& head) noexcept {
    const std::size_t path = path_bytes_of(text);
    head.line.path_skip = narrow(skip);
    head.path_bytes = narrow(path);
    if (path == text.size()) return true;
    if (text[path] != '?' || !http::all_in(text.substr(path + 1), http::class_query)) return false;
    head.line.flags |= flag_query;
    return true;
}

// scheme "://" authority path-abempty [ "?" query ] with a scheme of http or https (RFC 9110 section 4.2).
errc parse_absolute(std::string_view target, const limit_numbers& limits, head_data& head) noexcept {
    const std::size_t colon = target.find("://");
    if (colon == std::string_view::npos) return errc::bad_target;
    const std::string_view scheme = target.substr(0, colon);
    const bool is_https = scan::equal_ignoring_case(scheme, "https");
    if (!is_https && !scan::equal_ignoring_case(scheme, "http")) return errc::bad_target;

    const std::size_t begin = colon + 3;
    const std::size_t end = std::min(target.find_first_of("/?", begin), target.size());
    // Userinfo is refused with every other '@' (RFC 9110 section 4.2.4).
    if (!http::authority::parse(target.substr(begin, end - begin))) return errc::bad_target;
    if (!parse_path_and_query(target.substr(end), end, head)) return errc::bad_target;
    if (is_https != limits.encrypted) return errc::misdirected;
    head.host_offset = narrow(head.line.target_offset + begin);
    head.host_bytes = narrow(end - begin);
    if (is_https) head.line.flags |= flag_https;
    head.line.flags |= flag_no_plain_end;
    head.line.form = target_form::absolute;
    return errc::none;
}

}  // namespace

errc parse_target(std::string_view target, const limit_numbers& limits, head_data& head) noexcept {
    if (head.line.method == http::method::connect) {
        const auto authority = http::authority::parse(target);
        if (!authority) return target.starts_with('/') || target.find("://") != target.npos ? errc::target_form : errc::bad_target;
        if (!authority->port()) return errc::bad_target;
        head.line.form = target_form::authority;
        return errc::none;
    }
    if (target.starts_with('/')) {
        head.line.form = target_form::origin;
        return parse_path_and_query(target, 0, head) ? errc::none : errc::bad_target;
    }
    if (target == "*") {
        if (head.line.method != http::method::options) return errc::target_form;
        head.line.form = target_form::asterisk;
        head.path_bytes = 1;
        return errc::none;
    }
    return parse_absolute(target, limits, head);
}

// "HTTP/" DIGIT "." DIGIT, case-sensitive (RFC 9112 section 2.3).
errc parse_version(std::string_view version, head_data& head) noexcept {
    if (version.size() != 8 || !version.starts_with("HTTP/") || version[6] != '.') return errc::bad_version;
    if (!scan::is_in(byte_class::digit, version[5]) || !scan::is_in(byte_class::digit, version[7])) return errc::bad_version;
    if (version[5] != '1') return errc::version_not_supported;
    head.line.version_minor = static_cast<std::uint8_t>(version[7] - '0');
    return errc::none;
}

errc judge_method_start(const char* line, std::size_t bytes, const limit_numbers& limits) noexcept {
    for (std::size_t i = 0; i < bytes; ++i) {
        if (line[i] == ' ') return i == 0 ? errc::bad_request_line : errc::none;
        if (!scan::is_in(byte_class::token, line[i])) return line[i] == '\r' ? errc::bad_request_line : errc::bad_method;
        if (i == limits.method_bytes) return errc::method_too_long;
    }
    return errc::none;
}

errc parse_request_line(const char* line, std::size_t bytes, const limit_numbers& limits, head_data& head) noexcept {
    const std::string_view text(line, bytes);
    if (const errc why = judge_method_start(line, bytes, limits); why != errc::none) return why;
    const std::size_t first = text.find(' ');
    const std::size_t second = first == text.npos ? text.npos : text.find(' ', first + 1);
    if (second == text.npos) return errc::bad_request_line;
    if (const errc why = parse_version(text.substr(second + 1), head); why != errc::none) return why;

    const std::string_view target = text.substr(first + 1, second - first - 1);
    head.base = line;
    head.line.method = http::method_of(text.substr(0, first));
    head.line.flags = head.line.version_minor == 0 ? flag_no_plain_end : 0;
    head.line.target_offset = static_cast<std::uint8_t>(first + 1);
    head.line.path_skip = 0;
    head.target_bytes = narrow(target.size());
    head.path_bytes = 0;
    head.host_bytes = 0;
    return parse_target(target, limits, head);
}

}  // namespace martlet::inline v0::http1::detail
