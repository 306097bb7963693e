#include <martlet/wire/uri/error.hpp>

namespace martlet::inline v0::uri {

namespace {

std::string_view text_of(int code) noexcept {
    switch (static_cast<errc>(code)) {
    case errc::bad_escape: return "a percent sign without two hexadecimal digits";
    case errc::bad_byte: return "a byte that no URI has in that place";
    case errc::bad_scheme: return "not a scheme that can be used here";
    case errc::bad_authority: return "not a host with an optional port";
    case errc::has_userinfo: return "a user's name in a URI that must not have one";
    case errc::bad_host: return "a host that names no machine";
    case errc::too_many_pairs: return "more pairs than pairs_max allows";
    }
    return "unknown URI error";
}

}  // namespace

const error_category category("uri", &text_of);

error make_error(errc code, blame who) noexcept {
    if (who != blame::peer) return {category, static_cast<int>(code), who, 500};
    return {category, static_cast<int>(code), who, static_cast<std::uint16_t>(code == errc::too_many_pairs ? 413 : 400)};
}

}  // namespace martlet::inline v0::uri
