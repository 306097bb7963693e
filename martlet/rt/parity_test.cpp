// The scenarios of the simulated kernel, played against Linux: what the simulation is held to is what the kernel does.
#include <martlet/rt/sim/scenarios.hpp>

#include <gtest/gtest.h>

namespace martlet::inline v0::sim {
namespace {

class linux_kernel : public ::testing::TestWithParam<scenario> {};

TEST_P(linux_kernel, does_what_the_scenario_says) { EXPECT_EQ(log_of(GetParam()), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(all, linux_kernel, ::testing::ValuesIn(all_scenarios),
                         [](const auto& which) { return std::string(which.param.name); });

}  // namespace
}  // namespace martlet::inline v0::sim
