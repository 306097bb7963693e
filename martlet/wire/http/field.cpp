#include <martlet/wire/http/field.hpp>

#include <martlet/base/scan.hpp>
#include <martlet/wire/http/field_table_internal.hpp>

namespace martlet::inline v0::http {

namespace {

consteval std::array<field_name_entry, field_ids> make_entries() {
    std::array<field_name_entry, field_ids> entries{};
    for (std::size_t i = 0; i < field_ids; ++i) {
        const detail::field_row& row = detail::field_rows[i];
        if (static_cast<std::size_t>(row.id) != i) throw "the rows are not in the order of the ids";
        if (row.name.size() + 1 > sizeof(entries[i].text)) throw "the name is too long";
        if (row.name.empty()) continue;
        row.name.copy(entries[i].text, row.name.size());
        entries[i].text[row.name.size()] = ':';
        entries[i].size = static_cast<std::uint8_t>(row.name.size());
        entries[i].flags = row.flags;
    }
    return entries;
}

consteval std::array<std::uint8_t, 512> make_slots() {
    std::array<std::uint8_t, 512> slots{};
    for (const detail::field_row& row : detail::field_rows) {
        if (row.name.size() < detail::hashed_name_bytes_min) continue;
        std::uint8_t& slot = slots[detail::any_name_slot(detail::name_ends(row.name.data(), row.name.size()), row.name.size())];
        if (slot != 0) throw "two names share a slot";
        slot = static_cast<std::uint8_t>(row.id);
    }
    return slots;
}

constexpr std::array<std::uint8_t, 512> slots = make_slots();

// The few names that are too short to be hashed.
field_id short_field_id_of(std::string_view name) noexcept {
    for (const field_id id : {field_id::te, field_id::dnt, field_id::via, field_id::age}) {
        if (scan::equal_ignoring_case(name, text(id))) return id;
    }
    return field_id::other;
}

}  // namespace

constinit const std::array<field_name_entry, field_ids> field_names = make_entries();

field_id field_id_of(std::string_view name) noexcept {
    if (name.size() < detail::hashed_name_bytes_min) return short_field_id_of(name);
    const auto id = static_cast<field_id>(slots[detail::any_name_slot(detail::name_ends(name.data(), name.size()), name.size())]);
    return scan::equal_ignoring_case(name, text(id)) ? id : field_id::other;
}

}  // namespace martlet::inline v0::http
