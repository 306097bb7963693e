// The base of operations that try something on a descriptor until it no longer says "not now": reads, writes, waiting for a process.
#pragma once

#include <cerrno>
#include <optional>

#include <martlet/base/result.hpp>
#include <martlet/rt/operation.hpp>
#include <martlet/rt/pollable.hpp>

namespace martlet::inline v0 {

/// Tries when the kernel reports that it is worth it, and waits in between. The pollable stays open while this waits; one a direction at a time.
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
        of_.arm(which_, &reported_);
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
    class report : public ready_node {
    public:
        explicit report(polled_operation& of) noexcept : ready_node(&report::came), of_(of) {}

    private:
        static void came(ready_node& node) noexcept { static_cast<report&>(node).of_.reported(); }
        polled_operation& of_;
    };

    bool try_now() noexcept {
        const bool worth_it = which_ == direction::writing ? of_.maybe_writable() : of_.maybe_readable();
        return worth_it && attempt_(*this);
    }

    void reported() noexcept {
        if (attempt_(*this)) {
            complete();
        } else {
            of_.arm(which_, &reported_);
        }
    }

    static void cancelled(operation& base, error why) noexcept {
        auto& self = static_cast<polled_operation&>(base);
        self.of_.arm(self.which_, nullptr);
        self.reported_.unlink();
        self.stopped_ = why;
        self.complete();
    }

    pollable& of_;
    direction which_;
    attempt_function attempt_;
    report reported_;
    std::optional<error> stopped_;
};

}  // namespace martlet::inline v0
