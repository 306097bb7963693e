// received_cookie: the value of a Set-Cookie field as a client reads it (RFC 6265 section 5, and the attributes that came later).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <martlet/wire/http/set_cookie.hpp>

namespace martlet::inline v0::http {

/// The longest that a cookie is kept, whatever it asks for: 400 days.
inline constexpr std::int64_t cookie_age_seconds_max = 400 * 86400;

/// A cookie with what the server said of it. Borrows the field's bytes. Where it may be sent is decided by who keeps it.
class received_cookie {
public:
    /// Lenient, as the RFC wants it: attributes that make no sense are as if they were not there, and of each the last one counts. Nothing
    /// when the whole is to be ignored: no name, a control byte, more than `cookie_bytes_max`, or a prefix whose rules are not kept.
    /// `now_seconds` counts from 1970.
    static std::optional<received_cookie> parse(std::string_view value, std::int64_t now_seconds) noexcept;

    std::string_view name() const noexcept { return name_; }
    std::string_view value() const noexcept { return value_; }
    /// Without a dot in front, case as received; without one, only the host that sent it gets it back.
    std::optional<std::string_view> domain() const noexcept { return domain_; }
    /// Begins with '/'; without one, the directory of the request.
    std::optional<std::string_view> path() const noexcept { return path_; }
    /// Seconds since 1970 at which it ends, by Max-Age or Expires; what lies not after now takes the cookie away. Without, it lasts for a session.
    std::optional<std::int64_t> expires() const noexcept { return expires_seconds_; }
    bool is_secure() const noexcept { return secure_; }
    bool is_http_only() const noexcept { return http_only_; }
    bool is_partitioned() const noexcept { return partitioned_; }
    http::same_site same_site() const noexcept { return same_site_; }

private:
    received_cookie() noexcept = default;
    void take_attribute(std::string_view name, std::string_view value, std::int64_t now_seconds) noexcept;
    bool keeps_its_prefix() const noexcept;

    std::string_view name_;
    std::string_view value_;
    std::optional<std::string_view> domain_;
    std::optional<std::string_view> path_;
    std::optional<std::int64_t> expires_seconds_;
    http::same_site same_site_ = http::same_site::unset;
    bool by_max_age_ = false;  // goes before Expires, wherever it stands
    bool secure_ = false;
    bool http_only_ = false;
    bool partitioned_ = false;
};

/// The seconds since 1970 of a date as cookies have them, in nearly any order and form (RFC 6265 section 5.1.1); nothing when it is none.
std::optional<std::int64_t> parse_cookie_date(std::string_view text) noexcept;

}  // namespace martlet::inline v0::http
