// The protocol of operations, each of them cancelled before it starts, while it waits and after it completed, and misuse.
#include <martlet/rt/operation.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include <martlet/rt/channel.hpp>
#include <martlet/rt/event.hpp>
#include <martlet/rt/run_internal.hpp>
#include <martlet/rt/semaphore.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/within.hpp>

namespace {

using namespace martlet;
using namespace std::chrono_literals;
using trial::cancelled_at;
using trial::moment;

const cancel_reason all_reasons[] = {cancel_reason::timed_out, cancel_reason::cancelled, cancel_reason::peer_gone,
                                     cancel_reason::shutting_down};

// Every operation fails with the reason when it is cancelled before or while it waits.
template <class Make>
void fails_with_each_reason(Make make) {
    for (const cancel_reason why : all_reasons) {
        for (const moment when : {moment::before, moment::waiting}) {
            loop on;
            const auto given = cancelled_at(on, when, why, make, [] {});
            ASSERT_FALSE(given);
            EXPECT_EQ(given.error().reason(), why);
        }
    }
}

// And succeeds when it had completed, though its awaiter had not run.
template <class Make, class Complete>
auto after_completion(Make make, Complete complete) {
    loop on;
    return cancelled_at(on, moment::completed, cancel_reason::cancelled, make, complete);
}

TEST(Operation, SleepCancelled) {
    fails_with_each_reason([] { return sleep_for(1h); });
}

TEST(Operation, SleepThatIsOverIsNotCancelled) {
    // Both timers expire in one turn; the first to run cancels the second, which is complete by then.
    loop on;
    std::optional<result<void>> second;
    on.run([&]() -> task<> {
        const time_point when = on.clock() + 2ms;
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> {
                static_cast<void>(co_await sleep_until(when));
                s.cancel();
            });
            s.spawn([&]() -> task<> {
                const auto slept = co_await sleep_until(when);
                second.emplace(slept);
            });
            co_return;
        });
    }());
    ASSERT_TRUE(second);
    EXPECT_TRUE(second->has_value());
}

TEST(Operation, EventWaitCancelled) {
    event e;
    fails_with_each_reason([&] { return e.wait(); });
    const auto given = after_completion([&] { return e.wait(); }, [&] { e.set(); });
    EXPECT_TRUE(given.has_value());
}

TEST(Operation, EventThatIsSetCountsAlsoInACancelledContext) {
    event e;
    e.set();
    loop on;
    const auto given = cancelled_at(on, moment::before, cancel_reason::cancelled, [&] { return e.wait(); }, [] {});
    EXPECT_TRUE(given.has_value());
}

TEST(Operation, SemaphoreAcquireCancelled) {
    semaphore s(1);
    auto held = s.try_acquire();
    fails_with_each_reason([&] { return s.acquire(); });
    {
        auto given = after_completion([&] { return s.acquire(); }, [&] { held = permit(); });
        ASSERT_TRUE(given);
        EXPECT_TRUE(static_cast<bool>(*given)) << "a permit that was handed over is kept";
        EXPECT_EQ(s.free_permits(), 0u);
    }
    EXPECT_EQ(s.free_permits(), 1u) << "no permit is lost";
}

TEST(Operation, ChannelSendCancelled) {
    channel<std::string> c(0);
    fails_with_each_reason([&] { return c.send("lost to nobody"); });
    EXPECT_FALSE(c.try_receive()) << "what was not accepted is not received";
    std::optional<std::string> got;
    const auto given = after_completion([&] { return c.send("accepted"); }, [&] { got = c.try_receive(); });
    EXPECT_TRUE(given.has_value());
    EXPECT_EQ(got, "accepted");
}

TEST(Operation, ChannelReceiveCancelled) {
    channel<std::unique_ptr<int>> c(4);
    fails_with_each_reason([&] { return c.receive(); });
    const auto give = [&] {
        auto value = std::make_unique<int>(7);
        EXPECT_TRUE(c.try_send(value));
    };
    auto given = after_completion([&] { return c.receive(); }, give);
    ASSERT_TRUE(given) << "a value handed over is not lost";
    EXPECT_EQ(**given, 7);
    EXPECT_EQ(c.size(), 0u);
}

TEST(Operation, WithinCancelledFromOutside) {
    event e;
    fails_with_each_reason([&] { return within(1h, e.wait()); });
    const auto given = after_completion([&] { return within(1h, e.wait()); }, [&] { e.set(); });
    EXPECT_TRUE(given.has_value());
}

TEST(Operation, ShieldedWaitIsNotCancelled) {
    for (const moment when : {moment::before, moment::waiting, moment::completed}) {
        event e;
        loop on;
        const auto make = [&] { return shield(sleep_for(1ms)); };
        const auto given = cancelled_at(on, when, cancel_reason::cancelled, make, [] {});
        EXPECT_TRUE(given.has_value());
    }
}

TEST(Operation, YieldIsOnlyGivingWay) {
    for (const moment when : {moment::before, moment::waiting, moment::completed}) {
        loop on;
        const auto make = []() -> task<int> {
            co_await yield();
            co_return 1;
        };
        EXPECT_EQ(cancelled_at(on, when, cancel_reason::cancelled, make, [] {}), 1);
    }
}

TEST(Operation, AllCancelledGivesTheReasonOfEach) {
    for (const cancel_reason why : all_reasons) {
        for (const moment when : {moment::before, moment::waiting}) {
            event e;
            channel<int> c(0);
            loop on;
            const auto make = [&] { return all(e.wait(), c.receive(), sleep_for(1h)); };
            const auto given = cancelled_at(on, when, why, make, [] {});
            ASSERT_FALSE(std::get<0>(given));
            ASSERT_FALSE(std::get<1>(given));
            ASSERT_FALSE(std::get<2>(given));
            EXPECT_EQ(std::get<0>(given).error().reason(), why);
            EXPECT_EQ(std::get<1>(given).error().reason(), why);
            EXPECT_EQ(std::get<2>(given).error().reason(), why);
        }
    }
}

