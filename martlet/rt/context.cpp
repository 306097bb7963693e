#include <martlet/rt/context.hpp>

#include <martlet/rt/loop.hpp>
#include <martlet/rt/operation.hpp>

namespace martlet::inline v0 {

context::context(loop& on) noexcept : loop_(&on), parent_(nullptr), timer_(*this), why_(cancel_reason::none) {}

context::context(context& parent) noexcept
    : loop_(parent.loop_),
      parent_(&parent),
      timer_(*this),
      deadline_(parent.deadline_),
      why_(parent.why_),
      cancelled_(parent.cancelled_),
      request_id_(parent.request_id_),
      trace_(parent.trace_) {
    parent.children_.push_back(*this);
}

context::context(context& parent, shielded_t) noexcept
    : loop_(parent.loop_),
      parent_(nullptr),
      timer_(*this),
      why_(cancel_reason::none),
      request_id_(parent.request_id_),
      trace_(parent.trace_) {}

context::~context() {
    MARTLET_ASSERT(waiting_.empty(), "a context must not be destroyed while an operation waits in it");
    MARTLET_ASSERT(children_.empty(), "a context must outlive the contexts below it");
    loop_->disarm(timer_);
    list_hook<sibling_tag>::unlink();
}

void context::set_deadline(time_point when) noexcept {
    if (cancelled_ || when >= deadline_) return;
    deadline_ = when;
    if (when <= loop_->clock()) {
        cancel(cancel_reason::timed_out);
        return;
    }
    // Contexts that exist below learn of it by being cancelled; those made later inherit the number.
    loop_->arm(timer_, when);
}

void context::deadline_passed(timer_node& timer) noexcept { static_cast<deadline_timer&>(timer).of_.cancel(cancel_reason::timed_out); }

void context::cancel_here(error why) noexcept {
    cancelled_ = true;
    why_ = why;
    loop_->disarm(timer_);
    while (operation* waiting = waiting_.pop_front()) waiting->cancel();
}

// Pre-order without recursion: a chain of contexts can be as deep as the user's calls.
context* context::next_below(context& top, bool descend) noexcept {
    if (descend && !children_.empty()) return &children_.front();
    for (context* at = this; at != &top; at = at->parent_) {
        if (context* sibling = at->parent_->children_.after(*at)) return sibling;
    }
    return nullptr;
}

void context::cancel(error why) noexcept {
    for (context* at = this; at != nullptr;) {
        const bool first_time = !at->cancelled_;
        if (first_time) at->cancel_here(why);
        // What is below an already cancelled context was cancelled with it.
        at = at->next_below(*this, first_time);
    }
}

}  // namespace martlet::inline v0
