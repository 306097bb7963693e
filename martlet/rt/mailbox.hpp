// The queue behind loop_handle: many threads push, the loop drains. Private to the runtime.
#pragma once

#include <atomic>

#include <martlet/rt/descriptor.hpp>
#include <martlet/rt/loop_handle.hpp>

namespace martlet::inline v0::detail {

/// Counted. Holds the descriptor that wakes the loop, so that a late sender never signals a number that was reused.
class mailbox {
public:
    explicit mailbox(descriptor wake) noexcept : wake_(std::move(wake)) {}

    void retain() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

    const descriptor& wake() const noexcept { return wake_; }

    /// False once closed; the node is untouched then.
    bool push(posted* node) noexcept;
    /// All nodes, oldest first; null when none.
    posted* drain() noexcept;
    /// Refuses from now on; returns what was still queued, oldest first.
    posted* close() noexcept;

private:
    static posted* reversed(posted* newest) noexcept;
    static posted* closed_mark() noexcept;

    std::atomic<long> count_{1};
    std::atomic<posted*> newest_{nullptr};
    descriptor wake_;
};

}  // namespace martlet::inline v0::detail
