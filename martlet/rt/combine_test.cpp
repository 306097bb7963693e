#include <martlet/rt/combine.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <variant>

#include <martlet/rt/channel.hpp>
#include <martlet/rt/event.hpp>
#include <martlet/rt/run_internal.hpp>

namespace {

using namespace martlet;
using namespace std::chrono_literals;

task<int> after_turns(int turns, int value) {
    for (int i = 0; i < turns; ++i) co_await yield();
    co_return value;
}

task<int> throws_after(int turns, const char* what) {
    for (int i = 0; i < turns; ++i) co_await yield();
    throw std::runtime_error(what);
}

TEST(Both, GivesBothResultsHoweverTheyEnd) {
    for (const int a : {0, 1, 3}) {
        for (const int b : {0, 1, 3}) {
            loop on;
            on.run([](int left, int right) -> task<> {
                auto [x, y] = co_await both(after_turns(left, 1), after_turns(right, 2));
                EXPECT_EQ(x, 1);
                EXPECT_EQ(y, 2);
            }(a, b));
            EXPECT_EQ(on.frames_live(), 0u);
        }
    }
}

TEST(All, TakesTasksAndOperationsOfEveryKind) {
    loop on;
    event e;
    channel<std::string> c(1);
    on.run([&]() -> task<> {
        e.set();
        auto given = co_await all(
            e.wait(), after_turns(2, 7), c.send("x"), c.receive(), []() -> task<> { co_return; }(),
            []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); }());
        EXPECT_TRUE(std::get<0>(given));
        EXPECT_EQ(std::get<1>(given), 7);
        EXPECT_TRUE(std::get<2>(given));
        EXPECT_EQ(std::get<3>(given), "x");
        EXPECT_EQ(std::get<4>(given), std::monostate());
        EXPECT_EQ(*std::get<5>(given), 3);
    }());
}

TEST(All, CancelsNobodyWhenOneFails) {
    loop on;
    bool finished = false;
    std::string caught;
    on.run([&]() -> task<> {
        try {
            co_await all(
                throws_after(1, "first"),
                [](bool& done) -> task<> {
                    static_cast<void>(co_await sleep_for(2ms));
                    done = true;
                }(finished),
                throws_after(0, "third"));
        } catch (const std::runtime_error& e) {
            caught = e.what();
        }
    }());
    EXPECT_TRUE(finished);
    EXPECT_EQ(caught, "first") << "the first in the order of the arguments, not of time";
}

TEST(All, AnErrorIsAResultLikeAnother) {
    loop on;
    on.run([&]() -> task<> {
        auto [a, b] = co_await both(within(1ms, sleep_for(1h)), sleep_for(2ms));
        EXPECT_FALSE(a);
        EXPECT_TRUE(b);
    }());
}

TEST(All, RunsItsBranchesBesideOneAnother) {
    loop on;
    channel<int> c(0);
    on.run([&]() -> task<> {
        // Either alone would wait for ever.
        auto [sent, received] = co_await both(c.send(4), c.receive());
        EXPECT_TRUE(sent);
        EXPECT_EQ(received, 4);
    }());
}

