#include <martlet/rt/blocking_pool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <martlet/rt/run_internal.hpp>
#include <martlet/rt/within.hpp>

namespace {

using namespace martlet;
using namespace std::chrono_literals;
using trial::moment;

const cancel_reason all_reasons[] = {cancel_reason::timed_out, cancel_reason::cancelled, cancel_reason::peer_gone,
                                     cancel_reason::shutting_down};

/// Work that sits on a thread until it is let go.
class gate {
public:
    void pass() noexcept {
        entered.release();
        open.acquire();
    }
    std::counting_semaphore<> entered{0};
    std::counting_semaphore<> open{0};
};

/// Lets a loop turn until `so`, from within one of its tasks.
template <class So>
task<> turn_until(So so) {
    while (!so()) co_await yield();
}

TEST(BlockingPool, GivesWhatTheWorkGives) {
    blocking_pool pool;
    EXPECT_EQ(pool.threads(), 0u) << "no thread before there is work";
    loop on;
    on.run([&]() -> task<> {
        const auto number = co_await run_blocking(pool, [] { return 7; });
        EXPECT_EQ(number, 7);
        const auto nothing = co_await run_blocking(pool, [] {});
        EXPECT_TRUE(nothing);
        auto owned = co_await run_blocking(pool, [] { return std::make_unique<std::string>("a text that is long enough for the heap"); });
        EXPECT_EQ(**owned, "a text that is long enough for the heap");
        // A result is flattened.
        const auto fine = co_await run_blocking(pool, []() -> result<int> { return 8; });
        EXPECT_EQ(fine, 8);
        const auto refused = co_await run_blocking(pool, []() -> result<int> { return failure(error::system(5)); });
        EXPECT_FALSE(refused);
        EXPECT_TRUE(refused.error().is_system(5));
    }());
    EXPECT_GE(pool.threads(), 1u);
}

TEST(BlockingPool, BorrowedWorkMayBeAwaitedAgain) {
    blocking_pool pool;
    loop on;
    int calls = 0;
    on.run([&]() -> task<> {
        auto work = run_blocking(pool, [&calls] { return ++calls; });
        for (int i = 1; i <= 3; ++i) {
            const auto number = co_await work;
            EXPECT_EQ(number, i);
        }
    }());
}

TEST(BlockingPool, RunsOnAnotherThreadWithoutALoop) {
    blocking_pool pool;
    loop on;
    on.run([&]() -> task<> {
        const auto elsewhere = co_await run_blocking(
            pool, [here = std::this_thread::get_id()] { return std::this_thread::get_id() != here && loop::current() == nullptr; });
        EXPECT_EQ(elsewhere, true);
        EXPECT_EQ(loop::current(), &on);
    }());
}

TEST(BlockingPool, RethrowsAtTheAwaiter) {
    blocking_pool pool;
    loop on;
    for (const bool owning : {false, true}) {
        std::string caught;
        on.run([&]() -> task<> {
            const auto work = []() -> int { throw std::runtime_error("from the pool"); };
            try {
                if (owning) {
                    static_cast<void>(co_await run_blocking_owning(pool, work));
                } else {
                    static_cast<void>(co_await run_blocking(pool, work));
                }
            } catch (const std::runtime_error& e) {
                caught = e.what();
            }
        }());
        EXPECT_EQ(caught, "from the pool");
    }
}

TEST(BlockingPool, StartsThreadsUpToItsLimit) {
    blocking_pool pool(blocking_pool_options().threads_max(3));
    loop on;
    gate held;
    int done = 0;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            for (int i = 0; i < 10; ++i) {
                s.spawn([&]() -> task<> {
                    const auto passed = co_await run_blocking(pool, [&] { held.pass(); });
                    done += passed.has_value();
                });
            }
            for (int i = 0; i < 3; ++i) held.entered.acquire();
            EXPECT_EQ(pool.threads(), 3u);
            EXPECT_EQ(pool.running(), 3u);
            EXPECT_EQ(pool.queued(), 7u);
            held.open.release(10);
            co_return;
        });
    }());
    EXPECT_EQ(done, 10);
    EXPECT_EQ(pool.queued(), 0u);
}

TEST(BlockingPool, AFullQueueRefuses) {
    blocking_pool pool(blocking_pool_options().threads_max(1).queued_max(2));
    loop on;
    gate held;
    int done = 0;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            const auto pass = [&]() -> task<> {
                const auto passed = co_await run_blocking(pool, [&] { held.pass(); });
                done += passed.has_value();
            };
            s.spawn(pass);
            held.entered.acquire();
            s.spawn(pass);
            s.spawn(pass);
            for (const bool owning : {false, true}) {
                bool ran = false;
                const auto work = [&ran] { ran = true; };
                result<void> refused;
                if (owning) {
                    refused = co_await run_blocking_owning(pool, work);
                } else {
                    refused = co_await run_blocking(pool, work);
                }
                EXPECT_FALSE(refused);
                EXPECT_EQ(refused.error(), blocking_pool_full);
                EXPECT_EQ(refused.error().http_status(), 503);
                EXPECT_TRUE(refused.error().is_retryable());
                EXPECT_EQ(refused.error().who(), blame::local);
                EXPECT_FALSE(ran);
            }
            held.open.release(3);
        });
    }());
    EXPECT_EQ(done, 3);
}

