// in_scope: the only place where work runs beside the code that started it. Nothing outlives the co_await.
#pragma once

#include <exception>
#include <expected>
#include <optional>
#include <type_traits>
#include <utility>

#include <martlet/base/result.hpp>
#include <martlet/rt/operation.hpp>
#include <martlet/rt/task.hpp>
#include <martlet/rt/within.hpp>

namespace martlet::inline v0 {

class scope;

namespace detail {

struct child_tag;

/// The first failure of a scope: what was thrown, or the error that was returned.
class first_failure {
public:
    bool any() const noexcept { return failed_; }
    void note(std::exception_ptr thrown) noexcept {
        if (std::exchange(failed_, true)) return;
        thrown_ = std::move(thrown);
    }
    void note(error e) noexcept {
        if (std::exchange(failed_, true)) return;
        error_ = e;
    }
    const std::exception_ptr& thrown() const noexcept { return thrown_; }
    error why() const noexcept { return error_; }
    [[noreturn]] void raise() const {
        if (thrown_) std::rethrow_exception(thrown_);
        throw std::bad_expected_access<error>(error_);
    }

private:
    bool failed_ = false;
    std::exception_ptr thrown_;
    error error_{cancel_reason::cancelled};
};

/// A running child: its own context, and the frame that holds the callable. Allocated like a frame.
class scope_child : public ready_node, public list_hook<child_tag> {
public:
    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t) noexcept { free_frame(memory); }
    virtual ~scope_child() = default;

    virtual bool start() noexcept = 0;
    /// Says how it ended, and that it may be destroyed.
    virtual void settle(first_failure& failure) noexcept = 0;

protected:
    scope_child(context& outer, scope& of) noexcept : ready_node(&scope_child::ended), own_(outer), of_(of) {}
    static void ended(ready_node& node) noexcept;

    context own_;
    scope& of_;
};

template <class T>
class scope_task final : public scope_child {
public:
    scope_task(context& outer, scope& of, task<T>&& work) noexcept : scope_child(outer, of), work_(std::move(work)) {}
    bool start() noexcept override { return work_.start(own_, *this); }
    void settle(first_failure& failure) noexcept override {
        try {
            if constexpr (is_result<T>) {
                auto ended = work_.finish();
                if (!ended) failure.note(ended.error());
            } else {
                work_.finish();
            }
        } catch (...) {
            failure.note(std::current_exception());
        }
    }

private:
    task<T> work_;
};

/// Keeps the callable alive in a frame for as long as the task that it made.
template <class F, class... Args>
auto invoke_and_keep(F f, Args... args) -> std::invoke_result_t<F&, Args&...> {
    auto made = f(args...);
    co_return co_await std::move(made);
}

template <class A>
class [[nodiscard]] await_in {
public:
    await_in(A&& inner, context& in) noexcept : inner_(std::move(inner)), in_(in) {}
    bool start(context&, std::coroutine_handle<> awaiter) { return inner_.start(in_, awaiter); }
    decltype(auto) finish() { return inner_.finish(); }

private:
    A inner_;
    context& in_;
};

}  // namespace detail

/// Given to the body of in_scope; there is no other way to have one.
class scope {
public:
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

    /// Starts `f(args...)`, which gives a task, at once and up to its first suspension. `f` and `args` are moved into the child's frame, so a
    /// capturing lambda is safe. In a scope that is already cancelled nothing starts. A child that fails, by throwing or by returning
    /// an error, cancels the scope. Throws std::bad_alloc.
    template <class F, class... Args>
    void spawn(F f, Args... args) {
        using made = std::invoke_result_t<F&, Args&...>;
        static_assert(detail::is_task<made>, "spawn takes a function that returns a task");
        if (own_.is_cancelled()) return;
        add(new detail::scope_task<typename made::value_type>(own_, *this, detail::invoke_and_keep(std::move(f), std::move(args)...)));
    }

    /// Cancels the body and all children.
    void cancel(error why = cancel_reason::cancelled) noexcept { own_.cancel(why); }
    bool is_cancelled() const noexcept { return own_.is_cancelled(); }
    /// How many children are running.
    std::size_t size() const noexcept { return size_; }

private:
    friend class detail::scope_child;
    template <class Body>
    friend auto in_scope(Body body) -> std::invoke_result_t<Body&, scope&>;

    /// Waits until no child is left. Cancellation reaches the children by their contexts; the waiting itself goes on.
    class join_operation final : public operation {
    public:
        explicit join_operation(scope& of) noexcept : operation([](operation&, error) noexcept {}), of_(of) {}
        bool start(context& in, std::coroutine_handle<> awaiter) noexcept {
            if (of_.size_ == 0) return false;
            of_.joining_ = this;
            suspend(in, awaiter);
            return true;
        }
        void finish() const noexcept {}
        void children_ended() noexcept { complete(); }

    private:
        scope& of_;
    };

    explicit scope(context& outer) noexcept : own_(outer) {}
    ~scope() { MARTLET_ASSERT(size_ == 0, "a scope ends after its children"); }

    void add(detail::scope_child* child) noexcept {
        children_.push_back(*child);
        ++size_;
        if (child->start()) remove(*child);
    }

    void remove(detail::scope_child& child) noexcept {
        child.list_hook<detail::child_tag>::unlink();
        child.settle(failure_);
        delete &child;
        --size_;
        if (failure_.any()) stop();
        if (size_ == 0 && joining_ != nullptr) std::exchange(joining_, nullptr)->children_ended();
    }

    /// The siblings learn of a deadline as of a deadline; of everything else as of a cancellation.
    void stop() noexcept {
        const bool by_error = !failure_.thrown();
        own_.cancel(by_error && failure_.why().is_timeout() ? cancel_reason::timed_out : cancel_reason::cancelled);
    }

    context own_;
    list<detail::scope_child, detail::child_tag> children_;
    std::size_t size_ = 0;
    join_operation* joining_ = nullptr;
    detail::first_failure failure_;
};

inline void detail::scope_child::ended(ready_node& node) noexcept {
    auto& self = static_cast<scope_child&>(node);
    self.of_.remove(self);
}

/// Runs `body(scope&)`, a task, and waits for everything that it spawned, however it ends. The first failure of body or children cancels
/// the others and comes back: as the error if the body's task gives a result<T>, else by throwing (an error as
/// std::bad_expected_access<error>). Without one it gives what the body gave.
template <class Body>
auto in_scope(Body body) -> std::invoke_result_t<Body&, scope&> {
    using made = std::invoke_result_t<Body&, scope&>;
    static_assert(detail::is_task<made>, "in_scope takes a function that returns a task");
    using value = typename made::value_type;
    context& outer = co_await this_context();
    scope inner(outer);
    using kept = std::conditional_t<std::is_void_v<value>, bool, value>;
    std::optional<kept> given;
    try {
        detail::await_in<made> running(body(inner), inner.own_);
        if constexpr (std::is_void_v<value>) {
            co_await running;
        } else {
            given.emplace(co_await running);
            if constexpr (is_result<value>) {
                if (!*given) inner.failure_.note(given->error());
            }
        }
    } catch (...) {
        inner.failure_.note(std::current_exception());
    }
    if (inner.failure_.any()) inner.stop();
    scope::join_operation joined(inner);
    co_await joined;
    if (inner.failure_.any()) {
        if constexpr (is_result<value>) {
            if (!inner.failure_.thrown()) co_return failure(inner.failure_.why());
        }
        inner.failure_.raise();
    }
    if constexpr (!std::is_void_v<value>) co_return std::move(*given);
}

}  // namespace martlet::inline v0
