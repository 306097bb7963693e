// Scanning of bytes: find one, find the blank line, find the first that is not of a class. Wide versions need a padded_view.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <martlet/base/buffer.hpp>

namespace martlet::inline v0::scan {

/// Not found.
inline constexpr std::size_t npos = std::string_view::npos;

/// Sets of bytes, as bits of `class_table`.
enum class byte_class : std::uint8_t {
    token = 1,        ///< tchar (RFC 9110 5.6.2): names of fields and methods
    path = 2,         ///< pchar (RFC 3986 3.3) without `%`, and `/`
    field_value = 4,  ///< what a field value may hold (RFC 9110 5.5): HTAB, SP, VCHAR, obs-text
    digit = 8,        ///< 0-9
    hex_digit = 16,   ///< 0-9, a-f, A-F
};

namespace detail {

constexpr bool is_letter(unsigned c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_digit(unsigned c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_one_of(unsigned c, std::string_view set) noexcept { return c < 0x80 && c != 0 && set.find(static_cast<char>(c)) != npos; }

constexpr std::array<std::uint8_t, 256> make_class_table() noexcept {
    std::array<std::uint8_t, 256> table{};
    for (unsigned c = 0; c < 256; ++c) {
        const bool alnum = is_letter(c) || is_digit(c);
        unsigned bits = 0;
        if (alnum || is_one_of(c, "!#$%&'*+-.^_`|~")) bits |= static_cast<unsigned>(byte_class::token);
        if (alnum || is_one_of(c, "-._~!$&'()*+,;=:@/")) bits |= static_cast<unsigned>(byte_class::path);
        if (c == '\t' || (c >= 0x20 && c != 0x7f)) bits |= static_cast<unsigned>(byte_class::field_value);
        if (is_digit(c)) bits |= static_cast<unsigned>(byte_class::digit);
        if (is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) bits |= static_cast<unsigned>(byte_class::hex_digit);
        table[c] = static_cast<std::uint8_t>(bits);
    }
    return table;
}

constexpr std::array<char, 256> make_lower_table() noexcept {
    std::array<char, 256> table{};
    for (unsigned c = 0; c < 256; ++c) table[c] = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return table;
}

}  // namespace detail

inline constexpr std::array<std::uint8_t, 256> class_table = detail::make_class_table();
inline constexpr std::array<char, 256> lower_table = detail::make_lower_table();

/// Whether `c` is in `set`.
constexpr bool is_in(byte_class set, char c) noexcept {
    return (class_table[static_cast<unsigned char>(c)] & static_cast<unsigned>(set)) != 0;
}
/// ASCII only: bytes from 0x80 stay as they are.
constexpr char lower(char c) noexcept { return lower_table[static_cast<unsigned char>(c)]; }

/// Whether all bytes of `text` are in `set`. True of no bytes.
constexpr bool all_in(byte_class set, std::string_view text) noexcept {
    for (const char c : text) {
        if (!is_in(set, c)) return false;
    }
    return true;
}
/// Whether `text` is a token (RFC 9110 5.6.2), which is not empty.
constexpr bool is_token(std::string_view text) noexcept { return !text.empty() && all_in(byte_class::token, text); }
/// Whether the two are equal but for the case of ASCII letters.
constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (lower(a[i]) != lower(b[i])) return false;
    }
    return true;
}

/// Offset of the first `wanted`, or `npos`.
std::size_t find_byte(std::string_view text, char wanted) noexcept;
std::size_t find_byte(padded_view text, char wanted) noexcept;

/// Offset behind the first CR LF CR LF, or `npos`.
std::size_t find_head_end(std::string_view text) noexcept;
std::size_t find_head_end(padded_view text) noexcept;

/// Offset of the first byte that is not in `set`, or `npos`.
std::size_t find_not_in(byte_class set, std::string_view text) noexcept;
std::size_t find_not_in(byte_class set, padded_view text) noexcept;

/// Which instructions the wide versions use.
enum class width : std::uint8_t { scalar, sse2, avx2 };
/// The widest that this machine has. Found once.
width best_width() noexcept;

/// The wide versions by name, for tests and benches. `with` may not exceed best_width().
std::size_t find_byte_with(width with, padded_view text, char wanted) noexcept;
std::size_t find_head_end_with(width with, padded_view text) noexcept;
std::size_t find_not_in_with(width with, byte_class set, padded_view text) noexcept;

}  // namespace martlet::inline v0::scan
