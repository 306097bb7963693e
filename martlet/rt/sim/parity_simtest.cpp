// The scenarios, played against the simulated kernel: it does what Linux does, in whatever order events are reported.
#include <martlet/rt/sim/scenarios.hpp>
#include <martlet/rt/sim/simulation.hpp>

#include <gtest/gtest.h>

namespace martlet::inline v0::sim {
namespace {

class simulated_kernel : public ::testing::TestWithParam<scenario> {};

TEST_P(simulated_kernel, does_what_linux_does) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        simulation world((options(seed)));
        ASSERT_EQ(log_of(GetParam()), GetParam().expected) << "seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(all, simulated_kernel, ::testing::ValuesIn(all_scenarios),
                         [](const auto& which) { return std::string(which.param.name); });

}  // namespace
}  // namespace martlet::inline v0::sim
