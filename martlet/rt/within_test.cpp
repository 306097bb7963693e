#include <martlet/rt/within.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include <martlet/rt/channel.hpp>
#include <martlet/rt/event.hpp>
#include <martlet/rt/run_internal.hpp>

namespace {

using namespace martlet;
using namespace std::chrono_literals;

TEST(Within, GivesWhatTheOperationGives) {
    loop on;
    on.run([]() -> task<> {
        const int number = co_await within(1h, []() -> task<int> { co_return 5; }());
        EXPECT_EQ(number, 5);
        auto owned = co_await within(1h, []() -> task<std::unique_ptr<int>> {
            co_await yield();
            co_return std::make_unique<int>(6);
        }());
        EXPECT_EQ(*owned, 6);
        co_await within(1h, []() -> task<> { co_return; }());
    }());
}

TEST(Within, ExpiryIsTheOperationsOwnError) {
    loop on;
    event e;
    channel<int> c(0);
    on.run([&]() -> task<> {
        const auto waited = co_await within(1ms, e.wait());
        EXPECT_FALSE(waited);
        EXPECT_TRUE(waited.error().is_timeout());
        const auto received = co_await within(1ms, c.receive());
        EXPECT_FALSE(received);
        EXPECT_TRUE(received.error().is_timeout());
        EXPECT_TRUE(received.error().is_retryable());
    }());
}

TEST(Within, ATaskMayGoOnAfterItsDeadline) {
    // The deadline ends the waiting; what the task then does is its own: it succeeds.
    loop on;
    event e;
    on.run([&]() -> task<> {
        const int given = co_await within(1ms, [](event& of) -> task<int> {
            const auto waited = co_await of.wait();
            co_return waited ? 1 : 2;
        }(e));
        EXPECT_EQ(given, 2);
    }());
}

TEST(Within, ZeroLeavesNoTimeForAnythingThatWaits) {
    loop on;
    event unset;
    event set;
    set.set();
    on.run([&]() -> task<> {
        const auto waited = co_await within(0s, unset.wait());
        EXPECT_FALSE(waited);
        const auto passed = co_await within(0s, set.wait());
        EXPECT_TRUE(passed) << "what is there is there";
    }());
}

TEST(Within, TakesAMoment) {
    loop on;
    event e;
    on.run([&]() -> task<> {
        const time_point until = on.clock() + 2ms;
        const auto waited = co_await within(until, e.wait());
        EXPECT_FALSE(waited);
        EXPECT_GE(on.clock(), until);
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> {
                co_await yield();
                e.set();
            });
            const auto unbound = co_await within(never, e.wait());
            EXPECT_TRUE(unbound);
        });
    }());
    EXPECT_EQ(on.next_deadline(), never);
}

TEST(Within, AnExceptionPassesThrough) {
    loop on;
    on.run([&]() -> task<> {
        bool caught = false;
        try {
            co_await within(1h, []() -> task<> {
                co_await yield();
                throw std::runtime_error("inside");
            }());
        } catch (const std::runtime_error&) {
            caught = true;
        }
        EXPECT_TRUE(caught);
    }());
    EXPECT_EQ(on.next_deadline(), never) << "the timer went with the context";
}

TEST(Within, AllocatesNothing) {
    loop on;
    event set;
    set.set();
    on.run([&]() -> task<> {
        const std::size_t before = on.frames_live();
        auto bounded = within(1h, within(2h, set.wait()));
        const auto passed = co_await bounded;
        EXPECT_TRUE(passed);
        EXPECT_EQ(on.frames_live(), before);
    }());
}

TEST(Shield, KeepsCancellationAndDeadlinesOut) {
    loop on;
    event e;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> {
                co_await yield();
                co_await yield();
                e.set();
            });
            s.spawn([&]() -> task<> {
                const auto kept = co_await within(0s, shield(e.wait()));
                EXPECT_TRUE(kept);
            });
            co_return;
        });
    }());
}

TEST(Shield, HasDeadlinesOfItsOwn) {
    loop on;
    event e;
    on.run([&]() -> task<> {
        const auto cut = co_await shield(within(1ms, e.wait()));
        EXPECT_FALSE(cut);
        EXPECT_TRUE(cut.error().is_timeout());
    }());
}

TEST(Shield, FinishesWhatWasBegunInACancelledScope) {
    loop on;
    int steps = 0;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> {
                static_cast<void>(co_await sleep_for(1h));
                const auto cleaning = co_await shield([](int& n) -> task<result<void>> {
                    ++n;
                    const auto slept = co_await sleep_for(1ms);
                    if (slept) ++n;
                    co_return slept;
                }(steps));
                EXPECT_TRUE(cleaning);
            });
            co_await yield();
            s.cancel();
        });
    }());
    EXPECT_EQ(steps, 2);
}

}  // namespace
