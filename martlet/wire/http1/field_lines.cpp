#include <martlet/wire/http1/field_lines.hpp>

#include <martlet/wire/http/char_class.hpp>

namespace martlet::inline v0::http1 {

field_view field_lines::iterator::operator*() const noexcept {
    const std::string_view line = left_.substr(0, left_.find('\r'));
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    return {name, http::trim(line.substr(colon + 1)), http::field_id_of(name)};
}

}  // namespace martlet::inline v0::http1
