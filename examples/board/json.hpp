// json: messages to JSON, and what is posted as JSON back. The library that reads it is seen in json.cpp only.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "message.hpp"

namespace board {

/// `text`, which is valid UTF-8, as a JSON string with its quotes.
std::string json_string(std::string_view text);

/// {"id":7,"posted_at":"2026-11-30T19:53:03Z","name":"Ada","text":"Hello"}
std::string to_json(const message& m);

/// From {"name":"Ada","text":"Hello"}. The error is a sentence that says what is wrong.
std::expected<posted, std::string> read_json(std::string_view content);

}  // namespace board
