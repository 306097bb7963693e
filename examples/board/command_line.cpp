#include "command_line.hpp"

#include <charconv>
#include <string_view>

namespace board {

const char* const usage = R"(usage: board [ADDRESS] [--database FILE] [--threads N]

Serves a message board on ADDRESS: 127.0.0.1:8080 unless given; also [::1]:8080, :8080 for all addresses of the machine, unix:/path.

  --database FILE   keeps the messages there; the file is made when there is none (default: board.db)
  --threads N       serves with N threads; 0 takes one for each processor (default: 1)
  --help            prints this

Ctrl-C or SIGTERM lets what is under way finish; a second one does not wait.
)";

namespace {

constexpr unsigned threads_max = 1024;

/// An option is `--name value` or `--name=value`; `at` is moved to its last word. False when `words[at]` is another word.
bool take(std::span<char* const> words, std::size_t& at, std::string_view name, std::string_view& value) {
    std::string_view word = words[at];
    if (!word.starts_with(name)) return false;
    word.remove_prefix(name.size());
    if (word.starts_with("=")) {
        value = word.substr(1);
        return true;
    }
    if (!word.empty()) return false;
    value = at + 1 < words.size() ? words[++at] : std::string_view();
    return true;
}

}  // namespace

std::expected<command_line, std::string> command_line::read(std::span<char* const> words) {
    command_line asked;
    bool has_address = false;
    for (std::size_t at = 0; at < words.size(); ++at) {
        const std::string_view word = words[at];
        std::string_view value;
        if (word == "--help" || word == "-h") {
            asked.wants_help_ = true;
        } else if (take(words, at, "--database", value)) {
            if (value.empty()) return std::unexpected("--database takes the name of a file");
            asked.database_ = value;
        } else if (take(words, at, "--threads", value)) {
            const auto [end, wrong] = std::from_chars(value.data(), value.data() + value.size(), asked.threads_);
            if (wrong != std::errc() || end != value.data() + value.size() || asked.threads_ > threads_max)
                return std::unexpected("--threads takes a number from 0 to " + std::to_string(threads_max));
        } else if (word.starts_with("-") || has_address) {
            return std::unexpected("what is \"" + std::string(word) + "\"?");
        } else {
            asked.address_ = word;
            has_address = true;
        }
    }
    return asked;
}

}  // namespace board
