// Every operation of the runtime that waits, with each fault at each step: cancelled before it starts, at each suspension and after it has
// completed; each kernel call failing; each allocation failing. What completed is never reported as cancelled, and nothing is left behind.
#include <algorithm>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <martlet/rt/channel.hpp>
#include <martlet/rt/combine.hpp>
#include <martlet/rt/event.hpp>
#include <martlet/rt/scope.hpp>
#include <martlet/rt/semaphore.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/stepping_internal.hpp>
#include <martlet/rt/within.hpp>

#include <gtest/gtest.h>

namespace {

using namespace martlet;
using namespace std::chrono_literals;
using sim::fault;
using sim::step_source;
using trial::run_stepped;

/// A play ends well, or with the error that its fault explains.
void expect_explained(step_source& steps, const result<void>& ended) {
    if (steps.is_faultless()) {
        EXPECT_TRUE(ended) << "nothing went wrong, and it failed: " << ended.error().text();
    } else if (!ended) {
        EXPECT_EQ(steps.kind(), fault::cancellation) << "failed with " << ended.error().text();
        EXPECT_EQ(ended.error().reason(), cancel_reason::cancelled);
    }
}

TEST(AtEveryStep, Sleep) {
    sim::at_every_step("sleep_for", [](step_source& steps) {
        loop on;
        const time_point begin = on.clock();
        const auto ended = run_stepped(steps, on, [](context&) -> task<result<void>> {
            auto slept = co_await sleep_for(10ms);
            co_return slept;
        });
        expect_explained(steps, ended);
        if (ended) {
            EXPECT_GE(on.clock() - begin, 10ms);
        } else {
            EXPECT_LE(on.clock() - begin, 10ms);
        }
    });
}

TEST(AtEveryStep, Yield) {
    sim::at_every_step("yield", [](step_source& steps) {
        loop on;
        const auto ended = run_stepped(steps, on, [](context&) -> task<result<void>> {
            for (int i = 0; i < 3; ++i) co_await yield();
            co_return result<void>();
        });
        EXPECT_TRUE(ended) << "giving way does not fail";
    });
}

TEST(AtEveryStep, Event) {
    sim::at_every_step("event", [](step_source& steps) {
        loop on;
        event happened;
        bool set_in_time = false;
        const auto ended = run_stepped(steps, on, [&](context& own) -> task<result<void>> {
            const auto set_later = [&]() -> task<> {
                auto slept = co_await sleep_for(5ms);
                set_in_time = slept.has_value() && !own.is_cancelled();
                happened.set();
            };
            auto [waited, set] = co_await both(happened.wait(), set_later());
            co_return waited;
        });
        expect_explained(steps, ended);
        EXPECT_EQ(ended.has_value(), set_in_time) << "what completed is no longer cancelled, and what was cancelled did not complete";
    });
}

TEST(AtEveryStep, ChannelLosesNothing) {
    for (const std::size_t capacity : {0u, 1u, 2u, 5u}) {
        sim::at_every_step("channel of " + std::to_string(capacity), [capacity](step_source& steps) {
            loop on;
            channel<int> between(capacity);
            std::vector<int> accepted;
            std::vector<int> received;
            // So that the test's own books need no memory later.
            accepted.reserve(8);
            received.reserve(8);
            const auto take_rest = [&] {
                while (auto left = between.try_receive()) received.push_back(*left);
            };
            try {
                const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
                    const auto produce = [&]() -> task<result<void>> {
                        for (int i = 0; i < 6; ++i) {
                            auto sent = co_await between.send(i);
                            if (!sent) co_return sent;
                            accepted.push_back(i);
                            if (i % 3 == 2) co_await yield();
                        }
                        between.close();
                        co_return result<void>();
                    };
                    const auto consume = [&]() -> task<result<void>> {
                        for (;;) {
                            auto got = co_await between.receive();
                            if (!got && got.error() == channel_closed) co_return result<void>();
                            if (!got) co_return failure(got.error());
                            received.push_back(*got);
                            auto slept = co_await sleep_for(1ms);
                            if (!slept) co_return slept;
                        }
                    };
                    co_return co_await in_scope([&](scope& jobs) -> task<result<void>> {
                        jobs.spawn(produce);
                        jobs.spawn(consume);
                        co_return result<void>();
                    });
                });
                expect_explained(steps, ended);
            } catch (const std::bad_alloc&) {
                take_rest();
                EXPECT_EQ(received, accepted);
                throw;
            }
            take_rest();
            EXPECT_EQ(received, accepted);
            if (steps.is_faultless()) {
                EXPECT_EQ(received.size(), 6u);
            }
        });
    }
}

