#include "report.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace {

using namespace load;

plan plan_of(unsigned threads) {
    plan what;
    what.targets.emplace_back();
    what.threads = threads;
    what.connections = threads;
    return what;
}

/// A load of one second whose threads ran so many milliseconds, and the busiest of them so many.
outcome ran(unsigned processors, int all_ms, int busiest_ms) {
    outcome of(1);
    of.has_begun = true;
    of.processors = processors;
    of.total.elapsed_ns = 1'000'000'000;
    of.total.cpu_ns = all_ms * std::int64_t{1'000'000};
    of.total.busiest_thread_ns = busiest_ms * std::int64_t{1'000'000};
    return of;
}

bool is_said(const plan& what, const outcome& of, std::string_view words) {
    return std::ranges::any_of(warnings(what, of), [&](const std::string& each) { return each.find(words) != each.npos; });
}

TEST(LoadReport, SaysFrom85PercentOnThatTheClientIsTheLimit) {
    const plan one = plan_of(1);
    EXPECT_FALSE(is_said(one, ran(2, 850, 850), "the client is the limit"));
    EXPECT_TRUE(is_said(one, ran(2, 860, 860), "the client is the limit: it used 86 % of its processors"));
    // Of threads that must share processors, all together count.
    const plan four = plan_of(4);
    EXPECT_FALSE(is_said(four, ran(2, 1'690, 430), "the client is the limit"));
    EXPECT_TRUE(is_said(four, ran(2, 1'710, 430), "the client is the limit"));
    // One busy thread holds up its connections, however idle the others are.
    EXPECT_FALSE(is_said(four, ran(8, 1'000, 840), "the client is the limit"));
    EXPECT_TRUE(is_said(four, ran(8, 1'000, 860), "the client is the limit"));
}

TEST(LoadReport, ALoadThatNeverBeganSaysThatAlone) {
    outcome of(1);
    EXPECT_EQ(warnings(plan_of(1), of), std::vector<std::string>{"no connection could be opened: interrupted"});
}

}  // namespace
