#include <martlet/rt/context.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include <martlet/rt/event.hpp>
#include <martlet/rt/run_internal.hpp>
#include <martlet/rt/within.hpp>

namespace {

using namespace martlet;
using namespace std::chrono_literals;

const cancel_reason all_reasons[] = {cancel_reason::timed_out, cancel_reason::cancelled, cancel_reason::peer_gone,
                                     cancel_reason::shutting_down};

task<result<void>> third_down(event& e) { co_return co_await e.wait(); }
task<result<void>> second_down(event& e) { co_return co_await third_down(e); }
task<result<void>> first_down(event& e) { co_return co_await second_down(e); }

TEST(Context, DeadlineAtTheTopCutsAnOperationThreeTasksDown) {
    loop on;
    event never_set;
    const auto given = on.run([&]() -> task<result<void>> {
        context& own = co_await this_context();
        own.set_deadline(on.clock() + 5ms);
        co_return co_await first_down(never_set);
    }());
    ASSERT_FALSE(given);
    EXPECT_EQ(given.error().reason(), cancel_reason::timed_out);
    EXPECT_TRUE(given.error().is_timeout());
    EXPECT_EQ(given.error().http_status(), 504);
}

TEST(Context, WithinAtTheTopCutsAnOperationThreeTasksDown) {
    loop on;
    event never_set;
    time_point begin;
    time_point end;
    const auto given = on.run([&]() -> task<result<void>> {
        begin = on.clock();
        auto cut = co_await within(5ms, first_down(never_set));
        end = on.clock();
        co_return cut;
    }());
    ASSERT_FALSE(given);
    EXPECT_TRUE(given.error().is_timeout());
    EXPECT_GE(end - begin, 5ms) << "a deadline never comes early";
}

TEST(Context, DeadlinesOnlyShrink) {
    loop on;
    on.run([&]() -> task<> {
        context top(on.root());
        const time_point near = on.clock() + 1h;
        const time_point far = on.clock() + 2h;
        EXPECT_EQ(top.deadline(), never);
        top.set_deadline(near);
        top.set_deadline(far);
        EXPECT_EQ(top.deadline(), near) << "a later deadline changes nothing";
        context below(top);
        EXPECT_EQ(below.deadline(), near) << "inherited";
        below.set_deadline(far);
        EXPECT_EQ(below.deadline(), near);
        below.set_deadline(near - 1min);
        EXPECT_EQ(below.deadline(), near - 1min);
        EXPECT_EQ(top.deadline(), near);
        co_return;
    }());
}

TEST(Context, TheNearerOfTwoNestedDeadlinesCounts) {
    loop on;
    event never_set;
    for (const bool outer_is_near : {true, false}) {
        const duration outer = outer_is_near ? duration(3ms) : duration(1h);
        const duration inner = outer_is_near ? duration(1h) : duration(3ms);
        const auto given = on.run([&]() -> task<result<void>> { co_return co_await within(outer, within(inner, never_set.wait())); }());
        ASSERT_FALSE(given);
        EXPECT_TRUE(given.error().is_timeout());
    }
}

TEST(Context, ADeadlineThatHasPassedCancelsAtOnce) {
    loop on;
    on.run([&]() -> task<> {
        context own(on.root());
        own.set_deadline(on.clock());
        EXPECT_TRUE(own.is_cancelled());
        EXPECT_TRUE(own.why().is_timeout());
        co_return;
    }());
}

TEST(Context, TheReasonReachesWhatWaitsThreeTasksDown) {
    for (const cancel_reason why : all_reasons) {
        loop on;
        event never_set;
        trial::background<result<void>> work(on, first_down(never_set));
        EXPECT_FALSE(work.done());
        work.own.cancel(why);
        on.turn(duration::zero());
        ASSERT_TRUE(work.done());
        const auto given = work.take();
        ASSERT_FALSE(given);
        EXPECT_EQ(given.error().reason(), why);
    }
}

TEST(Context, OnlyTheFirstCancellationCounts) {
    loop on;
    context own(on);
    own.cancel(cancel_reason::peer_gone);
    own.cancel(cancel_reason::shutting_down);
    EXPECT_EQ(own.why().reason(), cancel_reason::peer_gone);
}

TEST(Context, CancellingReachesAWholeTreeAndNothingBeside) {
    loop on;
    context top(on);
    context left(top);
    context left_left(left);
    context left_right(left);
    context right(top);
    context right_deep(right);
    left.cancel(cancel_reason::cancelled);
    EXPECT_FALSE(top.is_cancelled());
    EXPECT_FALSE(right.is_cancelled());
    EXPECT_FALSE(right_deep.is_cancelled());
    EXPECT_TRUE(left_left.is_cancelled());
    EXPECT_TRUE(left_right.is_cancelled());
    top.cancel(cancel_reason::peer_gone);
    EXPECT_TRUE(right_deep.is_cancelled());
    EXPECT_EQ(right_deep.why().reason(), cancel_reason::peer_gone);
    EXPECT_EQ(left_left.why().reason(), cancel_reason::cancelled) << "the first reason stays";
}

TEST(Context, ADeepChainIsCancelledWithoutRecursion) {
    loop on;
    constexpr int depth = 20'000;
    std::vector<std::unique_ptr<context>> chain;
    chain.push_back(std::make_unique<context>(on));
    for (int i = 1; i < depth; ++i) chain.push_back(std::make_unique<context>(*chain.back()));
    chain.front()->cancel(cancel_reason::cancelled);
    EXPECT_TRUE(chain.back()->is_cancelled());
    while (!chain.empty()) chain.pop_back();
}

TEST(Context, BornCancelledBelowACancelledOne) {
    loop on;
    context top(on);
    top.cancel(cancel_reason::shutting_down);
    context below(top);
    EXPECT_TRUE(below.is_cancelled());
    EXPECT_EQ(below.why().reason(), cancel_reason::shutting_down);
}

TEST(Context, HandsDownRequestIdAndTraceSlot) {
    loop on;
    context top(on);
    int slot = 0;
    top.set_request_id(42);
    top.set_trace(&slot);
    context below(top);
    context apart(top, context::shielded_t{});
    EXPECT_EQ(below.request_id(), 42u);
    EXPECT_EQ(below.trace(), &slot);
    EXPECT_EQ(apart.request_id(), 42u);
    EXPECT_EQ(apart.trace(), &slot);
    top.cancel(cancel_reason::cancelled);
    EXPECT_FALSE(apart.is_cancelled());
}

TEST(Context, CancellingDoesNotRunAnybodyThenAndThere) {
    loop on;
    event never_set;
    bool resumed = false;
    trial::background<void> work(on, [](event& e, bool& seen) -> task<> {
        static_cast<void>(co_await e.wait());
        seen = true;
    }(never_set, resumed));
    work.own.cancel(cancel_reason::cancelled);
    EXPECT_FALSE(resumed) << "only the ready list resumes";
    on.turn(duration::zero());
    EXPECT_TRUE(resumed);
}

TEST(Context, DestroyedUnderAWaitingOperationIsMisuse) {
    EXPECT_DEATH(
        {
            loop on;
            event never_set;
            auto* own = new context(on);
            auto waiting = never_set.wait();
            static_cast<void>(waiting.start(*own, std::noop_coroutine()));
            delete own;
        },
        "must not be destroyed while an operation waits in it");
}

TEST(Context, DestroyedBeforeThoseBelowIsMisuse) {
    EXPECT_DEATH(
        {
            loop on;
            auto* top = new context(on);
            context below(*top);
            delete top;
        },
        "must outlive the contexts below it");
}

}  // namespace
