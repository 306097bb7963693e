#include <martlet/wire/http/media_type.hpp>

#include <martlet/base/scan.hpp>
#include <martlet/wire/http/char_class.hpp>
#include <martlet/wire/http/error.hpp>

namespace martlet::inline v0::http {

result<media_type> media_type::parse(std::string_view value) noexcept {
    value = trim(value);
    const std::size_t end = value.find_first_of("; \t");
    const std::string_view essence = value.substr(0, end);
    const std::size_t slash = essence.find('/');
    const bool has_both =
        slash != std::string_view::npos && scan::is_token(essence.substr(0, slash)) && scan::is_token(essence.substr(slash + 1));
    if (!has_both) return failure(make_error(errc::bad_media_type, blame::peer));
    const media_type made(essence, slash, value.substr(essence.size()));
    parameter_reader all = made.parameters();
    while (all.next()) {
    }
    if (!all.is_good()) return failure(make_error(errc::bad_media_type, blame::peer));
    return made;
}

bool media_type::is(std::string_view essence) const noexcept { return scan::equal_ignoring_case(essence_, essence); }

std::optional<http::parameter> media_type::parameter(std::string_view name) const noexcept {
    parameter_reader all = parameters();
    while (const auto one = all.next()) {
        if (scan::equal_ignoring_case(one->name(), name)) return one;
    }
    return std::nullopt;
}

}  // namespace martlet::inline v0::http
