#include <martlet/rt/sleep.hpp>

#include <gtest/gtest.h>

#include <string>

#include <martlet/rt/run_internal.hpp>

namespace {

using namespace martlet;
using namespace std::chrono_literals;

TEST(Sleep, NeverComesEarly) {
    loop on;
    on.run([&]() -> task<> {
        for (const duration length : {duration(1), duration(999'999), duration(1ms), duration(3ms), duration(7'500us)}) {
            const time_point begin = on.clock();
            const auto slept = co_await sleep_for(length);
            EXPECT_TRUE(slept);
            EXPECT_GE(on.clock() - begin, length);
        }
    }());
}

TEST(Sleep, ZeroAndThePastDoNotWait) {
    loop on;
    on.run([&]() -> task<> {
        const std::uint64_t turns = on.turns();
        const auto none = co_await sleep_for(0s);
        const auto less = co_await sleep_for(-5s);
        const auto past = co_await sleep_until(on.clock() - 1s);
        EXPECT_TRUE(none && less && past);
        EXPECT_EQ(on.turns(), turns);
    }());
}

TEST(Sleep, EndsInTheOrderOfTheDeadlines) {
    loop on;
    std::string order;
    on.run([&]() -> task<> {
        const time_point begin = on.clock();
        co_await in_scope([&](scope& s) -> task<> {
            for (const int after : {9, 3, 6, 1}) {
                s.spawn([&, after]() -> task<> {
                    static_cast<void>(co_await sleep_until(begin + std::chrono::milliseconds(after)));
                    order += static_cast<char>('0' + after);
                });
            }
            co_return;
        });
    }());
    EXPECT_EQ(order, "1369");
}

TEST(Sleep, LeavesNoTimerBehind) {
    loop on;
    on.run([&]() -> task<> {
        for (int i = 0; i < 1000; ++i) {
            auto decided = co_await first(sleep_for(1h), yield());
            EXPECT_EQ(decided.index(), 1u);
        }
    }());
    EXPECT_EQ(on.next_deadline(), never);
}

TEST(Yield, LetsWhatIsReadyRunFirst) {
    loop on;
    std::string order;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            for (const char name : {'a', 'b', 'c'}) {
                s.spawn([&, name]() -> task<> {
                    for (int i = 0; i < 3; ++i) {
                        order += name;
                        co_await yield();
                    }
                });
            }
            co_return;
        });
    }());
    EXPECT_EQ(order, "abcabcabc");
}

TEST(Yield, DoesNotStarveTheKernel) {
    // A task that only ever yields uses up the budget of a turn; the loop still looks at timers.
    loop on;
    bool rang = false;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> {
                static_cast<void>(co_await sleep_for(2ms));
                rang = true;
            });
            while (!rang) co_await yield();
        });
    }());
    EXPECT_TRUE(rang);
}

}  // namespace
