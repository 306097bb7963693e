// error: what can be wrong with a piece of HTTP that is not tied to a version of the protocol.
#pragma once

#include <cstdint>

#include <martlet/base/error.hpp>

namespace martlet::inline v0::http {

enum class errc : std::uint8_t {
    bad_token = 1,     ///< empty, or a byte that no token has
    bad_field_value,   ///< a control byte, or whitespace at an end
    bad_authority,     ///< no host, or no port as RFC 3986 section 3.2 has them
    bad_cookie,        ///< a name, value or attribute with a byte that no cookie has, or one that is too long
    cookie_rule,       ///< attributes that user agents refuse together: a prefix, SameSite=None or Partitioned without what it asks for
    too_many_cookies,  ///< more than `cookie_limits::cookies_max`
    bad_media_type,    ///< no type and subtype, or parameters that are none
    bad_etag,          ///< a byte that no entity tag has
};

extern const error_category category;

/// The error `code`; `who` tells whether the bytes came from the program or from the peer.
error make_error(errc code, blame who) noexcept;

}  // namespace martlet::inline v0::http
