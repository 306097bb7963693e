// socket_stream: a byte_stream over a socket, TCP or Unix.
//
// Readiness is edge-triggered: a try costs no system call when the kernel has reported nothing since the last one found nothing more.
// A read or write that moved less than it could have counts as having found nothing more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <martlet/base/result.hpp>
#include <martlet/net/address.hpp>
#include <martlet/net/byte_stream.hpp>
#include <martlet/net/error.hpp>
#include <martlet/rt/descriptor.hpp>
#include <martlet/rt/pollable.hpp>

namespace martlet::inline v0::net {

/// A connected stream socket on a loop. Small, because a server holds many.
class socket_stream final : public byte_stream {
public:
    /// What one try_write moves at most; then others on the loop have their turn.
    static constexpr std::size_t write_bytes_per_try_max = 128 * 1024;

    socket_stream() noexcept = default;

    /// Takes over `of`, which is connected and non-blocking, and registers it. `peer` is what accept or connect knew of the other side.
    /// On failure `of` is closed. Called once.
    result<void> open(loop& on, descriptor of, const address& peer) noexcept;
    /// Takes the socket off the loop, for another to open; `peer` is what open() was given. Nobody waits on the stream.
    descriptor release(address& peer) noexcept;
    bool is_open() const noexcept { return socket_.is_open(); }
    const descriptor& fd() const noexcept { return socket_.fd(); }

    io try_read(buffer& into) noexcept override;
    io try_write(outq& from) noexcept override;
    std::size_t pending() const noexcept override { return 0; }
    void recheck_write() noexcept override { socket_.recheck_writable(); }
    void arm(direction which, ready_node* waiter) noexcept override { socket_.arm(which, waiter); }
    bool wait(direction which, waiting_node& waiter) noexcept override { return socket_.wait(which, waiter); }
    void mute(bool on) noexcept override { socket_.mute(on); }
    bool peer_closed() const noexcept override { return socket_.peer_closed(); }
    bool peer_failed() const noexcept override;
    void shutdown_write() noexcept override;
    void abort() noexcept override;
    void close() noexcept override;
    error failure() const noexcept override;
    stream_info info() const noexcept override;
    loop& owner() const noexcept override { return socket_.owner(); }

private:
    friend class connect_operation;

    // An IP address in 23 bytes. Unix peers have no name as a rule, so theirs is asked for when it is wanted.
    struct compact_address {
        std::uint8_t host[16];
        std::uint32_t scope_id;
        std::uint16_t port;
        address_family family;
    };

    std::optional<address> peer_address() const noexcept;
    io write_pieces(outq& from, std::size_t left) noexcept;
    bool note_sent(outq& from, std::ptrdiff_t sent, std::size_t wanted) noexcept;
    std::ptrdiff_t write_memory(const outq& from, std::size_t& wanted) noexcept;
    std::ptrdiff_t write_file(const file_range& from, std::size_t bytes_max) noexcept;
    std::ptrdiff_t copy_file(const file_range& from) noexcept;
    io fail(int errno_value) noexcept;
    io fail(net_error why) noexcept;

    pollable socket_;
    compact_address peer_{};
    bool at_end_ = false;
    bool write_shut_ = false;
    net_error broken_{};
    std::int32_t errno_ = 0;
};

static_assert(sizeof(socket_stream) <= 96);

}  // namespace martlet::inline v0::net
