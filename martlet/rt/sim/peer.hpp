// The other side, played by a test: clients and servers that live inside the simulation and need neither loop nor descriptor.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/base/time.hpp>

namespace martlet::inline v0::sim {

class connection;
struct peer_state;

/// One end of a stream connection. It reads what arrives at once, unless told not to. Destroyed, it closes. Addresses are written
/// "127.0.0.1:80", "[::1]:80", "unix:/path" and "unix:@abstract".
///
/// What it is told to do happens at the moment of the call; `after` does it at a time. A peer outlives what is scheduled on it or not: what
/// comes after its end does nothing.
class peer {
public:
    /// Connects to whoever listens at `address`, the code under test as a rule.
    explicit peer(std::string_view address);
    peer(peer&&) noexcept;
    peer& operator=(peer&&) noexcept;
    ~peer();

    bool is_connected() const noexcept;
    /// Refused, reset or timed out.
    bool failed() const noexcept;

    /// Sends all of it, as room permits.
    void send(std::string_view bytes);
    void shutdown_write();
    /// Closes; with what is unread a reset follows, as Linux has it.
    void close();
    /// Closes with a reset.
    void reset();

    /// What has arrived so far and was not taken.
    const std::string& received() const noexcept;
    /// Takes what has arrived.
    std::string receive();
    /// No more will come: FIN or reset.
    bool closed_by_other() const noexcept;
    bool reset_by_other() const noexcept;
    /// Bytes of `send` that the connection has not taken yet.
    std::size_t unsent() const noexcept;

    /// Stops reading, so that the other side's buffers fill up.
    void pause_reading();
    void resume_reading();
    /// Reads `size` bytes, or what there is, while paused.
    void read_some(std::size_t size);

    /// Calls `act` with this peer at `delay` from now.
    void after(duration delay, std::move_only_function<void(peer&)> act);
    void send_after(duration delay, std::string_view bytes);
    /// Calls `act` whenever something came: bytes, a FIN, a reset, the connection.
    void on_change(std::move_only_function<void(peer&)> act);

private:
    friend class peer_listener;
    friend struct peer_state;
    explicit peer(std::shared_ptr<peer_state> state) noexcept;

    std::shared_ptr<peer_state> state_;
};

/// Listens inside the simulation, for clients under test to connect to. Nothing else may listen there.
class peer_listener {
public:
    /// `accepted` is called for each connection, and keeps the peer or drops it.
    peer_listener(std::string_view address, std::move_only_function<void(peer)> accepted);
    peer_listener(const peer_listener&) = delete;
    peer_listener& operator=(const peer_listener&) = delete;
    ~peer_listener();

    /// While closed to new ones, connects are repeated and time out in the end.
    void accept_nothing(bool on) noexcept;

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace martlet::inline v0::sim
