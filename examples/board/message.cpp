#include "message.hpp"

#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

namespace board {

namespace {

/// Takes one character off the front of `rest`; none when its bytes are no UTF-8 (RFC 3629).
std::optional<char32_t> take_character(std::string_view& rest) {
    const auto byte = [&](std::size_t i) -> unsigned { return i < rest.size() ? static_cast<unsigned char>(rest[i]) : 0; };
    const unsigned first = byte(0);
    const std::size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (length == 0) return std::nullopt;
    char32_t character = length == 1 ? first : first & (0x7Fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return std::nullopt;
        character = character << 6 | (byte(i) & 0x3F);
    }
    const bool shorter_would_do = (length == 3 && character < 0x800) || (length == 4 && character < 0x10000);
    const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
    if (shorter_would_do || surrogate || character > 0x10FFFF) return std::nullopt;
    rest.remove_prefix(length);
    return character;
}

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c <= 0x9F); }

std::string_view without_blanks_around(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\n");
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin);
}

/// A form sends CR LF, a script what it likes.
std::string with_plain_newlines(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
        out += text[i];
    }
    return out;
}

/// What is wrong with `value`, as a sentence; empty when nothing is.
std::string fault_of(std::string_view value, std::string_view what, std::size_t characters_max, bool has_lines) {
    if (value.empty()) return "Please write a " + std::string(what) + ".";
    std::size_t count = 0;
    for (std::string_view rest = value; !rest.empty(); ++count) {
        const auto character = take_character(rest);
        if (!character) return "The " + std::string(what) + " is not valid UTF-8.";
        if (is_control(*character) && !(has_lines && (*character == '\n' || *character == '\t')))
            return "The " + std::string(what) + " has a control character in it.";
    }
    if (count <= characters_max) return {};
    return "The " + std::string(what) + " has " + std::to_string(count) + " characters; " + std::to_string(characters_max) +
           " are the most.";
}

}  // namespace

std::expected<draft, faults> draft::check(std::string_view name, std::string_view text) {
    std::string lines = with_plain_newlines(text);
    name = without_blanks_around(name);
    text = without_blanks_around(lines);
    faults found;
    found.name = fault_of(name, "name", name_characters_max, false);
    found.text = fault_of(text, "message", text_characters_max, true);
    if (!found.name.empty() || !found.text.empty()) return std::unexpected(std::move(found));
    return draft(std::string(name), std::string(text));
}

std::string iso_time(std::int64_t seconds) {
    const std::chrono::sys_seconds when{std::chrono::seconds(seconds)};
    const auto day = std::chrono::floor<std::chrono::days>(when);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(when - day);
    char out[64];
    std::snprintf(out, sizeof out, "%04d-%02u-%02uT%02d:%02d:%02dZ", int(date.year()), unsigned(date.month()), unsigned(date.day()),
                  int(time.hours().count()), int(time.minutes().count()), int(time.seconds().count()));
    return out;
}

}  // namespace board
