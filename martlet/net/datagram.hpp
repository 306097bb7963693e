// datagram_socket: UDP over IPv4 and IPv6.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <martlet/base/result.hpp>
#include <martlet/net/address.hpp>
#include <martlet/rt/operation.hpp>
#include <martlet/rt/pollable.hpp>

namespace martlet::inline v0::net {

/// For a datagram socket. Each setter returns the options, so that they chain.
class datagram_options {
public:
    datagram_options() noexcept {}

    /// Several sockets share the port; the system spreads senders over them. Default: off.
    datagram_options& reuse_port(bool on) noexcept {
        reuse_port_ = on;
        return *this;
    }
    /// An IPv6 socket takes no IPv4. Default: off.
    datagram_options& ipv6_only(bool on) noexcept {
        ipv6_only_ = on;
        return *this;
    }
    /// The kernel's buffers. Default, 0: the system's.
    datagram_options& send_buffer_bytes(std::size_t bytes) noexcept {
        send_buffer_bytes_ = bytes;
        return *this;
    }
    datagram_options& receive_buffer_bytes(std::size_t bytes) noexcept {
        receive_buffer_bytes_ = bytes;
        return *this;
    }

private:
    friend class datagram_socket;
    std::size_t send_buffer_bytes_ = 0;
    std::size_t receive_buffer_bytes_ = 0;
    bool reuse_port_ = false;
    bool ipv6_only_ = false;
};

/// A datagram that came.
class received {
public:
    received() noexcept {}
    /// In the room that was given; the rest of a longer datagram is lost.
    std::size_t bytes = 0;
    address from;
    bool truncated = false;
};

class receive_operation;
class send_operation;

/// One receive and one send can be under way at a time. Not movable.
class datagram_socket {
public:
    datagram_socket() noexcept = default;
    datagram_socket(const datagram_socket&) = delete;
    datagram_socket& operator=(const datagram_socket&) = delete;

    /// Binds to `at`; port 0 takes any free one. Called once, or again after close().
    result<void> open(loop& on, const address& at, const datagram_options& options = datagram_options()) noexcept;
    /// From now on only datagrams of `peer` come, send() goes there, and an unreachable peer shows as ECONNREFUSED.
    result<void> connect(const address& peer) noexcept;
    result<address> local_address() const noexcept;
    bool is_open() const noexcept { return socket_.is_open(); }
    /// What waits fails with `stream_closed`.
    void close() noexcept { socket_.close(); }

    /// Waits for a datagram; `into` must stay until it has come. To be awaited.
    receive_operation receive_from(std::span<char> into) noexcept;
    /// Hands `data` to the system, waiting while its buffer is full; `data` must stay until then. To be awaited. EMSGSIZE: too long for a datagram.
    send_operation send_to(std::string_view data, const address& to) noexcept;
    /// The same, to the connected peer.
    send_operation send(std::string_view data) noexcept;

    /// Now or not at all: EAGAIN when there is none.
    result<received> try_receive(std::span<char> into) noexcept;
    /// To the connected peer if `to` is no address.
    result<void> try_send(std::string_view data, const address& to) noexcept;

private:
    friend class receive_operation;
    friend class send_operation;

    pollable socket_;
};

namespace detail {

class datagram_operation : public operation {
public:
    bool start(context& in, std::coroutine_handle<> awaiter) noexcept;

protected:
    datagram_operation(pollable& on, direction which) noexcept
        : operation(&datagram_operation::cancelled), waker_(*this), socket_(on), which_(which) {}
    datagram_operation(datagram_operation&& other) noexcept
        : operation(std::move(other)), waker_(*this), socket_(other.socket_), which_(other.which_) {}
    ~datagram_operation() = default;

    /// True when the operation is complete.
    virtual bool attempt() noexcept = 0;
    virtual void fail(error why) noexcept = 0;

private:
    class waker final : public waiting_node {
    public:
        explicit waker(datagram_operation& of) noexcept : waiting_node(&datagram_operation::woken, &datagram_operation::closed), of_(of) {}
        datagram_operation& of_;
    };
    bool wait_again() noexcept;
    static void woken(ready_node& node) noexcept;
    static void closed(ready_node& node) noexcept;
    static void cancelled(operation& base, error why) noexcept;

    waker waker_;
    pollable& socket_;
    direction which_;
};

}  // namespace detail

class [[nodiscard]] receive_operation final : public detail::datagram_operation {
public:
    receive_operation(datagram_socket& on, std::span<char> into) noexcept
        : datagram_operation(on.socket_, direction::reading), on_(on), into_(into), result_(failure(cancel_reason::none)) {}
    receive_operation(receive_operation&& other) noexcept
        : datagram_operation(std::move(other)), on_(other.on_), into_(other.into_), result_(other.result_) {}

    result<received> finish() const noexcept { return result_; }

private:
    bool attempt() noexcept override;
    void fail(error why) noexcept override { result_ = failure(why); }

    datagram_socket& on_;
    std::span<char> into_;
    result<received> result_;
};

class [[nodiscard]] send_operation final : public detail::datagram_operation {
public:
    send_operation(datagram_socket& on, std::string_view data, const address& to) noexcept
        : datagram_operation(on.socket_, direction::writing), on_(on), data_(data), to_(to) {}
    send_operation(send_operation&& other) noexcept
        : datagram_operation(std::move(other)), on_(other.on_), data_(other.data_), to_(other.to_), result_(other.result_) {}

    result<void> finish() const noexcept { return result_; }

private:
    bool attempt() noexcept override;
    void fail(error why) noexcept override { result_ = failure(why); }

    datagram_socket& on_;
    std::string_view data_;
    address to_;
    result<void> result_;
};

inline receive_operation datagram_socket::receive_from(std::span<char> into) noexcept { return {*this, into}; }
inline send_operation datagram_socket::send_to(std::string_view data, const address& to) noexcept { return {*this, data, to}; }
inline send_operation datagram_socket::send(std::string_view data) noexcept { return {*this, data, address()}; }

}  // namespace martlet::inline v0::net
