#include <martlet/net/socket_options.hpp>

#include <algorithm>
#include <climits>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <martlet/rt/kernel.hpp>

namespace martlet::inline v0::net {

namespace {

/// Sets options one after the other and keeps the first error.
class option_setter {
public:
    explicit option_setter(const descriptor& socket) noexcept : socket_(socket) {}

    void set(int level, int name, int value) noexcept {
        if (code_ == 0) code_ = kernel::set_option(socket_, level, name, &value, sizeof value);
    }
    void set_linger_zero() noexcept {
        const ::linger at_once{1, 0};
        if (code_ == 0) code_ = kernel::set_option(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    result<void> outcome() const noexcept {
        if (code_ < 0) return failure(error::system(-code_));
        return {};
    }

private:
    const descriptor& socket_;
    int code_ = 0;
};

int in_units(duration length, duration unit) noexcept {
    const auto units = length.count() / unit.count() + (length.count() % unit.count() != 0);
    return static_cast<int>(std::clamp<std::int64_t>(units, 1, INT_MAX));
}

int in_seconds(duration length) noexcept { return in_units(length, std::chrono::seconds(1)); }

int as_int(std::size_t bytes) noexcept { return static_cast<int>(std::min<std::size_t>(bytes, INT_MAX)); }

}  // namespace

result<void> stream_options::apply(const descriptor& socket, int family) const noexcept {
    option_setter to(socket);
    if (family != AF_UNIX) {
        if (no_delay_) to.set(IPPROTO_TCP, TCP_NODELAY, 1);
        if (keepalive_count_ > 0) {
            to.set(SOL_SOCKET, SO_KEEPALIVE, 1);
            to.set(IPPROTO_TCP, TCP_KEEPIDLE, in_seconds(keepalive_idle_));
            to.set(IPPROTO_TCP, TCP_KEEPINTVL, in_seconds(keepalive_interval_));
            to.set(IPPROTO_TCP, TCP_KEEPCNT, keepalive_count_);
        }
        if (unsent_bytes_max_ != 0) to.set(IPPROTO_TCP, TCP_NOTSENT_LOWAT, as_int(unsent_bytes_max_));
        if (user_timeout_ > duration::zero()) to.set(IPPROTO_TCP, TCP_USER_TIMEOUT, in_units(user_timeout_, std::chrono::milliseconds(1)));
    }
    if (send_buffer_bytes_ != 0) to.set(SOL_SOCKET, SO_SNDBUF, as_int(send_buffer_bytes_));
    if (receive_buffer_bytes_ != 0) to.set(SOL_SOCKET, SO_RCVBUF, as_int(receive_buffer_bytes_));
    if (linger_zero_) to.set_linger_zero();
    return to.outcome();
}

result<void> listener_options::apply(const descriptor& socket, int family) const noexcept {
    option_setter to(socket);
    if (family != AF_UNIX) {
        if (reuse_address_) to.set(SOL_SOCKET, SO_REUSEADDR, 1);
        if (reuse_port_) to.set(SOL_SOCKET, SO_REUSEPORT, 1);
        // Set either way: a system may have it on by default (net.ipv6.bindv6only).
        if (family == AF_INET6) to.set(IPPROTO_IPV6, IPV6_V6ONLY, ipv6_only_ ? 1 : 0);
        if (defer_accept_ > duration::zero()) to.set(IPPROTO_TCP, TCP_DEFER_ACCEPT, in_seconds(defer_accept_));
        if (fast_open_ > 0) to.set(IPPROTO_TCP, TCP_FASTOPEN, fast_open_);
    }
    const result<void> listening = to.outcome();
    if (!listening) return listening;
    return streams_.apply(socket, family);
}

}  // namespace martlet::inline v0::net
