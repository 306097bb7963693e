// task: a lazy coroutine that is awaited once, by the code that made it.
//
// Awaiting starts the child at once, on the caller's stack, and suspends the caller only if the child really suspended. So a child that
// finishes at once costs no trip through the loop, and a long run of such children uses no stack in any build.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <martlet/rt/context.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/operation.hpp>

namespace martlet::inline v0 {

template <class T = void>
class task;

namespace detail {

template <class>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

/// Binds an awaitable to the context of the coroutine that awaits it. Holds a reference: the awaitable itself is not moved.
template <class A>
class bound_await {
public:
    bound_await(A& operation, context& in) noexcept : operation_(operation), in_(in) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> handle) { return operation_.start(in_, handle); }
    decltype(auto) await_resume() { return operation_.finish(); }

private:
    A& operation_;
    context& in_;
};

class promise_base {
public:
    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* frame, std::size_t) noexcept { free_frame(frame); }

    std::suspend_always initial_suspend() const noexcept { return {}; }

    class final_await {
    public:
        bool await_ready() const noexcept { return false; }
        template <class P>
        void await_suspend(std::coroutine_handle<P> handle) const noexcept {
            handle.promise().finished();
        }
        void await_resume() const noexcept {}
    };
    final_await final_suspend() const noexcept { return {}; }

    template <class A>
    auto await_transform(A&& a) noexcept {
        using plain = std::remove_cvref_t<A>;
        if constexpr (awaitable<plain>) {
            static_assert(!(is_task<plain> && std::is_lvalue_reference_v<A>), "a task is awaited once: write co_await std::move(t)");
            return bound_await<std::remove_reference_t<A>>(a, *context_);
        } else {
            static_assert(awaitable<plain>, "a Martlet task can await tasks and Martlet's own operations only; this type is neither");
            return std::suspend_never{};
        }
    }

    void unhandled_exception() noexcept { thrown_ = std::current_exception(); }

    /// Before the first resumption.
    void begin(context& in, ready_node* finished) noexcept {
        context_ = &in;
        finished_ = finished;
    }
    /// The child has suspended for real: `awaiter` goes on when it finishes.
    void wait(std::coroutine_handle<> awaiter) noexcept { awaiter_ = awaiter; }
    context& in() const noexcept { return *context_; }

protected:
    void rethrow() {
        if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    }

private:
    void finished() noexcept {
        if (awaiter_) {
            context_->owner().hand_on(awaiter_);
        } else if (finished_ != nullptr) {
            context_->owner().ready(*finished_);
        }
    }

    context* context_ = nullptr;
    std::coroutine_handle<> awaiter_;
    ready_node* finished_ = nullptr;
    std::exception_ptr thrown_;
};

template <class T>
class promise final : public promise_base {
public:
    task<T> get_return_object() noexcept;
    template <class U = T>
        requires std::is_constructible_v<T, U&&>
    void return_value(U&& value) {
        value_.emplace(std::forward<U>(value));
    }
    T take() {
        rethrow();
        return std::move(*value_);
    }

private:
    std::optional<T> value_;
};

template <>
class promise<void> final : public promise_base {
public:
    task<void> get_return_object() noexcept;
    void return_void() const noexcept {}
    void take() { rethrow(); }
};

}  // namespace detail

/// Nothing runs before it is awaited or given to a scope or a loop. Move-only. A task that was never started may simply be dropped;
/// one that has started is finished before it is destroyed: cancel its context and await it.
template <class T>
class [[nodiscard]] task {
    static_assert(!std::is_reference_v<T>, "a task returns a value; wrap a reference in a pointer");

public:
    using promise_type = detail::promise<T>;
    using value_type = T;

    task() noexcept = default;
    task(task&& other) noexcept : frame_(std::exchange(other.frame_, {})), started_(std::exchange(other.started_, false)) {}
    task& operator=(task&& other) noexcept {
        if (this != &other) {
            destroy();
            frame_ = std::exchange(other.frame_, {});
            started_ = std::exchange(other.started_, false);
        }
        return *this;
    }
    ~task() { destroy(); }

    explicit operator bool() const noexcept { return static_cast<bool>(frame_); }

    /// Part of the await protocol: runs it until it finishes or waits.
    bool start(context& in, std::coroutine_handle<> awaiter) noexcept {
        run_first(in, nullptr);
        if (frame_.done()) return false;
        frame_.promise().wait(awaiter);
        return true;
    }
    T finish() { return frame_.promise().take(); }

    /// Runs it without an awaiter; when it has to wait, `finished` is queued once it is done. True: it is done already and `finished` is not queued.
    bool start(context& in, ready_node& finished) noexcept {
        run_first(in, nullptr);
        if (frame_.done()) return true;
        frame_.promise().begin(in, &finished);
        return false;
    }

private:
    friend promise_type;
    explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

    void run_first(context& in, ready_node* finished) noexcept {
        MARTLET_ASSERT(frame_ && !started_, "a task can be awaited once");
        started_ = true;
        frame_.promise().begin(in, finished);
        frame_.resume();
    }

    void destroy() noexcept {
        if (!frame_) return;
        MARTLET_ASSERT(!started_ || frame_.done(), "a task must finish before it is destroyed: cancel its context and await it");
        std::exchange(frame_, {}).destroy();
    }

    std::coroutine_handle<promise_type> frame_;
    bool started_ = false;
};

template <class T>
task<T> detail::promise<T>::get_return_object() noexcept {
    return task<T>(std::coroutine_handle<promise>::from_promise(*this));
}

inline task<void> detail::promise<void>::get_return_object() noexcept {
    return task<void>(std::coroutine_handle<promise>::from_promise(*this));
}

/// `context& c = co_await this_context();`
class this_context {
public:
    this_context() noexcept {}
    bool start(context& in, std::coroutine_handle<>) noexcept {
        in_ = &in;
        return false;
    }
    context& finish() const noexcept { return *in_; }

private:
    context* in_ = nullptr;
};

namespace detail {

/// Notes that the main task of loop::run has finished.
class main_finished final : public ready_node {
public:
    main_finished() noexcept : ready_node([](ready_node& node) noexcept { static_cast<main_finished&>(node).done = true; }) {}
    bool done = false;
};

}  // namespace detail

template <class T>
T loop::run(task<T> main) {
    MARTLET_ASSERT(detail::current_loop == nullptr, "loop::run(task) is called from outside a loop");
    detail::main_finished finished;
    detail::current_loop = this;
    finished.done = main.start(root_, finished);
    detail::current_loop = nullptr;
    if (!finished.done) drive(finished.done);
    MARTLET_ASSERT(finished.done, "a loop that runs a task must not be stopped or handed over before the task has finished");
    // Destroyed on its loop, where its frame came from.
    detail::current_loop = this;
    struct restore {
        ~restore() { detail::current_loop = nullptr; }
    } restored;
    task<T> ended = std::move(main);
    return ended.finish();
}

}  // namespace martlet::inline v0
