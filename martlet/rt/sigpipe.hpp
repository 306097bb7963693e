// sendfile has no flag that keeps SIGPIPE from being raised, so the signal is blocked around it and a pending one taken off.
#pragma once

#include <martlet/rt/kernel.hpp>

namespace martlet::inline v0 {

/// Blocks SIGPIPE for this thread while it lives. Signal dispositions are left alone.
class sigpipe_guard {
public:
    sigpipe_guard() noexcept { kernel::sigpipe_block(mask_); }
    sigpipe_guard(const sigpipe_guard&) = delete;
    sigpipe_guard& operator=(const sigpipe_guard&) = delete;
    ~sigpipe_guard() {
        kernel::sigpipe_consume();
        kernel::signals_restore(mask_);
    }

private:
    alignas(8) unsigned char mask_[128];
};

}  // namespace martlet::inline v0
