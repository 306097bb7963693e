// message: what stands on the board; draft: what somebody wants to put there, checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace board {

struct message {
    std::int64_t id = 0;
    std::int64_t posted_at = 0;  // seconds since 1970
    std::string name;
    std::string text;
};

/// As somebody sent it, not yet checked.
struct posted {
    std::string name;
    std::string text;
};

/// What is wrong with each field, as a sentence for its author; empty for what is well.
struct faults {
    std::string name;
    std::string text;
};

/// A name and a text that may be posted: valid UTF-8 within the limits, without control characters but for the ends of lines in the text.
/// Owns its strings.
class draft {
public:
    // In characters, that is in code points of Unicode.
    static constexpr std::size_t name_characters_max = 40;
    static constexpr std::size_t text_characters_max = 1000;

    /// Leaves out blanks around both, and makes one newline of each end of a line.
    static std::expected<draft, faults> check(std::string_view name, std::string_view text);

    const std::string& name() const noexcept { return name_; }
    const std::string& text() const noexcept { return text_; }

private:
    draft(std::string name, std::string text) noexcept : name_(std::move(name)), text_(std::move(text)) {}

    std::string name_;
    std::string text_;
};

/// "2026-11-30T19:53:03Z"
std::string iso_time(std::int64_t seconds);

}  // namespace board
