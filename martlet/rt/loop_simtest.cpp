// What of the loop depends on exact times: in virtual time.
#include <martlet/rt/loop.hpp>

#include <gtest/gtest.h>

#include <martlet/rt/run_internal.hpp>
#include <martlet/rt/sim/simulation.hpp>

namespace {

using namespace martlet;
using namespace std::chrono_literals;

TEST(LoopSim, ATimerIsNotDelayedByTheAgeOfTheTurn) {
    // The wait is computed from the time now, not from when the last turn began: else this would wait for the idle second once more.
    sim::simulation world;
    loop on;
    on.turn(duration::zero());
    world.advance(1s);
    const time_point begin = world.now();
    on.run([]() -> task<> { static_cast<void>(co_await sleep_for(10ms)); }());
    EXPECT_GE(world.now() - begin, 10ms);
    EXPECT_LE(world.now() - begin, 12ms);
}

TEST(LoopSim, ATimerIsNotDelayedByALongHandler) {
    sim::simulation world;
    loop on;
    time_point begin;
    time_point slept;
    on.run([&]() -> task<> {
        begin = world.now();
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> {
                static_cast<void>(co_await sleep_for(100ms));
                slept = world.now();
            });
            s.spawn([&]() -> task<> {
                co_await yield();
                world.advance(90ms);
            });
            co_return;
        });
    }());
    EXPECT_GE(slept - begin, 100ms);
    EXPECT_LE(slept - begin, 102ms);
}

TEST(LoopSim, SleepsAreExactToATick) {
    sim::simulation world;
    loop on;
    on.run([&]() -> task<> {
        for (const duration length :
             {duration(1), duration(1ms), duration(64ms), duration(65ms), duration(4097ms), duration(1h), duration(240h)}) {
            const time_point begin = world.now();
            static_cast<void>(co_await sleep_for(length));
            EXPECT_GE(world.now() - begin, length);
            EXPECT_LE(world.now() - begin, length + 2ms);
        }
    }());
}

TEST(LoopSim, NestedDeadlinesExpireWhenTheNearestIsDue) {
    sim::simulation world;
    loop on;
    on.run([&]() -> task<> {
        const time_point begin = world.now();
        const auto cut = co_await within(50ms, within(20ms, within(1h, sleep_for(10h))));
        EXPECT_FALSE(cut);
        EXPECT_TRUE(cut.error().is_timeout());
        EXPECT_GE(world.now() - begin, 20ms);
        EXPECT_LE(world.now() - begin, 22ms);
    }());
}

}  // namespace
