#include <martlet/wire/http/set_cookie.hpp>

#include <martlet/base/scan.hpp>
#include <martlet/wire/http/date.hpp>
#include <martlet/wire/http/error.hpp>

namespace martlet::inline v0::http {

namespace {

// cookie-octet: printable ASCII but space, DQUOTE, comma, semicolon and backslash.
bool is_cookie_octet(char c) noexcept { return c > ' ' && c < 0x7f && c != '"' && c != ',' && c != ';' && c != '\\'; }

bool is_value(std::string_view text) noexcept {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    for (const char c : text) {
        if (!is_cookie_octet(c)) return false;
    }
    return true;
}

bool is_path(std::string_view text) noexcept {
    if (!text.starts_with('/') || text.size() > cookie_attribute_bytes_max) return false;
    for (const char c : text) {
        if (c < ' ' || c == 0x7f || c == ';') return false;
    }
    return text.back() != ' ';
}

// Labels of letters, digits and hyphens, with dots between them.
bool is_domain(std::string_view text) noexcept {
    if (text.empty() || text.size() > cookie_attribute_bytes_max || text.front() == '.' || text.back() == '.') return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char low = scan::lower(text[i]);
        if (text[i] == '.' ? text[i - 1] == '.' : !(low >= 'a' && low <= 'z') && !(low >= '0' && low <= '9') && low != '-') return false;
    }
    return true;
}

bool has_prefix(std::string_view name, std::string_view prefix) noexcept {
    return name.size() >= prefix.size() && scan::equal_ignoring_case(name.substr(0, prefix.size()), prefix);
}

std::string_view text_of(same_site which) noexcept {
    switch (which) {
    case same_site::strict: return "; SameSite=Strict";
    case same_site::lax: return "; SameSite=Lax";
    case same_site::none: return "; SameSite=None";
    case same_site::unset: break;
    }
    return {};
}

}  // namespace

result<std::string> set_cookie::text() const {
    const bool bytes_good = scan::is_token(name_) && is_value(value_) && name_.size() + value_.size() <= cookie_bytes_max &&
                            (!path_ || is_path(*path_)) && (!domain_ || is_domain(*domain_));
    if (!bytes_good) return failure(make_error(errc::bad_cookie, blame::local));
    const bool wants_secure =
        has_prefix(name_, "__Secure-") || has_prefix(name_, "__Host-") || same_site_ == http::same_site::none || partitioned_;
    const bool wants_host = has_prefix(name_, "__Host-");
    if ((wants_secure && !secure_) || (wants_host && (path_ != "/" || domain_))) {
        return failure(make_error(errc::cookie_rule, blame::local));
    }

    std::string out;
    out.append(name_).append("=").append(value_);
    if (path_) out.append("; Path=").append(*path_);
    if (domain_) out.append("; Domain=").append(*domain_);
    if (max_age_seconds_) out.append("; Max-Age=").append(std::to_string(*max_age_seconds_));
    if (expires_seconds_) {
        char date[date_bytes];
        write_date(date, *expires_seconds_);
        out.append("; Expires=").append(date, sizeof(date));
    }
    if (secure_) out += "; Secure";
    if (http_only_) out += "; HttpOnly";
    out += text_of(same_site_);
    if (partitioned_) out += "; Partitioned";
    return out;
}

}  // namespace martlet::inline v0::http
