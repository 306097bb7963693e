// Waiting for time to pass.
#pragma once

#include <martlet/base/result.hpp>
#include <martlet/base/time.hpp>
#include <martlet/base/timer_wheel.hpp>
#include <martlet/rt/operation.hpp>

namespace martlet::inline v0 {

/// What sleep_for and sleep_until return; to be awaited. Its result is an error when it was cancelled before the time came.
class [[nodiscard]] sleep_operation final : public operation {
public:
    sleep_operation(sleep_operation&& other) noexcept
        : operation(std::move(other)), timer_(*this), length_(other.length_), until_(other.until_) {}

    bool start(context& in, std::coroutine_handle<> awaiter) noexcept {
        result_ = in.is_cancelled() ? result<void>(failure(in.why())) : result<void>();
        if (!result_) return false;
        loop& on = in.owner();
        const time_point now = on.clock();
        const time_point when = length_ >= duration::zero() ? saturating_add(now, length_) : until_;
        if (when <= now) return false;
        suspend(in, awaiter);
        on.arm(timer_, when);
        return true;
    }
    result<void> finish() const noexcept { return result_; }

private:
    friend sleep_operation sleep_for(duration) noexcept;
    friend sleep_operation sleep_until(time_point) noexcept;

    class alarm : public timer_node {
    public:
        explicit alarm(sleep_operation& of) noexcept : timer_node(&sleep_operation::rang), of_(of) {}
        sleep_operation& of_;
    };

    sleep_operation(duration length, time_point until) noexcept
        : operation(&sleep_operation::cancelled), timer_(*this), length_(length), until_(until) {}

    static void rang(timer_node& timer) noexcept { static_cast<alarm&>(timer).of_.complete(); }
    static void cancelled(operation& base, error why) noexcept {
        auto& self = static_cast<sleep_operation&>(base);
        self.owner().disarm(self.timer_);
        self.result_ = failure(why);
        self.complete();
    }

    alarm timer_;
    duration length_;
    time_point until_;
    result<void> result_;
};

/// Waits for `length` from the moment it is awaited; never less, up to a millisecond more.
inline sleep_operation sleep_for(duration length) noexcept { return {length < duration::zero() ? duration::zero() : length, {}}; }

/// Waits until `when`; returns at once if that has passed.
inline sleep_operation sleep_until(time_point when) noexcept { return {duration(-1), when}; }

/// Lets everything that is ready run first; to be awaited. Never fails: also in a cancelled context it only gives way.
class [[nodiscard]] yield_operation final : public operation {
public:
    yield_operation() noexcept : operation([](operation&, error) noexcept {}) {}
    bool start(context& in, std::coroutine_handle<> awaiter) noexcept {
        suspend(in, awaiter);
        complete();
        return true;
    }
    void finish() const noexcept {}
};

inline yield_operation yield() noexcept { return {}; }

}  // namespace martlet::inline v0
