// The calendar's time, for what is shown to people and peers. Nothing is timed by it: it may step.
#pragma once

#include <cstdint>

namespace martlet::inline v0 {

/// Nanoseconds since 1970, from the kernel seam.
std::int64_t wall_clock_ns() noexcept;

}  // namespace martlet::inline v0
