#include <martlet/rt/semaphore.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include <martlet/rt/run_internal.hpp>

namespace {

using namespace martlet;

TEST(Semaphore, GivesAsManyPermitsAsItHas) {
    semaphore s(2);
    auto a = s.try_acquire();
    auto b = s.try_acquire();
    auto c = s.try_acquire();
    EXPECT_TRUE(a);
    EXPECT_TRUE(b);
    EXPECT_FALSE(c);
    EXPECT_EQ(s.free_permits(), 0u);
    a = permit();
    EXPECT_EQ(s.free_permits(), 1u);
    permit moved = std::move(b);
    EXPECT_EQ(s.free_permits(), 1u);
    EXPECT_FALSE(b);  // NOLINT: a moved-from permit is empty
}

TEST(Semaphore, ServesInOrderOfArrival) {
    loop on;
    semaphore s(1);
    std::string order;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& jobs) -> task<> {
            for (const char name : {'a', 'b', 'c', 'd'}) {
                jobs.spawn([&, name]() -> task<> {
                    auto held = co_await s.acquire();
                    EXPECT_TRUE(held);
                    order += name;
                    co_await yield();
                });
            }
            co_return;
        });
    }());
    EXPECT_EQ(order, "abcd");
    EXPECT_EQ(s.free_permits(), 1u);
}

TEST(Semaphore, NobodyOvertakesWhoWaits) {
    loop on;
    semaphore s(1);
    bool overtook = true;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& jobs) -> task<> {
            auto held = s.try_acquire();
            jobs.spawn([&]() -> task<> {
                auto mine = co_await s.acquire();
                EXPECT_TRUE(mine);
            });
            held = permit();
            // The waiter has not run yet, but the permit is its.
            auto newcomer = s.try_acquire();
            overtook = static_cast<bool>(newcomer);
            co_return;
        });
    }());
    EXPECT_FALSE(overtook);
    EXPECT_EQ(s.free_permits(), 1u);
}

TEST(Semaphore, BoundsHowManyRunAtOnce) {
    loop on;
    semaphore s(3);
    int running = 0;
    int most = 0;
    int done = 0;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& jobs) -> task<> {
            for (int i = 0; i < 50; ++i) {
                jobs.spawn([&, i]() -> task<> {
                    auto held = co_await s.acquire();
                    most = std::max(most, ++running);
                    for (int turns = 0; turns <= i % 4; ++turns) co_await yield();
                    --running;
                    ++done;
                });
            }
            co_return;
        });
    }());
    EXPECT_EQ(most, 3);
    EXPECT_EQ(done, 50);
    EXPECT_EQ(s.free_permits(), 3u);
}

TEST(Semaphore, ACancelledWaiterIsPassedOver) {
    loop on;
    semaphore s(1);
    std::string order;
    on.run([&]() -> task<> {
        auto held = s.try_acquire();
        co_await in_scope([&](scope& jobs) -> task<> {
            jobs.spawn([&]() -> task<> {
                co_await in_scope([&](scope& inner) -> task<> {
                    inner.spawn([&]() -> task<> {
                        auto mine = co_await s.acquire();
                        order += mine ? "a" : "-";
                    });
                    co_await yield();
                    inner.cancel();
                });
            });
            jobs.spawn([&]() -> task<> {
                auto mine = co_await s.acquire();
                order += mine ? "b" : "-";
            });
            co_await yield();
            co_await yield();
            held = permit();
        });
    }());
    EXPECT_EQ(order, "-b");
}

}  // namespace
