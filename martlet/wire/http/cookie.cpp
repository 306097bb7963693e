#include <martlet/wire/http/cookie.hpp>

#include <martlet/wire/http/char_class.hpp>
#include <martlet/wire/http/error.hpp>

namespace martlet::inline v0::http {

cookie::cookie(std::string_view text) noexcept {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
        value_ = trim(text);
        return;
    }
    name_ = trim(text.substr(0, equals));
    value_ = trim(text.substr(equals + 1));
}

std::string_view cookie::unquoted() const noexcept {
    if (value_.size() < 2 || value_.front() != '"' || value_.back() != '"') return value_;
    return value_.substr(1, value_.size() - 2);
}

std::string_view cookie_view::next(std::string_view& rest) noexcept {
    while (!rest.empty() && (rest.front() == ';' || is_blank(rest.front()))) rest.remove_prefix(1);
    if (rest.empty()) return {};
    const std::string_view piece = rest.substr(0, rest.find(';'));
    rest.remove_prefix(piece.size());
    return piece;
}

result<cookie_view> cookie_view::parse(std::string_view value, const cookie_limits& limits) noexcept {
    const cookie_view made(value);
    std::size_t count = 0;
    for (auto at = made.begin(); at != made.end(); ++at) {
        if (++count > limits.cookies_max()) return failure(make_error(errc::too_many_cookies, blame::peer));
    }
    return made;
}

std::optional<cookie> cookie_view::find(std::string_view name) const noexcept {
    for (const cookie& one : *this) {
        if (one.name() == name) return one;
    }
    return std::nullopt;
}

}  // namespace martlet::inline v0::http
