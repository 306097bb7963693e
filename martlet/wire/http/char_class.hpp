// char_class: which bytes may stand where, beyond the classes of base/scan.hpp. The wide parsers derive their tables from both.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace martlet::inline v0::http {

/// Bits of `char_classes`.
enum char_class : std::uint8_t {
    class_query = 1,       ///< what is accepted after '?': the grammar, and the bytes that browsers send raw: [ ] \ ^ ` { | } %
    class_host = 2,        ///< reg-name without '%' and ',' (a comma in Host is a merged list)
    class_plain_host = 4,  ///< unreserved: the bytes of nearly every real host
    class_control = 8,     ///< below 0x20 but HTAB, and DEL: never inside a line
};

namespace detail {

constexpr std::uint8_t classes_of(unsigned char byte) noexcept {
    const char c = static_cast<char>(byte);
    const auto one_of = [c](std::string_view set) { return set.find(c) != std::string_view::npos; };
    const bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool unreserved = alphanumeric || one_of("-._~");
    const bool sub_delim = one_of("!$&'()*+,;=");
    unsigned bits = 0;
    if (unreserved || sub_delim || one_of(":@/?%[]\\^`{|}")) bits |= class_query;
    if (unreserved || (sub_delim && c != ',')) bits |= class_host;
    if (unreserved) bits |= class_plain_host;
    if ((byte < 0x20 && c != '\t') || byte == 0x7f) bits |= class_control;
    return static_cast<std::uint8_t>(bits);
}

constexpr std::array<std::uint8_t, 256> make_char_classes() noexcept {
    std::array<std::uint8_t, 256> table{};
    for (unsigned c = 0; c < 256; ++c) table[c] = classes_of(static_cast<unsigned char>(c));
    return table;
}

}  // namespace detail

/// Indexed by byte; a set of `char_class` bits.
inline constexpr std::array<std::uint8_t, 256> char_classes = detail::make_char_classes();

constexpr bool is_in(char c, unsigned classes) noexcept { return (char_classes[static_cast<unsigned char>(c)] & classes) != 0; }

/// Every byte of `text` is in one of `classes`.
constexpr bool all_in(std::string_view text, unsigned classes) noexcept {
    for (const char c : text) {
        if (!is_in(c, classes)) return false;
    }
    return true;
}

/// SP or HTAB.
constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

/// `text` without optional whitespace at its ends (RFC 9110 section 5.6.3).
constexpr std::string_view trim(std::string_view text) noexcept {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

}  // namespace martlet::inline v0::http