TEST(All, ManyTimesOverWithoutStack) {
    loop on;
    long sum = 0;
    on.run([&]() -> task<> {
        for (int i = 0; i < 20'000; ++i) {
            auto [a, b] = co_await both(after_turns(i % 2, 1), after_turns(i % 3, 2));
            sum += a + b;
        }
    }());
    EXPECT_EQ(sum, 60'000);
}

TEST(First, TheWinnerIsToldAndLosersAreCancelledAndWaitedFor) {
    loop on;
    event never_set;
    bool loser_ended = false;
    on.run([&]() -> task<> {
        auto decided = co_await first(
            [](event& e, bool& ended) -> task<result<void>> {
                const auto waited = co_await e.wait();
                // Takes its time to clean up; first waits.
                co_await yield();
                co_await yield();
                ended = true;
                co_return waited;
            }(never_set, loser_ended),
            after_turns(1, 5));
        EXPECT_EQ(decided.index(), 1u);
        EXPECT_EQ(decided.value<1>(), 5);
        EXPECT_TRUE(loser_ended);
        EXPECT_TRUE(decided.value<0>());
        EXPECT_EQ(decided.value<0>()->error().reason(), cancel_reason::cancelled);
    }());
}

TEST(First, BranchesAreNotStartedOnceItIsDecided) {
    loop on;
    int started = 0;
    const auto start = [&](int turns) -> task<int> {
        ++started;
        for (int i = 0; i < turns; ++i) co_await yield();
        co_return turns;
    };
    on.run([&]() -> task<> {
        auto decided = co_await first(start(0), start(0), start(1));
        EXPECT_EQ(decided.index(), 0u);
        EXPECT_EQ(started, 1);
        EXPECT_TRUE(decided.value<0>());
        EXPECT_FALSE(decided.value<1>()) << "never started, so it has no result";
        EXPECT_FALSE(decided.value<2>());

        started = 0;
        auto later = co_await first(start(5), start(0), start(0));
        EXPECT_EQ(later.index(), 1u);
        EXPECT_EQ(started, 2);
        EXPECT_TRUE(later.value<0>()) << "started, so it was waited for";
        EXPECT_FALSE(later.value<2>());
    }());
}

TEST(First, ALoserThatCompletedAllTheSameKeepsItsResult) {
    loop on;
    channel<int> c(0);
    event go;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> {
                co_await yield();
                // Both branches are complete before either has run.
                go.set();
                int value = 8;
                EXPECT_TRUE(c.try_send(value));
            });
            auto decided = co_await first(go.wait(), c.receive());
            EXPECT_EQ(decided.index(), 0u);
            EXPECT_TRUE(decided.value<1>());
            EXPECT_EQ(decided.value<1>()->value_or(-1), 8) << "the value taken from the channel is not lost";
        });
    }());
}

TEST(First, AnExceptionOfTheWinnerIsThrownOneOfALoserIsNot) {
    loop on;
    event never_set;
    on.run([&]() -> task<> {
        std::string caught;
        try {
            auto decided = co_await first(throws_after(1, "winner"), never_set.wait());
            static_cast<void>(decided);
        } catch (const std::runtime_error& e) {
            caught = e.what();
        }
        EXPECT_EQ(caught, "winner");

        auto decided = co_await first(after_turns(1, 3), [](event& e) -> task<int> {
            static_cast<void>(co_await e.wait());
            throw std::runtime_error("loser");
        }(never_set));
        EXPECT_EQ(decided.index(), 0u);
        EXPECT_EQ(decided.value<0>(), 3);
        EXPECT_FALSE(decided.value<1>());
    }());
}

TEST(First, AnErrorDecidesLikeAValue) {
    loop on;
    event never_set;
    on.run([&]() -> task<> {
        auto decided = co_await first(never_set.wait(), within(1ms, sleep_for(1h)));
        EXPECT_EQ(decided.index(), 1u);
        EXPECT_TRUE(decided.value<1>()->error().is_timeout());
    }());
}

TEST(First, OfOne) {
    loop on;
    on.run([]() -> task<> {
        auto decided = co_await first(after_turns(2, 1));
        EXPECT_EQ(decided.index(), 0u);
        EXPECT_EQ(decided.value<0>(), 1);
    }());
}

TEST(First, NestedInAllAndTheOtherWayRound) {
    loop on;
    event never_set;
    on.run([&]() -> task<> {
        auto [one, two] = co_await both(first(never_set.wait(), after_turns(1, 1)), first(after_turns(2, 2), never_set.wait()));
        EXPECT_EQ(one.index(), 1u);
        EXPECT_EQ(two.index(), 0u);
        auto decided = co_await first(both(never_set.wait(), never_set.wait()), after_turns(1, 1));
        EXPECT_EQ(decided.index(), 1u);
        EXPECT_FALSE(std::get<0>(*decided.value<0>()));
    }());
    EXPECT_EQ(on.frames_live(), 0u);
}

}  // namespace
