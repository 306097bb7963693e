#include <martlet/rt/sim/at_every_step.hpp>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <system_error>

#include <martlet/rt/sim/allocation.hpp>

namespace martlet::inline v0::sim {

std::string_view name(fault kind) noexcept {
    switch (kind) {
    case fault::none: break;
    case fault::cancellation: return "cancellation";
    case fault::error: return "error";
    case fault::allocation: return "allocation failure";
    }
    return "no fault";
}

bool step_source::was_hit() const noexcept {
    switch (kind_) {
    case fault::none: break;
    case fault::cancellation: return cancelled_;
    case fault::error: return world_.fitting_errors() != 0;
    case fault::allocation: return allocation_failed();
    }
    return false;
}

bool step_source::cancel_now() noexcept {
    ++points_;
    if (kind_ != fault::cancellation || points_ != step_) return false;
    cancelled_ = true;
    return true;
}

step_source::step_source(simulation& world, fault kind, std::uint64_t step) : world_(world), kind_(kind), step_(step) {
    const allocation_pause pause;
    world_.on_call([this](const call_facts& facts) {
        if (facts.kind != call_kind::epoll_wait) return;
        if (cancel_ && cancel_now()) {
            cancel_();
            // What was cancelled runs before anything else can happen.
            world_.interrupt();
        }
        if (at_wait_) at_wait_();
    });
}

void step_source::on_cancel(std::move_only_function<void()> cancel) { cancel_ = std::move(cancel); }
void step_source::on_wait(std::move_only_function<void()> act) { at_wait_ = std::move(act); }

namespace {

[[noreturn]] void wrong(std::string_view what, const char* rule) {
    std::fprintf(stderr, "at_every_step(%.*s): %s\n", static_cast<int>(what.size()), what.data(), rule);
    std::fflush(stderr);
    std::abort();
}

struct outcome {
    bool was_hit;
    std::size_t fitting;
    std::uint64_t cancel_points;
};

outcome play(std::string_view what, const std::function<void(step_source&)>& test, const step_options& chosen, fault kind,
             std::uint64_t step, std::size_t variant) {
    simulation world(chosen.with_);
    step_source steps(world, kind, step);
    {
        const allocation_pause pause;
        std::string note = "at_every_step(" + std::string(what) + ") with ";
        note += name(kind);
        if (kind != fault::none) note += " at step " + std::to_string(step);
        if (kind == fault::error) note += ", variant " + std::to_string(variant);
        world.set_note(std::move(note));
    }
    if (kind == fault::error) world.fail_call(step, 0, variant);
    fail_allocation(kind == fault::allocation ? step : 0);
    if (kind == fault::none) {
        test(steps);
    } else {
        try {
            test(steps);
        } catch (const std::bad_alloc&) {
            if (!steps.was_hit()) wrong(what, "std::bad_alloc in a play in which nothing had failed");
        } catch (const std::system_error&) {
            if (!steps.was_hit()) wrong(what, "std::system_error in a play in which nothing had failed");
        }
    }
    const outcome result{steps.was_hit(), world.fitting_errors(), steps.cancel_points()};
    world.on_call(nullptr);
    fail_allocation(0);
    return result;
}

}  // namespace

coverage at_every_step(std::string_view what, const std::function<void(step_source&)>& test, const step_options& chosen) {
    coverage covered;
    const auto play_one = [&](fault kind, std::uint64_t step, std::size_t variant) {
        if (step > chosen.steps_max_) wrong(what, "the test goes on for more steps than steps_max");
        ++covered.plays;
        return play(what, test, chosen, kind, step, variant);
    };
    play_one(fault::none, 0, 0);
    if (chosen.cancellations_) {
        for (std::uint64_t step = 1; play_one(fault::cancellation, step, 0).was_hit; ++step) ++covered.cancellations;
        if (covered.cancellations == 0) wrong(what, "the test has no point at which it can be cancelled");
    }
    if (chosen.errors_) {
        std::size_t fitting = 1;
        for (std::uint64_t step = 1; fitting > 0; ++step) {
            fitting = play_one(fault::error, step, 0).fitting;
            covered.errors += fitting;
            for (std::size_t variant = 1; variant < fitting; ++variant) play_one(fault::error, step, variant);
        }
        if (covered.errors == 0) wrong(what, "the test makes no kernel call that can fail");
    }
    if (chosen.allocations_) {
        for (std::uint64_t step = 1; play_one(fault::allocation, step, 0).was_hit; ++step) ++covered.allocations;
        if (covered.allocations == 0) wrong(what, "the test allocates nothing");
    }
    std::printf("at_every_step(%.*s): %llu cancellations, %llu errors, %llu allocation failures in %llu plays\n",
                static_cast<int>(what.size()), what.data(), static_cast<unsigned long long>(covered.cancellations),
                static_cast<unsigned long long>(covered.errors), static_cast<unsigned long long>(covered.allocations),
                static_cast<unsigned long long>(covered.plays));
    return covered;
}

}  // namespace martlet::inline v0::sim
