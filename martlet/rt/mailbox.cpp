#include <martlet/rt/mailbox.hpp>

#include <martlet/rt/kernel.hpp>

namespace martlet::inline v0::detail {

posted* mailbox::closed_mark() noexcept {
    static posted mark(nullptr);
    return &mark;
}

posted* mailbox::reversed(posted* newest) noexcept {
    posted* oldest = nullptr;
    while (newest != nullptr) {
        posted* next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    return oldest;
}

bool mailbox::push(posted* node) noexcept {
    posted* before = newest_.load(std::memory_order_relaxed);
    do {
        if (before == closed_mark()) return false;
        node->next = before;
    } while (!newest_.compare_exchange_weak(before, node, std::memory_order_release, std::memory_order_relaxed));
    // Only the first of a batch wakes the loop: it drains everything that it finds.
    if (before == nullptr) kernel::eventfd_signal(wake_);
    return true;
}

posted* mailbox::drain() noexcept {
    posted* newest = newest_.load(std::memory_order_relaxed);
    if (newest == nullptr || newest == closed_mark()) return nullptr;
    // Drained before the take: a push after the take signals again.
    kernel::eventfd_drain(wake_);
    return reversed(newest_.exchange(nullptr, std::memory_order_acquire));
}

posted* mailbox::close() noexcept {
    posted* newest = newest_.exchange(closed_mark(), std::memory_order_acq_rel);
    return newest == closed_mark() ? nullptr : reversed(newest);
}

}  // namespace martlet::inline v0::detail

namespace martlet::inline v0 {

loop_handle::loop_handle(const loop_handle& other) noexcept : mailbox_(other.mailbox_) {
    if (mailbox_ != nullptr) mailbox_->retain();
}

loop_handle::~loop_handle() {
    if (mailbox_ != nullptr) mailbox_->release();
}

bool loop_handle::send(detail::posted* node) const {
    if (mailbox_->push(node)) return true;
    node->finish(false);
    return false;
}

}  // namespace martlet::inline v0
