// What of the loop depends on exact times: in virtual time.
#include <martlet/rt/loop.hpp>

#include <vector>

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

class noted_moment final : public ready_node {
public:
    explicit noted_moment(sim::simulation& world) : ready_node(&noted_moment::note), world_(world) {}
    time_point when{};
    int times = 0;

private:
    static void note(ready_node& node) noexcept {
        auto& self = static_cast<noted_moment&>(node);
        self.when = self.world_.now();
        ++self.times;
    }
    sim::simulation& world_;
};

TEST(LoopSim, AnExactNodeIsQueuedAtItsNanosecond) {
    sim::simulation world;
    loop on;
    noted_moment node(world);
    const time_point begin = world.now();
    on.arm_exactly(node, begin + 1'234'567ns);
    EXPECT_EQ(on.next_deadline(), begin + 1'234'567ns);
    on.turn(1ms);
    EXPECT_EQ(world.now(), begin + 1ms);
    EXPECT_EQ(node.times, 0);
    on.turn(1h);
    EXPECT_EQ(node.when, begin + 1'234'567ns);
    on.turn(5ms);
    EXPECT_EQ(node.times, 1);
}

TEST(LoopSim, AnExactNodeIsReplacedForgottenAndNeverEarly) {
    sim::simulation world;
    loop on;
    noted_moment first(world), second(world);
    const time_point begin = world.now();
    on.arm_exactly(first, begin + 100us);
    on.arm_exactly(second, begin + 300us);
    on.turn(1ms);
    EXPECT_EQ(first.times, 0);
    EXPECT_EQ(second.when, begin + 300us);
    on.arm_exactly(first, begin + 500us);
    on.arm_exactly(first, never);
    on.turn(2ms);
    EXPECT_EQ(first.times, 0);
    // One that is due already does not wait.
    const time_point now = world.now();
    on.arm_exactly(first, now - 1ms);
    on.turn(1h);
    EXPECT_EQ(first.when, now);
}

TEST(LoopSim, TimersOfTheWheelRunBesideAnExactNode) {
    sim::simulation world;
    loop on;
    noted_moment node(world);
    on.run([&]() -> task<> {
        const time_point begin = world.now();
        on.arm_exactly(node, begin + 20ms + 1ns);
        static_cast<void>(co_await sleep_for(10ms));
        EXPECT_LE(world.now() - begin, 12ms);
        EXPECT_EQ(node.times, 0);
        static_cast<void>(co_await sleep_for(20ms));
        EXPECT_EQ(node.when, begin + 20ms + 1ns);
    }());
}

TEST(LoopSim, MemoryKeptForTheNextTurnsLeavesWhenThereAreNone) {
    sim::simulation world;
    loop on;
    on.turn(duration::zero());
    const std::size_t before = world.mapped_bytes();
    std::vector<char*> taken;
    for (int i = 0; i < 300; ++i) taken.push_back(on.blocks().allocate_small());
    EXPECT_GE(world.mapped_bytes(), before + 300 * block_source::small_block_bytes);
    for (char* block : taken) on.blocks().free_small(block);
    const std::uint64_t turns = on.turns();
    on.run([]() -> task<> { static_cast<void>(co_await sleep_for(2s)); }());
    // A pool keeps one page of its own: of blocks, and of frames.
    EXPECT_LE(world.mapped_bytes(), before + 2 * page_bytes);
    EXPECT_LE(on.turns() - turns, 12u) << "a loop that has nothing to do sleeps";
    on.trim();
    EXPECT_EQ(world.mapped_bytes(), before);
}

}  // namespace
