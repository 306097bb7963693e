// sendfile has no flag that keeps SIGPIPE from being raised, so the signal is blocked around it and one that it raised taken off.
#pragma once

#include <martlet/rt/kernel.hpp>

namespace martlet::inline v0 {

/// Blocks SIGPIPE for this thread while it lives. Signal dispositions are left alone, and so is a SIGPIPE that was pending before: it is
/// somebody else's.
class sigpipe_guard {
public:
    sigpipe_guard() noexcept : found_pending_(kernel::sigpipe_block(mask_)) {}
    sigpipe_guard(const sigpipe_guard&) = delete;
    sigpipe_guard& operator=(const sigpipe_guard&) = delete;
    ~sigpipe_guard() {
        if (!found_pending_) kernel::sigpipe_consume();
        kernel::signals_restore(mask_);
    }

    bool found_pending() const noexcept { return found_pending_; }

private:
    alignas(8) unsigned char mask_[128];
    bool found_pending_;
};

}  // namespace martlet::inline v0
