#include <martlet/wire/http1/head.hpp>

#include <martlet/base/scan.hpp>

namespace martlet::inline v0::http1 {

std::optional<std::string_view> request_head::field(std::string_view name) const noexcept {
    const http::field_id id = http::field_id_of(name);
    if (id != http::field_id::other && id < first_response_id) return field(id);
    for (std::size_t i = 0; i < data_.count; ++i) {
        const field_record& record = data_.records[i];
        if (record.id == http::field_id::other && scan::equal_ignoring_case(this->name(record), name)) return value(record);
    }
    return std::nullopt;
}

// A record has 8 bits for the length of a name; the colon ends the long ones.
std::string_view request_head::long_name(const field_record& record) const noexcept {
    const std::string_view up_to_value = view(record.name_offset, static_cast<std::size_t>(record.value_offset - record.name_offset));
    return up_to_value.substr(0, up_to_value.find(':'));
}

std::string_view request_head::first_of(http::field_id id) const noexcept {
    for (std::size_t i = 0; i < data_.count; ++i) {
        if (data_.records[i].id == id) return value(data_.records[i]);
    }
    return {};
}

}  // namespace martlet::inline v0::http1
