// The base of operations that try something on a descriptor until it no longer says "not now": reads, writes, waiting for a process.
#pragma once

#include <cerrno>
#include <optional>

#include <martlet/base/result.hpp>
#include <martlet/rt/operation.hpp>
#include <martlet/rt/pollable.hpp>

namespace martlet::inline v0 {

/// Tries when the kernel reports that it is worth it, and waits in between; one a direction at a time. Closed meanwhile, it ends with EBADF.
class polled_operation : public operation {
public:
    polled_operation(polled_operation&& other) noexcept
        : operation(std::move(other)), of_(other.of_), which_(other.which_), attempt_(other.attempt_), reported_(*this) {}

    bool start(context& in, std::coroutine_handle<> awaiter) noexcept {
        stopped_.reset();
        if (in.is_cancelled()) stopped_ = in.why();
        if (!of_.is_open()) stopped_ = error::system(EBADF);
        if (stopped_) return false;
        if (try_now()) return false;
        MARTLET_ASSERT(!of_.is_armed(which_), "one operation at a time waits for a direction of a descriptor");
        suspend(in, awaiter);
        wait_again();
        return true;
    }

protected:
    /// True when there is a result. When false, it has told the pollable that it found nothing more (`drained` or `filled`).
    using attempt_function = bool (*)(polled_operation&) noexcept;

    polled_operation(pollable& of, direction which, attempt_function attempt) noexcept
        : operation(&polled_operation::cancelled), of_(of), which_(which), attempt_(attempt), reported_(*this) {}

    pollable& polled() const noexcept { return of_; }
    /// Why it ended without a result, if it did.
    const std::optional<error>& stopped() const noexcept { return stopped_; }

private:
    class report : public waiting_node {
    public:
        explicit report(polled_operation& of) noexcept : waiting_node(&report::came, &report::closed), of_(of) {}

    private:
        static void came(ready_node& node) noexcept { static_cast<report&>(node).of_.reported(); }
        static void closed(ready_node& node) noexcept { static_cast<report&>(node).of_.stop(error::system(EBADF)); }
        polled_operation& of_;
    };

    bool try_now() noexcept {
        const bool worth_it = which_ == direction::writing ? of_.maybe_writable() : of_.maybe_readable();
        return worth_it && attempt_(*this);
    }

    void wait_again() noexcept {
        const bool waits = of_.wait(which_, reported_);
        MARTLET_ASSERT(waits, "one operation at a time waits for a direction of a descriptor");
    }

    void stop(error why) noexcept {
        stopped_ = why;
        complete();
    }

    void reported() noexcept {
        // Closed between the report and now.
        if (!of_.is_open()) return stop(error::system(EBADF));
        if (attempt_(*this)) {
            complete();
        } else {
            wait_again();
        }
    }

    static void cancelled(operation& base, error why) noexcept {
        auto& self = static_cast<polled_operation&>(base);
        // Queued, it is in the descriptor's place no more, and another may be.
        if (self.reported_.is_linked()) {
            self.reported_.unlink();
        } else {
            self.of_.arm(self.which_, nullptr);
        }
        self.stop(why);
    }

    pollable& of_;
    direction which_;
    attempt_function attempt_;
    report reported_;
    std::optional<error> stopped_;
};

}  // namespace martlet::inline v0
