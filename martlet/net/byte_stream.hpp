// byte_stream: the one interface of server and client to a transport.
//
// The try_ functions do what can be done now, with one system call where that is possible. arm() asks to be told when trying again is
// worth it. A stream may hide bytes that it has already taken from the kernel (pending()); it may have to read in order to write.
#pragma once

#include <cstddef>
#include <cstdint>

#include <martlet/base/buffer.hpp>
#include <martlet/base/error.hpp>
#include <martlet/base/outq.hpp>
#include <martlet/net/stream_info.hpp>
#include <martlet/rt/pollable.hpp>
#include <martlet/rt/ready.hpp>

namespace martlet::inline v0::net {

/// How a try ended.
enum class io : std::uint8_t {
    moved,    ///< reading: at least one byte was added. Writing: the queue is empty now
    blocked,  ///< nothing more can be done now; a write may have moved some bytes first
    ended,    ///< reading only: the peer has sent all it will send
    failed,   ///< broken for good; failure() says how
};

/// A connected, ordered, reliable stream of bytes on one loop. Owned by one object; destroying it closes it at once.
class byte_stream {
public:
    byte_stream() noexcept = default;
    byte_stream(const byte_stream&) = delete;
    byte_stream& operator=(const byte_stream&) = delete;
    virtual ~byte_stream() = default;

    /// Reads once, into the room that `into` has; it must have some or be able to grow.
    virtual io try_read(buffer& into) noexcept = 0;
    /// Writes what it can of `from` and takes that off it.
    virtual io try_write(outq& from) noexcept = 0;
    /// Bytes that try_read can give without the kernel.
    virtual std::size_t pending() const noexcept = 0;

    /// Lets the next try_write ask the transport itself, whatever has been reported; then it moves what there is room for. Queues nobody and
    /// leaves an armed waiter armed. A stream is free to report room late: Linux tells a TCP sender of it only when about a third of the
    /// send buffer is free, so to a peer that takes a little steadily the stream looks blocked. Before giving such a peer up, call this and
    /// try once more.
    virtual void recheck_write() noexcept = 0;

    /// Queues `waiter` on the loop, once, when trying in this direction is worth it; null forgets the waiter. One waiter a direction.
    virtual void arm(direction which, ready_node* waiter) noexcept = 0;
    /// The same for one that is told when the stream is closed, aborted or destroyed; armed nodes are forgotten then. False, and nothing is
    /// done, while another such waits in this direction.
    [[nodiscard]] virtual bool wait(direction which, waiting_node& waiter) noexcept = 0;
    /// While muted, events are noted and queue nobody.
    virtual void mute(bool on) noexcept = 0;
    /// The peer has sent its FIN, though bytes from before may be unread. Known without reading.
    virtual bool peer_closed() const noexcept = 0;
    /// Reset or otherwise dead. Known without reading.
    virtual bool peer_failed() const noexcept = 0;

    /// Sends FIN after what was written; reading goes on. Errors show in later tries.
    virtual void shutdown_write() noexcept = 0;
    /// Ends at once: unsent bytes are dropped, the peer sees a reset.
    virtual void abort() noexcept = 0;
    /// Closes. The kernel still delivers what was written, unless unread bytes make it reset: see lingering_close.
    virtual void close() noexcept = 0;

    /// Why a try failed.
    virtual error failure() const noexcept = 0;
    /// Peer, local address, what TLS agreed on.
    virtual stream_info info() const noexcept = 0;
    virtual loop& owner() const noexcept = 0;
};

}  // namespace martlet::inline v0::net
