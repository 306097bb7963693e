#include <martlet/server/body_sink.hpp>

namespace martlet::inline v0::server {

void body_sink::output_moved() noexcept {
    const std::size_t queued = queued_bytes();
    for (sink_wait* at = waiting_.empty() ? nullptr : &waiting_.front(); at != nullptr;) {
        sink_wait* next = waiting_.after(*at);
        if (queued <= at->mark_) {
            at->list_hook<martlet::detail::queue_tag>::unlink();
            at->grant();
        }
        at = next;
    }
}

void body_sink::output_lost(error why) noexcept {
    while (sink_wait* waiting = waiting_.pop_front()) waiting->refuse(why);
}

bool sink_wait::start(context& in, std::coroutine_handle<> awaiter) noexcept {
    result_ = {};
    if (put_ != exchange_errc::none) {
        result_ = failure(make_error(put_));
        return false;
    }
    if (of_->queued_bytes() <= mark_) return false;
    if (refuse_if_cancelled(in)) return false;
    of_->waiting_.push_back(*this);
    suspend(in, awaiter);
    return true;
}

}  // namespace martlet::inline v0::server
