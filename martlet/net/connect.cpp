#include <martlet/net/connect.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>
#include <utility>

#include <sys/socket.h>

#include <martlet/net/error.hpp>
#include <martlet/rt/kernel.hpp>
#include <martlet/rt/loop.hpp>

namespace martlet::inline v0::net {

namespace {

// A full queue of a Unix listener is nothing that readiness reports.
constexpr duration retry_delay = std::chrono::milliseconds(10);

// A port of this machine that nobody listens on may be given to the connecting socket itself, which then talks to itself.
bool is_connected_to_itself(const descriptor& socket, const address& peer) noexcept {
    unsigned char raw[address::storage_bytes];
    unsigned length = sizeof raw;
    if (!peer.is_ip() || kernel::local_address(socket, raw, &length) < 0) return false;
    return address::from_system(raw, std::min<unsigned>(length, sizeof raw)) == peer;
}

}  // namespace

bool connect_operation::start(context& in, std::coroutine_handle<> awaiter) noexcept {
    progress state = progress::complete;
    if (in.is_cancelled()) {
        fail(in.why());
    } else {
        state = open(in.owner());
    }
    if (state == progress::complete) return false;
    suspend(in, awaiter);
    go_on(state);
    return true;
}

connect_operation::progress connect_operation::fail(error why) noexcept {
    failed_ = true;
    why_ = why;
    stream_.reset();
    socket_.close();
    return progress::complete;
}

connect_operation::progress connect_operation::open(loop& on) noexcept {
    if (!to_ || to_.family() == address_family::unix_unnamed) return fail(make_error(net_error::address_unusable));
    const int number = kernel::socket_open(to_.system_family(), SOCK_STREAM, 0);
    if (number < 0) return fail(error::system(-number));
    socket_ = descriptor(number);
    const result<void> applied = options_.apply(socket_, to_.system_family());
    if (!applied) return fail(applied.error());
    return begin(on);
}

connect_operation::progress connect_operation::begin(loop& on) noexcept {
    const int code = kernel::connect(socket_, to_.data(), to_.size());
    if (code == -EAGAIN && to_.is_unix()) return progress::queue_full;
    // Interrupted, a TCP connect goes on; a Unix one has done nothing.
    if (code == -EINTR && to_.is_unix()) return progress::queue_full;
    if (code < 0 && code != -EINPROGRESS && code != -EINTR) return fail(error::system(-code));
    stream_.reset(new (std::nothrow) socket_stream());
    if (stream_ == nullptr) return fail(error::system(ENOMEM));
    // Only now: a socket that is not yet connecting would be reported as closed. An address that stands for several is asked for later.
    const result<void> registered = stream_->open(on, std::move(socket_), to_.is_any() ? address() : to_);
    if (!registered) return fail(registered.error());
    if (code == 0) return progress::complete;
    stream_->socket_.filled();
    return progress::connecting;
}

// Something was reported: connected, failed, or nothing yet.
connect_operation::progress connect_operation::settle() noexcept {
    int code = 0;
    unsigned length = sizeof code;
    const int asked = kernel::option(stream_->fd(), SOL_SOCKET, SO_ERROR, &code, &length);
    if (asked < 0) return fail(error::system(-asked));
    if (code != 0) return fail(error::system(code));
    unsigned char raw[address::storage_bytes];
    length = sizeof raw;
    const int peer = kernel::peer_address(stream_->fd(), raw, &length);
    if (peer == -ENOTCONN && !stream_->socket_.failed()) {
        stream_->socket_.filled();
        return progress::connecting;
    }
    if (peer < 0) return fail(error::system(peer == -ENOTCONN ? ECONNRESET : -peer));
    if (is_connected_to_itself(stream_->fd(), address::from_system(raw, std::min<unsigned>(length, sizeof raw))))
        return fail(error::system(ECONNREFUSED));
    return progress::complete;
}

void connect_operation::go_on(progress state) noexcept {
    switch (state) {
    case progress::complete: complete(); break;
    case progress::connecting: stream_->arm(direction::writing, &waker_); break;
    case progress::queue_full: owner().arm(retry_, saturating_add(owner().clock(), retry_delay)); break;
    }
}

void connect_operation::woken(ready_node& node) noexcept {
    connect_operation& self = static_cast<waker&>(node).of_;
    self.go_on(self.settle());
}

void connect_operation::try_again(timer_node& timer) noexcept {
    connect_operation& self = static_cast<retry_timer&>(timer).of_;
    self.go_on(self.begin(self.owner()));
}

void connect_operation::cancelled(operation& base, error why) noexcept {
    auto& self = static_cast<connect_operation&>(base);
    self.owner().disarm(self.retry_);
    if (self.stream_ != nullptr) self.stream_->arm(direction::writing, nullptr);
    self.waker_.unlink();
    self.fail(why);
    self.complete();
}

result<std::unique_ptr<byte_stream>> connect_operation::finish() noexcept {
    if (failed_) return failure(why_);
    return std::unique_ptr<byte_stream>(std::move(stream_));
}

}  // namespace martlet::inline v0::net