TEST(AtEveryStep, SemaphoreKeepsItsPermits) {
    sim::at_every_step("semaphore", [](step_source& steps) {
        loop on;
        semaphore permits(2);
        int most = 0;
        int now = 0;
        const auto finally = [&] {
            EXPECT_EQ(permits.free_permits(), 2u);
            EXPECT_EQ(now, 0);
            EXPECT_LE(most, 2);
        };
        try {
            const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
                const auto work = [&]() -> task<result<void>> {
                    auto mine = co_await permits.acquire();
                    if (!mine) co_return failure(mine.error());
                    most = std::max(most, ++now);
                    auto slept = co_await sleep_for(2ms);
                    --now;
                    co_return slept;
                };
                co_return co_await in_scope([&](scope& jobs) -> task<result<void>> {
                    for (int i = 0; i < 5; ++i) jobs.spawn(work);
                    co_return result<void>();
                });
            });
            expect_explained(steps, ended);
            if (steps.is_faultless()) {
                EXPECT_EQ(most, 2);
            }
        } catch (const std::bad_alloc&) {
            finally();
            throw;
        } finally();
    });
}

TEST(AtEveryStep, WithinThatExpires) {
    sim::at_every_step("within, expiring", [](step_source& steps) {
        loop on;
        event never_set;
        bool was_cancelled = false;
        const auto ended = run_stepped(steps, on, [&](context& own) -> task<result<void>> {
            auto waited = co_await within(3ms, never_set.wait());
            was_cancelled = own.is_cancelled();
            co_return waited;
        });
        ASSERT_FALSE(ended);
        // Cancelled from above or by its own deadline, whichever came first; never both.
        if (steps.is_faultless()) {
            EXPECT_TRUE(ended.error().is_timeout());
        }
        if (!was_cancelled) {
            EXPECT_TRUE(ended.error().is_timeout());
        }
    });
}

TEST(AtEveryStep, WithinThatSuffices) {
    sim::at_every_step("within, in time", [](step_source& steps) {
        loop on;
        const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
            auto slept = co_await within(10ms, sleep_for(3ms));
            co_return slept;
        });
        expect_explained(steps, ended);
    });
}

TEST(AtEveryStep, Shield) {
    sim::at_every_step("shield", [](step_source& steps) {
        loop on;
        const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
            auto slept = co_await shield(sleep_for(3ms));
            co_return slept;
        });
        EXPECT_TRUE(ended) << "what is shielded is not cancelled";
    });
}

task<result<int>> give_after(duration length, int value) {
    auto slept = co_await sleep_for(length);
    if (!slept) co_return failure(slept.error());
    co_return value;
}

TEST(AtEveryStep, All) {
    sim::at_every_step("all", [](step_source& steps) {
        loop on;
        const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
            auto [one, two, three] = co_await all(give_after(2ms, 1), give_after(duration::zero(), 2), give_after(1ms, 3));
            // In a context that was cancelled before, none of them starts to wait.
            if (one) {
                EXPECT_EQ(*one, 1);
            }
            if (two) {
                EXPECT_EQ(*two, 2);
            }
            if (three) {
                EXPECT_EQ(*three, 3);
            }
            if (!three) {
                EXPECT_FALSE(one) << "the later one ended well, and the earlier one did not";
            }
            if (!one) co_return failure(one.error());
            co_return result<void>();
        });
        expect_explained(steps, ended);
    });
}

TEST(AtEveryStep, First) {
    sim::at_every_step("first", [](step_source& steps) {
        loop on;
        event never_set;
        const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
            auto decided = co_await first(give_after(20ms, 1), give_after(2ms, 2), never_set.wait());
            if (decided.template value<2>()) {
                EXPECT_FALSE(*decided.template value<2>());
            }
            if (decided.index() == 1) {
                auto& won = *decided.template value<1>();
                if (!won) co_return failure(won.error());
                EXPECT_EQ(*won, 2);
                EXPECT_FALSE(*decided.template value<0>()) << "a loser is cancelled";
                co_return result<void>();
            }
            EXPECT_EQ(decided.index(), 0u) << "cancelled, the first in order ends first";
            auto& other = *decided.template value<0>();
            EXPECT_FALSE(other);
            co_return failure(other.error());
        });
        expect_explained(steps, ended);
    });
}

