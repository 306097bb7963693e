// pages: the board as HTML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "message.hpp"

namespace board {

/// What somebody tried to post, and what is wrong with it: the form shows it again.
struct attempt {
    posted what;
    faults wrong;
};

/// `text` with what HTML would take for markup escaped, for content and for quoted attributes.
std::string escaped(std::string_view text);

/// The page, newest message first. `messages` are oldest first.
std::string page(const std::vector<message>& messages, const attempt& tried = attempt());

}  // namespace board
