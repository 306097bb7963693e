#include "load.hpp"

#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <system_error>

#include <martlet/rt/kernel.hpp>

#include "command_line.hpp"
#include "report.hpp"
#include "run.hpp"

namespace load {

using namespace martlet;

namespace {

bool is_terminal(int number) {
    std::error_code wrong;
    const std::string name = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(number), wrong).string();
    return name.starts_with("/dev/pts/") || name.starts_with("/dev/tty");
}

// Each connection takes a descriptor, each thread some for its loop.
std::optional<std::string> make_room(const plan& what) {
    const std::int64_t wanted = std::int64_t{what.connections} + 8 * std::int64_t{what.threads} + 32;
    const std::int64_t allowed = kernel::descriptors_allow(wanted);
    if (allowed < 0 || allowed >= wanted) return std::nullopt;
    return std::to_string(what.connections) + " connections need " + std::to_string(wanted) + " descriptors, and the hard limit is " +
           std::to_string(allowed) + ": ask for fewer, or raise it (ulimit -Hn)";
}

bool write_file(const std::string& name, const std::string& text) {
    if (name == "-") {
        std::fputs(text.c_str(), stdout);
        return std::fflush(stdout) == 0;
    }
    std::ofstream file(name, std::ios::binary);
    file << text;
    file.close();
    if (!file) std::fprintf(stderr, "martlet load: cannot write \"%s\"\n", name.c_str());
    return !file.fail();
}

int report(const command_line& asked, const outcome& of) {
    bool written = true;
    if (asked.where.json != "-") std::fputs(text_report(asked.what, of).c_str(), stdout);
    if (!asked.where.json.empty()) written &= write_file(asked.where.json, json_report(asked.what, of));
    if (!asked.where.svg.empty()) written &= write_file(asked.where.svg, svg_report(asked.what, of));
    const bool all_right = of.has_begun && sum_of(of.total.faults()) == 0 && of.total.right() != 0;
    return all_right && written ? 0 : 1;
}

}  // namespace

int main(std::span<const char* const> words) {
    try {
        const auto asked = command_line::read(words);
        if (!asked) {
            std::fprintf(stderr, "martlet load: %s (--help tells more)\n", asked.error().c_str());
            return 2;
        }
        if (asked->wants_help) {
            std::fputs(usage, stdout);
            return 0;
        }
        if (const auto problem = make_room(asked->what)) {
            std::fprintf(stderr, "martlet load: %s\n", problem->c_str());
            return 2;
        }
        std::function<void(const moment&)> live;
        if (!asked->where.quiet && is_terminal(2)) {
            live = [](const moment& now) { std::fprintf(stderr, "\r\x1b[K%s", live_text(now).c_str()); };
        }
        const outcome of = run(asked->what, live);
        if (live && !of.moments.empty()) std::fputs("\r\x1b[K", stderr);
        return report(*asked, of);
    } catch (const std::exception& why) {
        std::fprintf(stderr, "martlet load: %s\n", why.what());
        return 1;
    }
}

}  // namespace load
