#include "json.hpp"

#include <simdjson.h>

#include <cstdio>

namespace board {

std::string json_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
            out += escape;
        } else {
            out += c;
        }
    }
    return out += '"';
}

std::string to_json(const message& m) {
    return "{\"id\":" + std::to_string(m.id) + ",\"posted_at\":\"" + iso_time(m.posted_at) + "\",\"name\":" + json_string(m.name) +
           ",\"text\":" + json_string(m.text) + "}";
}

std::expected<posted, std::string> read_json(std::string_view content) {
    simdjson::dom::parser parser;
    simdjson::dom::object fields;
    if (const auto wrong = parser.parse(content.data(), content.size()).get(fields)) {
        if (wrong == simdjson::INCORRECT_TYPE) return std::unexpected("A message is a JSON object with \"name\" and \"text\".");
        return std::unexpected(std::string("The content is not valid JSON: ") + simdjson::error_message(wrong));
    }
    std::string_view name, text;
    if (fields["name"].get(name)) return std::unexpected("\"name\" is missing, or is not a string.");
    if (fields["text"].get(text)) return std::unexpected("\"text\" is missing, or is not a string.");
    return posted{std::string(name), std::string(text)};
}

}  // namespace board
