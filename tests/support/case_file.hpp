// case_file: cases of a protocol as lines of JSON, one object each, from tests/vectors.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace martlet::inline v0::testing {

/// A case by the names of its parts.
using fields = std::map<std::string, std::string>;

/// One line of a file: a flat object of strings, booleans and lists of strings. A list becomes its strings with a newline behind each.
class line_reader {
public:
    explicit line_reader(std::string_view line) : left_(line) {}

    fields read() {
        fields found;
        skip('{');
        while (peek() == '"') {
            const std::string name = text();
            skip(':');
            found[name] = value();
            if (peek() == ',') skip(',');
        }
        EXPECT_EQ(peek(), '}');
        return found;
    }

private:
    char peek() {
        while (!left_.empty() && left_[0] == ' ') left_.remove_prefix(1);
        return left_.empty() ? '\0' : left_[0];
    }
    void skip(char wanted) {
        EXPECT_EQ(peek(), wanted);
        left_.remove_prefix(1);
    }
    std::string value() {
        if (peek() == '"') return text();
        std::string made;
        if (peek() != '[') {
            while (peek() >= 'a' && peek() <= 'z') {
                made += left_[0];
                left_.remove_prefix(1);
            }
            return made;
        }
        skip('[');
        while (peek() == '"') {
            made += text() + "\n";
            if (peek() == ',') skip(',');
        }
        skip(']');
        return made;
    }
    // Code points are bytes.
    std::string text() {
        std::string made;
        skip('"');
        while (!left_.empty() && left_[0] != '"') {
            char c = left_[0];
            left_.remove_prefix(1);
            if (c == '\\') {
                c = left_[0];
                left_.remove_prefix(1);
                if (c == 'u') {
                    made += static_cast<char>(std::stoi(std::string(left_.substr(0, 4)), nullptr, 16));
                    left_.remove_prefix(4);
                    continue;
                }
                if (c == 'n') c = '\n';
                if (c == 'r') c = '\r';
                if (c == 't') c = '\t';
            }
            made += c;
        }
        skip('"');
        return made;
    }

    std::string_view left_;
};

/// ${X*N} stands for N times X.
inline std::string expanded(std::string_view text) {
    std::string made;
    for (;;) {
        const std::size_t at = text.find("${");
        made += text.substr(0, at);
        if (at == text.npos) return made;
        const std::size_t end = text.find('}', at);
        const std::string_view inside = text.substr(at + 2, end - at - 2);
        const std::size_t star = inside.rfind('*');
        const int times = std::stoi(std::string(inside.substr(star + 1)));
        for (int i = 0; i < times; ++i) made += inside.substr(0, star);
        text.remove_prefix(end + 1);
    }
}

/// The cases of tests/vectors/NAME. A test runs somewhere below the root of the tree; empty when it does not.
inline std::vector<fields> read_cases(const std::string& name) {
    std::vector<fields> cases;
    std::filesystem::path folder = std::filesystem::current_path();
    for (int i = 0; i < 12; ++i, folder = folder.parent_path()) {
        std::ifstream file(folder / "tests/vectors" / name);
        for (std::string line; std::getline(file, line);) cases.push_back(line_reader(line).read());
        if (!cases.empty()) break;
    }
    return cases;
}

}  // namespace martlet::inline v0::testing