TEST(BlockingPool, CancelledBeforeItStartsItNeverRuns) {
    for (const cancel_reason why : all_reasons) {
        for (const bool owning : {false, true}) {
            blocking_pool pool;
            loop on;
            std::atomic<bool> ran = false;
            const auto make = [&]() -> task<result<void>> {
                if (owning) co_return co_await run_blocking_owning(pool, [&] { ran = true; });
                co_return co_await run_blocking(pool, [&] { ran = true; });
            };
            const auto given = trial::cancelled_at(on, moment::before, why, make, [] {});
            ASSERT_FALSE(given);
            EXPECT_EQ(given.error().reason(), why);
            EXPECT_FALSE(ran);
            EXPECT_EQ(pool.threads(), 0u);
        }
    }
}

TEST(BlockingPool, CancelledWhileQueuedItIsRemoved) {
    for (const cancel_reason why : all_reasons) {
        for (const bool owning : {false, true}) {
            blocking_pool pool(blocking_pool_options().threads_max(1));
            loop on;
            gate held;
            std::atomic<bool> ran = false;
            cancel_reason told = cancel_reason::none;
            on.run([&]() -> task<> {
                co_await in_scope([&](scope& outer) -> task<> {
                    outer.spawn([&]() -> task<> { static_cast<void>(co_await run_blocking(pool, [&] { held.pass(); })); });
                    held.entered.acquire();
                    co_await in_scope([&](scope& s) -> task<> {
                        s.spawn([&]() -> task<> {
                            result<void> given;
                            if (owning) {
                                given = co_await run_blocking_owning(pool, [&] { ran = true; });
                            } else {
                                given = co_await run_blocking(pool, [&] { ran = true; });
                            }
                            if (!given) told = given.error().reason();
                        });
                        EXPECT_EQ(pool.queued(), 1u);
                        s.cancel(why);
                        EXPECT_EQ(pool.queued(), 0u);
                        co_return;
                    });
                    held.open.release();
                });
            }());
            EXPECT_EQ(told, why);
            EXPECT_FALSE(ran);
        }
    }
}

TEST(BlockingPool, CancelledWhileItRunsBorrowedWorkIsWaitedForAndKept) {
    blocking_pool pool;
    loop on;
    gate held;
    int borrowed = 0;
    result<int> given = 0;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> {
                given = co_await run_blocking(pool, [&] {
                    held.pass();
                    borrowed = 5;
                    return 6;
                });
                EXPECT_EQ(borrowed, 5);
            });
            held.entered.acquire();
            s.cancel();
            for (int i = 0; i < 10; ++i) co_await yield();
            EXPECT_EQ(s.size(), 1u) << "the awaiter waits: the work borrows its things";
            held.open.release();
        });
    }());
    EXPECT_EQ(given, 6) << "and gets the value: what completed is not reported as cancelled";
}

TEST(BlockingPool, CancelledWhileItRunsOwningWorkIsLeftToItself) {
    std::atomic<int> dropped = 0;
    class counted {
    public:
        explicit counted(std::atomic<int>& of) noexcept : of_(&of) {}
        counted(counted&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
        ~counted() {
            if (of_ != nullptr) ++*of_;
        }

    private:
        std::atomic<int>* of_;
    };
    blocking_pool pool;
    auto held = std::make_shared<gate>();
    {
        loop on;
        cancel_reason told = cancel_reason::none;
        on.run([&]() -> task<> {
            co_await in_scope([&](scope& s) -> task<> {
                s.spawn([&]() -> task<> {
                    auto work = [held, &dropped] {
                        held->pass();
                        return counted(dropped);
                    };
                    auto given = co_await run_blocking_owning(pool, std::move(work));
                    if (!given) told = given.error().reason();
                });
                held->entered.acquire();
                s.cancel(cancel_reason::peer_gone);
                co_return;
            });
            // The scope has ended, and the work sits there still.
            EXPECT_EQ(told, cancel_reason::peer_gone);
            EXPECT_EQ(pool.running(), 1u);
            EXPECT_EQ(dropped, 0);
            held->open.release();
            // The result comes to the loop and is dropped there.
            co_await turn_until([&] { return dropped == 1; });
        }());
    }
    EXPECT_EQ(dropped, 1);
}

TEST(BlockingPool, OwningWorkOutlivesItsLoopAndLeaksNothing) {
    std::atomic<int> dropped = 0;
    auto held = std::make_shared<gate>();
    blocking_pool pool;
    {
        loop on;
        on.run([&]() -> task<> {
            co_await in_scope([&](scope& s) -> task<> {
                s.spawn([&]() -> task<> {
                    auto work = [held, &dropped] {
                        held->pass();
                        return std::shared_ptr<int>(new int(1), [&dropped](int* at) {
                            delete at;
                            ++dropped;
                        });
                    };
                    static_cast<void>(co_await run_blocking_owning(pool, std::move(work)));
                });
                held->entered.acquire();
                s.cancel();
                co_return;
            });
        }());
    }
    EXPECT_EQ(dropped, 0);
    held->open.release();
    pool.stop();
    EXPECT_EQ(dropped, 1) << "with its loop gone, the result is dropped by the thread that made it";
    EXPECT_EQ(held.use_count(), 1);
}

TEST(BlockingPool, WorkThatEndedIsNotReportedAsCancelled) {
    // The work has ended and its result is on the way to the loop, which has not looked yet: then comes the cancellation.
    for (const bool owning : {false, true}) {
        blocking_pool pool;
        loop on;
        result<int> given = 0;
        on.run([&]() -> task<> {
            co_await in_scope([&](scope& s) -> task<> {
                std::atomic<bool> ran = false;
                s.spawn([&]() -> task<> {
                    const auto work = [&ran] {
                        ran = true;
                        return 9;
                    };
                    if (owning) {
                        given = co_await run_blocking_owning(pool, work);
                    } else {
                        given = co_await run_blocking(pool, work);
                    }
                });
                // Without a turn of the loop.
                while (!ran || pool.running() != 0) std::this_thread::yield();
                s.cancel();
                while (s.size() != 0) co_await yield();
            });
        }());
        EXPECT_EQ(given, 9);
    }
}

TEST(BlockingPool, ADeadlineEndsTheWaitForQueuedWork) {
    blocking_pool pool(blocking_pool_options().threads_max(1));
    loop on;
    gate held;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> { static_cast<void>(co_await run_blocking(pool, [&] { held.pass(); })); });
            held.entered.acquire();
            const auto given = co_await within(2ms, run_blocking(pool, [] { return 1; }));
            EXPECT_FALSE(given);
            EXPECT_TRUE(given.error().is_timeout());
            held.open.release();
        });
    }());
}

