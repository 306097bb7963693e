// numbers: numbers, times and lists of statuses as they are written on a command line, and times as people read them.
#pragma once

#include <bitset>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <martlet/base/time.hpp>

#include "plan.hpp"

namespace load {

/// A load without an end of its own; far enough from the end of the clock to be added to any moment.
inline constexpr martlet::duration forever = std::chrono::hours(24 * 365);

std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t most);
/// With or without a fraction; above 0.
std::optional<double> positive_number(std::string_view text);
/// "10s", "1.5s", "500ms", "20us", "2m", "1h"; a bare number is seconds. Up to a year.
std::optional<martlet::duration> time_of(std::string_view text);
/// "200", "2xx", "200,304,5xx".
std::optional<std::bitset<expectation::statuses>> statuses_of(std::string_view text);

/// "1.23 ms": three digits that count.
std::string time_text(double ns);
/// "12,345".
std::string grouped(std::uint64_t number);
/// With so many digits behind the point.
std::string fixed(double number, int digits);

}  // namespace load
