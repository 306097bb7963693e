// command_line: what `martlet load` was asked for, as it was written, and the plan that follows from it.
#pragma once

#include <expected>
#include <span>
#include <string>

#include "plan.hpp"

namespace load {

/// Where results go.
struct output {
    std::string json;  // file names; "-" is standard output, empty is none
    std::string svg;
    bool quiet = false;  // no line while it runs
};

struct command_line {
    plan what;
    output where;
    bool wants_help = false;

    /// `words` are those behind `martlet load`. The error is a sentence that says what is wrong. Files are read.
    static std::expected<command_line, std::string> read(std::span<const char* const> words);
};

extern const char* const usage;

}  // namespace load
