#include <martlet/rt/event.hpp>

#include <gtest/gtest.h>

#include <martlet/rt/run_internal.hpp>

namespace {

using namespace martlet;

TEST(Event, LetsAllWaitersGoAndLaterOnesPass) {
    loop on;
    event e;
    int passed = 0;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            for (int i = 0; i < 5; ++i) {
                s.spawn([&]() -> task<> {
                    const auto waited = co_await e.wait();
                    passed += waited.has_value();
                });
            }
            co_await yield();
            EXPECT_EQ(passed, 0);
            EXPECT_FALSE(e.is_set());
            e.set();
            EXPECT_EQ(passed, 0) << "nobody runs inside set()";
            co_await yield();
            EXPECT_EQ(passed, 5);
        });
        const auto waited = co_await e.wait();
        EXPECT_TRUE(waited);
    }());
}

TEST(Event, ResetMakesLaterOnesWaitButHoldsNobodyBack) {
    loop on;
    event e;
    int passed = 0;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            const auto wait = [&]() -> task<> {
                const auto waited = co_await e.wait();
                passed += waited.has_value();
            };
            s.spawn(wait);
            e.set();
            e.reset();
            s.spawn(wait);
            co_await yield();
            EXPECT_EQ(passed, 1) << "who waited when it was set has passed, who came after the reset has not";
            e.set();
            co_await yield();
            EXPECT_EQ(passed, 2);
        });
    }());
}

TEST(Event, SettingTwiceIsSettingOnce) {
    loop on;
    event e;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> { static_cast<void>(co_await e.wait()); });
            e.set();
            e.set();
            co_return;
        });
    }());
    EXPECT_TRUE(e.is_set());
}

}  // namespace
