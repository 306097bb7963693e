// at_every_step: one test, played again and again with one fault at step 1, 2, 3 and so on, until a play meets no fault any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include <martlet/rt/sim/simulation.hpp>

namespace martlet::inline v0::sim {

enum class fault : std::uint8_t { none, cancellation, error, allocation };

std::string_view name(fault kind) noexcept;

/// What one play of the test gets: the simulation it lives in, and where its cancellation is due.
class step_source {
public:
    step_source(simulation& world, fault kind, std::uint64_t step);
    step_source(const step_source&) = delete;
    step_source& operator=(const step_source&) = delete;

    simulation& world() noexcept { return world_; }
    fault kind() const noexcept { return kind_; }
    /// Nothing is to go wrong: the test may expect full success.
    bool is_faultless() const noexcept { return kind_ == fault::none || !was_hit(); }
    /// The fault of this play has happened.
    bool was_hit() const noexcept;

    /// A point at which the test could cancel. True when it is to do so here.
    bool cancel_now() noexcept;
    /// From here on each wait of the loop is such a point too, and `cancel` is called there, inside the wait. Null forgets it.
    void on_cancel(std::move_only_function<void()> cancel);

    /// Calls `act` at each wait of the loop, after the cancellation of that point. Null forgets it.
    void on_wait(std::move_only_function<void()> act);

    std::uint64_t cancel_points() const noexcept { return points_; }

private:
    simulation& world_;
    fault kind_;
    std::uint64_t step_;
    std::uint64_t points_ = 0;
    bool cancelled_ = false;
    std::move_only_function<void()> cancel_;
    std::move_only_function<void()> at_wait_;
};

/// How many places each kind of fault was tried at.
struct coverage {
    std::uint64_t cancellations = 0;
    std::uint64_t errors = 0;  ///< calls times the errors that fit each
    std::uint64_t allocations = 0;
    std::uint64_t plays = 0;
};

/// What is tried, and in what simulation.
class step_options {
public:
    explicit step_options(const options& with = options()) noexcept : with_(with) {}
    step_options& without_cancellation() noexcept {
        cancellations_ = false;
        return *this;
    }
    step_options& without_errors() noexcept {
        errors_ = false;
        return *this;
    }
    step_options& without_allocations() noexcept {
        allocations_ = false;
        return *this;
    }
    /// A play that goes on for more steps than this is a fault of the test.
    step_options& with_steps_max(std::uint64_t steps) noexcept {
        steps_max_ = steps;
        return *this;
    }

    options with_;
    bool cancellations_ = true;
    bool errors_ = true;
    bool allocations_ = true;
    std::uint64_t steps_max_ = 20'000;
};

/// Plays `test` first without a fault, then with each fault of each kind at each step, each time in a new simulation. A std::bad_alloc or
/// std::system_error that leaves `test` in a play with a fault is an answer like any other; from the first play nothing may leave. Says
/// on standard
/// output how many points it covered. Aborts when a kind that is asked for covered none, or a play without end.
coverage at_every_step(std::string_view what, const std::function<void(step_source&)>& test, const step_options& chosen = step_options());

}  // namespace martlet::inline v0::sim
