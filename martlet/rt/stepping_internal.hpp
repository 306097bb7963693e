// For tests on the simulated kernel: runs a task in a context that is cancelled at the step which at_every_step has chosen.
#pragma once

#include <utility>

#include <martlet/base/result.hpp>
#include <martlet/rt/context.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/scope.hpp>
#include <martlet/rt/sim/allocation.hpp>
#include <martlet/rt/sim/at_every_step.hpp>
#include <martlet/rt/task.hpp>

namespace martlet::inline v0::trial {

/// Makes points for cancelling a context: inside each wait of the loop, and several times between the ready nodes that follow it, so
/// that what has
/// completed and not yet run is met too.
class step_canceller final : public ready_node {
public:
    step_canceller(sim::step_source& steps, context& own) : ready_node(&step_canceller::between), steps_(steps), own_(own) {
        const sim::allocation_pause pause;
        steps_.on_cancel([this] { cancel(); });
        steps_.on_wait([this] {
            if (steps_.kind() == sim::fault::cancellation && !is_linked()) queue(rounds);
        });
    }
    step_canceller(const step_canceller&) = delete;
    step_canceller& operator=(const step_canceller&) = delete;
    ~step_canceller() {
        unlink();
        steps_.on_cancel(nullptr);
        steps_.on_wait(nullptr);
    }

    /// A point of its own.
    void here() {
        if (steps_.cancel_now()) cancel();
    }

private:
    static constexpr int rounds = 3;

    void cancel() { own_.cancel(cancel_reason::cancelled); }
    void queue(int left) {
        left_ = left;
        own_.owner().ready(*this);
    }
    static void between(ready_node& node) noexcept {
        auto& self = static_cast<step_canceller&>(node);
        self.here();
        // Behind what became ready meanwhile.
        if (self.left_ > 1) self.queue(self.left_ - 1);
    }

    sim::step_source& steps_;
    context& own_;
    int left_ = 0;
};

/// Runs `make(own)`, a task<T>, to its end on `on`, in the context `own`, which is cancelled before the task starts, at any suspension,
/// or after it
/// has ended, as `steps` has it. In a play with an allocation failure std::bad_alloc may come out.
template <class Make>
auto run_stepped(sim::step_source& steps, loop& on, Make make) {
    using made = decltype(make(std::declval<context&>()));
    using value = typename made::value_type;
    return on.run([&]() -> task<value> {
        context own(on.root());
        step_canceller cancelling(steps, own);
        cancelling.here();
        detail::await_in<made> running(make(own), own);
        auto given = co_await running;
        cancelling.here();
        co_return given;
    }());
}

}  // namespace martlet::inline v0::trial
