// The tables of the wide parsers, made while compiling from the tables of names and byte classes.
#include <martlet/base/scan.hpp>
#include <martlet/wire/http/char_class.hpp>
#include <martlet/wire/http/field_table_internal.hpp>
#include <martlet/wire/http1/parser_internal.hpp>

namespace martlet::inline v0::http1::detail {

namespace {

consteval void fill(unsigned char (&lanes)[32], unsigned char value) {
    for (unsigned char& lane : lanes) lane = value;
}

// Two looks into tables of 16 classify a byte: by its low nibble the set of high nibbles, by its high nibble the bit in that set.
template <class Predicate>
consteval void fill_class(unsigned char (&lanes)[32], Predicate in_class) {
    for (unsigned low = 0; low < 16; ++low) {
        unsigned set = 0;
        for (unsigned high = 0; high < 8; ++high) {
            if (in_class(static_cast<char>(high << 4 | low))) set |= 1u << high;
        }
        lanes[low] = lanes[low + 16] = static_cast<unsigned char>(set);
    }
}

consteval void fill_names(wide_tables& tables) {
    // No line matches the pattern of `other`: it asks for 32 NULs, and is only held against a block with a colon.
    for (unsigned char& byte : tables.names[0].mask) byte = 0xff;
    for (std::size_t i = 1; i < http::request_field_ids; ++i) {
        const http::detail::field_row& row = http::detail::field_rows[i];
        if (row.name.size() + 1 > sizeof(name_pattern::text)) throw "the name does not fit a block";
        for (std::size_t at = 0; at < row.name.size(); ++at) {
            const char c = row.name[at];
            const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            tables.names[i].text[at] = static_cast<unsigned char>(c);
            tables.names[i].mask[at] = letter ? 0xdf : 0xff;
        }
        tables.names[i].text[row.name.size()] = ':';
        tables.names[i].mask[row.name.size()] = 0xff;
        if (row.name.size() < http::detail::hashed_name_bytes_min) continue;
        const auto ends = http::detail::name_ends(row.name.data(), row.name.size());
        std::uint8_t& slot = tables.slots[http::detail::request_name_slot(ends)];
        if (slot != 0) throw "two names share a slot";
        slot = static_cast<std::uint8_t>(i);
    }
}

consteval wide_tables make_tables() {
    using scan::byte_class;
    wide_tables tables{};
    fill(tables.colon, ':');
    fill(tables.below_space, 0x1f);
    fill(tables.del, 0x7f);
    fill(tables.zero, '0');
    fill(tables.nine, 9);
    fill(tables.low_nibble, 0x0f);
    for (unsigned high = 0; high < 8; ++high) tables.high_bit[high] = tables.high_bit[high + 16] = static_cast<unsigned char>(1u << high);
    fill_class(tables.token, [](char c) { return scan::is_in(byte_class::token, c); });
    fill_class(tables.path, [](char c) { return scan::is_in(byte_class::path, c); });
    fill_class(tables.query, [](char c) { return http::is_in(c, http::class_query); });
    fill_class(tables.plain_host, [](char c) { return http::is_in(c, http::class_plain_host); });
    tables.case_bits = 0x2020202020202020;
    tables.name_factor = http::detail::request_name_factor;
    fill_names(tables);
    return tables;
}

}  // namespace

constinit const wide_tables parser_tables = make_tables();

}  // namespace martlet::inline v0::http1::detail