TEST(AtEveryStep, ScopeWithAFailingChild) {
    sim::at_every_step("in_scope, failing child", [](step_source& steps) {
        loop on;
        int alive = 0;
        const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
            const auto sleeper = [&]() -> task<result<void>> {
                ++alive;
                auto slept = co_await sleep_for(1h);
                --alive;
                co_return slept;
            };
            const auto failing = [&]() -> task<result<void>> {
                auto slept = co_await sleep_for(1ms);
                if (!slept) co_return slept;
                co_return failure(error::system(ECONNRESET));
            };
            auto joined = co_await in_scope([&](scope& jobs) -> task<result<void>> {
                jobs.spawn(sleeper);
                jobs.spawn(failing);
                jobs.spawn(sleeper);
                auto slept = co_await sleep_for(1h);
                co_return slept;
            });
            EXPECT_EQ(alive, 0) << "nothing outlives the scope";
            co_return joined;
        });
        ASSERT_FALSE(ended);
        if (steps.is_faultless()) {
            EXPECT_TRUE(ended.error().is_system(ECONNRESET));
        }
        if (!ended.error().is_system(ECONNRESET)) {
            EXPECT_EQ(ended.error().reason(), cancel_reason::cancelled);
        }
    });
}

TEST(AtEveryStep, ScopeWithAThrowingChild) {
    sim::at_every_step("in_scope, throwing child", [](step_source& steps) {
        loop on;
        bool threw = false;
        const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
            try {
                co_await in_scope([&](scope& jobs) -> task<> {
                    jobs.spawn([]() -> task<> {
                        auto slept = co_await sleep_for(1ms);
                        if (slept) throw std::runtime_error("on purpose");
                    });
                    auto slept = co_await sleep_for(1h);
                    EXPECT_FALSE(slept) << "the child's failure or the cancellation ends the body";
                });
            } catch (const std::runtime_error&) {
                threw = true;
            }
            co_return result<void>();
        });
        expect_explained(steps, ended);
        if (steps.is_faultless()) {
            EXPECT_TRUE(threw);
        }
    });
}

TEST(AtEveryStep, Post) {
    sim::at_every_step("post", [](step_source& steps) {
        int ran = 0;
        int dropped = 0;
        int accepted = 0;
        struct counts {
            explicit counts(int& of) noexcept : of_(&of) {}
            counts(counts&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
            ~counts() {
                if (of_ != nullptr) ++*of_;
            }
            int* of_;
        };
        {
            loop on;
            const loop_handle handle = on.handle();
            event all_came;
            const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
                for (int i = 0; i < 3; ++i) {
                    accepted += handle.post([&, dies = counts(dropped)] {
                        if (++ran == 3) all_came.set();
                    });
                }
                auto waited = co_await all_came.wait();
                co_return waited;
            });
            expect_explained(steps, ended);
            // Left to the loop's end, which drops it.
            accepted += handle.post([&, dies = counts(dropped)] { ++ran; });
        }
        EXPECT_LE(ran, 3);
        if (steps.is_faultless()) {
            EXPECT_EQ(ran, 3);
        }
        EXPECT_EQ(dropped, 4) << "each function is destroyed once, run or not";
        EXPECT_EQ(accepted, 4);
    });
}

TEST(AtEveryStep, DeepTasks) {
    sim::at_every_step("tasks, three deep", [](step_source& steps) {
        loop on;
        const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
            const auto inner = [](int value) -> task<result<int>> { co_return co_await give_after(1ms, value); };
            const auto outer = [&](int value) -> task<result<int>> { co_return co_await inner(value); };
            int sum = 0;
            for (int i = 0; i < 3; ++i) {
                auto got = co_await outer(i);
                if (!got) co_return failure(got.error());
                sum += *got;
            }
            EXPECT_EQ(sum, 3);
            co_return result<void>();
        });
        expect_explained(steps, ended);
    });
}

}  // namespace
