#include <martlet/rt/scope.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include <martlet/rt/event.hpp>
#include <martlet/rt/run_internal.hpp>

namespace {

using namespace martlet;
using namespace std::chrono_literals;

TEST(Scope, WaitsForAllChildren) {
    loop on;
    int ended = 0;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            for (int i = 0; i < 10; ++i) {
                s.spawn([&, i]() -> task<> {
                    for (int turns = 0; turns < i; ++turns) co_await yield();
                    ++ended;
                });
            }
            EXPECT_EQ(ended, 1) << "the one without a suspension has run to its end";
            EXPECT_EQ(s.size(), 9u);
            co_return;
        });
        EXPECT_EQ(ended, 10);
    }());
    EXPECT_EQ(on.frames_live(), 0u);
}

TEST(Scope, SpawnStartsInlineUntilTheFirstSuspension) {
    loop on;
    std::string order;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            order += "1";
            s.spawn([&]() -> task<> {
                order += "2";
                co_await yield();
                order += "4";
            });
            order += "3";
            co_return;
        });
    }());
    EXPECT_EQ(order, "1234");
}

TEST(Scope, SpawnKeepsACapturingLambdaAlive) {
    loop on;
    std::string seen;
    auto watched = std::make_shared<std::string>("captured text that is long enough to live on the heap");
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            {
                auto callable = [&seen, text = watched]() -> task<> {
                    co_await yield();
                    static_cast<void>(co_await sleep_for(1ms));
                    seen = *text;
                };
                s.spawn(std::move(callable));
            }
            EXPECT_EQ(watched.use_count(), 2);
            co_return;
        });
    }());
    EXPECT_EQ(seen, *watched);
    EXPECT_EQ(watched.use_count(), 1) << "and lets it go at its end";
}

TEST(Scope, SpawnKeepsItsArgumentsAlive) {
    loop on;
    std::string seen;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            std::string local = "an argument that is long enough to live on the heap";
            s.spawn(
                [&seen](std::string& text, const std::unique_ptr<int>& number) -> task<> {
                    co_await yield();
                    seen = text + std::to_string(*number);
                },
                std::move(local), std::make_unique<int>(5));
            co_return;
        });
    }());
    EXPECT_EQ(seen, "an argument that is long enough to live on the heap5");
}

TEST(Scope, GivesWhatTheBodyGives) {
    loop on;
    on.run([&]() -> task<> {
        const int number = co_await in_scope([](scope&) -> task<int> { co_return 4; });
        EXPECT_EQ(number, 4);
        auto owned = co_await in_scope([](scope&) -> task<std::unique_ptr<int>> {
            co_await yield();
            co_return std::make_unique<int>(5);
        });
        EXPECT_EQ(*owned, 5);
        const auto fine = co_await in_scope([](scope&) -> task<result<int>> { co_return 6; });
        EXPECT_EQ(fine, 6);
    }());
}

TEST(Scope, AThrowingChildCancelsItsSiblingsAndTheBody) {
    loop on;
    event never_set;
    int cancelled = 0;
    std::string caught;
    on.run([&]() -> task<> {
        try {
            co_await in_scope([&](scope& s) -> task<> {
                const auto wait = [&]() -> task<> {
                    const auto waited = co_await never_set.wait();
                    cancelled += !waited && waited.error().reason() == cancel_reason::cancelled;
                };
                s.spawn(wait);
                s.spawn([]() -> task<> {
                    co_await yield();
                    throw std::runtime_error("child");
                });
                s.spawn(wait);
                co_await wait();
            });
        } catch (const std::runtime_error& e) {
            caught = e.what();
        }
    }());
    EXPECT_EQ(cancelled, 3);
    EXPECT_EQ(caught, "child");
    EXPECT_EQ(on.frames_live(), 0u);
}

TEST(Scope, AChildsErrorCancelsToo) {
    loop on;
    event never_set;
    const auto given = on.run([&]() -> task<result<int>> {
        co_return co_await in_scope([&](scope& s) -> task<result<int>> {
            s.spawn([]() -> task<result<void>> {
                co_await yield();
                co_return failure(error::system(7));
            });
            const auto waited = co_await never_set.wait();
            if (!waited) co_return failure(waited.error());
            co_return 1;
        });
    }());
    ASSERT_FALSE(given);
    EXPECT_TRUE(given.error().is_system(7)) << "the first failure comes back, not the body's cancellation by it";
}

TEST(Scope, AChildsErrorIsThrownWhereTheBodyHasNoResult) {
    loop on;
    bool caught = false;
    on.run([&]() -> task<> {
        try {
            co_await in_scope([&](scope& s) -> task<> {
                s.spawn([]() -> task<result<void>> { co_return failure(error::system(7)); });
                co_return;
            });
        } catch (const std::bad_expected_access<error>& e) {
            caught = e.error().is_system(7);
        }
    }());
    EXPECT_TRUE(caught);
}

