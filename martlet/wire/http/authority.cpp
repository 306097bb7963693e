#include <martlet/wire/http/authority.hpp>

#include <martlet/base/scan.hpp>
#include <martlet/wire/http/char_class.hpp>
#include <martlet/wire/http/error.hpp>

namespace martlet::inline v0::http {

namespace {

constexpr std::size_t npos = std::string_view::npos;

bool is_hex(char c) noexcept { return scan::is_in(scan::byte_class::hex_digit, c); }
bool is_digit(char c) noexcept { return scan::is_in(scan::byte_class::digit, c); }

// dec-octet: no leading zeros.
bool is_octet(std::string_view text) noexcept {
    if (text.empty() || text.size() > 3 || !scan::all_in(scan::byte_class::digit, text)) return false;
    if (text.size() > 1 && text[0] == '0') return false;
    return text.size() < 3 || text <= "255";
}

bool is_ipv4_address(std::string_view text) noexcept {
    for (int octets = 1; octets < 4; ++octets) {
        const std::size_t dot = text.find('.');
        if (dot == npos || !is_octet(text.substr(0, dot))) return false;
        text.remove_prefix(dot + 1);
    }
    return is_octet(text);
}

// IPvFuture: "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )
bool is_future_address(std::string_view text) noexcept {
    if (text.empty() || (text[0] != 'v' && text[0] != 'V')) return false;
    const std::size_t dot = text.find('.');
    if (dot == npos || dot < 2 || dot + 1 == text.size()) return false;
    if (!scan::all_in(scan::byte_class::hex_digit, text.substr(1, dot - 1))) return false;
    for (const char c : text.substr(dot + 1)) {
        if (c != ':' && c != ',' && !is_in(c, class_host)) return false;
    }
    return true;
}

bool is_reg_name(std::string_view text) noexcept {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_in(text[i], class_host)) continue;
        if (text[i] != '%' || i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) return false;
        i += 2;
    }
    return !text.empty();
}

// The port of `text`, which is all behind the colon; -1 when it is none.
std::int32_t port_of(std::string_view text) noexcept {
    std::int32_t port = 0;
    for (const char c : text) {
        if (!is_digit(c)) return -1;
        port = port * 10 + (c - '0');
        if (port > 65535) return -1;
    }
    return port;
}

}  // namespace

bool is_ipv6_address(std::string_view text) noexcept {
    int groups = 0;
    bool gap = false;
    if (text.starts_with("::")) {
        gap = true;
        text.remove_prefix(2);
        if (text.empty()) return true;
    }
    for (;;) {
        const std::size_t colon = text.find(':');
        const std::string_view group = text.substr(0, colon);
        if (colon == npos && group.find('.') != npos) {
            groups += 2;
            if (!is_ipv4_address(group)) return false;
            break;
        }
        if (group.empty() || group.size() > 4 || !scan::all_in(scan::byte_class::hex_digit, group)) return false;
        ++groups;
        if (colon == npos) break;
        text.remove_prefix(colon + 1);
        if (text.starts_with(':')) {
            if (gap) return false;
            gap = true;
            text.remove_prefix(1);
            if (text.empty()) break;
        }
        if (groups > 8) return false;
    }
    return gap ? groups <= 7 : groups == 8;
}

result<authority> authority::parse(std::string_view text) noexcept {
    const auto refused = failure(make_error(errc::bad_authority, blame::peer));
    std::size_t host_bytes = 0;
    if (text.starts_with('[')) {
        const std::size_t bracket = text.find(']');
        if (bracket == npos) return refused;
        const std::string_view literal = text.substr(1, bracket - 1);
        if (!is_ipv6_address(literal) && !is_future_address(literal)) return refused;
        host_bytes = bracket + 1;
    } else {
        host_bytes = text.find(':');
        if (host_bytes == npos) host_bytes = text.size();
        if (!is_reg_name(text.substr(0, host_bytes))) return refused;
    }
    const std::string_view host = text.substr(0, host_bytes);
    const std::string_view rest = text.substr(host_bytes);
    if (rest.empty()) return authority(host, false, 0);
    if (rest[0] != ':') return refused;
    const std::int32_t port = port_of(rest.substr(1));
    if (port < 0) return refused;
    return authority(host, rest.size() > 1, static_cast<std::uint16_t>(port));
}

}  // namespace martlet::inline v0::http
