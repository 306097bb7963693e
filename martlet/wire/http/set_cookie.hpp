// set_cookie: the value of a Set-Cookie field, built and checked (RFC 6265 section 4.1, and the prefixes and attributes that came later).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <martlet/base/result.hpp>

namespace martlet::inline v0::http {

/// With which requests from other sites a cookie is sent.
enum class same_site : std::uint8_t { unset, strict, lax, none };

/// More bytes of name and value together, or of one attribute, user agents ignore.
inline constexpr std::size_t cookie_bytes_max = 4096;
inline constexpr std::size_t cookie_attribute_bytes_max = 1024;

/// A cookie to be set. Borrows all that it is given until `text` is called.
class set_cookie {
public:
    set_cookie(std::string_view name, std::string_view value) noexcept : name_(name), value_(value) {}

    /// Begins with '/'. Without one, user agents take the directory of the request.
    set_cookie& path(std::string_view path) noexcept {
        path_ = path;
        return *this;
    }
    /// A host name: it and all below it get the cookie. Without one, only the host that sets it.
    set_cookie& domain(std::string_view host) noexcept {
        domain_ = host;
        return *this;
    }
    /// From now on; 0 or less takes the cookie away. User agents keep none for more than 400 days.
    set_cookie& max_age(std::int64_t seconds) noexcept {
        max_age_seconds_ = seconds;
        return *this;
    }
    /// Seconds since 1970. `max_age` goes before it.
    set_cookie& expires(std::int64_t unix_seconds) noexcept {
        expires_seconds_ = unix_seconds;
        return *this;
    }
    /// Only over an encrypted connection.
    set_cookie& secure(bool yes = true) noexcept {
        secure_ = yes;
        return *this;
    }
    /// Hidden from scripts.
    set_cookie& http_only(bool yes = true) noexcept {
        http_only_ = yes;
        return *this;
    }
    set_cookie& same_site(http::same_site which) noexcept {
        same_site_ = which;
        return *this;
    }
    /// Kept apart for each site that embeds this one.
    set_cookie& partitioned(bool yes = true) noexcept {
        partitioned_ = yes;
        return *this;
    }

    /// The field's value. `bad_cookie`: a name that is no token; a value, path or domain with a byte that none may have; one of them too long.
    /// `cookie_rule`: `__Secure-`, SameSite=None or Partitioned without secure; `__Host-` without secure or path "/", or with a domain.
    /// Both are blamed on the program: a value of any bytes is to be encoded first.
    result<std::string> text() const;

private:
    std::string_view name_;
    std::string_view value_;
    std::optional<std::string_view> path_;
    std::optional<std::string_view> domain_;
    std::optional<std::int64_t> max_age_seconds_;
    std::optional<std::int64_t> expires_seconds_;
    http::same_site same_site_ = http::same_site::unset;
    bool secure_ = false;
    bool http_only_ = false;
    bool partitioned_ = false;
};

}  // namespace martlet::inline v0::http
