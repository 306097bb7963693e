// blocking_pool: threads for work that blocks, with a bounded number of them and a bounded queue.
//
//   idle --start--> queued --a thread takes it--> running --> ended --posted to the loop--> complete
//                     |  cancelled: removed          |  cancelled: the awaiter waits for the end,
//                     v                              v  or, when the work owns all it uses, goes on at once
#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include <martlet/base/list.hpp>
#include <martlet/base/result.hpp>
#include <martlet/rt/loop_handle.hpp>
#include <martlet/rt/operation.hpp>

namespace martlet::inline v0 {

/// What work fails with that finds the queue full.
extern const error blocking_pool_full;

namespace detail {

struct job_tag;
class pool_state;

/// Work for the pool. It is posted to its loop when it has ended.
class blocking_job : public posted, public list_hook<job_tag> {
public:
    /// Runs the work, on a thread of the pool.
    using work_function = void (*)(blocking_job&) noexcept;
    enum class phase : std::uint8_t { idle, queued, running, ended };

    blocking_job(work_function work, posted::function ended) noexcept : posted(ended), work_(work) {}
    blocking_job(const blocking_job&) = delete;
    blocking_job& operator=(const blocking_job&) = delete;
    ~blocking_job();

    /// Queues it. On failure nothing of it is queued.
    result<void> submit(pool_state& to, const loop& from) noexcept;
    /// Takes it off the queue; tells where it was. Only when `queued` it is off, and will not be posted.
    phase withdraw() noexcept;
    /// The pool stopped before a thread took it.
    bool was_refused() const noexcept { return refused_; }

private:
    friend class pool_state;
    work_function work_;
    pool_state* pool_ = nullptr;
    loop_handle to_;
    phase phase_ = phase::idle;  // guarded by the pool
    bool refused_ = false;
};

template <class R>
using blocking_result = std::conditional_t<is_result<R>, R, result<R>>;

/// What the work gave: a value, an error or an exception.
template <class R>
class blocking_outcome {
    static_assert(!std::is_reference_v<R>, "work for the pool returns a value");

public:
    template <class F>
    void run(F& f) noexcept {
        try {
            if constexpr (std::is_void_v<R>) {
                f();
                given_.emplace();
            } else if constexpr (is_result<R>) {
                given_.emplace(f());
            } else {
                given_.emplace(std::in_place, f());
            }
        } catch (...) {
            thrown_ = std::current_exception();
        }
    }
    void refuse(error why) noexcept { given_.emplace(failure(why)); }
    /// Takes over what `other` has. A value need not be assignable for it.
    void take_over(blocking_outcome& other) {
        if (other.given_) given_.emplace(std::move(*other.given_));
        thrown_ = std::move(other.thrown_);
    }
    blocking_result<R> take() {
        if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
        return std::move(*given_);
    }

private:
    std::optional<blocking_result<R>> given_;
    std::exception_ptr thrown_;
};

}  // namespace detail

/// Each setter returns the options, so that they chain.
class blocking_pool_options {
public:
    blocking_pool_options() noexcept {}
    /// Threads at most; they start when there is work for them. Default: 8.
    blocking_pool_options& threads_max(unsigned count) noexcept {
        threads_max_ = count;
        return *this;
    }
    /// Work that waits for a thread; more is refused with `blocking_pool_full`. Default: 1024.
    blocking_pool_options& queued_max(std::size_t count) noexcept {
        queued_max_ = count;
        return *this;
    }

private:
    friend class detail::pool_state;
    unsigned threads_max_ = 8;
    std::size_t queued_max_ = 1024;
};

/// May be shared by loops. No thread exists before the first work.
class blocking_pool {
public:
    /// Throws std::bad_alloc.
    explicit blocking_pool(blocking_pool_options options = blocking_pool_options());
    blocking_pool(const blocking_pool&) = delete;
    blocking_pool& operator=(const blocking_pool&) = delete;
    /// stop().
    ~blocking_pool();

    /// Refuses queued work and all that comes later with `shutting_down`, and waits for what is running. Not called from the work itself.
    void stop() noexcept;

    unsigned threads() const noexcept;
    std::size_t queued() const noexcept;
    std::size_t running() const noexcept;

    /// For the library's own use.
    detail::pool_state& state() const noexcept { return *state_; }

private:
    detail::pool_state* state_;
};

namespace detail {

/// Work that borrows from its awaiter, and so is waited for to its end.
template <class F>
class [[nodiscard]] blocking_await final : public operation {
    using given = std::invoke_result_t<F&>;

public:
    blocking_await(pool_state& pool, F&& f) : operation(&blocking_await::cancelled), pool_(pool), f_(std::move(f)), job_(*this) {}
    blocking_await(blocking_await&& other) : operation(std::move(other)), pool_(other.pool_), f_(std::move(other.f_)), job_(*this) {}

