// Loops and threads: posting from many of them, and a loop that is handed over while a call still blocks on the thread that had it.
#include <martlet/rt/loop.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <martlet/rt/event.hpp>
#include <martlet/rt/run_internal.hpp>

namespace {

using namespace martlet;
using namespace std::chrono_literals;

TEST(LoopThreads, PostsFromManyThreadsAllRunEachThreadsInOrder) {
    constexpr int thread_count = 6;
    constexpr int posts_each = 5'000;
    loop on;
    const loop_handle handle = on.handle();
    std::vector<int> next(thread_count, 0);
    int out_of_order = 0;
    int left = thread_count * posts_each;
    std::vector<std::thread> threads;
    for (int t = 0; t < thread_count; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < posts_each; ++i) {
                const bool sent = handle.post([&, t, i] {
                    out_of_order += next[static_cast<std::size_t>(t)]++ != i;
                    if (--left == 0) on.stop();
                });
                if (!sent) std::abort();
            }
        });
    }
    on.run();
    for (std::thread& one : threads) one.join();
    EXPECT_EQ(left, 0);
    EXPECT_EQ(out_of_order, 0);
}

TEST(LoopThreads, APostWakesALoopThatWaits) {
    loop on;
    const loop_handle handle = on.handle();
    std::binary_semaphore served(0);
    std::thread other([&] {
        for (int i = 0; i < 500; ++i) {
            handle.post([&] { served.release(); });
            // Each is waited for, so that the loop goes back to waiting every time.
            served.acquire();
        }
        handle.post([&] { on.stop(); });
    });
    on.run();
    other.join();
}

/// Tells on which thread it died.
class witness {
public:
    explicit witness(std::thread::id& died_on) noexcept : died_on_(&died_on) {}
    witness(witness&& other) noexcept : died_on_(std::exchange(other.died_on_, nullptr)) {}
    ~witness() {
        if (died_on_ != nullptr) *died_on_ = std::this_thread::get_id();
    }

private:
    std::thread::id* died_on_;
};

TEST(LoopThreads, PostToAStoppedLoopIsRefusedAndTheFunctionDiesOnTheCallersThread) {
    loop on;
    on.stop();
    on.run();
    const loop_handle handle = on.handle();
    std::thread::id died_on;
    std::thread::id caller;
    bool sent = true;
    std::thread other([&] {
        caller = std::this_thread::get_id();
        sent = handle.post([keep = witness(died_on)] {});
    });
    other.join();
    EXPECT_FALSE(sent);
    EXPECT_EQ(died_on, caller);
}

TEST(LoopThreads, PostsRaceAStopAndEveryOneIsRunOrRefused) {
    for (int round = 0; round < 200; ++round) {
        auto on = std::make_unique<loop>();
        const loop_handle handle = on->handle();
        std::atomic<int> ran = 0;
        std::atomic<int> refused = 0;
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < 20; ++i) {
                    if (!handle.post([&] { ++ran; })) ++refused;
                }
            });
        }
        handle.post([&] { on->stop(); });
        on->run();
        for (std::thread& one : threads) one.join();
        on.reset();
        EXPECT_EQ(ran + refused, 60);
    }
}

// --- hand-over ---

/// A handler whose call blocks until it is told to go on. It gives back what it had by posting.
class blocking_handler final : public ready_node {
public:
    explicit blocking_handler(loop& on) : ready_node(&blocking_handler::came), on_(on), handle_(on.handle()) {}

    std::binary_semaphore entered{0};
    std::binary_semaphore release{0};
    std::binary_semaphore given_back{0};
    std::atomic<int> left_behind = 0;
    std::atomic<int> kept = 0;
    std::atomic<int> spoiled = 0;

private:
    static void came(ready_node& base) noexcept { static_cast<blocking_handler&>(base).serve(); }

