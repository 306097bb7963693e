#include <martlet/wire/uri/http_uri.hpp>

#include <algorithm>

#include <martlet/base/scan.hpp>
#include <martlet/wire/http/char_class.hpp>
#include <martlet/wire/uri/error.hpp>
#include <martlet/wire/uri/percent.hpp>
#include <martlet/wire/uri/reference.hpp>

namespace martlet::inline v0::uri {

namespace {

constexpr std::size_t npos = std::string_view::npos;

// The label is a number to inet_aton: digits, or 0x and hexadecimal digits.
bool is_number(std::string_view label) noexcept {
    if (label.empty()) return false;
    if (scan::all_in(scan::byte_class::digit, label)) return true;
    return label.size() >= 2 && label[0] == '0' && scan::lower(label[1]) == 'x' &&
           scan::all_in(scan::byte_class::hex_digit, label.substr(2));
}

// Four decimal octets without leading zeros.
bool is_plain_ipv4(std::string_view host) noexcept {
    // An IPv6 address may end in such an address: the one grammar serves both.
    if (host.size() > 15 || host.find_first_not_of("0123456789.") != npos) return false;
    char text[2 + 15] = {':', ':'};
    host.copy(text + 2, host.size());
    return host.find('.') != npos && http::is_ipv6_address({text, host.size() + 2});
}

// A resolver may take a name that ends in a number for an address in an odd spelling, and a check of the text be passed by.
bool is_usable_host(std::string_view host) noexcept {
    if (host.starts_with('[')) return true;
    if (host.find('%') != npos) return false;
    std::string_view labels = host;
    if (labels.ends_with('.')) labels.remove_suffix(1);
    return !is_number(labels.substr(labels.rfind('.') + 1)) || is_plain_ipv4(host);
}

void append_lower(std::string& out, std::string_view text) {
    for (const char c : text) out.push_back(scan::lower(c));
}

// Escapes of unreserved bytes are replaced by the byte, the rest is written in upper case. `text` is well escaped.
std::string with_normal_escapes(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out.push_back(text[i]);
            continue;
        }
        const result<std::string> byte = decode(text.substr(i, 3));
        if (byte && http::is_in((*byte)[0], http::class_plain_host)) {
            out.push_back((*byte)[0]);
        } else {
            out.push_back('%');
            for (const char c : text.substr(i + 1, 2)) out.push_back(c >= 'a' ? static_cast<char>(c - 32) : c);
        }
        i += 2;
    }
    return out;
}

}  // namespace

result<http_uri> http_uri::parse(std::string_view text, userinfo user) noexcept {
    const auto refused = [](errc code) { return failure(make_error(code, blame::peer)); };
    const result<reference> parts = reference::parse(text);
    if (!parts) return failure(parts.error());
    const std::string_view scheme = parts->scheme().value_or(std::string_view());
    const bool https = scan::equal_ignoring_case(scheme, "https");
    if (!https && !scan::equal_ignoring_case(scheme, "http")) return refused(errc::bad_scheme);
    if (parts->userinfo() && user == userinfo::refused) return refused(errc::has_userinfo);
    const result<http::authority> at = http::authority::parse(parts->authority().value_or(std::string_view()));
    if (!at) return refused(errc::bad_authority);
    if (!is_usable_host(at->host())) return refused(errc::bad_host);

    http_uri made(*at);
    made.https_ = https;
    made.userinfo_ = parts->userinfo();
    made.path_ = parts->path();
    made.query_ = parts->query();
    made.fragment_ = parts->fragment();
    return made;
}

std::string http_uri::target() const {
    std::string out;
    out.reserve(path_.size() + 2 + (query_ ? query_->size() : 0));
    if (path_.empty()) out += '/';
    out += path_;
    if (query_) {
        out += '?';
        out += *query_;
    }
    return out;
}

std::string http_uri::host_field() const {
    std::string out;
    append_lower(out, host());
    if (port() != default_port()) out.append(":").append(std::to_string(port()));
    return out;
}

std::string http_uri::normal() const {
    std::string out = https_ ? "https://" : "http://";
    std::string_view user = userinfo_.value_or(std::string_view());
    if (user.ends_with(':') && user.find(':') == user.size() - 1) user.remove_suffix(1);
    if (!user.empty()) out.append(with_normal_escapes(user)).append("@");
    out += host_field();
    if (path_.empty()) out += '/';
    append_without_dot_segments(out, with_normal_escapes(path_));
    if (query_) out.append("?").append(with_normal_escapes(*query_));
    if (fragment_) out.append("#").append(with_normal_escapes(*fragment_));
    return out;
}

bool http_uri::is_same_origin(const http_uri& other) const noexcept {
    return https_ == other.https_ && port() == other.port() && scan::equal_ignoring_case(host(), other.host());
}

}  // namespace martlet::inline v0::uri
