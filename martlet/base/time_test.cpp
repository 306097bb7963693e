#include <martlet/base/time.hpp>

#include <gtest/gtest.h>

namespace martlet {
namespace {

using namespace std::chrono_literals;

TEST(time, adding_saturates_at_never) {
    constexpr time_point start(1h);
    static_assert(saturating_add(start, 1s) == time_point(1h + 1s));
    EXPECT_EQ(saturating_add(start, duration::max()), never);
    EXPECT_EQ(saturating_add(never, 1ns), never);
    EXPECT_EQ(saturating_add(never, 0ns), never);
    EXPECT_EQ(saturating_add(time_point(duration::max() - 5ns), 5ns), never);
    EXPECT_EQ(saturating_add(time_point(duration::max() - 5ns), 4ns), time_point(duration::max() - 1ns));
    EXPECT_EQ(saturating_add(start, -1h), time_point(0ns));
    EXPECT_EQ(saturating_add(time_point(-5s), duration::max()), time_point(duration::max() - 5s));
}

}  // namespace
}  // namespace martlet
