// Several things at once inside one co_await: all of them (both, all), or whichever ends first (first).
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <martlet/rt/operation.hpp>
#include <martlet/rt/task.hpp>

namespace martlet::inline v0 {

namespace detail {

template <class A>
using awaited = decltype(std::declval<A&>().finish());
/// A void result stands as std::monostate in a tuple.
template <class T>
using tuple_part = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class A>
task<awaited<A>> as_task(A operation) {
    if constexpr (std::is_void_v<awaited<A>>) {
        co_await operation;
    } else {
        auto value = co_await operation;
        co_return value;
    }
}

template <class T>
task<T> as_task(task<T> already) noexcept {
    return already;
}

/// Counts the branches of one co_await, and resumes it when the last has ended.
class branches {
public:
    branches() noexcept {}
    branches(branches&&) noexcept {}

    void expect(std::size_t count) noexcept { running_ = count; }
    /// True when nothing is left to wait for.
    bool ended_inline() noexcept { return --running_ == 0; }
    void ended(loop& on) noexcept {
        if (--running_ == 0 && awaiter_) on.resume(std::exchange(awaiter_, {}));
    }
    bool wait(std::coroutine_handle<> awaiter) noexcept {
        if (running_ == 0) return false;
        awaiter_ = awaiter;
        return true;
    }

private:
    std::size_t running_ = 0;
    std::coroutine_handle<> awaiter_;
};

template <class T>
class all_branch final : public ready_node {
public:
    explicit all_branch(task<T>&& work) noexcept : ready_node(&all_branch::ended), work_(std::move(work)) {}
    all_branch(all_branch&& other) noexcept : ready_node(&all_branch::ended), work_(std::move(other.work_)) {}

    bool start(context& in, branches& of) noexcept {
        of_ = &of;
        in_ = &in;
        return work_.start(in, *this);
    }
    tuple_part<T> take() {
        if constexpr (std::is_void_v<T>) {
            work_.finish();
            return {};
        } else {
            return work_.finish();
        }
    }

private:
    static void ended(ready_node& node) noexcept {
        auto& self = static_cast<all_branch&>(node);
        self.of_->ended(self.in_->owner());
    }

    task<T> work_;
    branches* of_ = nullptr;
    context* in_ = nullptr;
};

template <class... T>
class [[nodiscard]] all_await {
public:
    explicit all_await(task<T>&&... work) noexcept : branches_(all_branch<T>(std::move(work))...) {}
    all_await(all_await&& other) noexcept : branches_(std::move(other.branches_)) {}

    bool start(context& in, std::coroutine_handle<> awaiter) noexcept {
        count_.expect(sizeof...(T));
        std::apply(
            [&](auto&... branch) { ((branch.start(in, count_) ? static_cast<void>(count_.ended_inline()) : static_cast<void>(0)), ...); },
            branches_);
        return count_.wait(awaiter);
    }
    std::tuple<tuple_part<T>...> finish() {
        // Braces: taken from left to right, so that the first of several exceptions is the one that is thrown.
        return std::apply([](auto&... branch) { return std::tuple<tuple_part<T>...>{branch.take()...}; }, branches_);
    }

private:
    std::tuple<all_branch<T>...> branches_;
    branches count_;
};

}  // namespace detail

/// Runs all of them at once in the context of the awaiter, and gives their results as a tuple (std::monostate for void). Cancels nobody:
/// one that fails leaves the others running. If some threw, the first of them in the order of the arguments is rethrown when all have ended.
template <class... A>
    requires(awaitable<std::remove_cvref_t<A>> && ...)
auto all(A&&... work) {
    static_assert(sizeof...(A) > 0, "all needs something to run");
    static_assert((!std::is_lvalue_reference_v<A> && ...), "all takes the operations over: std::move them");
    return detail::all_await(detail::as_task(std::move(work))...);
}

/// all() of two.
template <class A, class B>
auto both(A&& a, B&& b) {
    return all(std::forward<A>(a), std::forward<B>(b));
}

/// What first() gives: which one decided, and the result of every one that ran. Losers that had completed keep their results.
template <class... T>
class first_result {
public:
    /// The number of the one that ended first, counted from 0.
    std::size_t index() const noexcept { return index_; }
    /// The result of number `I`; empty if it never started.
    template <std::size_t I>
    auto& value() noexcept {
        return std::get<I>(values_);
    }

private:
    template <class...>
    friend class first_await;
    std::size_t index_ = 0;
    std::tuple<std::optional<detail::tuple_part<T>>...> values_;
};

template <class... T>
class [[nodiscard]] first_await {
    template <class U>
    class branch final : public ready_node {
    public:
        explicit branch(task<U>&& work) noexcept : ready_node(&branch::ended), work_(std::move(work)) {}
        branch(branch&& other) noexcept : ready_node(&branch::ended), work_(std::move(other.work_)) {}

