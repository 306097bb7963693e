// Bounding what is awaited: a deadline over it, or a shield against the cancellation around it.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include <martlet/base/time.hpp>
#include <martlet/rt/operation.hpp>
#include <martlet/rt/task.hpp>

namespace martlet::inline v0 {

namespace detail {

/// Runs an awaitable in a context of its own, which `Make` prepares. Allocates nothing.
template <awaitable A, class Make>
class [[nodiscard]] nested_await {
public:
    nested_await(A&& inner, Make make) noexcept : inner_(std::move(inner)), make_(make) {}
    nested_await(nested_await&& other) noexcept : inner_(std::move(other.inner_)), make_(other.make_) {
        MARTLET_ASSERT(!other.own_.has_value(), "an operation must not be moved once it has started");
    }

    bool start(context& in, std::coroutine_handle<> awaiter) {
        make_(own_, in);
        return inner_.start(*own_, awaiter);
    }
    decltype(auto) finish() {
        // The inner operation may refer to the context until it has given its result.
        struct leave {
            std::optional<context>& own;
            ~leave() { own.reset(); }
        } left{own_};
        return inner_.finish();
    }

private:
    A inner_;
    Make make_;
    std::optional<context> own_;
};

class make_within {
public:
    make_within(duration length, time_point until) noexcept : length_(length), until_(until) {}
    void operator()(std::optional<context>& own, context& outer) const noexcept {
        own.emplace(outer);
        own->set_deadline(until_ != never ? until_ : saturating_add(outer.owner().clock(), length_));
    }

private:
    duration length_;
    time_point until_;
};

class make_shielded {
public:
    make_shielded() noexcept {}
    void operator()(std::optional<context>& own, context& outer) const noexcept { own.emplace(outer, context::shielded_t{}); }
};

}  // namespace detail

/// Awaits `inner` for at most `length` from the moment it is awaited; returns what `inner` returns. When the time is up `inner` is
/// cancelled with `timed_out`, which becomes its own error; if it completed all the same, it succeeded. Allocates nothing.
template <class A>
    requires awaitable<std::remove_cvref_t<A>>
auto within(duration length, A&& inner) {
    static_assert(!std::is_lvalue_reference_v<A>, "within takes the operation over: write within(5s, std::move(t))");
    return detail::nested_await<A, detail::make_within>(std::move(inner), detail::make_within(length, never));
}

/// The same with the moment itself.
template <class A>
    requires awaitable<std::remove_cvref_t<A>>
auto within(time_point until, A&& inner) {
    static_assert(!std::is_lvalue_reference_v<A>, "within takes the operation over: write within(until, std::move(t))");
    return detail::nested_await<A, detail::make_within>(std::move(inner), detail::make_within(duration::max(), until));
}

/// Awaits `inner` untouched by cancellation and deadlines around it: for what must be finished once begun. Give it a deadline of its own.
template <class A>
    requires awaitable<std::remove_cvref_t<A>>
auto shield(A&& inner) {
    static_assert(!std::is_lvalue_reference_v<A>, "shield takes the operation over: write shield(std::move(t))");
    return detail::nested_await<A, detail::make_shielded>(std::move(inner), detail::make_shielded());
}

}  // namespace martlet::inline v0
