#include "lane.hpp"

#include <map>

#include <gtest/gtest.h>

namespace {

using namespace load;
using namespace std::chrono_literals;
using martlet::time_point;

plan plan_of(std::initializer_list<std::pair<int, unsigned>> ports_and_shares) {
    plan out;
    for (const auto& [port, share] : ports_and_shares) {
        target one;
        one.where = martlet::net::address::ipv4_loopback(static_cast<std::uint16_t>(port));
        one.share = share;
        out.targets.push_back(one);
    }
    return out;
}

TEST(LoadLanes, AClosedLoopHasOneForEachAddress) {
    plan what = plan_of({{1, 1}, {2, 1}, {1, 2}});
    what.connections = 10;
    const auto lanes = lanes_of(what);
    ASSERT_EQ(lanes.size(), 2u);
    EXPECT_EQ(lanes[0].targets, (std::vector<std::uint32_t>{0, 2}));
    EXPECT_EQ(lanes[0].connections + lanes[1].connections, 10u);
    EXPECT_EQ(lanes[0].connections, 7u);
}

TEST(LoadLanes, AFixedRateHasOneForEachTarget) {
    plan what = plan_of({{1, 3}, {1, 1}});
    what.connections = 8;
    what.rate = 1000;
    what.requests = 10;
    const auto lanes = lanes_of(what);
    ASSERT_EQ(lanes.size(), 2u);
    EXPECT_DOUBLE_EQ(lanes[0].rate, 750);
    EXPECT_DOUBLE_EQ(lanes[1].rate, 250);
    EXPECT_EQ(*lanes[0].requests + *lanes[1].requests, 10u);
    EXPECT_EQ(lanes[0].connections + lanes[1].connections, 8u);
}

TEST(LoadLanes, PartsOfThreadsSumToTheWhole) {
    for (const unsigned connections : {1u, 2u, 5u, 16u}) {
        for (const unsigned threads : {1u, 2u, 3u, 7u}) {
            lane whole;
            whole.connections = connections;
            whole.first_thread = 2 % threads;
            whole.requests = 101;
            unsigned sum = 0;
            std::uint64_t requests = 0;
            std::map<unsigned, int> indexes;
            for (unsigned thread = 0; thread < threads; ++thread) {
                const lane_part part = part_of(whole, thread, threads);
                if (part.connections == 0) continue;
                sum += part.connections;
                requests += *part.requests;
                EXPECT_EQ(++indexes[part.index], 1);
                EXPECT_LT(part.index, part.parts);
            }
            EXPECT_EQ(sum, connections);
            EXPECT_EQ(requests, 101u);
        }
    }
}

TEST(LoadLanes, SharesAreKeptAtEveryMoment) {
    plan what = plan_of({{1, 5}, {1, 1}, {1, 2}});
    share_sequence sequence(what, lanes_of(what)[0], 3);
    std::map<std::uint32_t, int> seen;
    for (int i = 1; i <= 800; ++i) {
        ++seen[sequence.next()];
        EXPECT_NEAR(seen[0], i * 5.0 / 8, 1.5);
        EXPECT_NEAR(seen[1], i * 1.0 / 8, 1.5);
    }
    EXPECT_EQ(seen[2], 200);
}

// The requests of all threads together are one each `1 / rate`, none twice and none missing.
TEST(LoadLanes, ArrivalsOfThreadsInterleave) {
    plan what = plan_of({{1, 1}});
    what.rate = 1000;
    what.connections = 5;
    what.threads = 3;
    what.length = 10ms;
    const auto lanes = lanes_of(what);
    const time_point begin(5s);
    std::map<time_point, int> due;
    for (unsigned thread = 0; thread < what.threads; ++thread) {
        lane_state state(what, lanes[0], part_of(lanes[0], thread, what.threads));
        EXPECT_EQ(state.claim(begin + 1h, 100), 0u);
        state.start(begin);
        EXPECT_EQ(state.unsent(begin + 1h), thread == 0 ? 4u : 3u);
        while (state.claim(begin + 1h, 1) == 1) ++due[state.due_of(state.next() - 1)];
        EXPECT_TRUE(state.is_spent());
        EXPECT_EQ(state.unsent(begin + 1h), 0u);
    }
    ASSERT_EQ(due.size(), 10u);
    int number = 0;
    for (const auto& [when, times] : due) {
        EXPECT_EQ(when, begin + number++ * 1ms);
        EXPECT_EQ(times, 1);
    }
}

// A rate of 1000 that rises over 100 ms: 50 requests while it rises, and then one each millisecond.
TEST(LoadLanes, ARampRisesEvenly) {
    plan what = plan_of({{1, 1}});
    what.rate = 1000;
    what.connections = 4;
    what.threads = 2;
    what.length = 200ms;
    what.ramp = 100ms;
    const auto lanes = lanes_of(what);
    const time_point begin(5s);
    std::map<std::int64_t, int> due;  // by tenths of the ramp
    time_point last = begin;
    for (unsigned thread = 0; thread < what.threads; ++thread) {
        lane_state state(what, lanes[0], part_of(lanes[0], thread, what.threads));
        state.start(begin);
        EXPECT_EQ(state.unsent(begin + 1h), 75u);
        for (; state.claim(begin + 1h, 1) == 1; last = state.due_of(state.next() - 1))
            ++due[(state.due_of(state.next() - 1) - begin) / 10ms];
    }
    // The sum so far grows with the square of the time, and then with the time.
    int sum = 0;
    for (int tenth = 0; tenth < 20; ++tenth) {
        sum += due[tenth];
        const double at = tenth + 1;
        EXPECT_NEAR(sum, at <= 10 ? at * at / 2 : 10 * at - 50, 1.01) << tenth;
    }
    EXPECT_EQ(sum, 150);
    EXPECT_EQ(last, begin + 199ms);
}

TEST(LoadLanes, OnlyWhatIsDueIsClaimed) {
    plan what = plan_of({{1, 1}});
    what.rate = 1000;
    const auto lanes = lanes_of(what);
    lane_state state(what, lanes[0], part_of(lanes[0], 0, 1));
    const time_point begin(1s);
    state.start(begin);
    EXPECT_EQ(state.claim(begin, 10), 1u);
    EXPECT_EQ(state.claim(begin + 999us, 10), 0u);
    EXPECT_EQ(state.claim(begin + 5ms, 3), 3u);
    EXPECT_EQ(state.unsent(begin + 5ms), 2u);
    EXPECT_EQ(state.next_due(), begin + 4ms);
    state.stop();
    EXPECT_EQ(state.claim(begin + 1s, 10), 0u);
}

}  // namespace
