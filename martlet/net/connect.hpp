// connect: a stream to an address, TCP or Unix.
#pragma once

#include <memory>

#include <martlet/base/result.hpp>
#include <martlet/base/timer_wheel.hpp>
#include <martlet/net/address.hpp>
#include <martlet/net/byte_stream.hpp>
#include <martlet/net/socket_options.hpp>
#include <martlet/net/tcp_stream.hpp>
#include <martlet/rt/operation.hpp>

namespace martlet::inline v0::net {

class [[nodiscard]] connect_operation final : public operation {
public:
    connect_operation(const address& to, const stream_options& options) noexcept
        : operation(&connect_operation::cancelled), waker_(*this), retry_(*this), to_(to), options_(options) {}
    connect_operation(connect_operation&& other) noexcept
        : operation(std::move(other)), waker_(*this), retry_(*this), to_(other.to_), options_(other.options_) {}

    bool start(context& in, std::coroutine_handle<> awaiter) noexcept;
    result<std::unique_ptr<byte_stream>> finish() noexcept;

private:
    class waker final : public ready_node {
    public:
        explicit waker(connect_operation& of) noexcept : ready_node(&connect_operation::woken), of_(of) {}
        connect_operation& of_;
    };
    class retry_timer final : public timer_node {
    public:
        explicit retry_timer(connect_operation& of) noexcept : timer_node(&connect_operation::try_again), of_(of) {}
        connect_operation& of_;
    };
    enum class progress : std::uint8_t { complete, connecting, queue_full };

    progress open(loop& on) noexcept;
    progress begin(loop& on) noexcept;
    progress settle() noexcept;
    void go_on(progress state) noexcept;
    progress fail(error why) noexcept;
    static void woken(ready_node& node) noexcept;
    static void try_again(timer_node& timer) noexcept;
    static void cancelled(operation& base, error why) noexcept;

    waker waker_;
    retry_timer retry_;
    address to_;
    stream_options options_;
    descriptor socket_;
    std::unique_ptr<socket_stream> stream_;
    error why_{cancel_reason::none};
    bool failed_ = false;
};

/// Connects to `to`; to be awaited. Bound it by within(): the system alone gives up after two minutes. Errors: those of the system (ECONNREFUSED,
/// EHOSTUNREACH, ...). A Unix socket whose queue is full is tried again until cancelled.
inline connect_operation connect(const address& to, const stream_options& options = stream_options()) noexcept { return {to, options}; }

}  // namespace martlet::inline v0::net