TEST(Operation, AllThatIsCompleteIsNotCancelled) {
    event a;
    event b;
    const auto given = after_completion([&] { return both(a.wait(), b.wait()); },
                                        [&] {
                                            a.set();
                                            b.set();
                                        });
    EXPECT_TRUE(std::get<0>(given).has_value());
    EXPECT_TRUE(std::get<1>(given).has_value());
}

TEST(Operation, FirstCancelledFromOutside) {
    for (const moment when : {moment::before, moment::waiting}) {
        event a;
        event b;
        loop on;
        auto given = cancelled_at(on, when, cancel_reason::peer_gone, [&] { return first(a.wait(), b.wait()); }, [] {});
        ASSERT_TRUE(given.value<0>());
        ASSERT_FALSE(*given.value<0>());
        EXPECT_EQ(given.value<0>()->error().reason(), cancel_reason::peer_gone);
    }
}

TEST(Operation, FirstThatIsDecidedKeepsItsResult) {
    event a;
    event b;
    auto given = after_completion([&] { return first(a.wait(), b.wait()); }, [&] { b.set(); });
    // The other one was cancelled from outside in the same moment; which of the two ran first does not matter to the result.
    ASSERT_TRUE(given.value<1>());
    EXPECT_TRUE(given.value<1>()->has_value());
}

TEST(Operation, InScopeCancelledFromOutside) {
    for (const cancel_reason why : all_reasons) {
        event e;
        loop on;
        const auto make = [&] {
            return in_scope([&](scope& inner) -> task<result<void>> {
                inner.spawn([&]() -> task<result<void>> { co_return co_await e.wait(); });
                co_return co_await e.wait();
            });
        };
        const auto given = cancelled_at(on, moment::waiting, why, make, [] {});
        ASSERT_FALSE(given);
        EXPECT_EQ(given.error().reason(), why);
    }
}

TEST(Operation, MayBeAwaitedAgainOnceItHasEnded) {
    loop on;
    event e;
    channel<int> c(0);
    auto waiting = e.wait();
    auto receiving = c.receive();
    auto sleeping = sleep_for(1ms);
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            s.cancel();
            const auto waited = co_await waiting;
            const auto received = co_await receiving;
            const auto slept = co_await sleeping;
            EXPECT_FALSE(waited || received || slept);
        });
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> {
                e.set();
                static_cast<void>(co_await c.send(5));
            });
            const auto waited = co_await waiting;
            EXPECT_TRUE(waited);
            const auto received = co_await receiving;
            EXPECT_EQ(received, 5);
            const auto slept = co_await sleeping;
            EXPECT_TRUE(slept);
        });
    }());
}

TEST(Operation, CompletesOnlyThroughTheReadyList) {
    loop on;
    event e;
    bool resumed = false;
    trial::background<void> work(on, [](event& of, bool& seen) -> task<> {
        static_cast<void>(co_await of.wait());
        seen = true;
    }(e, resumed));
    e.set();
    EXPECT_FALSE(resumed);
    on.turn(duration::zero());
    EXPECT_TRUE(resumed);
}

TEST(Operation, WaitersRunInTheOrderInWhichTheyBecameReady) {
    loop on;
    event e;
    std::string order;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            for (const char name : {'a', 'b', 'c', 'd'}) {
                s.spawn([&, name]() -> task<> {
                    static_cast<void>(co_await e.wait());
                    order += name;
                });
            }
            e.set();
            co_return;
        });
    }());
    EXPECT_EQ(order, "abcd");
}

// --- misuse ---

TEST(OperationDeath, DestroyedWhileItWaits) {
    EXPECT_DEATH(
        {
            loop on;
            event e;
            auto waiting = std::make_unique<event::wait_operation>(e.wait());
            static_cast<void>(waiting->start(on.root(), std::noop_coroutine()));
            waiting.reset();
        },
        "must leave its list before it is destroyed|must not be destroyed while it waits");
}

TEST(OperationDeath, MovedWhileItWaits) {
    EXPECT_DEATH(
        {
            loop on;
            event e;
            auto waiting = e.wait();
            static_cast<void>(waiting.start(on.root(), std::noop_coroutine()));
            auto moved = std::move(waiting);
        },
        "must not be moved once it has started");
}

TEST(OperationDeath, WithinMovedWhileItWaits) {
    EXPECT_DEATH(
        {
            loop on;
            event e;
            auto waiting = within(1h, e.wait());
            static_cast<void>(waiting.start(on.root(), std::noop_coroutine()));
            auto moved = std::move(waiting);
        },
        "must not be moved once it has started");
}

TEST(OperationDeath, AwaitedTwiceAtOnce) {
    EXPECT_DEATH(
        {
            loop on;
            auto sleeping = sleep_for(1h);
            static_cast<void>(sleeping.start(on.root(), std::noop_coroutine()));
            static_cast<void>(sleeping.start(on.root(), std::noop_coroutine()));
        },
        "can be awaited once at a time");
}

TEST(OperationDeath, EventDestroyedUnderAWaiter) {
    EXPECT_DEATH(
        {
            loop on;
            auto e = std::make_unique<event>();
            auto waiting = e->wait();
            static_cast<void>(waiting.start(on.root(), std::noop_coroutine()));
            e.reset();
        },
        "a list must be empty when it is destroyed");
}

}  // namespace
