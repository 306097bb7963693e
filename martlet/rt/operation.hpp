// operation: the base of what a coroutine can wait for, and the protocol that `co_await` follows here.
//
// An awaitable has   bool start(context&, std::coroutine_handle<>)   false: it is complete already, nothing was suspended
//                    R finish()                                      called once, when complete
//
//   idle --start, not complete--> waiting --complete() or cancel()--> complete --resumed from the ready list--> idle
#pragma once

#include <concepts>
#include <coroutine>
#include <cstdint>
#include <utility>

#include <martlet/base/assert.hpp>
#include <martlet/base/error.hpp>
#include <martlet/rt/context.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/ready.hpp>

namespace martlet::inline v0 {

template <class A>
concept awaitable = requires(A& a, context& c, std::coroutine_handle<> h) {
    { a.start(c, h) } -> std::same_as<bool>;
    a.finish();
};

/// A leaf: waits for one thing, in one context, and can be cancelled. Move-only, and only before it starts.
class operation : public ready_node, public list_hook<waiting_tag> {
public:
    operation(operation&& other) noexcept : ready_node(&operation::resume), cancelled_(other.cancelled_) {
        MARTLET_ASSERT(other.state_ == state::idle, "an operation must not be moved once it has started");
    }

protected:
    using cancelled_function = void (*)(operation&, error why) noexcept;

    /// `cancelled` is called when the context is cancelled while this waits: it leaves whatever queue or source it waits in,
    /// keeps `why` as its result and calls complete(). If the work cannot be abandoned it does nothing, and completes later.
    explicit operation(cancelled_function cancelled) noexcept : ready_node(&operation::resume), cancelled_(cancelled) {}

    ~operation() {
        MARTLET_ASSERT(state_ != state::waiting, "a frame must not be destroyed while it waits: cancel its context and let it finish");
    }

    /// Begins waiting: `handle` is resumed after complete().
    void suspend(context& in, std::coroutine_handle<> handle) noexcept {
        MARTLET_ASSERT(state_ == state::idle, "an operation can be awaited once at a time");
        state_ = state::waiting;
        handle_ = handle;
        context_ = &in;
        in.waiting_.push_back(*this);
    }

    /// Ends waiting: from here on cancellation does not touch it, and its awaiter runs from the ready list.
    void complete() noexcept {
        MARTLET_ASSERT(state_ == state::waiting, "an operation must complete once");
        state_ = state::complete;
        list_hook<waiting_tag>::unlink();
        context_->owner().ready(*this);
    }

    bool is_waiting() const noexcept { return state_ == state::waiting; }
    loop& owner() const noexcept { return context_->owner(); }

private:
    friend class context;
    enum class state : std::uint8_t { idle, waiting, complete };

    void cancel() noexcept { cancelled_(*this, context_->why()); }

    static void resume(ready_node& node) noexcept {
        auto& self = static_cast<operation&>(node);
        self.state_ = state::idle;
        // Copied out: resuming may end the frame in which this operation lives.
        loop& on = self.owner();
        on.resume(std::exchange(self.handle_, {}));
    }

    std::coroutine_handle<> handle_;
    context* context_ = nullptr;
    cancelled_function cancelled_;
    state state_ = state::idle;
};

}  // namespace martlet::inline v0