        void start(context& outer, first_await& of, std::size_t index) noexcept {
            of_ = &of;
            index_ = index;
            own_.emplace(outer);
            if (work_.start(*own_, *this)) of.branch_ended(index, true);
        }
        void stop() noexcept {
            if (own_) own_->cancel(cancel_reason::cancelled);
        }
        std::optional<detail::tuple_part<U>> take() {
            if (!own_) return std::nullopt;
            // Also when it throws, its context goes before those around it.
            struct leave {
                std::optional<context>& own;
                ~leave() { own.reset(); }
            } left{own_};
            if constexpr (std::is_void_v<U>) {
                work_.finish();
                return std::monostate{};
            } else {
                return work_.finish();
            }
        }
        void leave_context() noexcept { own_.reset(); }

    private:
        static void ended(ready_node& node) noexcept {
            auto& self = static_cast<branch&>(node);
            self.of_->branch_ended(self.index_, false);
        }

        task<U> work_;
        std::optional<context> own_;
        first_await* of_ = nullptr;
        std::size_t index_ = 0;
    };

public:
    explicit first_await(task<T>&&... work) noexcept : branches_(branch<T>(std::move(work))...) {}
    first_await(first_await&& other) noexcept : branches_(std::move(other.branches_)) {}

    bool start(context& in, std::coroutine_handle<> awaiter) noexcept {
        in_ = &in;
        std::size_t index = 0;
        std::apply(
            [&](auto&... each) {
                const auto start_one = [&](auto& one) {
                    // Once it is decided, nothing more starts.
                    if (!decided_) {
                        ++running_;
                        one.start(in, *this, index);
                    }
                    ++index;
                };
                (start_one(each), ...);
            },
            branches_);
        if (running_ == 0) return false;
        awaiter_ = awaiter;
        return true;
    }

    first_result<T...> finish() {
        first_result<T...> out;
        out.index_ = winner_;
        std::exception_ptr thrown;
        take_all(out, thrown, std::index_sequence_for<T...>());
        if (thrown) std::rethrow_exception(thrown);
        return out;
    }

private:
    template <std::size_t... I>
    void take_all(first_result<T...>& out, std::exception_ptr& thrown, std::index_sequence<I...>) {
        const auto take_one = [&](auto index) {
            constexpr std::size_t i = decltype(index)::value;
            try {
                std::get<i>(out.values_) = std::get<i>(branches_).take();
            } catch (...) {
                // What a loser throws while it is being cancelled is not the answer.
                if (i == winner_) thrown = std::current_exception();
            }
        };
        (take_one(std::integral_constant<std::size_t, I>()), ...);
    }

    void branch_ended(std::size_t index, bool inline_) noexcept {
        --running_;
        if (!decided_) {
            decided_ = true;
            winner_ = index;
            std::apply([](auto&... each) { (each.stop(), ...); }, branches_);
        }
        if (!inline_ && running_ == 0) in_->owner().resume(std::exchange(awaiter_, {}));
    }

    std::tuple<branch<T>...> branches_;
    context* in_ = nullptr;
    std::coroutine_handle<> awaiter_;
    std::size_t running_ = 0;
    std::size_t winner_ = 0;
    bool decided_ = false;
};

/// Runs them at once until one ends, by a result, an error or an exception; then cancels the others with `cancelled`, waits for them, and
/// tells which it was. If one ends before others have started, those never start.
template <class... A>
    requires(awaitable<std::remove_cvref_t<A>> && ...)
auto first(A&&... work) {
    static_assert(sizeof...(A) > 0, "first needs something to run");
    static_assert((!std::is_lvalue_reference_v<A> && ...), "first takes the operations over: std::move them");
    return first_await(detail::as_task(std::move(work))...);
}

}  // namespace martlet::inline v0
