#include <martlet/base/assert.hpp>

#include <gtest/gtest.h>

namespace martlet {
namespace {

TEST(assert, evaluates_its_condition_once_and_goes_on) {
    int times = 0;
    MARTLET_ASSERT(++times == 1, "it holds");
    EXPECT_EQ(times, 1);
}

TEST(assert_death_test, prints_the_rule_and_the_condition) {
    EXPECT_DEATH(MARTLET_ASSERT(1 == 2, "numbers must agree"), "martlet: numbers must agree\n  \\(1 == 2 is false, .*assert_test.cpp:");
}

}  // namespace
}  // namespace martlet
