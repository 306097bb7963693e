// seat: what the other loops of a server know of one: how many connections it has, and how to send it one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <martlet/net/listener.hpp>
#include <martlet/rt/loop_handle.hpp>

namespace martlet::inline v0::server::detail {

class worker;

/// Outlives its worker, so that a connection on the way to it is never lost.
class seat {
public:
    seat(worker& of, loop_handle home) noexcept : home(std::move(home)), of(of) {}

    /// Those that it serves and those on their way to it.
    std::atomic<std::uint32_t> connections{0};
    /// It takes new connections. Never true again once it is false.
    std::atomic<bool> open{true};
    const loop_handle home;
    /// For functions on its own loop.
    worker& of;
};

using seat_list = std::vector<std::shared_ptr<seat>>;

class seating;

/// A connection on its way to another loop. If that loop has ended meanwhile, it goes on to one that has not.
class moved_connection final : public martlet::detail::posted {
public:
    /// Null when there is no memory; `got` is untouched then.
    static std::unique_ptr<moved_connection> make(net::accepted& got) noexcept;

    net::accepted got;

private:
    moved_connection() noexcept : posted(&moved_connection::arrived) {}
    static void arrived(posted* node, bool run);

    friend class seating;
    std::shared_ptr<seat> to_;
    seating* among_ = nullptr;
};

/// Which loop serves a new connection: the one that has fewest. Each worker asks with a list of its own, so that loops share only the
/// counters; the list of all is for changes of it, and for connections whose loop has ended.
class seating {
public:
    /// `open_total` counts the connections of all loops; one that no loop takes is taken off it.
    explicit seating(std::atomic<std::uint32_t>& open_total) noexcept : open_total_(open_total) {}

    /// The open seat with the fewest connections; of several `own`. `own` when none is open.
    static const std::shared_ptr<seat>& least(const seat_list& of, const std::shared_ptr<seat>& own) noexcept;

    /// Sends `what` to `to`, which has it counted already.
    void send(std::unique_ptr<moved_connection> what, const std::shared_ptr<seat>& to) noexcept;
    /// Sends it to whichever loop is left; closes the connection when none is.
    void forward(std::unique_ptr<moved_connection> what) noexcept;

    void replace(seat_list with) noexcept;
    seat_list all() const;

private:
    std::atomic<std::uint32_t>& open_total_;
    mutable std::mutex lock_;
    seat_list seats_;
};

}  // namespace martlet::inline v0::server::detail
