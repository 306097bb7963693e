// handler: the two forms of a handler behind one pointer each.
#pragma once

#include <type_traits>
#include <utility>

#include <martlet/rt/task.hpp>
#include <martlet/server/request.hpp>
#include <martlet/server/response.hpp>

namespace martlet::inline v0::server {

/// Owns a callable that answers requests: `void(request&, response&)`, run to its end at once, or `task<>(request&, response&)`, which may
/// wait. It is called from every loop at the same time, so it must be callable as const.
class handler {
public:
    using plain_function = void (*)(const void* callable, request&, response&);
    using task_function = task<void> (*)(const void* callable, request&, response&);

    handler() noexcept = default;
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, handler>)
    handler(F&& f) {
        using callable = std::decay_t<F>;
        static_assert(std::is_invocable_v<const callable&, request&, response&>,
                      "a handler is called as const from every thread, with (request&, response&): a mutable lambda cannot be one");
        using returned = std::invoke_result_t<const callable&, request&, response&>;
        static_assert(std::is_void_v<returned> || std::is_same_v<returned, task<void>>, "a handler returns void or task<>");
        callable_ = new callable(std::forward<F>(f));
        destroy_ = [](const void* c) noexcept { delete static_cast<const callable*>(c); };
        if constexpr (std::is_void_v<returned>) {
            plain_ = [](const void* c, request& req, response& res) { (*static_cast<const callable*>(c))(req, res); };
        } else {
            task_ = [](const void* c, request& req, response& res) { return (*static_cast<const callable*>(c))(req, res); };
        }
    }
    handler(handler&& other) noexcept
        : callable_(std::exchange(other.callable_, nullptr)),
          destroy_(other.destroy_),
          plain_(std::exchange(other.plain_, nullptr)),
          task_(std::exchange(other.task_, nullptr)) {}
    handler& operator=(handler&& other) noexcept {
        std::swap(callable_, other.callable_);
        std::swap(destroy_, other.destroy_);
        std::swap(plain_, other.plain_);
        std::swap(task_, other.task_);
        return *this;
    }
    ~handler() {
        if (callable_ != nullptr) destroy_(callable_);
    }

    explicit operator bool() const noexcept { return callable_ != nullptr; }
    bool is_plain() const noexcept { return plain_ != nullptr; }
    /// May throw what the callable throws.
    void run(request& req, response& res) const { plain_(callable_, req, res); }
    task<void> start(request& req, response& res) const { return task_(callable_, req, res); }

private:
    const void* callable_ = nullptr;
    void (*destroy_)(const void*) noexcept = nullptr;
    plain_function plain_ = nullptr;
    task_function task_ = nullptr;
};

}  // namespace martlet::inline v0::server
