// request: what is sent to a target, encoded once.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan.hpp"

namespace load {

/// What all targets have in common.
struct request_parts {
    std::string method;  // empty: GET, or POST with content
    std::vector<std::pair<std::string, std::string>> fields;
    std::optional<std::string> content;
    bool closes = false;
};

/// The error is a sentence that says what is wrong. A field "Host" takes the place of the URL's; `unix_path` that of its address.
std::expected<target, std::string> make_target(const std::string& url, unsigned share, const request_parts& parts,
                                               std::string_view unix_path);

}  // namespace load
