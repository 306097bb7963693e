// Time as an argument: a point on the monotonic clock, in nanoseconds. Nothing here reads a clock.
#pragma once

#include <chrono>

namespace martlet::inline v0 {

using duration = std::chrono::nanoseconds;

/// Names the monotonic clock of the kernel seam. It has no now(): code below the runtime is given the time.
struct monotonic_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<monotonic_clock>;
    static constexpr bool is_steady = true;
};

using time_point = monotonic_clock::time_point;

/// No deadline.
inline constexpr time_point never = time_point::max();

/// `from` + `length`, or `never` where the sum does not fit.
constexpr time_point saturating_add(time_point from, duration length) noexcept {
    if (length > duration::zero() && from.time_since_epoch() > duration::max() - length) return never;
    return from + length;
}

}  // namespace martlet::inline v0
