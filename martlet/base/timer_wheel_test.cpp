#include <martlet/base/timer_wheel.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace martlet {
namespace {

using namespace std::chrono_literals;

struct test_timer : timer_node {
    test_timer() : timer_node(&test_timer::called) {}
    static void called(timer_node& node) noexcept {
        auto& self = static_cast<test_timer&>(node);
        ++self.count;
        if (self.then) self.then();
    }
    int count = 0;
    std::function<void()> then;
};

constexpr time_point at(duration since_start) { return time_point(since_start); }

TEST(timer_wheel, empty_one_has_no_deadline) {
    timer_wheel wheel;
    EXPECT_TRUE(wheel.empty());
    EXPECT_EQ(wheel.next_deadline(), never);
    EXPECT_EQ(wheel.advance(at(100 * 24h)), 0u);
}

TEST(timer_wheel, expires_once_and_never_early) {
    for (const duration delay : {duration(1), duration(999'999), duration(1ms), duration(1500us), duration(63ms), duration(64ms),
                                 duration(65ms), duration(4095ms), duration(4096ms), duration(10min), duration(24h), duration(400 * 24h)}) {
        for (const duration start : {duration(0), duration(1), duration(63ms), duration(1234567ms), duration(4095999us)}) {
            timer_wheel wheel(at(start));
            test_timer timer;
            const time_point due = at(start + delay);
            wheel.arm(timer, due);
            EXPECT_LE(wheel.next_deadline(), due + timer_wheel::tick);
            wheel.advance(due - 1ns);
            EXPECT_EQ(timer.count, 0) << delay.count() << " early";
            EXPECT_TRUE(timer.is_armed());
            wheel.advance(due + timer_wheel::tick);
            EXPECT_EQ(timer.count, 1) << delay.count() << " late";
            EXPECT_FALSE(timer.is_armed());
            wheel.advance(due + 1h);
            EXPECT_EQ(timer.count, 1);
            EXPECT_TRUE(wheel.empty());
        }
    }
}

TEST(timer_wheel, a_whole_tick_expires_at_its_time) {
    timer_wheel wheel;
    test_timer timer;
    wheel.arm(timer, at(20ms));
    EXPECT_EQ(wheel.next_deadline(), at(20ms));
    EXPECT_EQ(wheel.advance(at(20ms)), 1u);
}

TEST(timer_wheel, next_deadline_is_followed_to_the_expiry_in_few_steps) {
    for (const duration delay : {duration(7ms), duration(100ms), duration(5s), duration(75s), duration(3h), duration(50 * 24h)}) {
        timer_wheel wheel(at(987'654'321us));
        test_timer timer;
        const time_point due = at(987'654'321us + delay);
        wheel.arm(timer, due);
        int steps = 0;
        while (timer.count == 0) {
            ASSERT_LT(++steps, 9);
            const time_point next = wheel.next_deadline();
            ASSERT_LE(next, due + timer_wheel::tick);
            wheel.advance(next);
        }
        EXPECT_EQ(wheel.next_deadline(), never);
    }
}

TEST(timer_wheel, the_next_deadline_is_exact_after_a_rest) {
    timer_wheel wheel;
    test_timer timer;
    wheel.advance(at(1h));
    wheel.arm(timer, at(1h + 5ms));
    EXPECT_EQ(wheel.next_deadline(), at(1h + 5ms));
    wheel.disarm(timer);
}

TEST(timer_wheel, disarm_and_arm_again) {
    timer_wheel wheel;
    test_timer timer;
    wheel.disarm(timer);
    wheel.arm(timer, at(10ms));
    wheel.disarm(timer);
    EXPECT_EQ(wheel.next_deadline(), never);
    EXPECT_EQ(wheel.advance(at(20ms)), 0u);
    wheel.arm(timer, at(30ms));
    wheel.arm(timer, at(50ms));
    EXPECT_EQ(wheel.size(), 1u);
    EXPECT_EQ(wheel.advance(at(49ms)), 0u);
    EXPECT_EQ(wheel.advance(at(50ms)), 1u);
    wheel.arm(timer, at(100ms));
    wheel.arm(timer, never);
    EXPECT_FALSE(timer.is_armed());
    EXPECT_TRUE(wheel.empty());
}

TEST(timer_wheel, the_past_is_due_at_the_next_call) {
    timer_wheel wheel(at(1h));
    test_timer timer;
    wheel.arm(timer, at(1min));
    EXPECT_LE(wheel.next_deadline(), at(1h));
    EXPECT_EQ(wheel.advance(at(1h)), 1u);
    wheel.arm(timer, time_point(duration(-5)));
    EXPECT_EQ(wheel.advance(at(30min)), 1u) << "a clock that went back does not stop it";
    wheel.arm(timer, at(2h));
    EXPECT_EQ(wheel.advance(at(0h)), 0u);
    EXPECT_EQ(wheel.advance(at(2h)), 1u);
}

TEST(timer_wheel, order_is_by_tick_then_by_arming) {
    timer_wheel wheel;
    std::vector<int> order;
    std::deque<test_timer> timers(6);
    const duration due[] = {300ms, 70ms, 300ms, 5ms, 70ms, 299ms};
    for (int i = 0; i < 6; ++i) {
        timers[static_cast<std::size_t>(i)].then = [&order, i] { order.push_back(i); };
        wheel.arm(timers[static_cast<std::size_t>(i)], at(due[i]));
    }
    wheel.advance(at(1s));
    EXPECT_EQ(order, (std::vector<int>{3, 1, 4, 5, 0, 2}));
}

TEST(timer_wheel, callbacks_may_arm_and_disarm) {
    timer_wheel wheel;
    test_timer first, second, third;
    // The first stops the second, which is due in the same call, and starts the third for a time already past.
    first.then = [&] {
        wheel.disarm(second);
        wheel.arm(third, at(1ms));
    };
    wheel.arm(first, at(10ms));
    wheel.arm(second, at(10ms));
    EXPECT_EQ(wheel.advance(at(50ms)), 1u);
    EXPECT_EQ(second.count, 0);
    EXPECT_EQ(third.count, 0);
    EXPECT_LE(wheel.next_deadline(), at(50ms));
    EXPECT_EQ(wheel.advance(at(50ms)), 1u);
    EXPECT_EQ(third.count, 1);

    // One that arms itself for now comes once a call, not for ever.
    test_timer again;
    again.then = [&] { wheel.arm(again, at(60ms)); };
    wheel.arm(again, at(60ms));
    for (int i = 1; i <= 5; ++i) {
        wheel.advance(at(60ms));
        EXPECT_EQ(again.count, i);
    }
    again.then = nullptr;
    wheel.disarm(again);

    // One that puts off another which is due in the same call.
    test_timer putting, put;
    putting.then = [&] { wheel.arm(put, at(10s)); };
    wheel.arm(putting, at(100ms));
    wheel.arm(put, at(110ms));
    wheel.advance(at(200ms));
    EXPECT_EQ(put.count, 0);
    wheel.advance(at(10s));
    EXPECT_EQ(put.count, 1);
    EXPECT_TRUE(wheel.empty());
}

TEST(timer_wheel, a_callback_may_destroy_its_timer) {
    timer_wheel wheel;
    static int destroyed;
    destroyed = 0;
    struct dying : timer_node {
        dying() : timer_node([](timer_node& node) noexcept { delete static_cast<dying*>(&node); }) {}
        ~dying() { ++destroyed; }
    };
    for (int i = 0; i < 10; ++i) wheel.arm(*new dying, at(10ms));
    wheel.advance(at(10ms));
    EXPECT_EQ(destroyed, 10);
}

TEST(timer_wheel, survives_jumps_of_days) {
    timer_wheel wheel;
    std::deque<test_timer> timers(1000);
    for (std::size_t i = 0; i < timers.size(); ++i) wheel.arm(timers[i], at(1h * i));
    EXPECT_EQ(wheel.advance(at(20 * 24h)), 481u);
    EXPECT_EQ(wheel.advance(at(21 * 24h)), 24u);
    EXPECT_EQ(wheel.advance(at(5000 * 24h)), 495u);
    wheel.arm(timers[0], never - 1ns);
    EXPECT_LT(wheel.next_deadline(), never);
    EXPECT_EQ(wheel.advance(never - 1s), 0u);
    wheel.disarm(timers[0]);
}

TEST(timer_wheel, a_million_armed_and_cancelled) {
    timer_wheel wheel;
    std::deque<test_timer> timers(10'000);
    std::minstd_rand random(5);
    for (int round = 0; round < 100; ++round) {
        for (auto& timer : timers) wheel.arm(timer, at(duration(std::chrono::milliseconds(round + static_cast<int>(random() % 100'000)))));
        ASSERT_EQ(wheel.size(), timers.size());
        for (auto& timer : timers) wheel.disarm(timer);
        ASSERT_TRUE(wheel.empty());
        ASSERT_EQ(wheel.next_deadline(), never) << "a slot was left marked as in use";
        wheel.advance(at(duration(std::chrono::milliseconds(round))));
    }
    for (auto& timer : timers) EXPECT_EQ(timer.count, 0);
}

/// A wheel and a multimap do the same random things.
class wheel_model {
public:
    explicit wheel_model(unsigned seed) : random_(seed), timers_(200) {
        for (auto& timer : timers_) timer.then = [this, &timer] { fired_.push_back(&timer); };
    }
    ~wheel_model() {
        for (auto& timer : timers_) wheel_.disarm(timer);
    }

    void step() {
        test_timer& timer = timers_[random_() % timers_.size()];
        switch (random_() % 8) {
        case 0:
        case 1:
        case 2:
        case 3: {
            // Delays of every order of size, some of them past.
            const auto span = std::int64_t{1} << (random_() % 50);
            const time_point due = now_ + duration(static_cast<std::int64_t>(random_()) * 4 % span - span / 8);
            wheel_.arm(timer, due);
            forget(timer);
            model_.emplace(due, &timer);
            break;
        }
        case 4:
            wheel_.disarm(timer);
            forget(timer);
            break;
        default: {
            const time_point bound = wheel_.next_deadline();
            check_bound(bound);
            const auto span = std::int64_t{1} << (random_() % 46);
            now_ =
                random_() % 3 == 0 && bound != never && bound > now_ ? bound : now_ + duration(static_cast<std::int64_t>(random_()) % span);
            advance();
        }
        }
        ASSERT_EQ(wheel_.size(), model_.size());
    }

private:
    void forget(test_timer& timer) {
        for (auto it = model_.begin(); it != model_.end(); ++it) {
            if (it->second == &timer) {
                model_.erase(it);
                return;
            }
        }
    }
    static time_point rounded_up(time_point t) {
        const auto ns = t.time_since_epoch().count();
        return ns <= 0 ? time_point() : time_point(std::chrono::milliseconds((ns + 999'999) / 1'000'000));
    }
    void check_bound(time_point bound) {
        if (model_.empty()) {
            ASSERT_EQ(bound, never);
        } else {
            ASSERT_LE(bound, std::max(rounded_up(model_.begin()->first), now_)) << "later than what is due first";
        }
    }
    void advance() {
        std::vector<test_timer*> expected;
        while (!model_.empty() && rounded_up(model_.begin()->first) <= now_) {
            expected.push_back(model_.begin()->second);
            model_.erase(model_.begin());
        }
        fired_.clear();
        wheel_.advance(now_);
        std::sort(expected.begin(), expected.end());
        std::sort(fired_.begin(), fired_.end());
        ASSERT_EQ(fired_, expected);
    }

    std::minstd_rand random_;
    timer_wheel wheel_;
    std::deque<test_timer> timers_;
    std::multimap<time_point, test_timer*> model_;
    std::vector<test_timer*> fired_;
    time_point now_{};
};

TEST(timer_wheel, does_as_a_multimap_does) {
    for (unsigned seed = 1; seed <= 30; ++seed) {
        wheel_model model(seed);
        for (int i = 0; i < 2000 && !::testing::Test::HasFatalFailure(); ++i) model.step();
    }
}

}  // namespace
}  // namespace martlet