TEST(BlockingPool, StopRefusesWhatIsQueuedAndWaitsForWhatRuns) {
    blocking_pool pool(blocking_pool_options().threads_max(1));
    loop on;
    gate held;
    int refused = 0;
    int ran = 0;
    std::thread stopper;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> {
                const auto given = co_await run_blocking(pool, [&] { held.pass(); });
                ran += given.has_value();
            });
            held.entered.acquire();
            for (const bool owning : {false, true}) {
                s.spawn([&, owning]() -> task<> {
                    result<void> given;
                    if (owning) {
                        given = co_await run_blocking_owning(pool, [] {});
                    } else {
                        given = co_await run_blocking(pool, [] {});
                    }
                    refused += !given && given.error().reason() == cancel_reason::shutting_down;
                });
            }
            stopper = std::thread([&] { pool.stop(); });
            co_await turn_until([&] { return refused == 2; });
            const auto late = co_await run_blocking(pool, [] { return 1; });
            EXPECT_FALSE(late);
            EXPECT_EQ(late.error().reason(), cancel_reason::shutting_down);
            held.open.release();
        });
    }());
    stopper.join();
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(pool.threads(), 0u);
    pool.stop();
}

TEST(BlockingPool, ServesSeveralLoops) {
    blocking_pool pool(blocking_pool_options().threads_max(2));
    std::atomic<int> sum = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            loop on;
            on.run([](blocking_pool& from, std::atomic<int>& total, loop& here) -> task<> {
                for (int i = 0; i < 300; ++i) {
                    const auto number = co_await run_blocking(from, [i] { return i % 7; });
                    if (loop::current() != &here) std::abort();
                    total += number.value_or(-1000);
                }
            }(pool, sum, on));
        });
    }
    for (std::thread& one : threads) one.join();
    int expected = 0;
    for (int i = 0; i < 300; ++i) expected += 3 * (i % 7);
    EXPECT_EQ(sum, expected);
}

TEST(BlockingPool, ManyAtOnceWithCancellationAnywhere) {
    // Cancelled at a random moment of many: each either has its value or the reason, and nothing is left.
    blocking_pool pool(blocking_pool_options().threads_max(3));
    loop on;
    std::atomic<int> executed = 0;
    int values = 0;
    int reasons = 0;
    on.run([&]() -> task<> {
        for (int round = 0; round < 200; ++round) {
            co_await in_scope([&](scope& s) -> task<> {
                for (int i = 0; i < 10; ++i) {
                    s.spawn([&, i]() -> task<> {
                        result<int> given = 0;
                        if (i % 2 == 0) {
                            given = co_await run_blocking(pool, [&executed, i] { return executed.fetch_add(1) * 0 + i; });
                        } else {
                            given = co_await run_blocking_owning(pool, [&executed, i] { return executed.fetch_add(1) * 0 + i; });
                        }
                        if (given) {
                            EXPECT_EQ(given, i);
                            ++values;
                        } else {
                            EXPECT_EQ(given.error().reason(), cancel_reason::cancelled);
                            ++reasons;
                        }
                    });
                }
                for (int turns = 0; turns < round % 11; ++turns) co_await yield();
                s.cancel();
            });
        }
    }());
    EXPECT_EQ(values + reasons, 2000);
    pool.stop();
    EXPECT_LE(values, executed);
}

}  // namespace
