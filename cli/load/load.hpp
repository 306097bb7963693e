// load: the subcommand `martlet load`.
#pragma once

#include <span>

namespace load {

/// `words` are those behind "load". The program's status: 0, 1 when answers were wrong or none came, 2 misuse.
int main(std::span<const char* const> words);

}  // namespace load
