#include <martlet/rt/loop.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <martlet/rt/channel.hpp>
#include <martlet/rt/event.hpp>
#include <martlet/rt/run_internal.hpp>
#include <martlet/rt/within.hpp>

namespace {

using namespace martlet;
using namespace std::chrono_literals;

class node final : public ready_node {
public:
    explicit node(std::string& log, std::string text) : ready_node(&node::came), log_(log), text_(std::move(text)) {}

private:
    static void came(ready_node& base) noexcept {
        auto& self = static_cast<node&>(base);
        self.log_ += self.text_;
    }
    std::string& log_;
    std::string text_;
};

TEST(Loop, RunsReadyNodesFirstInFirstOut) {
    loop on;
    std::string log;
    node a(log, "a");
    node b(log, "b");
    node c(log, "c");
    on.ready(b);
    on.ready(a);
    on.ready(c);
    EXPECT_EQ(log, "");
    EXPECT_EQ(on.turn(1h), loop_state::running) << "does not wait while something is ready";
    EXPECT_EQ(log, "bac");
}

TEST(Loop, FlushesWhenTheReadyListIsEmptyOrItsBudgetSpent) {
    loop on(loop_options().ready_budget(2));
    std::string log;
    node a(log, "a ");
    node b(log, "b ");
    node c(log, "c ");
    node f(log, "flush ");
    on.ready(a);
    on.ready(b);
    on.ready(c);
    on.flush_later(f);
    on.turn(duration::zero());
    EXPECT_EQ(log, "a b flush ");
    on.turn(1h);
    EXPECT_EQ(log, "a b flush c ");
}

TEST(Loop, RunsTheBackgroundBehindAllElseAndFewOfIt) {
    loop on;
    std::string log;
    std::vector<std::unique_ptr<node>> many;
    for (unsigned i = 0; i < loop::background_budget + 2; ++i) {
        many.push_back(std::make_unique<node>(log, "."));
        on.background(*many.back());
    }
    node a(log, "a");
    node f(log, "f");
    on.ready(a);
    on.flush_later(f);
    on.turn(1h);
    EXPECT_EQ(log, "a" + std::string(loop::background_budget, '.') + "f");
    EXPECT_LE(on.next_deadline(), on.now());
    node b(log, "b");
    on.ready(b);
    on.turn(1h);
    EXPECT_EQ(log, "a" + std::string(loop::background_budget, '.') + "fb..") << "does not wait while something is left";
}

TEST(Loop, TellsWhatRunsInTheBackground) {
    class asking final : public ready_node {
    public:
        asking(loop& on, std::string& log) : ready_node(&asking::came), on_(on), log_(log) {}

    private:
        static void came(ready_node& base) noexcept {
            auto& self = static_cast<asking&>(base);
            self.log_ += self.on_.is_in_background() ? "behind " : "in front ";
            if (!self.on_.is_in_background()) self.on_.background(self);
        }
        loop& on_;
        std::string& log_;
    };
    loop on;
    std::string log;
    asking one(on, log);
    on.ready(one);
    on.turn(1h);
    EXPECT_EQ(log, "in front behind ");
    EXPECT_FALSE(on.is_in_background());
}

TEST(Loop, WhatHadItsShareRunsInFrontOfTheNextTurn) {
    loop on(loop_options().ready_budget(2));
    std::string log;
    node a(log, "a ");
    node b(log, "b ");
    node rest(log, "rest ");
    on.ready_next_turn(rest);
    on.ready(a);
    on.turn(1h);
    EXPECT_EQ(log, "a rest ") << "what was ready before is not overtaken";
    on.ready_next_turn(rest);
    EXPECT_LE(on.next_deadline(), on.now());
    on.turn(1h);
    on.ready(b);
    on.turn(1h);
    EXPECT_EQ(log, "a rest rest b ");
}

TEST(Loop, WhatHasJustComeGoesBeforeACrowdThatWasWokenAtOnce) {
    loop on;
    std::string log;
    std::vector<std::unique_ptr<node>> crowd;
    for (int i = 0; i < 3000; ++i) {
        crowd.push_back(std::make_unique<node>(log, "."));
        on.ready(*crowd.back());
    }
    on.turn(1h);
    EXPECT_EQ(log.size(), 1024u);
    // A post is told like any other event.
    ASSERT_TRUE(on.handle().post([&] { log += "post"; }));
    on.turn(1h);
    EXPECT_EQ(log.substr(1024, 5), "post.") << "first, and the crowd has the rest of the turn";
    EXPECT_EQ(log.size(), 2 * 1024u - 1 + 4);
    on.turn(1h);
    EXPECT_EQ(log.size(), 3000u + 4);
}

// With a budget that one wait could use up, others would never have their turn.
TEST(Loop, WhatHasJustComeDoesNotGoFirstOnASmallBudget) {
    loop on(loop_options().ready_budget(511));
    std::string log;
    std::vector<std::unique_ptr<node>> crowd;
    for (int i = 0; i < 600; ++i) {
        crowd.push_back(std::make_unique<node>(log, "."));
        on.ready(*crowd.back());
    }
    on.turn(1h);
    ASSERT_TRUE(on.handle().post([&] { log += "post"; }));
    on.turn(1h);
    EXPECT_EQ(log, std::string(600, '.') + "post");
}

TEST(Loop, NothingOfTheBackgroundOrTheNextTurnIsLostToAStop) {
    loop on;
    std::string log;
    node behind(log, "behind ");
    node next(log, "next ");
    ASSERT_TRUE(on.handle().post([&] {
        on.stop();
        ASSERT_TRUE(on.handle().post([&] {
            on.background(behind);
            on.ready_next_turn(next);
        }));
    }));
    EXPECT_EQ(on.run(), loop_state::stopped);
    EXPECT_EQ(log, "next behind ");
}

TEST(Loop, CurrentIsKnownInsideOnly) {
    loop on;
    EXPECT_EQ(loop::current(), nullptr);
    loop* inside = nullptr;
    on.run([&]() -> task<> {
        inside = loop::current();
        co_return;
    }());
    EXPECT_EQ(inside, &on);
    EXPECT_EQ(loop::current(), nullptr);
}

TEST(Loop, StopEndsTheRunForGood) {
    loop on;
    std::string log;
    ASSERT_TRUE(on.handle().post([&] {
        log += "stop ";
        on.stop();
    }));
    EXPECT_EQ(on.run(), loop_state::stopped);
    EXPECT_TRUE(on.is_stopping());
    EXPECT_EQ(log, "stop ");
}

TEST(Loop, PostsAcceptedBeforeTheStopRun) {
    loop on;
    std::string log;
    const loop_handle handle = on.handle();
    // The second is sent while the first runs, so that it is still in the mailbox when the run ends.
    ASSERT_TRUE(handle.post([&] {
        on.stop();
        EXPECT_TRUE(handle.post([&] { log += "late"; }));
    }));
    on.run();
    EXPECT_EQ(log, "late");
    EXPECT_FALSE(handle.post([&] { log += " too late"; }));
    EXPECT_EQ(log, "late");
}

TEST(Loop, WhatPostsBeforeTheStopMakeReadyRunsToo) {
    loop on(loop_options().ready_budget(2));
    std::string log;
    event ring;
    node a(log, "a ");
    node b(log, "b ");
    node flushed(log, "flush ");
    const loop_handle handle = on.handle();
    trial::background waiting(on, [](event& on_ring, std::string& into) -> task<> {
        auto rung = co_await on_ring.wait();
        into += rung ? "rung " : "? ";
    }(ring, log));
    ASSERT_TRUE(handle.post([&] {
        on.stop();
        EXPECT_TRUE(handle.post([&] {
            on.ready(a);
            on.ready(b);
            ring.set();
            on.flush_later(flushed);
        }));
    }));
    EXPECT_EQ(on.run(), loop_state::stopped);
    EXPECT_EQ(log, "a b flush rung ");
    EXPECT_TRUE(waiting.done());
    waiting.take();
}

TEST(Loop, NodesThatQueueEachOtherDoNotHoldAStoppedLoop) {
    class endless final : public ready_node {
    public:
        explicit endless(loop& on) : ready_node(&endless::again), on_(on) {}
        unsigned runs = 0;

    private:
        static void again(ready_node& base) noexcept {
            auto& self = static_cast<endless&>(base);
            ++self.runs;
            self.on_.ready(self);
        }
        loop& on_;
    };
    loop on(loop_options().ready_budget(10));
    endless chain(on);
    ASSERT_TRUE(on.handle().post([&] { on.stop(); }));
    on.ready(chain);
    EXPECT_EQ(on.run(), loop_state::stopped);
    EXPECT_GE(chain.runs, 10 * loop::last_rounds_max);
    EXPECT_LE(chain.runs, 10 * (loop::last_rounds_max + 2));
    chain.unlink();
}

TEST(Loop, PostToAStoppedLoopDestroysTheFunctionHere) {
    auto kept = std::make_shared<int>(1);
    loop on;
    const loop_handle handle = on.handle();
    on.stop();
    on.run();
    EXPECT_FALSE(handle.post([kept] {}));
    EXPECT_EQ(kept.use_count(), 1);
}

TEST(Loop, HandleOutlivesItsLoop) {
    auto kept = std::make_shared<int>(1);
    loop_handle handle;
    EXPECT_FALSE(static_cast<bool>(handle));
    EXPECT_FALSE(handle.post([kept] {}));
    {
        loop on;
        handle = on.handle();
        EXPECT_TRUE(handle.post([kept] {})) << "accepted by a loop that was never turned";
        EXPECT_EQ(kept.use_count(), 2);
    }
    EXPECT_EQ(kept.use_count(), 1) << "dropped with the loop";
    EXPECT_FALSE(handle.post([kept] {}));
    const loop_handle copy = handle;
    EXPECT_FALSE(copy.post([kept] {}));
    EXPECT_EQ(kept.use_count(), 1);
}

TEST(Loop, PostsRunInOrderAndWithMoveOnlyFunctions) {
    loop on;
    std::vector<int> order;
    for (int i = 0; i < 100; ++i) {
        on.handle().post([&order, number = std::make_unique<int>(i)] { order.push_back(*number); });
    }
    on.turn(1h);
    ASSERT_EQ(order.size(), 100u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

// --- timers ---

class counting_timer final : public timer_node {
public:
    counting_timer() noexcept : timer_node(&counting_timer::rang) {}
    static inline int count = 0;

private:
    static void rang(timer_node&) noexcept { ++count; }
};

TEST(Loop, AMillionTimersArmedAndCancelled) {
    loop on;
    counting_timer::count = 0;
    constexpr int count = 1'000'000;
    std::vector<counting_timer> timers(count);
    const time_point now = on.clock();
    for (int i = 0; i < count; ++i) on.arm(timers[static_cast<std::size_t>(i)], now + 1s + std::chrono::microseconds(37) * i);
    EXPECT_NE(on.next_deadline(), never);
    for (counting_timer& timer : timers) on.disarm(timer);
    EXPECT_EQ(on.next_deadline(), never);
    on.turn(duration::zero());
    EXPECT_EQ(counting_timer::count, 0);
}

TEST(Loop, AMillionDeadlinesOverOperations) {
    loop on;
    event set;
    set.set();
    int passed = 0;
    on.run([&]() -> task<> {
        for (int i = 0; i < 1'000'000; ++i) {
            const auto waited = co_await within(1h, set.wait());
            passed += waited.has_value();
        }
    }());
    EXPECT_EQ(passed, 1'000'000);
    EXPECT_EQ(on.next_deadline(), never);
}

TEST(Loop, NextDeadlineTellsWhenATurnIsDue) {
    loop on;
    EXPECT_EQ(on.next_deadline(), never);
    counting_timer::count = 0;
    counting_timer timer;
    const time_point when = on.clock() + 20ms;
    on.arm(timer, when);
    EXPECT_GE(on.next_deadline(), when - 64ms);
    EXPECT_LE(on.next_deadline(), when + timer_wheel::tick);
    std::string log;
    node ready(log, "x");
    on.ready(ready);
    EXPECT_LE(on.next_deadline(), on.clock()) << "at once while something is ready";
    on.turn(1h);
    while (counting_timer::count == 0) on.turn(1h);
    EXPECT_GE(on.now(), when);
}

// --- driven from outside ---

// What a host does: waits for the loop's descriptor with its own poll, as long as the loop allows.
int foreign_poll(loop& on) {
    ::pollfd watched{on.fd(), POLLIN, 0};
    const time_point due = on.next_deadline();
    int timeout = -1;
    if (due != never) {
        const duration left = due - on.clock();
        timeout = left <= duration::zero() ? 0 : static_cast<int>((left + 999'999ns) / 1ms);
    }
    return ::poll(&watched, 1, timeout);
}

TEST(Loop, DrivenByAForeignPoll) {
    loop on;
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    descriptor writing(ends[1]);
    pollable reading;
    ASSERT_EQ(reading.open(on, descriptor(ends[0])), 0);
    std::string log;
    node readable(log, "readable ");
    reading.arm(direction::reading, &readable);
    trial::background<void> work(on, [](std::string& out) -> task<> {
        static_cast<void>(co_await sleep_for(5ms));
        out += "slept ";
    }(log));
    ASSERT_TRUE(on.handle().post([&] { log += "posted "; }));

    EXPECT_EQ(foreign_poll(on), 1) << "a posted function makes the descriptor readable";
    on.turn(duration::zero());
    EXPECT_EQ(log, "posted ");

    // Now only the timer is left: poll waits for it and finds no event.
    const time_point begin = on.clock();
    for (int rounds = 0; rounds < 100 && !work.done(); ++rounds) {
        EXPECT_EQ(foreign_poll(on), 0);
        on.turn(duration::zero());
    }
    EXPECT_EQ(log, "posted slept ");
    EXPECT_GE(on.clock() - begin, 4ms);

    ASSERT_EQ(::write(writing.number(), "x", 1), 1);
    EXPECT_EQ(foreign_poll(on), 1);
    on.turn(duration::zero());
    EXPECT_EQ(log, "posted slept readable ");
    EXPECT_EQ(on.next_deadline(), never);
    reading.close();
}

class hook_log {
public:
    static void before(void* data) noexcept { static_cast<hook_log*>(data)->text += "("; }
    static void after(void* data) noexcept { static_cast<hook_log*>(data)->text += ")"; }
    std::string text;
};

TEST(Loop, WaitHooksAreCalledAroundTheWaitOnly) {
    loop on;
    hook_log hooks;
    on.set_wait_hooks(wait_hooks(&hook_log::before, &hook_log::after, &hooks));
    node work(hooks.text, "work");
    on.ready(work);
    on.turn(1h);
    EXPECT_EQ(hooks.text, "work") << "no wait, no hook";
    on.turn(duration::zero());
    EXPECT_EQ(hooks.text, "work");
    hooks.text.clear();
    on.turn(1ms);
    EXPECT_EQ(hooks.text, "()");
    hooks.text.clear();
    on.handle().post([&] { hooks.text += "posted"; });
    on.turn(1h);
    EXPECT_EQ(hooks.text, "()posted");
    hooks.text.clear();
    trial::background<void> slept(on, [](std::string& out) -> task<> {
        static_cast<void>(co_await sleep_for(1ms));
        out += "slept";
    }(hooks.text));
    for (int turns = 0; turns < 100 && !slept.done(); ++turns) on.turn(1h);
    ASSERT_TRUE(slept.done());
    EXPECT_TRUE(hooks.text.starts_with("()")) << hooks.text;
    EXPECT_TRUE(hooks.text.ends_with(")slept")) << hooks.text;
}

TEST(Loop, IsWaitingUnlessItRuns) {
    loop on;
    EXPECT_TRUE(on.is_waiting());
    bool inside = true;
    on.handle().post([&] { inside = on.is_waiting(); });
    on.turn(1h);
    EXPECT_FALSE(inside);
    EXPECT_TRUE(on.is_waiting()) << "a host that does other things between turns is no stall";
}

// --- memory ---

TEST(Loop, ReadBufferHasRoomAndKeepsItsPlace) {
    loop on;
    buffer& first_use = on.read_buffer();
    EXPECT_EQ(&first_use, &on.read_buffer());
    const auto room = first_use.prepare(1);
    ASSERT_GE(room.size(), 16u * 1024u);
}

TEST(Loop, BlocksFreedOnTheLoopAreGivenBack) {
    loop on;
    std::vector<std::pair<void*, std::size_t>> held;
    for (std::size_t size = 16; size <= 8192; size += 48) held.emplace_back(on.allocate(size), size);
    EXPECT_EQ(on.frames_live(), held.size());
    for (const auto& [block, size] : held) on.free(block, size);
    EXPECT_EQ(on.frames_live(), 0u);
    on.trim();
}

// --- misuse ---

TEST(LoopDeath, DestroyedWithAReadyNode) {
    EXPECT_DEATH(
        {
            std::string log;
            node left(log, "x");
            loop on;
            on.ready(left);
        },
        "all work of a loop must have finished");
}

TEST(LoopDeath, DestroyedWithARegisteredDescriptor) {
    EXPECT_DEATH(
        {
            int ends[2];
            static_cast<void>(::pipe2(ends, O_NONBLOCK | O_CLOEXEC));
            pollable left;
            loop on;
            left.open(on, descriptor(ends[0]));
        },
        "every socket must be closed before its loop is destroyed");
}

TEST(LoopDeath, BlockingCallWithoutHandOver) {
    EXPECT_DEATH(
        {
            loop on;
            on.handle().post([&] { loop_call call(on); });
            on.turn(1h);
        },
        "only a loop made with loop_options::hand_over");
}

TEST(LoopDeath, BlockingCallInAPostedFunction) {
    EXPECT_DEATH(
        {
            loop on(loop_options().hand_over(true));
            on.handle().post([&] { loop_call call(on); });
            on.turn(1h);
        },
        "by a ready node itself");
}

TEST(LoopDeath, BlockingCallInACoroutine) {
    EXPECT_DEATH(
        {
            loop on(loop_options().hand_over(true));
            on.run([&]() -> task<> {
                co_await yield();
                loop_call call(on);
            }());
        },
        "by a ready node itself");
}

TEST(LoopDeath, MainTaskLeftByAStop) {
    EXPECT_DEATH(
        {
            loop on;
            event never_set;
            on.run([&]() -> task<> {
                on.stop();
                static_cast<void>(co_await never_set.wait());
            }());
        },
        "must not be stopped or handed over before the task has finished");
}

}  // namespace
