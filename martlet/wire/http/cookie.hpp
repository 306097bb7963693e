// cookie: the Cookie field of a request, taken apart where it stands.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <martlet/base/piece_iterator.hpp>
#include <martlet/base/result.hpp>

namespace martlet::inline v0::http {

/// What a Cookie field may hold.
class cookie_limits {
public:
    constexpr cookie_limits() noexcept = default;
    /// Cookies in one field; beyond it `too_many_cookies`, whose status is 431.
    constexpr cookie_limits& cookies_max(std::size_t count) noexcept {
        cookies_max_ = count;
        return *this;
    }
    constexpr std::size_t cookies_max() const noexcept { return cookies_max_; }

private:
    std::size_t cookies_max_ = 100;
};

/// One cookie as it was sent. Borrows the field's bytes.
class cookie {
public:
    cookie() noexcept = default;
    /// `text` is what stands between two semicolons.
    explicit cookie(std::string_view text) noexcept;

    /// Case matters. Empty for a cookie that has none.
    std::string_view name() const noexcept { return name_; }
    /// As sent; quotes are part of it.
    std::string_view value() const noexcept { return value_; }
    /// The value without a pair of quotes around it.
    std::string_view unquoted() const noexcept;

private:
    std::string_view name_;
    std::string_view value_;
};

/// The cookies of one Cookie field in their order (RFC 6265 section 4.2). Lenient, as user agents send what servers once set: space around
/// names and values is dropped, empty pieces are passed over, a piece without '=' is a value without a name.
class cookie_view {
    static std::string_view next(std::string_view& rest) noexcept;

public:
    using iterator = piece_iterator<cookie, &cookie_view::next>;

    cookie_view() noexcept = default;
    /// Borrows `value`, and takes as many as it holds.
    explicit cookie_view(std::string_view value) noexcept : text_(value) {}
    /// Borrows `value`; `too_many_cookies`, blamed on the peer, when it holds more than the limit.
    static result<cookie_view> parse(std::string_view value, const cookie_limits& limits = {}) noexcept;

    iterator begin() const noexcept { return iterator(text_); }
    iterator end() const noexcept { return {}; }

    /// The first cookie of that name: the one whose path is the longest.
    std::optional<cookie> find(std::string_view name) const noexcept;

private:
    std::string_view text_;
};

}  // namespace martlet::inline v0::http
