#include <martlet/rt/stall_watch.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace martlet;
using namespace std::chrono_literals;

time_point at(duration since_start) { return time_point(1000s + since_start); }

TEST(StallDetector, SaysNothingWhileTurnsFollowOneAnother) {
    stall_detector detector(100ms);
    for (std::uint64_t turn = 0; turn < 100; ++turn) {
        EXPECT_FALSE(detector.look(at(50ms * turn), turn, false, "handler"));
    }
}

TEST(StallDetector, SaysNothingWhileTheLoopWaits) {
    stall_detector detector(100ms);
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(detector.look(at(1s * i), 7, true, "handler"));
}

TEST(StallDetector, NamesWhatHeldTheLoopAndForHowLong) {
    stall_detector detector(100ms);
    EXPECT_FALSE(detector.look(at(0ms), 7, false, "GET /slow"));
    EXPECT_FALSE(detector.look(at(50ms), 7, false, "GET /slow"));
    EXPECT_FALSE(detector.look(at(99ms), 7, false, "GET /slow"));
    const auto stall = detector.look(at(100ms), 7, false, "GET /slow");
    ASSERT_TRUE(stall);
    EXPECT_STREQ(stall->activity(), "GET /slow");
    EXPECT_EQ(stall->lasting(), 100ms);
    EXPECT_EQ(stall->turn(), 7u);
}

TEST(StallDetector, RepeatsAtGrowingIntervals) {
    stall_detector detector(100ms);
    std::vector<int> reported;
    for (int ms = 0; ms <= 2000; ms += 50) {
        if (detector.look(at(std::chrono::milliseconds(ms)), 7, false, "x")) reported.push_back(ms);
    }
    EXPECT_EQ(reported, (std::vector<int>{100, 200, 400, 800, 1600}));
}

TEST(StallDetector, ALateLookBringsOneReport) {
    stall_detector detector(100ms);
    EXPECT_FALSE(detector.look(at(0ms), 7, false, "x"));
    EXPECT_TRUE(detector.look(at(10s), 7, false, "x"));
    EXPECT_FALSE(detector.look(at(19s), 7, false, "x"));
    EXPECT_TRUE(detector.look(at(20s), 7, false, "x"));
}

TEST(StallDetector, BeginsAnewWithEachTurnAndAfterAWait) {
    stall_detector detector(100ms);
    EXPECT_FALSE(detector.look(at(0ms), 7, false, "x"));
    EXPECT_TRUE(detector.look(at(150ms), 7, false, "x"));
    EXPECT_FALSE(detector.look(at(200ms), 8, false, "x")) << "seen first";
    EXPECT_FALSE(detector.look(at(299ms), 8, false, "x"));
    EXPECT_TRUE(detector.look(at(300ms), 8, false, "x"));
    EXPECT_FALSE(detector.look(at(350ms), 8, true, "x"));
    EXPECT_FALSE(detector.look(at(400ms), 8, false, "x")) << "the same number, but it has waited in between";
    EXPECT_TRUE(detector.look(at(500ms), 8, false, "x"));
}

TEST(StallDetector, WhatWasNeverNamedIsCalledSo) {
    stall_detector detector(10ms);
    EXPECT_FALSE(detector.look(at(0ms), 0, false, nullptr));
    const auto stall = detector.look(at(10ms), 0, false, nullptr);
    ASSERT_TRUE(stall);
    EXPECT_STREQ(stall->activity(), "unnamed");
}

}  // namespace