    bool start(context& in, std::coroutine_handle<> awaiter) noexcept {
        if (in.is_cancelled()) {
            outcome_.refuse(in.why());
            return false;
        }
        const result<void> queued = job_.submit(pool_, in.owner());
        if (!queued) {
            outcome_.refuse(queued.error());
            return false;
        }
        suspend(in, awaiter);
        return true;
    }
    blocking_result<given> finish() { return outcome_.take(); }

private:
    class job final : public blocking_job {
    public:
        explicit job(blocking_await& of) noexcept : blocking_job(&job::work, &job::ended), of_(of) {}

    private:
        static void work(blocking_job& base) noexcept {
            auto& of = static_cast<job&>(base).of_;
            of.outcome_.run(of.f_);
        }
        static void ended(posted* base, bool run) noexcept {
            auto& self = *static_cast<job*>(base);
            // Not run: the loop is gone, and nobody waits any longer.
            if (!run) return;
            if (self.was_refused()) self.of_.outcome_.refuse(cancel_reason::shutting_down);
            self.of_.complete();
        }
        blocking_await& of_;
    };

    static void cancelled(operation& base, error why) noexcept {
        auto& self = static_cast<blocking_await&>(base);
        if (self.job_.withdraw() != blocking_job::phase::queued) return;
        self.outcome_.refuse(why);
        self.complete();
    }

    pool_state& pool_;
    F f_;
    blocking_outcome<given> outcome_;
    job job_;
};

/// Work that owns all it uses, and so can be left to itself.
template <class F>
class [[nodiscard]] blocking_owning_await final : public operation {
    using given = std::invoke_result_t<F&>;

public:
    blocking_owning_await(pool_state& pool, F&& f) : operation(&blocking_owning_await::cancelled), pool_(pool), f_(std::move(f)) {}
    blocking_owning_await(blocking_owning_await&& other) : operation(std::move(other)), pool_(other.pool_), f_(std::move(other.f_)) {}

    bool start(context& in, std::coroutine_handle<> awaiter) {
        if (in.is_cancelled()) {
            outcome_.refuse(in.why());
            return false;
        }
        job* made = new (std::nothrow) job(*this, std::move(f_));
        if (made == nullptr) {
            outcome_.refuse(out_of_memory());
            return false;
        }
        const result<void> queued = made->submit(pool_, in.owner());
        if (!queued) {
            delete made;
            outcome_.refuse(queued.error());
            return false;
        }
        job_ = made;
        suspend(in, awaiter);
        return true;
    }
    blocking_result<given> finish() { return outcome_.take(); }

private:
    class job final : public blocking_job {
    public:
        job(blocking_owning_await& of, F&& f) : blocking_job(&job::work, &job::ended), f_(std::move(f)), awaiter_(&of) {}
        /// On the loop's thread: nobody waits for it any longer.
        void leave_alone() noexcept { awaiter_ = nullptr; }

    private:
        static void work(blocking_job& base) noexcept {
            auto& self = static_cast<job&>(base);
            self.outcome_.run(self.f_);
        }
        static void ended(posted* base, bool run) noexcept {
            auto* self = static_cast<job*>(base);
            if (run && self->awaiter_ != nullptr) {
                if (self->was_refused()) self->outcome_.refuse(cancel_reason::shutting_down);
                self->awaiter_->outcome_.take_over(self->outcome_);
                self->awaiter_->complete();
            }
            delete self;
        }
        F f_;
        blocking_outcome<given> outcome_;
        blocking_owning_await* awaiter_;
    };

    static error out_of_memory() noexcept;

    static void cancelled(operation& base, error why) noexcept {
        auto& self = static_cast<blocking_owning_await&>(base);
        switch (self.job_->withdraw()) {
        case blocking_job::phase::queued: delete self.job_; break;
        case blocking_job::phase::running: self.job_->leave_alone(); break;
        default: return;  // it has ended, and its result is on the way
        }
        self.outcome_.refuse(why);
        self.complete();
    }

    pool_state& pool_;
    F f_;
    blocking_outcome<given> outcome_;
    job* job_ = nullptr;
};

error blocking_out_of_memory() noexcept;

template <class F>
error blocking_owning_await<F>::out_of_memory() noexcept {
    return blocking_out_of_memory();
}

}  // namespace detail

/// To be awaited: runs `f()` on a thread of `pool` and gives what it gave as a result<R>; what it threw is rethrown. `f` may borrow from the
/// awaiter: cancelled while queued it never runs; cancelled while running, the awaiter waits for the end and gets the value.
template <class F>
auto run_blocking(blocking_pool& pool, F f) {
    return detail::blocking_await<F>(pool.state(), std::move(f));
}

/// The same for an `f` that owns all it uses: cancelled while running, the awaiter goes on at once, and what `f` gives is dropped.
template <class F>
auto run_blocking_owning(blocking_pool& pool, F f) {
    return detail::blocking_owning_await<F>(pool.state(), std::move(f));
}

}  // namespace martlet::inline v0
