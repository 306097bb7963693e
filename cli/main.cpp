// martlet: the program. What it can do are its subcommands.
#include <cstdio>
#include <span>
#include <string_view>

#include <cli/load/load.hpp>

namespace {

constexpr const char* usage = R"(usage: martlet COMMAND [options]

  load       sends requests to a server, checks every answer and says how long they took

  --help     this, or behind a command what that takes
  --version  the version
)";

}  // namespace

int main(int argc, char** argv) {
    const std::span<const char* const> words(argv + 1, argc < 1 ? argv + 1 : argv + argc);
    const std::string_view first = words.empty() ? "" : words[0];
    if (first == "load") return load::main(words.subspan(1));
    if (first == "--help" || first == "-h" || first == "help") {
        std::fputs(usage, stdout);
        return 0;
    }
    if (first == "--version") {
        std::puts("martlet " MARTLET_VERSION);
        return 0;
    }
    if (words.empty()) {
        std::fputs(usage, stderr);
    } else {
        std::fprintf(stderr, "martlet: there is no command \"%s\"; --help names them\n", words[0]);
    }
    return 2;
}
