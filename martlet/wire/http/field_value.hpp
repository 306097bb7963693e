// token, field_value: text that was checked when its type was made, so that an encoder need not look again.
#pragma once

#include <string_view>

#include <martlet/base/result.hpp>
#include <martlet/base/scan.hpp>
#include <martlet/wire/http/char_class.hpp>

namespace martlet::inline v0::http {

/// A borrowed token (RFC 9110 section 5.6.2): a method, a field name, a coding. Valid as long as the bytes it was made from.
class token {
public:
    /// Checks `text`; `bad_token`, blamed on the program, when it is none.
    static result<token> make(std::string_view text) noexcept;

    /// A literal, checked while compiling.
    static consteval token literal(std::string_view text) {
        if (!is_valid(text)) throw "not a token";
        return token(text);
    }

    static constexpr bool is_valid(std::string_view text) noexcept { return scan::is_token(text); }

    constexpr std::string_view text() const noexcept { return text_; }

private:
    constexpr explicit token(std::string_view text) noexcept : text_(text) {}
    std::string_view text_;
};

/// A borrowed field value (RFC 9110 section 5.5): no control byte but HTAB, no whitespace at its ends; bytes from 0x80 are opaque.
/// May be empty. Valid as long as the bytes it was made from.
class field_value {
public:
    constexpr field_value() noexcept = default;

    /// Checks `text`; `bad_field_value`, blamed on the program, when it is none.
    static result<field_value> make(std::string_view text) noexcept;

    /// A literal, checked while compiling.
    static consteval field_value literal(std::string_view text) {
        if (!is_valid(text)) throw "not a field value";
        return field_value(text);
    }

    static constexpr bool is_valid(std::string_view text) noexcept {
        if (!text.empty() && (is_blank(text.front()) || is_blank(text.back()))) return false;
        for (const char c : text) {
            if (is_in(c, class_control)) return false;
        }
        return true;
    }

    constexpr std::string_view text() const noexcept { return text_; }

private:
    constexpr explicit field_value(std::string_view text) noexcept : text_(text) {}
    std::string_view text_;
};

}  // namespace martlet::inline v0::http
