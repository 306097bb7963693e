// Listening: a listener owns the socket and belongs to no loop; an acceptor takes its connections on one loop. Several acceptors, on several
// loops, may share a listener: each connection wakes one of them.
#pragma once

#include <chrono>
#include <cstdint>

#include <martlet/base/result.hpp>
#include <martlet/base/timer_wheel.hpp>
#include <martlet/net/address.hpp>
#include <martlet/net/socket_options.hpp>
#include <martlet/rt/descriptor.hpp>
#include <martlet/rt/operation.hpp>
#include <martlet/rt/pollable.hpp>

namespace martlet::inline v0::net {

/// Owns a listening stream socket. Move-only. What waits in its queue survives loops and acceptors, and is lost when the last owner closes.
class listener {
public:
    listener() noexcept = default;
    listener(listener&& other) noexcept;
    listener& operator=(listener&& other) noexcept;
    ~listener() { close(); }

    /// Binds and listens. Port 0 takes any free one. `[::]` without IPv6 on this machine becomes `0.0.0.0`, unless ipv6_only. The file of a Unix
    /// socket on which nobody answers is replaced.
    static result<listener> open(const address& at, const listener_options& options = listener_options()) noexcept;
    /// Takes over an open descriptor that this process was given, as by socket activation. It must listen for streams; if not, it is left alone.
    static result<listener> inherit(int number) noexcept;

    bool is_open() const noexcept { return socket_.is_open(); }
    const descriptor& fd() const noexcept { return socket_; }
    /// Where it listens, with the port that was taken.
    result<address> local_address() const noexcept;
    /// Leaves the file of a Unix socket where it is at close: another process listens on it.
    void keep_file() noexcept { owns_file_ = false; }
    /// Closes, and removes the file of a Unix socket that open made, if it is still the same file.
    void close() noexcept;

private:
    static result<listener> open_exactly(const address& at, const listener_options& options) noexcept;

    descriptor socket_;
    bool owns_file_ = false;
    address at_;
    std::uint64_t file_device_ = 0;
    std::uint64_t file_number_ = 0;
};

/// A connection that was accepted, not yet on a loop.
class accepted {
public:
    accepted() noexcept {}
    descriptor socket;
    /// IPv4 peers of a dual-stack socket are given as IPv4.
    address peer;
};

enum class accept_state : std::uint8_t {
    accepted,  ///< there is a connection
    blocked,   ///< none now, or a pause is on
    starved,   ///< no descriptor or memory is left; the connection stays in the queue, and a pause begins
    failed,    ///< the socket listens no more; failure() says why
};

class accept_operation;

/// A listener's registration with one loop. Has a second descriptor of the socket, so the listener may move or close meanwhile.
class acceptor {
public:
    /// After running out of descriptors or memory nothing is tried for so long.
    static constexpr duration pause = std::chrono::milliseconds(100);

    acceptor() noexcept : timer_(*this) {}
    acceptor(const acceptor&) = delete;
    acceptor& operator=(const acceptor&) = delete;
    ~acceptor() { close(); }

    result<void> open(loop& on, const listener& from) noexcept;
    bool is_open() const noexcept { return socket_.is_open(); }
    /// Takes no more connections here. An accept() that waits fails with `listener_closed`; an armed node is forgotten.
    void close() noexcept;

    /// The next connection, now or not at all. Connections that died in the queue are skipped.
    accept_state try_accept(accepted& into) noexcept;
    /// Queues `waiter` once when a try is worth it: when a connection is there and no pause is on. Null forgets the waiter.
    void arm(ready_node* waiter) noexcept;
    /// Waits for the next connection, pauses included; to be awaited. One at a time.
    accept_operation accept() noexcept;

    bool is_paused() const noexcept { return timer_.is_armed(); }
    /// Why it starved or failed.
    error failure() const noexcept { return why_; }
    loop& owner() const noexcept { return socket_.owner(); }

private:
    class pause_timer final : public timer_node {
    public:
        explicit pause_timer(acceptor& of) noexcept : timer_node(&acceptor::pause_over), of_(of) {}
        acceptor& of_;
    };

    friend class accept_operation;

    [[nodiscard]] bool wait(waiting_node& waiter) noexcept;
    static void pause_over(timer_node& timer) noexcept;

    pollable socket_;
    pause_timer timer_;
    // During a pause one of them waits; otherwise the socket has it.
    ready_node* waiter_ = nullptr;
    waiting_node* told_waiter_ = nullptr;
    error why_{cancel_reason::none};
};

class [[nodiscard]] accept_operation final : public operation {
public:
    explicit accept_operation(acceptor& of) noexcept : operation(&accept_operation::cancelled), waker_(*this), of_(of) {}
    accept_operation(accept_operation&& other) noexcept : operation(std::move(other)), waker_(*this), of_(other.of_) {}

    bool start(context& in, std::coroutine_handle<> awaiter) noexcept;
    result<accepted> finish() noexcept;

private:
    class waker final : public waiting_node {
    public:
        explicit waker(accept_operation& of) noexcept : waiting_node(&accept_operation::woken, &accept_operation::closed), of_(of) {}
        accept_operation& of_;
    };

    bool attempt() noexcept;
    bool wait_again() noexcept;
    void fail(error why) noexcept;
    static void closed(ready_node& node) noexcept;
    static void woken(ready_node& node) noexcept;
    static void cancelled(operation& base, error why) noexcept;

    waker waker_;
    acceptor& of_;
    accepted taken_;
    error why_{cancel_reason::none};
    bool failed_ = false;
};

inline accept_operation acceptor::accept() noexcept { return accept_operation(*this); }

}  // namespace martlet::inline v0::net
