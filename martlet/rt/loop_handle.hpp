// loop_handle: the one thing about a loop that another thread may touch.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace martlet::inline v0 {

class loop;

namespace detail {

/// A function sent to a loop, and how to run or drop it. Allocated by the sender, freed by whoever runs or drops it.
class posted {
public:
    using function = void (*)(posted*, bool run);

    explicit posted(function finish) noexcept : finish_(finish) {}
    /// Calls the function when `run`, and frees the node in both cases.
    void finish(bool run) { finish_(this, run); }

    posted* next = nullptr;

private:
    function finish_;
};

template <class F>
class posted_function final : public posted {
public:
    explicit posted_function(F&& f) : posted(&finish_this), f_(std::move(f)) {}

private:
    static void finish_this(posted* node, bool run) {
        // Moved out first: the function may destroy what it was posted to.
        auto* self = static_cast<posted_function*>(node);
        F f = std::move(self->f_);
        delete self;
        if (run) f();
    }

    F f_;
};

class mailbox;

}  // namespace detail

/// Reaches a loop from any thread. Counted: it outlives the loop, and then every post returns false.
class loop_handle {
public:
    loop_handle() noexcept = default;
    loop_handle(const loop_handle& other) noexcept;
    loop_handle(loop_handle&& other) noexcept : mailbox_(std::exchange(other.mailbox_, nullptr)) {}
    loop_handle& operator=(loop_handle other) noexcept {
        std::swap(mailbox_, other.mailbox_);
        return *this;
    }
    ~loop_handle();

    explicit operator bool() const noexcept { return mailbox_ != nullptr; }

    /// Runs `f` on the loop's thread in one of its next turns. On a loop that has stopped for good it returns false and
    /// destroys `f` on the calling thread. `f` must not throw. Throws std::bad_alloc, having sent nothing.
    template <class F>
    bool post(F f) const {
        static_assert(std::is_invocable_v<F&>, "post takes a function without arguments");
        if (mailbox_ == nullptr) return false;
        return send(new detail::posted_function<F>(std::move(f)));
    }

    /// The same with a node that exists already, for what must not fail for want of memory. A refused node is finished, unrun, on the calling thread.
    bool send(detail::posted* node) const;

private:
    friend class loop;
    explicit loop_handle(detail::mailbox* box) noexcept : mailbox_(box) {}

    detail::mailbox* mailbox_ = nullptr;
};

}  // namespace martlet::inline v0
