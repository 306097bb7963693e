// input: values read from the text of a request, and errors that say which text was wrong and what would be right.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <martlet/base/result.hpp>

namespace martlet::inline v0::server {

/// Where in a request a text stood.
enum class input_source : std::uint8_t { path, query, form, cookie, field };

extern const error_category input_category;

/// An error of the peer with `status` whose text is made of the source, `name` and `rule`: `query parameter "n" must be a number`. The text
/// is kept for the life of the program, once for each such triple, so name and rule come from the program and not from a peer; when
/// `input_errors_max` are kept, further ones have a text without them.
error input_error(input_source from, std::string_view name, std::string_view rule, std::uint16_t status = 400) noexcept;
inline constexpr std::size_t input_errors_max = 1024;

namespace detail {

std::optional<long long> read_signed(std::string_view text, long long min, long long max) noexcept;
std::optional<unsigned long long> read_unsigned(std::string_view text, unsigned long long max) noexcept;
std::optional<double> read_double(std::string_view text) noexcept;
std::optional<bool> read_bool(std::string_view text) noexcept;

constexpr std::string_view whole_number_rule(bool is_signed, int bytes) noexcept {
    switch (bytes) {
    case 1: return is_signed ? "must be a whole number from -128 to 127" : "must be a whole number from 0 to 255";
    case 2: return is_signed ? "must be a whole number from -32768 to 32767" : "must be a whole number from 0 to 65535";
    case 4: return is_signed ? "must be a whole number from -2147483648 to 2147483647" : "must be a whole number from 0 to 4294967295";
    default:
        return is_signed ? "must be a whole number from -9223372036854775808 to 9223372036854775807"
                         : "must be a whole number from 0 to 18446744073709551615";
    }
}

template <class T>
concept whole_number = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && sizeof(T) <= 8;

}  // namespace detail

/// How a T is read from text. An own type has its own: `static std::optional<T> read(std::string_view)`, nothing for what is none, and
/// `static constexpr std::string_view rule` of the form "must be a date".
template <class T>
struct from_text;

template <detail::whole_number T>
struct from_text<T> {
    static constexpr std::string_view rule = detail::whole_number_rule(std::signed_integral<T>, sizeof(T));
    static std::optional<T> read(std::string_view text) noexcept {
        using limits = std::numeric_limits<T>;
        if constexpr (std::signed_integral<T>) {
            if (const auto number = detail::read_signed(text, limits::min(), limits::max())) return static_cast<T>(*number);
        } else {
            if (const auto number = detail::read_unsigned(text, limits::max())) return static_cast<T>(*number);
        }
        return std::nullopt;
    }
};

/// Decimal, also with an exponent; never infinite and always a number.
template <>
struct from_text<double> {
    static constexpr std::string_view rule = "must be a number";
    static std::optional<double> read(std::string_view text) noexcept { return detail::read_double(text); }
};

template <>
struct from_text<bool> {
    static constexpr std::string_view rule = "must be true, false, 1 or 0";
    static std::optional<bool> read(std::string_view text) noexcept { return detail::read_bool(text); }
};

template <>
struct from_text<std::string> {
    static constexpr std::string_view rule = "must be text";
    static std::optional<std::string> read(std::string_view text) { return std::string(text); }
};

namespace detail {

template <class T>
result<T> value_of(input_source from, std::string_view name, std::string_view text) {
    auto value = from_text<T>::read(text);
    if (!value) return failure(input_error(from, name, from_text<T>::rule));
    return std::move(*value);
}

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
result<T> value_or_missing(input_source from, std::string_view name, std::optional<std::string_view> text) {
    if constexpr (is_optional<T>) {
        if (!text) return T();
        auto value = value_of<typename T::value_type>(from, name, *text);
        if (!value) return failure(value.error());
        return T(std::move(*value));
    } else {
        if (!text) return failure(input_error(from, name, "is missing"));
        return value_of<T>(from, name, *text);
    }
}

template <class T>
result<T> value_or(result<std::optional<T>> found, T otherwise) {
    if (!found) return failure(found.error());
    return *found ? std::move(**found) : std::move(otherwise);
}

}  // namespace detail

}  // namespace martlet::inline v0::server
