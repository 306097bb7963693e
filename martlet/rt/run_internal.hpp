// For the tests of this folder: tasks without an awaiter, and cancelling an operation at each of its moments.
#pragma once

#include <optional>
#include <utility>

#include <martlet/rt/combine.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/scope.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/task.hpp>

namespace martlet::inline v0::trial {

/// A task that runs on a loop which the test turns itself.
template <class T>
class background {
public:
    background(loop& on, task<T> work) : own(on.root()), work_(std::move(work)) { ended_.done = work_.start(own, ended_); }
    background(const background&) = delete;
    background& operator=(const background&) = delete;

    bool done() const noexcept { return ended_.done; }
    T take() { return work_.finish(); }

    context own;

private:
    task<T> work_;
    detail::main_finished ended_;
};

enum class moment {
    before,     ///< cancelled when it starts
    waiting,    ///< cancelled while it waits
    completed,  ///< complete, but its awaiter has not run yet
};

/// Awaits `make()` in a scope that is cancelled with `why` at `when`. `complete()` makes it complete. Gives what the await gave.
template <class Make, class Complete>
auto cancelled_at(loop& on, moment when, error why, Make make, Complete complete) {
    using awaited = decltype(make());
    std::optional<detail::awaited<awaited>> out;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> {
                if (when == moment::before) s.cancel(why);
                auto given = co_await make();
                out.emplace(std::move(given));
            });
            if (when == moment::waiting) {
                co_await yield();
                s.cancel(why);
            } else if (when == moment::completed) {
                complete();
                s.cancel(why);
            }
            co_return;
        });
    }());
    return std::move(*out);
}

}  // namespace martlet::inline v0::trial
