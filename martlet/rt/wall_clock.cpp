#include <martlet/rt/wall_clock.hpp>

#include <martlet/rt/kernel.hpp>

namespace martlet::inline v0 {

std::int64_t wall_clock_ns() noexcept { return kernel::realtime_ns(); }

}  // namespace martlet::inline v0
