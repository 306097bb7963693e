// error: what can be wrong with a URI, an escape or a form.
#pragma once

#include <cstdint>

#include <martlet/base/error.hpp>

namespace martlet::inline v0::uri {

enum class errc : std::uint8_t {
    bad_escape = 1,  ///< a '%' without two hexadecimal digits behind it
    bad_byte,        ///< a byte that may not stand there unescaped
    bad_scheme,      ///< no scheme where one must be, or none that is known
    bad_authority,   ///< no host, or no port as RFC 3986 section 3.2 has them
    has_userinfo,    ///< a user's name in a place where none is accepted (RFC 9110 section 4.2.4)
    bad_host,        ///< a host that names no machine: escaped bytes, or a number that is no IPv4 address
    too_many_pairs,  ///< a form with more than `form_limits::pairs_max`
};

extern const error_category category;

/// The error `code`; `who` tells whether the bytes came from the program or from the peer.
error make_error(errc code, blame who) noexcept;

}  // namespace martlet::inline v0::uri
