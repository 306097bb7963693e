#include <martlet/server/detail/buffered_bytes.hpp>

#include <gtest/gtest.h>

#include <random>

namespace martlet::server::detail {
namespace {

constexpr std::size_t step = buffered_bytes_share::step_bytes;

TEST(buffered_bytes, pressure_begins_at_three_quarters) {
    buffered_bytes all(8 * step);
    buffered_bytes_share one(all);
    EXPECT_EQ(one.now(), pressure::none);
    one.add(5 * step);
    EXPECT_EQ(one.now(), pressure::none);
    one.add(1);
    EXPECT_EQ(one.now(), pressure::tight);
    one.add(step);
    EXPECT_EQ(one.now(), pressure::tight);
    one.add(step);
    EXPECT_EQ(one.now(), pressure::full);
    one.remove(7 * step + 1);
    EXPECT_EQ(one.now(), pressure::none);
}

TEST(buffered_bytes, loops_add_up) {
    buffered_bytes all(4 * step);
    buffered_bytes_share one(all), other(all);
    one.add(2 * step);
    other.add(2 * step);
    EXPECT_EQ(one.now(), pressure::full);
    one.remove(2 * step);
    EXPECT_EQ(other.now(), pressure::none);
    EXPECT_EQ(all.held(), 2 * step);
    other.remove(2 * step);
    EXPECT_EQ(all.held(), 0u);
}

TEST(buffered_bytes, the_sum_is_never_off_by_more_than_a_step_or_two) {
    std::mt19937_64 random(7);
    buffered_bytes all(1 << 30);
    {
        buffered_bytes_share one(all);
        for (int i = 0; i < 20'000; ++i) {
            const std::uint64_t target = random() % (10 * step);
            one.change(one.held(), target);
            ASSERT_EQ(one.held(), target);
            ASSERT_GE(all.held(), target);
            ASSERT_LT(all.held(), target + 2 * step);
        }
        one.remove(one.held());
    }
    EXPECT_EQ(all.held(), 0u);
}

TEST(buffered_bytes, a_small_limit_is_free_again_when_nothing_is_held) {
    buffered_bytes all(step);
    buffered_bytes_share one(all);
    one.add(step / 2);
    EXPECT_EQ(one.now(), pressure::full);
    one.remove(step / 2);
    EXPECT_EQ(one.now(), pressure::none);
    EXPECT_EQ(all.held(), 0u);
}

TEST(buffered_bytes, steps_are_told_and_nothing_between) {
    buffered_bytes all(1 << 30);
    buffered_bytes_share one(all);
    one.add(1);
    EXPECT_EQ(all.held(), step);
    one.add(step - 1);
    EXPECT_EQ(all.held(), step);
    one.add(1);
    EXPECT_EQ(all.held(), 2 * step);
    // It does not go to and fro at an edge.
    one.remove(1);
    EXPECT_EQ(all.held(), 2 * step);
    one.remove(step);
    EXPECT_EQ(all.held(), 0u);
}

}  // namespace
}  // namespace martlet::server::detail