    void serve() noexcept {
        // What a read would have put there.
        buffer& reading = on_.read_buffer();
        reading.clear();
        const std::span<char> room = reading.prepare(4096);
        std::memset(room.data(), 'A', 4096);
        reading.commit(4096);
        const char* const bytes = reading.data();
        loop_call call(on_);
        entered.release();
        release.acquire();
        // Also when the loop was taken, and its new owner reads into "the" buffer.
        for (int i = 0; i < 4096; ++i) spoiled += bytes[i] != 'A';
        if (loop::current() != nullptr) ++spoiled;
        if (call.finish()) {
            ++kept;
            reading.clear();
            given_back.release();
            return;
        }
        ++left_behind;
        // Allocated by malloc, as this thread has no loop now, and freed on the loop.
        auto answer = std::make_unique<std::string>("the answer");
        const bool sent = handle_.post([this, given = std::move(answer)] {
            spoiled += *given != "the answer" || loop::current() != &on_;
            given_back.release();
        });
        if (!sent) std::abort();
    }

    loop& on_;
    loop_handle handle_;
};

/// Runs the loop whenever it may, until it stops.
void be_an_owner(loop& on, std::atomic<bool>& ended) {
    while (!ended) {
        if (on.take()) {
            if (on.run() == loop_state::stopped) ended = true;
        } else {
            std::this_thread::yield();
        }
    }
}

TEST(HandOver, OtherWorkIsServedWhileAHandlerBlocks) {
    constexpr int rounds = 300;
    loop on(loop_options().hand_over(true));
    const loop_handle handle = on.handle();
    blocking_handler handler(on);
    std::atomic<bool> ended = false;
    std::thread first_owner([&] {
        if (on.run() == loop_state::stopped) ended = true;
        be_an_owner(on, ended);
    });
    std::thread second_owner([&] { be_an_owner(on, ended); });

    int served_meanwhile = 0;
    std::thread::id blocked_thread;
    for (int round = 0; round < rounds; ++round) {
        handle.post([&, round] {
            blocked_thread = std::this_thread::get_id();
            round % 2 == 0 ? on.ready(handler) : on.background(handler);
        });
        handler.entered.acquire();
        // The handler sits in its call. Work that comes now is served by the other thread, which reads into its own buffer.
        std::binary_semaphore served(0);
        bool elsewhere = false;
        bool in_background = false;
        handle.post([&] {
            in_background = on.is_in_background();
            elsewhere = std::this_thread::get_id() != blocked_thread;
            buffer& reading = on.read_buffer();
            reading.clear();
            const std::span<char> room = reading.prepare(4096);
            std::memset(room.data(), 'B', 4096);
            reading.commit(4096);
            reading.clear();
            served.release();
        });
        served.acquire();
        served_meanwhile += elsewhere;
        EXPECT_FALSE(in_background) << "that was the call's";
        // Only now may the handler go on.
        handler.release.release();
        handler.given_back.acquire();
    }
    handle.post([&] { on.stop(); });
    first_owner.join();
    second_owner.join();
    EXPECT_EQ(served_meanwhile, rounds);
    EXPECT_EQ(handler.left_behind, rounds);
    EXPECT_EQ(handler.kept, 0);
    EXPECT_EQ(handler.spoiled, 0);
}

TEST(HandOver, ACallThatEndsMayOrMayNotHaveLostItsLoop) {
    // The call returns at once, in a race with the thread that takes: either outcome is whole.
    constexpr int rounds = 2000;
    loop on(loop_options().hand_over(true));
    const loop_handle handle = on.handle();
    blocking_handler handler(on);
    std::atomic<bool> ended = false;
    std::thread first_owner([&] {
        if (on.run() == loop_state::stopped) ended = true;
        be_an_owner(on, ended);
    });
    std::thread second_owner([&] { be_an_owner(on, ended); });
    for (int round = 0; round < rounds; ++round) {
        handler.release.release();
        handle.post([&] { on.ready(handler); });
        handler.entered.acquire();
        handler.given_back.acquire();
    }
    handle.post([&] { on.stop(); });
    first_owner.join();
    second_owner.join();
    EXPECT_EQ(handler.left_behind + handler.kept, rounds);
    EXPECT_EQ(handler.spoiled, 0);
}