TEST(Scope, AFailingBodyCancelsItsChildren) {
    for (const bool by_throwing : {true, false}) {
        loop on;
        event never_set;
        int cancelled = 0;
        bool failed = false;
        on.run([&]() -> task<> {
            try {
                const auto given = co_await in_scope([&](scope& s) -> task<result<void>> {
                    for (int i = 0; i < 3; ++i) {
                        s.spawn([&]() -> task<> {
                            const auto waited = co_await never_set.wait();
                            cancelled += !waited;
                        });
                    }
                    if (by_throwing) throw std::runtime_error("body");
                    co_return failure(cancel_reason::peer_gone);
                });
                failed = !given && given.error().reason() == cancel_reason::peer_gone;
            } catch (const std::runtime_error&) {
                failed = by_throwing;
            }
        }());
        EXPECT_EQ(cancelled, 3);
        EXPECT_TRUE(failed);
    }
}

TEST(Scope, OnlyTheFirstFailureComesBack) {
    loop on;
    std::string caught;
    on.run([&]() -> task<> {
        try {
            co_await in_scope([&](scope& s) -> task<> {
                for (const int turns : {3, 1, 2}) {
                    s.spawn([turns]() -> task<> {
                        for (int i = 0; i < turns; ++i) co_await yield();
                        throw std::runtime_error(std::to_string(turns));
                    });
                }
                co_return;
            });
        } catch (const std::runtime_error& e) {
            caught = e.what();
        }
    }());
    EXPECT_EQ(caught, "1");
}

TEST(Scope, ATimeoutReachesTheSiblingsAsATimeout) {
    loop on;
    event never_set;
    cancel_reason seen = cancel_reason::none;
    const auto given = on.run([&]() -> task<result<void>> {
        co_return co_await in_scope([&](scope& s) -> task<result<void>> {
            s.spawn([&]() -> task<> {
                const auto waited = co_await never_set.wait();
                if (!waited) seen = waited.error().reason();
            });
            co_return co_await within(1ms, never_set.wait());
        });
    }());
    ASSERT_FALSE(given);
    EXPECT_TRUE(given.error().is_timeout());
    EXPECT_EQ(seen, cancel_reason::timed_out);
}

TEST(Scope, NothingStartsInACancelledOne) {
    loop on;
    bool ran = false;
    auto captured = std::make_shared<int>(0);
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            s.cancel();
            EXPECT_TRUE(s.is_cancelled());
            s.spawn([&ran, captured]() -> task<> {
                ran = true;
                co_return;
            });
            EXPECT_EQ(captured.use_count(), 1) << "the callable is dropped at once";
            co_return;
        });
    }());
    EXPECT_FALSE(ran);
}

TEST(Scope, CancelGivesItsReasonToBodyAndChildren) {
    loop on;
    event never_set;
    int told = 0;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> {
                const auto waited = co_await never_set.wait();
                told += !waited && waited.error().reason() == cancel_reason::shutting_down;
            });
            s.cancel(cancel_reason::shutting_down);
            const auto waited = co_await never_set.wait();
            told += !waited && waited.error().reason() == cancel_reason::shutting_down;
        });
    }());
    EXPECT_EQ(told, 2);
}

TEST(Scope, ChildrenMaySpawnAndScopesNest) {
    loop on;
    int leaves = 0;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            const auto grow = [&](auto& self, int depth) -> task<> {
                co_await yield();
                if (depth == 0) {
                    ++leaves;
                    co_return;
                }
                s.spawn([&self, depth]() -> task<> { co_await self(self, depth - 1); });
                co_await in_scope([&](scope& inner) -> task<> {
                    inner.spawn([&self, depth]() -> task<> { co_await self(self, depth - 1); });
                    co_return;
                });
            };
            co_await grow(grow, 6);
            // The callable must outlive those that refer to it.
            while (s.size() > 0) co_await yield();
        });
    }());
    EXPECT_EQ(leaves, 64);
    EXPECT_EQ(on.frames_live(), 0u);
}

TEST(Scope, AFailureInsideANestedScopeStaysInside) {
    loop on;
    event never_set;
    bool inner_failed = false;
    bool outer_fine = false;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> {
                static_cast<void>(co_await sleep_for(2ms));
                outer_fine = !s.is_cancelled();
            });
            try {
                co_await in_scope([&](scope& inner) -> task<> {
                    inner.spawn([&]() -> task<> { static_cast<void>(co_await never_set.wait()); });
                    co_await yield();
                    throw std::runtime_error("inner");
                });
            } catch (const std::runtime_error&) {
                inner_failed = true;
            }
        });
    }());
    EXPECT_TRUE(inner_failed);
    EXPECT_TRUE(outer_fine);
}

TEST(Scope, ThousandsOfChildrenInWavesLeaveNothing) {
    loop on;
    int ended = 0;
    on.run([&]() -> task<> {
        for (int wave = 0; wave < 10; ++wave) {
            co_await in_scope([&](scope& s) -> task<> {
                for (int i = 0; i < 2000; ++i) {
                    s.spawn([&, i]() -> task<> {
                        if (i % 3 != 0) co_await yield();
                        ++ended;
                    });
                }
                co_return;
            });
        }
    }());
    EXPECT_EQ(ended, 20'000);
    EXPECT_EQ(on.frames_live(), 0u);
    EXPECT_EQ(on.next_deadline(), never);
}

}  // namespace
