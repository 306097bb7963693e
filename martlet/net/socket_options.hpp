// What can be asked of sockets: options of a stream, and of a listener. Each setter returns the options, so that they chain.
#pragma once

#include <chrono>
#include <cstddef>

#include <martlet/base/result.hpp>
#include <martlet/base/time.hpp>
#include <martlet/net/address.hpp>
#include <martlet/rt/descriptor.hpp>

namespace martlet::inline v0::net {

/// For a connected stream. What concerns TCP alone is left out for Unix sockets.
class stream_options {
public:
    stream_options() noexcept {}

    /// Small writes are sent at once (TCP_NODELAY). Default: on.
    stream_options& no_delay(bool on) noexcept {
        no_delay_ = on;
        return *this;
    }
    /// A silent peer is asked after `idle`, then `count` times every `interval`; without an answer the connection fails with ETIMEDOUT.
    /// Times are rounded up to seconds. Default: off.
    stream_options& keepalive(duration idle = std::chrono::seconds(60), duration interval = std::chrono::seconds(10),
                              int count = 6) noexcept {
        keepalive_idle_ = idle;
        keepalive_interval_ = interval;
        keepalive_count_ = count;
        return *this;
    }
    /// Sent bytes that stay unacknowledged for so long end the connection (TCP_USER_TIMEOUT). Default, 0: the system's, many minutes.
    stream_options& user_timeout(duration length) noexcept {
        user_timeout_ = length;
        return *this;
    }
    /// The kernel's buffers; it doubles the numbers and has limits of its own. Default, 0: it sizes them itself.
    stream_options& send_buffer_bytes(std::size_t bytes) noexcept {
        send_buffer_bytes_ = bytes;
        return *this;
    }
    stream_options& receive_buffer_bytes(std::size_t bytes) noexcept {
        receive_buffer_bytes_ = bytes;
        return *this;
    }
    /// While so many written bytes are not sent yet, because the peer has no room for them, no more are taken (TCP_NOTSENT_LOWAT); without it
    /// the kernel keeps megabytes for a peer that does not read. Default, 0: the system's, as a rule no bound.
    stream_options& unsent_bytes_max(std::size_t bytes) noexcept {
        unsent_bytes_max_ = bytes;
        return *this;
    }
    /// Closing resets the connection and drops what is unsent. Default: off.
    stream_options& linger_zero(bool on) noexcept {
        linger_zero_ = on;
        return *this;
    }

    /// Sets them on `socket`, of the system's family `family`. The first that is refused is the error.
    result<void> apply(const descriptor& socket, int family) const noexcept;

private:
    duration keepalive_idle_{};
    duration keepalive_interval_{};
    duration user_timeout_{};
    std::size_t send_buffer_bytes_ = 0;
    std::size_t receive_buffer_bytes_ = 0;
    std::size_t unsent_bytes_max_ = 0;
    int keepalive_count_ = 0;
    bool no_delay_ = true;
    bool linger_zero_ = false;
};

/// For a listening socket.
class listener_options {
public:
    listener_options() noexcept {}

    /// Connections that wait to be accepted; the system caps it (net.core.somaxconn). Default: 4096.
    listener_options& backlog(int connections) noexcept {
        backlog_ = connections;
        return *this;
    }
    /// A port whose last connections are still winding down can be bound again. Default: on.
    listener_options& reuse_address(bool on) noexcept {
        reuse_address_ = on;
        return *this;
    }
    /// Several sockets on one port; closing one of them resets what waits in its queue. Default: off.
    listener_options& reuse_port(bool on) noexcept {
        reuse_port_ = on;
        return *this;
    }
    /// An IPv6 socket takes no IPv4 connections. Default: off, so `[::]` serves both.
    listener_options& ipv6_only(bool on) noexcept {
        ipv6_only_ = on;
        return *this;
    }
    /// A connection is given out once it has sent something, or after so long (TCP_DEFER_ACCEPT). Default, 0: at once.
    listener_options& defer_accept(duration longest) noexcept {
        defer_accept_ = longest;
        return *this;
    }
    /// Requests accepted with the first packet (RFC 7413), at most so many pending. They can be replayed. Default: 0, off.
    listener_options& fast_open(int pending) noexcept {
        fast_open_ = pending;
        return *this;
    }
    /// Permissions of a Unix socket's file, as 0660. Default, 0: as the process's umask leaves them.
    listener_options& unix_mode(unsigned mode) noexcept {
        unix_mode_ = mode;
        return *this;
    }
    /// What accepted connections get. They take it over from the listener, so that it costs no call for each.
    listener_options& streams(const stream_options& options) noexcept {
        streams_ = options;
        return *this;
    }

    int backlog() const noexcept { return backlog_; }
    unsigned unix_mode() const noexcept { return unix_mode_; }
    bool ipv6_only() const noexcept { return ipv6_only_; }
    /// Sets what must be there before the socket is bound.
    result<void> apply(const descriptor& socket, int family) const noexcept;

private:
    stream_options streams_;
    duration defer_accept_{};
    int backlog_ = 4096;
    int fast_open_ = 0;
    unsigned unix_mode_ = 0;
    bool reuse_address_ = true;
    bool reuse_port_ = false;
    bool ipv6_only_ = false;
};

}  // namespace martlet::inline v0::net