TEST(HandOver, WhatWasReadyBehindTheCallRunsOnTheNewOwner) {
    loop on(loop_options().hand_over(true));
    const loop_handle handle = on.handle();
    blocking_handler handler(on);
    std::atomic<bool> ended = false;
    event go;
    int resumed = 0;
    // Tasks that wait on the loop when it changes hands, a timer and a descriptor among what they wait for.
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    descriptor writing(ends[1]);
    auto reading = std::make_unique<pollable>();
    ASSERT_EQ(reading->open(on, descriptor(ends[0])), 0);
    class mark final : public ready_node {
    public:
        mark() noexcept : ready_node([](ready_node& base) noexcept { static_cast<mark&>(base).came.release(); }) {}
        std::binary_semaphore came{0};
    };
    mark behind;
    mark readable;
    auto waiting = std::make_unique<trial::background<void>>(on, [](event& e, int& count) -> task<> {
        const auto waited = co_await e.wait();
        const auto slept = co_await sleep_for(1ms);
        count += waited && slept;
    }(go, resumed));

    std::thread first_owner([&] {
        if (on.run() == loop_state::stopped) ended = true;
        be_an_owner(on, ended);
    });
    handle.post([&] {
        reading->arm(direction::reading, &readable);
        on.ready(handler);
        on.ready(behind);
        go.set();
    });
    handler.entered.acquire();
    ASSERT_EQ(::write(writing.number(), "x", 1), 1);
    std::thread second_owner([&] { be_an_owner(on, ended); });
    behind.came.acquire();
    readable.came.acquire();
    // The call is left behind for as long as this takes, whichever thread is the owner by now.
    std::atomic<bool> done = false;
    while (!done) {
        std::binary_semaphore looked(0);
        handle.post([&] {
            done = waiting->done();
            looked.release();
        });
        looked.acquire();
    }
    handler.release.release();
    handler.given_back.acquire();
    handle.post([&] {
        waiting.reset();
        reading.reset();
        on.stop();
    });
    first_owner.join();
    second_owner.join();
    EXPECT_EQ(resumed, 1);
    EXPECT_EQ(handler.left_behind, 1);
    EXPECT_EQ(handler.spoiled, 0);
}

TEST(HandOver, ALoopThatIsNotInACallCannotBeTaken) {
    loop on(loop_options().hand_over(true));
    std::thread other([&] { EXPECT_FALSE(on.take()); });
    other.join();
    EXPECT_TRUE(on.allows_hand_over());
}

TEST(HandOver, SeveralCallsCanBeLeftBehindAtOnce) {
    constexpr int calls = 4;
    loop on(loop_options().hand_over(true));
    const loop_handle handle = on.handle();
    std::vector<std::unique_ptr<blocking_handler>> handlers;
    for (int i = 0; i < calls; ++i) handlers.push_back(std::make_unique<blocking_handler>(on));
    std::atomic<bool> ended = false;
    std::vector<std::thread> owners;
    owners.emplace_back([&] {
        if (on.run() == loop_state::stopped) ended = true;
        be_an_owner(on, ended);
    });
    for (int i = 0; i < calls; ++i) owners.emplace_back([&] { be_an_owner(on, ended); });
    for (int round = 0; round < 50; ++round) {
        for (auto& handler : handlers) {
            handle.post([&] { on.ready(*handler); });
            handler->entered.acquire();
        }
        // All of them block now, each on a thread of its own, and the loop is still served.
        std::binary_semaphore served(0);
        handle.post([&] { served.release(); });
        served.acquire();
        // The oldest goes last: its ticket is long out of date.
        for (auto handler = handlers.rbegin(); handler != handlers.rend(); ++handler) {
            (*handler)->release.release();
            (*handler)->given_back.acquire();
        }
    }
    handle.post([&] { on.stop(); });
    for (std::thread& one : owners) one.join();
    for (auto& handler : handlers) {
        EXPECT_EQ(handler->left_behind, 50);
        EXPECT_EQ(handler->spoiled, 0);
    }
}

}  // namespace
