#include <martlet/wire/http1/head.hpp>

#include <martlet/base/scan.hpp>
#include <martlet/wire/http1/parser_internal.hpp>

namespace martlet::inline v0::http1 {

std::optional<std::string_view> head_fields::field(std::string_view name) const noexcept {
    const http::field_id id = http::field_id_of(name);
    if (id != http::field_id::other && (id < first_response_id || has(id))) return field(id);
    for (std::size_t i = 0; i < data_.count; ++i) {
        const field_record& record = data_.records[i];
        if (record.id == http::field_id::other && scan::equal_ignoring_case(this->name(record), name)) return value(record);
    }
    return std::nullopt;
}

// A record has 8 bits for the length of a name; the colon ends the long ones.
std::string_view head_fields::long_name(const field_record& record) const noexcept {
    const std::string_view up_to_value = view(record.name_offset, static_cast<std::size_t>(record.value_offset - record.name_offset));
    return up_to_value.substr(0, up_to_value.find(':'));
}

std::string_view head_fields::first_of(http::field_id id) const noexcept {
    for (std::size_t i = 0; i < data_.count; ++i) {
        if (data_.records[i].id == id) return value(data_.records[i]);
    }
    return {};
}

std::size_t head_fields::lines_of(http::field_id id) const noexcept {
    std::size_t lines = 0;
    for (std::size_t i = 0; i < data_.count; ++i) lines += data_.records[i].id == id;
    return lines;
}

bool request_head::wants_upgrade_to(std::string_view protocol) const noexcept {
    if (!wants_upgrade()) return false;
    for (const field_view field : *this) {
        if (field.id != http::field_id::upgrade) continue;
        const auto is_other = [protocol](std::string_view offered) { return !scan::equal_ignoring_case(offered, protocol); };
        if (!detail::for_each_element(field.value, is_other)) return true;
    }
    return false;
}

}  // namespace martlet::inline v0::http1
