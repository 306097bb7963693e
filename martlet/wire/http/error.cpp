#include <martlet/wire/http/error.hpp>

namespace martlet::inline v0::http {

namespace {

std::string_view text_of(int code) noexcept {
    switch (static_cast<errc>(code)) {
    case errc::bad_token: return "not a token";
    case errc::bad_field_value: return "a field value with a control byte or with whitespace at an end";
    case errc::bad_authority: return "not a host with an optional port";
    case errc::bad_cookie: return "a cookie with a byte that none may have, or too long";
    case errc::cookie_rule: return "attributes of a cookie that user agents refuse together";
    case errc::too_many_cookies: return "more cookies than cookies_max allows";
    case errc::bad_media_type: return "not a media type";
    case errc::bad_etag: return "not an entity tag";
    }
    return "unknown HTTP error";
}

}  // namespace

const error_category category("http", &text_of);

error make_error(errc code, blame who) noexcept {
    std::uint16_t status = code == errc::too_many_cookies ? 431 : 400;
    if (who != blame::peer) status = 500;
    return {category, static_cast<int>(code), who, status};
}

}  // namespace martlet::inline v0::http
