// command_line: what the program was asked for.
#pragma once

#include <expected>
#include <span>
#include <string>

namespace board {

class command_line {
public:
    /// `words` are those behind the program's name. The error is a sentence that says what is wrong.
    static std::expected<command_line, std::string> read(std::span<char* const> words);

    const std::string& address() const noexcept { return address_; }
    const std::string& database() const noexcept { return database_; }
    unsigned threads() const noexcept { return threads_; }
    bool wants_help() const noexcept { return wants_help_; }

private:
    std::string address_ = "127.0.0.1:8080";
    std::string database_ = "board.db";
    unsigned threads_ = 1;
    bool wants_help_ = false;
};

extern const char* const usage;

}  // namespace board
