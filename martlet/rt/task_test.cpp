#include <martlet/rt/task.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include <martlet/rt/combine.hpp>
#include <martlet/rt/event.hpp>
#include <martlet/rt/run_internal.hpp>
#include <martlet/rt/scope.hpp>
#include <martlet/rt/sleep.hpp>

namespace {

using namespace martlet;

task<int> number(int n) { co_return n; }

task<int> sum_of(int a, int b) {
    const int first_one = co_await number(a);
    const int second_one = co_await number(b);
    co_return first_one + second_one;
}

task<> fail() {
    throw std::runtime_error("broken");
    co_return;
}

TEST(Task, GivesItsValue) {
    loop on;
    EXPECT_EQ(on.run(sum_of(2, 3)), 5);
    EXPECT_EQ(on.frames_live(), 0u);
}

TEST(Task, IsLazy) {
    bool ran = false;
    const auto note = [&]() -> task<> {
        ran = true;
        co_return;
    };
    {
        auto dropped = note();
        EXPECT_FALSE(ran);
    }
    EXPECT_FALSE(ran);
    loop on;
    on.run(note());
    EXPECT_TRUE(ran);
}

TEST(Task, RethrowsAtTheAwaiter) {
    loop on;
    EXPECT_THROW(on.run(fail()), std::runtime_error);
    std::string caught;
    on.run([&]() -> task<> {
        try {
            co_await fail();
        } catch (const std::runtime_error& e) {
            caught = e.what();
        }
    }());
    EXPECT_EQ(caught, "broken");
    EXPECT_EQ(on.frames_live(), 0u);
}

TEST(Task, RethrowsAfterItReallySuspended) {
    loop on;
    const auto later = []() -> task<int> {
        co_await yield();
        throw std::out_of_range("late");
    };
    EXPECT_THROW(on.run(later()), std::out_of_range);
    EXPECT_EQ(on.frames_live(), 0u);
}

TEST(Task, CarriesMoveOnlyValues) {
    loop on;
    const auto make = [](bool wait) -> task<std::unique_ptr<std::string>> {
        if (wait) co_await yield();
        co_return std::make_unique<std::string>("a value long enough to be on the heap");
    };
    for (const bool wait : {false, true}) {
        auto given = on.run(make(wait));
        EXPECT_EQ(*given, "a value long enough to be on the heap");
    }
}

TEST(Task, GivesAResultWithItsError) {
    loop on;
    const auto refuse = []() -> task<result<int>> { co_return failure(cancel_reason::peer_gone); };
    const auto given = on.run(refuse());
    ASSERT_FALSE(given);
    EXPECT_EQ(given.error().reason(), cancel_reason::peer_gone);
}

TEST(Task, FinishedChildResumesItsAwaiterWithoutATurn) {
    loop on;
    std::uint64_t before = 0;
    std::uint64_t after = 1;
    on.run([&]() -> task<> {
        co_await yield();
        before = on.turns();
        co_await sum_of(1, 2);
        after = on.turns();
    }());
    EXPECT_EQ(before, after);
}

TEST(Task, FramesComeFromTheLoop) {
    loop on;
    std::size_t inside = 0;
    on.run([&]() -> task<> {
        const auto look = [&]() -> task<> {
            inside = on.frames_live();
            co_return;
        };
        co_await look();
    }());
    EXPECT_EQ(inside, 1u) << "the child's frame; the main one was made outside of the loop";
    EXPECT_EQ(on.frames_live(), 0u);
}

// --- stack ---

class stack_extent {
public:
    void look() noexcept {
        const auto at = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        if (lowest_ == 0 || at < lowest_) lowest_ = at;
        if (at > highest_) highest_ = at;
    }
    std::size_t bytes() const noexcept { return highest_ - lowest_; }

private:
    std::uintptr_t lowest_ = 0;
    std::uintptr_t highest_ = 0;
};

constexpr std::size_t stack_bytes_max = 16 * 1024;

task<int> leaf(stack_extent& extent, int i) {
    extent.look();
    co_return i & 1;
}

TEST(Task, HundredThousandImmediateCompletionsInARow) {
    loop on;
    stack_extent extent;
    long sum = 0;
    on.run([&]() -> task<> {
        for (int i = 0; i < 100'000; ++i) sum += co_await leaf(extent, i);
    }());
    EXPECT_EQ(sum, 50'000);
    EXPECT_LT(extent.bytes(), stack_bytes_max);
}

TEST(Task, HundredThousandImmediateCompletionsAfterARealSuspension) {
    loop on;
    stack_extent extent;
    long sum = 0;
    on.run([&]() -> task<> {
        co_await yield();
        for (int i = 0; i < 100'000; ++i) sum += co_await leaf(extent, i);
    }());
    EXPECT_EQ(sum, 50'000);
    EXPECT_LT(extent.bytes(), stack_bytes_max);
}

task<int> mixed(stack_extent& extent, int level, int i) {
    if (level == 0) {
        extent.look();
        if (i % 3 == 0) co_await yield();
        extent.look();
        co_return 1;
    }
    const int below = co_await mixed(extent, level - 1, i);
    extent.look();
    co_return below + 1;
}

TEST(Task, MixedCompletionsThreeLevelsDeepKeepTheStackFlat) {
    loop on;
    stack_extent extent;
    long sum = 0;
    on.run([&]() -> task<> {
        for (int i = 0; i < 60'000; ++i) sum += co_await mixed(extent, 3, i);
    }());
    EXPECT_EQ(sum, 240'000);
    EXPECT_LT(extent.bytes(), stack_bytes_max);
}

TEST(Task, ManyOperationsThatAreCompleteAtOnce) {
    loop on;
    event set;
    set.set();
    int granted = 0;
    on.run([&]() -> task<> {
        for (int i = 0; i < 100'000; ++i) {
            const auto waited = co_await set.wait();
            granted += waited.has_value();
        }
    }());
    EXPECT_EQ(granted, 100'000);
}

TEST(Task, AChainThatUnwindsKeepsTheStackFlat) {
    // A thousand tasks wait for one another: each is resumed by the end of the one below, one after the other.
    loop on;
    stack_extent extent;
    event go;
    const auto chain = [&](auto& self, int depth) -> task<int> {
        if (depth == 0) {
            static_cast<void>(co_await go.wait());
            co_return 0;
        }
        const int below = co_await self(self, depth - 1);
        extent.look();
        co_return below + 1;
    };
    int length = 0;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> { length = co_await chain(chain, 1000); });
            go.set();
            co_return;
        });
    }());
    EXPECT_EQ(length, 1000);
    EXPECT_LT(extent.bytes(), stack_bytes_max);
}

// --- misuse ---

task<> wait_for(event& e) { static_cast<void>(co_await e.wait()); }

using TaskDeath = ::testing::Test;

TEST(TaskDeath, DestroyedBeforeItFinished) {
    EXPECT_DEATH(
        {
            loop on;
            event never_set;
            auto work = wait_for(never_set);
            static_cast<void>(work.start(on.root(), std::noop_coroutine()));
            work = task<>();
        },
        "must finish before it is destroyed");
}

TEST(TaskDeath, AwaitedTwice) {
    EXPECT_DEATH(
        {
            loop on;
            on.run([]() -> task<> {
                auto once = number(1);
                const int a = co_await std::move(once);
                const int b = co_await std::move(once);
                static_cast<void>(a + b);
            }());
        },
        "can be awaited once");
}

TEST(TaskDeath, AwaitedAgainWhileItWaits) {
    EXPECT_DEATH(
        {
            loop on;
            event never_set;
            auto work = wait_for(never_set);
            static_cast<void>(work.start(on.root(), std::noop_coroutine()));
            static_cast<void>(work.start(on.root(), std::noop_coroutine()));
        },
        "can be awaited once");
}

TEST(TaskDeath, EmptyTaskAwaited) {
    EXPECT_DEATH(
        {
            loop on;
            on.run(task<>());
        },
        "can be awaited once");
}

TEST(TaskDeath, LoopDestroyedUnderALiveFrame) {
    EXPECT_DEATH(
        {
            event never_set;
            auto on = std::make_unique<loop>();
            auto made = on->run([&]() -> task<task<>> { co_return wait_for(never_set); }());
            on.reset();
        },
        "must have finished before its loop is destroyed");
}

TEST(TaskDeath, RunInsideARun) {
    EXPECT_DEATH(
        {
            loop on;
            on.run([&]() -> task<> {
                on.run(number(1));
                co_return;
            }());
        },
        "from outside a loop");
}

}  // namespace
