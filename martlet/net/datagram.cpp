#include <martlet/net/datagram.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include <netinet/in.h>
#include <sys/socket.h>

#include <martlet/net/error.hpp>
#include <martlet/rt/kernel.hpp>
#include <martlet/rt/loop.hpp>

namespace martlet::inline v0::net {

namespace {

std::unexpected<error> refuse(std::ptrdiff_t negated_errno) noexcept { return failure(error::system(static_cast<int>(-negated_errno))); }

}  // namespace

result<void> datagram_socket::open(loop& on, const address& at, const datagram_options& options) noexcept {
    if (!at.is_ip()) return failure(make_error(net_error::address_unusable));
    const int number = kernel::socket_open(at.system_family(), SOCK_DGRAM, 0);
    if (number < 0) return refuse(number);
    descriptor made(number);
    int code = 0;
    const auto set = [&](int level, int name, int value) {
        if (code == 0) code = kernel::set_option(made, level, name, &value, sizeof value);
    };
    const auto as_int = [](std::size_t bytes) { return static_cast<int>(std::min<std::size_t>(bytes, INT_MAX)); };
    if (options.reuse_port_) set(SOL_SOCKET, SO_REUSEPORT, 1);
    if (at.family() == address_family::ipv6) set(IPPROTO_IPV6, IPV6_V6ONLY, options.ipv6_only_ ? 1 : 0);
    if (options.send_buffer_bytes_ != 0) set(SOL_SOCKET, SO_SNDBUF, as_int(options.send_buffer_bytes_));
    if (options.receive_buffer_bytes_ != 0) set(SOL_SOCKET, SO_RCVBUF, as_int(options.receive_buffer_bytes_));
    if (code == 0) code = kernel::bind(made, at.data(), at.size());
    if (code == 0) code = socket_.open(on, std::move(made));
    if (code < 0) return refuse(code);
    return {};
}

result<void> datagram_socket::connect(const address& peer) noexcept {
    int code;
    do {
        code = kernel::connect(socket_.fd(), peer.data(), peer.size());
    } while (code == -EINTR);
    if (code < 0) return refuse(code);
    return {};
}

result<address> datagram_socket::local_address() const noexcept {
    unsigned char raw[address::storage_bytes];
    unsigned length = sizeof raw;
    const int asked = kernel::local_address(socket_.fd(), raw, &length);
    if (asked < 0) return refuse(asked);
    return address::from_system(raw, std::min<unsigned>(length, sizeof raw));
}

result<received> datagram_socket::try_receive(std::span<char> into) noexcept {
    if (!socket_.is_open()) return failure(make_error(net_error::stream_closed));
    while (socket_.maybe_readable()) {
        unsigned char raw[address::storage_bytes];
        unsigned length = sizeof raw;
        received came;
        const std::ptrdiff_t got = kernel::recv_from(socket_.fd(), into.data(), into.size(), raw, &length, &came.truncated);
        if (got >= 0) {
            came.bytes = static_cast<std::size_t>(got);
            came.from = address::from_system(raw, std::min<unsigned>(length, sizeof raw)).unmapped();
            return came;
        }
        if (got == -EINTR) continue;
        if (got != -EAGAIN) return refuse(got);
        socket_.drained();
        // An error that was reported has been taken by now, and the socket lives on.
        socket_.recovered();
    }
    return failure(error::system(EAGAIN));
}

result<void> datagram_socket::try_send(std::string_view data, const address& to) noexcept {
    if (!socket_.is_open()) return failure(make_error(net_error::stream_closed));
    while (socket_.maybe_writable()) {
        const std::ptrdiff_t sent = to ? kernel::send_to(socket_.fd(), data.data(), data.size(), to.data(), to.size())
                                       : kernel::send(socket_.fd(), data.data(), data.size());
        if (sent >= 0) return {};
        if (sent == -EINTR) continue;
        if (sent != -EAGAIN) return refuse(sent);
        socket_.filled();
        socket_.recovered();
    }
    return failure(error::system(EAGAIN));
}

namespace detail {

bool datagram_operation::start(context& in, std::coroutine_handle<> awaiter) noexcept {
    if (in.is_cancelled()) {
        fail(in.why());
        return false;
    }
    if (attempt() || !wait_again()) return false;
    suspend(in, awaiter);
    return true;
}

// False: it has failed instead.
bool datagram_operation::wait_again() noexcept {
    if (socket_.wait(which_, waker_)) return true;
    fail(make_error(net_error::stream_busy));
    return false;
}

void datagram_operation::woken(ready_node& node) noexcept {
    datagram_operation& self = static_cast<waker&>(node).of_;
    if (self.attempt() || !self.wait_again()) self.complete();
}

void datagram_operation::closed(ready_node& node) noexcept {
    datagram_operation& self = static_cast<waker&>(node).of_;
    self.fail(make_error(net_error::stream_closed));
    self.complete();
}

void datagram_operation::cancelled(operation& base, error why) noexcept {
    auto& self = static_cast<datagram_operation&>(base);
    // Queued, it is in the socket's place no more, and another may be.
    if (self.waker_.is_linked()) {
        self.waker_.unlink();
    } else {
        self.socket_.arm(self.which_, nullptr);
    }
    self.fail(why);
    self.complete();
}

}  // namespace detail

bool receive_operation::attempt() noexcept {
    result_ = on_.try_receive(into_);
    return result_.has_value() || !result_.error().is_system(EAGAIN);
}

bool send_operation::attempt() noexcept {
    result_ = on_.try_send(data_, to_);
    return result_.has_value() || !result_.error().is_system(EAGAIN);
}

}  // namespace martlet::inline v0::net
