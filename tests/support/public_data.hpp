// public_data: cases that others published, read from the folder that MARTLET_TEST_DATA names. A test that finds none says so and is skipped.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace martlet::inline v0::testing {

/// What is in the file `path` below the folder; empty when there is no folder or no file.
inline std::string public_data(const std::string& path) {
    const char* folder = std::getenv("MARTLET_TEST_DATA");
    std::string text;
    if (folder == nullptr) return text;
    if (std::FILE* file = std::fopen((folder + ("/" + path)).c_str(), "rb")) {
        char block[4096];
        for (std::size_t got = 0; (got = std::fread(block, 1, sizeof(block), file)) > 0;) text.append(block, got);
        std::fclose(file);
    }
    return text;
}

/// Why a test of public data is skipped.
inline std::string no_public_data(std::string_view path) {
    std::string why = "MARTLET_TEST_DATA names the folder of public test data; not there is ";
    why += path;
    return why;
}

/// One of `{ } [ ] : ,`, '"' for a string, 'w' for any other word.
struct json_token {
    char kind;
    std::string text;
};

/// Takes JSON apart as far as data for tests needs it: nothing is checked, lines that begin with // are left out, and each half of a surrogate pair is written for itself.
inline std::vector<json_token> json_tokens(std::string_view text) {
    const auto append_utf8 = [](std::string& out, unsigned point) {
        if (point < 0x80) {
            out += static_cast<char>(point);
            return;
        }
        if (point < 0x800) {
            out += static_cast<char>(0xc0 | point >> 6);
        } else {
            out += static_cast<char>(0xe0 | point >> 12);
            out += static_cast<char>(0x80 | (point >> 6 & 63));
        }
        out += static_cast<char>(0x80 | (point & 63));
    };
    std::vector<json_token> all;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (std::string_view(" \t\r\n").find(c) != std::string_view::npos) continue;
        if (text.substr(i).starts_with("//")) {
            i = std::min(text.find('\n', i), text.size());
            continue;
        }
        if (std::string_view("{}[]:,").find(c) != std::string_view::npos) {
            all.push_back({c, {}});
            continue;
        }
        json_token token{c == '"' ? '"' : 'w', {}};
        if (c != '"') {
            for (; i < text.size() && std::string_view(" \t\r\n{}[]:,").find(text[i]) == std::string_view::npos; ++i) token.text += text[i];
            --i;
        } else {
            for (++i; i < text.size() && text[i] != '"'; ++i) {
                if (text[i] != '\\' || i + 1 == text.size()) {
                    token.text += text[i];
                    continue;
                }
                const char escaped = text[++i];
                if (escaped == 'u') {
                    append_utf8(token.text, static_cast<unsigned>(std::stoul(std::string(text.substr(i + 1, 4)), nullptr, 16)));
                    i += 4;
                } else {
                    const std::size_t known = std::string_view("nrtbf").find(escaped);
                    token.text += known == std::string_view::npos ? escaped : "\n\r\t\b\f"[known];
                }
            }
        }
        all.push_back(std::move(token));
    }
    return all;
}

}  // namespace martlet::inline v0::testing
