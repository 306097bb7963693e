// context: what a piece of work shares with all that it awaits: loop, cancellation with a reason, deadline, request id, trace slot.
//
// Contexts form a tree. Cancelling one cancels all below it. Cancelling destroys nothing and runs no user code:
// it completes the operations that wait, and they are resumed from the ready list.
#pragma once

#include <cstdint>

#include <martlet/base/error.hpp>
#include <martlet/base/list.hpp>
#include <martlet/base/time.hpp>
#include <martlet/base/timer_wheel.hpp>

namespace martlet::inline v0 {

class loop;
class operation;
struct waiting_tag;
struct sibling_tag;

/// Lives in the frame or object that needs it, and dies after everything below it. Belongs to its loop's thread.
class context : private list_hook<sibling_tag> {
public:
    /// The root of a tree.
    explicit context(loop& on) noexcept;
    /// Below `parent`: cancelled with it, bound by its deadline. Born cancelled if `parent` is.
    explicit context(context& parent) noexcept;
    context(const context&) = delete;
    context& operator=(const context&) = delete;
    ~context();

    /// Below `parent` in all but cancellation and deadline: cancelling `parent` leaves it alone.
    struct shielded_t {};
    context(context& parent, shielded_t) noexcept;

    loop& owner() const noexcept { return *loop_; }

    /// Ends waiting here and below with `why`. Only the first call counts.
    void cancel(error why) noexcept;
    bool is_cancelled() const noexcept { return cancelled_; }
    /// Why it was cancelled; only when it was.
    error why() const noexcept { return why_; }

    /// Cancels with `timed_out` at `when`, or at once if that has passed. A deadline only ever shrinks: a later one than the
    /// one in force changes nothing.
    void set_deadline(time_point when) noexcept;
    /// The earliest deadline here and above; `never` if none.
    time_point deadline() const noexcept { return deadline_; }

    std::uint64_t request_id() const noexcept { return request_id_; }
    void set_request_id(std::uint64_t id) noexcept { request_id_ = id; }
    /// A slot for a tracer; inherited by contexts made below. Not owned.
    void* trace() const noexcept { return trace_; }
    void set_trace(void* slot) noexcept { trace_ = slot; }

private:
    friend class operation;
    friend class list<context, sibling_tag>;

    void cancel_here(error why) noexcept;
    context* next_below(context& top, bool descend) noexcept;
    static void deadline_passed(timer_node& timer) noexcept;

    loop* loop_;
    context* parent_;
    list<context, sibling_tag> children_;
    list<operation, waiting_tag> waiting_;
    class deadline_timer : public timer_node {
    public:
        explicit deadline_timer(context& of) noexcept : timer_node(&context::deadline_passed), of_(of) {}
        context& of_;
    };
    deadline_timer timer_;
    time_point deadline_ = never;
    error why_;
    bool cancelled_ = false;
    std::uint64_t request_id_ = 0;
    void* trace_ = nullptr;
};

}  // namespace martlet::inline v0
