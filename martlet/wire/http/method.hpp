// method: the request methods of RFC 9110 section 9 and RFC 5789.
#pragma once

#include <cstdint>
#include <string_view>

namespace martlet::inline v0::http {

/// A request method. `other` is any token that is not named here; its text stays with the head that carried it.
enum class method : std::uint8_t { get, head, post, put, delete_, connect, options, trace, patch, other };

/// The token as it goes on the wire; empty for `other`.
std::string_view text(method m) noexcept;

/// The method `token` names; methods are case-sensitive (RFC 9110 section 9.1).
method method_of(std::string_view token) noexcept;

/// Asked for no change of state (RFC 9110 section 9.2.1).
constexpr bool is_safe(method m) noexcept { return m == method::get || m == method::head || m == method::options || m == method::trace; }

/// May be sent again when the answer was lost (RFC 9110 section 9.2.2).
constexpr bool is_idempotent(method m) noexcept { return is_safe(m) || m == method::put || m == method::delete_; }

}  // namespace martlet::inline v0::http
