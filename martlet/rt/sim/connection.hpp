// A simulated stream connection, TCP or Unix: two sides, and for each direction what was accepted, what is on its way and what has arrived.
// The moves are those of Linux's tcp_sendmsg, tcp_recvmsg, tcp_poll, tcp_fin, tcp_reset, tcp_close and their af_unix siblings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <martlet/rt/kernel.hpp>

namespace martlet::inline v0::sim {

/// Who holds a side: a socket, or a peer of the test.
class side_owner {
public:
    virtual void side_changed(std::uint32_t key) = 0;

protected:
    ~side_owner() = default;
};

/// Bytes, first in, first out.
class byte_queue {
public:
    std::size_t size() const noexcept { return bytes_.size() - head_; }
    bool empty() const noexcept { return size() == 0; }
    const char* data() const noexcept { return bytes_.data() + head_; }
    void append(const char* from, std::size_t size) { bytes_.append(from, size); }
    void drop(std::size_t size) {
        head_ += size;
        if (head_ == bytes_.size()) {
            bytes_.clear();
            head_ = 0;
        } else if (head_ > 64 * 1024) {
            bytes_.erase(0, head_);
            head_ = 0;
        }
    }
    void truncate(std::size_t size) { bytes_.resize(head_ + size); }

private:
    std::string bytes_;
    std::size_t head_ = 0;
};

enum class phase : std::uint8_t { connecting, established, closed };

struct side {
    side_owner* owner = nullptr;
    phase state = phase::established;
    byte_queue received;        // to be read by the owner
    byte_queue queued;          // accepted from the owner and not yet with the other side
    std::size_t in_flight = 0;  // of `queued`: on its way
    bool fin_queued = false;
    bool fin_in_flight = false;
    bool fin_arrived = false;   // this side's, at the other
    bool fin_received = false;  // the other's, here
    bool read_shut = false;
    bool write_shut = false;
    bool no_space = false;     // the owner met a full buffer and is to hear of room
    bool is_squeezed = false;  // unwritable for a while although there is room
    bool is_dead = false;      // its descriptor is gone
    int error = 0;             // what the next call reports, once
    std::size_t send_bytes_max;
    std::size_t receive_bytes_max;
    std::int64_t last_arrival = 0;  // of what this side sent
    unsigned happenings = 0;        // sent by this side and not yet arrived
    std::string local;              // sockaddr as getsockname gives it
    std::string remote;
};

class connection : public std::enable_shared_from_this<connection> {
public:
    connection(bool is_unix, std::size_t send_bytes_max, std::size_t receive_bytes_max);
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    // Each as the seam's function; `who` is 0 for the side that connected, 1 for the one that was accepted.
    std::ptrdiff_t send(int who, const kernel::piece* pieces, std::size_t count);
    std::ptrdiff_t receive(int who, void* out, std::size_t size, bool keep);
    int shutdown(int who, int how);
    std::uint32_t poll(int who);
    /// The descriptor is gone. `reset`: SO_LINGER with no time.
    void close(int who, bool reset);

    /// A reset leaves `who`, whatever is unread.
    void reset(int who);
    /// The connection dies under `who` by an injected error that the running call reports; the other side gets a reset.
    void fail(int who);
    /// `who` cannot write until a little later.
    void squeeze(int who);
    /// Runs `action` when what `who` sends now arrives at the other side: behind all that it sent before.
    void send_along(int who, std::move_only_function<void()> action, bool is_delayed = false);

    void notify(int who, std::uint32_t key) {
        if (sides[who].owner != nullptr) sides[who].owner->side_changed(key);
    }
    int take_error(int who);

    side sides[2];
    const bool is_unix;

private:
    bool is_writable(int who) const;
    std::size_t used(int who) const;
    void pump(int who);
    void deliver(int who, std::size_t size);
    void deliver_fin(int who);
    void deliver_reset(int to);
    void finish_if_both_shut(int who);
    void leave_unix(int who, bool is_reset);
};

}  // namespace martlet::inline v0::sim
