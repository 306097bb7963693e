// fixed_points: what runs around the handlers of a route, in order.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <martlet/server/answer_head.hpp>
#include <martlet/server/body_filter.hpp>
#include <martlet/server/exchange_end.hpp>
#include <martlet/server/request.hpp>
#include <martlet/server/response.hpp>

namespace martlet::inline v0::server {

template <class Signature>
class fixed_point;

/// Owns a callable, together with its copies. It is called from every loop at the same time, so it must be callable as const.
template <class Returned, class... Args>
class fixed_point<Returned(Args...)> {
public:
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, fixed_point>)
    fixed_point(F&& f) {
        using callable = std::decay_t<F>;
        static_assert(std::is_invocable_v<const callable&, Args...>,
                      "a fixed point is called as const from every thread, with the arguments that the function it is given to says");
        static_assert(std::is_same_v<std::invoke_result_t<const callable&, Args...>, Returned>,
                      "a fixed point returns void, and a filter std::unique_ptr<body_filter>; it cannot be a coroutine");
        callable_ = std::make_shared<const callable>(std::forward<F>(f));
        call_ = [](const void* c, Args... args) { return (*static_cast<const callable*>(c))(args...); };
    }

    Returned operator()(Args... args) const { return call_(callable_.get(), args...); }

private:
    std::shared_ptr<const void> callable_;
    Returned (*call_)(const void*, Args...);
};

using before_point = fixed_point<void(request&, response&)>;
using head_point = fixed_point<void(request&, answer_head&)>;
using end_point = fixed_point<void(request&, const exchange_end&)>;
using filter_point = fixed_point<std::unique_ptr<body_filter>(request&, answer_head&)>;

/// Those of a whole server first, then those of its groups from the outermost in.
class fixed_points {
public:
    bool empty() const noexcept { return before_.empty() && on_head_.empty() && on_end_.empty() && filter_.empty(); }
    bool has_before() const noexcept { return !before_.empty(); }
    bool has_on_head() const noexcept { return !on_head_.empty(); }
    bool has_on_end() const noexcept { return !on_end_.empty(); }
    bool has_filter() const noexcept { return !filter_.empty(); }

    /// First to last, until one answers or asks to answer later. True: the handler is not to be called. May throw what one throws, and
    /// the request is then answered as when a handler throws.
    bool before(request& req, response& res) const;
    /// Last to first. False: one threw, which is logged; what it was to change is missing, so the answer must not go out.
    bool on_head(request& req, answer_head& head) const noexcept;
    /// The innermost filter; null when it wants none for this answer. May throw.
    std::unique_ptr<body_filter> filter(request& req, answer_head& head) const;
    /// Last to first, once for each exchange, however it ended. What one throws is logged.
    void on_end(request& req, const exchange_end& end) const noexcept;

    void add(before_point point) { before_.push_back(std::move(point)); }
    void add(head_point point) { on_head_.push_back(std::move(point)); }
    void add(end_point point) { on_end_.push_back(std::move(point)); }
    void add(filter_point point) { filter_.assign(1, std::move(point)); }
    /// Those of `inner` come behind these.
    void append(const fixed_points& inner);

private:
    std::vector<before_point> before_;
    std::vector<head_point> on_head_;
    std::vector<end_point> on_end_;
    std::vector<filter_point> filter_;  // at most one
};

}  // namespace martlet::inline v0::server
