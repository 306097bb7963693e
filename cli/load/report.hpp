// report: what came of a load, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "plan.hpp"
#include "run.hpp"

namespace load {

/// The percentiles that reports show, from the median on.
struct percentile {
    double share;
    const char* name;        // in JSON
    const char* short_text;  // for people
};
inline constexpr percentile percentiles[] = {{0.5, "p50", "50 %"},         {0.75, "p75", "75 %"}, {0.9, "p90", "90 %"},
                                             {0.95, "p95", "95 %"},        {0.99, "p99", "99 %"}, {0.999, "p99_9", "99.9 %"},
                                             {0.9999, "p99_99", "99.99 %"}};

/// A line for the terminal, without its end.
std::string live_text(const moment& now);
/// Some lines for a person.
std::string text_report(const plan& what, const outcome& of);
/// One object; its names are an interface.
std::string json_report(const plan& what, const outcome& of);
/// A picture: latency over percentiles.
std::string svg_report(const plan& what, const outcome& of);
/// What must be known before the figures are believed, as sentences; none when all is well.
std::vector<std::string> warnings(const plan& what, const outcome& of);

}  // namespace load
