#include <martlet/rt/pollable.hpp>

#include <utility>

#include <martlet/rt/kernel.hpp>
#include <martlet/rt/loop.hpp>

namespace martlet::inline v0 {

int pollable::open(loop& on, descriptor of) noexcept {
    constexpr std::uint32_t wanted = kernel::poll_in | kernel::poll_out | kernel::poll_read_hangup | kernel::poll_edge;
    // Writing is worth a first try; reading waits for the report that registering brings if bytes are there.
    return add(on, std::move(of), wanted, noted_writable);
}

int pollable::open_shared(loop& on, descriptor of) noexcept {
    // A first try: what is queued already may have been reported to another loop only.
    return add(on, std::move(of), kernel::poll_in | kernel::poll_edge | kernel::poll_exclusive, noted_readable);
}

int pollable::add(loop& on, descriptor&& of, std::uint32_t events, std::uint8_t noted) noexcept {
    MARTLET_ASSERT(!is_open(), "a pollable holds one descriptor at a time");
    descriptor owned = std::move(of);
    const int added = kernel::epoll_add(on.epoll_, owned, events, this);
    if (added < 0) return added;
    loop_ = &on;
    fd_ = std::move(owned);
    noted_ = noted;
    muted_ = false;
    ++on.registered_;
    return 0;
}

descriptor pollable::release() noexcept {
    if (!is_open()) return {};
    // Closing alone is not enough: a process started at this moment may hold a copy, and events would go on naming this object.
    kernel::epoll_remove(loop_->epoll_, fd_);
    --loop_->registered_;
    ready_node* const reader = std::exchange(reader_, nullptr);
    ready_node* const writer = std::exchange(writer_, nullptr);
    if (reader != nullptr && reader_is_told_) static_cast<waiting_node*>(reader)->closed();
    if (writer != nullptr && writer_is_told_) static_cast<waiting_node*>(writer)->closed();
    return std::move(fd_);
}

void pollable::close() noexcept { release().close(); }

void pollable::place(direction which, ready_node* waiter, bool is_told) noexcept {
    if (which == direction::writing) {
        writer_ = waiter;
        writer_is_told_ = is_told;
    } else {
        reader_ = waiter;
        reader_is_told_ = is_told;
        closing_only_ = which == direction::closing;
    }
    if (waiter == nullptr || muted_ || !is_worth(which)) return;
    (which == direction::writing ? writer_ : reader_) = nullptr;
    is_told ? loop_->ready(*waiter) : loop_->background(*waiter);
}

void pollable::arm(direction which, ready_node* waiter) noexcept { place(which, waiter, false); }

bool pollable::wait(direction which, waiting_node& waiter) noexcept {
    if (is_armed(which) && (which == direction::writing ? writer_is_told_ : reader_is_told_)) return false;
    place(which, &waiter, true);
    return true;
}

void pollable::mute(bool on) noexcept {
    muted_ = on;
    wake();
}

void pollable::note(std::uint32_t events) noexcept {
    if ((events & kernel::poll_in) != 0) noted_ |= noted_readable;
    if ((events & kernel::poll_out) != 0) noted_ |= noted_writable;
    if ((events & kernel::poll_read_hangup) != 0) noted_ |= noted_peer_closed;
    if ((events & (kernel::poll_error | kernel::poll_hangup)) != 0) noted_ |= noted_failed;
    wake();
}

void pollable::wake() noexcept {
    if (muted_) return;
    if (reader_ != nullptr && is_worth(closing_only_ ? direction::closing : direction::reading))
        loop_->ready(*std::exchange(reader_, nullptr));
    if (writer_ != nullptr && is_worth(direction::writing)) loop_->ready(*std::exchange(writer_, nullptr));
}

}  // namespace martlet::inline v0
