#include <martlet/wire/http/error.hpp>

namespace martlet::inline v0::http {

namespace {

std::string_view text_of(int code) noexcept {
    switch (static_cast<errc>(code)) {
    case errc::bad_token: return "not a token";
    case errc::bad_field_value: return "a field value with a control byte or with whitespace at an end";
    case errc::bad_authority: return "not a host with an optional port";
    }
    return "unknown HTTP error";
}

}  // namespace

const error_category category("http", &text_of);

error make_error(errc code, blame who) noexcept {
    return {category, static_cast<int>(code), who, static_cast<std::uint16_t>(who == blame::peer ? 400 : 500)};
}

}  // namespace martlet::inline v0::http
