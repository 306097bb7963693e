#include <martlet/wire/http/field_value.hpp>

#include <martlet/wire/http/error.hpp>

namespace martlet::inline v0::http {

result<token> token::make(std::string_view text) noexcept {
    if (!is_valid(text)) return failure(make_error(errc::bad_token, blame::local));
    return token(text);
}

result<field_value> field_value::make(std::string_view text) noexcept {
    if (!is_valid(text)) return failure(make_error(errc::bad_field_value, blame::local));
    return field_value(text);
}

}  // namespace martlet::inline v0::http
