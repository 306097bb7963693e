// pollable: a descriptor registered with a loop, edge-triggered, once for its life.
#pragma once

#include <cstdint>

#include <martlet/rt/descriptor.hpp>
#include <martlet/rt/ready.hpp>

namespace martlet::inline v0 {

class loop;

/// What a waiter waits for. `closing` takes the place of `reading`: only a FIN or an error queues it, unread bytes do not.
enum class direction : std::uint8_t { reading, writing, closing };

/// Owns a non-blocking descriptor and remembers what the kernel reported of it. The kernel reports a change once
/// (edge-triggered), so the flags stay set until an operation finds nothing more and clears them.
class pollable {
public:
    pollable() noexcept = default;
    pollable(const pollable&) = delete;
    pollable& operator=(const pollable&) = delete;
    ~pollable() { close(); }

    /// Takes `of` over and registers it. On failure `of` is closed and a negated errno value returned; 0 otherwise.
    int open(loop& on, descriptor of) noexcept;
    /// The same for a listening socket that several loops wait for: a connection wakes one of them.
    int open_shared(loop& on, descriptor of) noexcept;
    /// Deregisters and closes. Who waits by wait() is told; armed nodes are forgotten.
    void close() noexcept;
    /// Deregisters and gives the descriptor away; waiters as with close().
    descriptor release() noexcept;

    bool is_open() const noexcept { return fd_.is_open(); }
    const descriptor& fd() const noexcept { return fd_; }
    loop& owner() const noexcept { return *loop_; }

    /// Queues `waiter` once when reading or writing is worth a try. If a report is noted already, it has been tried and left something:
    /// then it goes to the loop's background. One waiter a direction; null forgets the waiter.
    void arm(direction which, ready_node* waiter) noexcept;
    /// The same for one that is told of a close. False, and nothing is done, while another such waits in this direction.
    [[nodiscard]] bool wait(direction which, waiting_node& waiter) noexcept;
    bool is_armed(direction which) const noexcept { return (which == direction::writing ? writer_ : reader_) != nullptr; }

    bool maybe_readable() const noexcept { return (noted_ & (noted_readable | noted_peer_closed | noted_failed)) != 0; }
    bool maybe_writable() const noexcept { return (noted_ & (noted_writable | noted_failed)) != 0; }
    /// The peer will send no more (FIN seen); what it sent before may still be unread.
    bool peer_closed() const noexcept { return (noted_ & noted_peer_closed) != 0; }
    /// Reset, or closed in both directions.
    bool failed() const noexcept { return (noted_ & noted_failed) != 0; }

    /// A read found less than it had room for: the next one waits for a report. A FIN or an error, reported once only, is kept.
    void drained() noexcept { noted_ &= static_cast<std::uint8_t>(~noted_readable); }
    void filled() noexcept { noted_ &= static_cast<std::uint8_t>(~noted_writable); }
    /// Makes a write worth a try though nothing was reported: there may be room that the kernel holds too small to tell of. Queues nobody.
    void recheck_writable() noexcept { noted_ |= noted_writable; }
    /// An error was found that no report names: both directions are worth a try from now on.
    void fail() noexcept {
        noted_ |= noted_failed;
        wake();
    }
    /// The error that was reported has been taken and the descriptor lives on, as with datagrams.
    void recovered() noexcept { noted_ &= static_cast<std::uint8_t>(~noted_failed); }
    /// While muted, reports are noted and queue nobody; used while another thread owns what would run.
    void mute(bool on) noexcept;

private:
    friend class loop;
    static constexpr std::uint8_t noted_readable = 1;
    static constexpr std::uint8_t noted_writable = 2;
    static constexpr std::uint8_t noted_peer_closed = 4;
    static constexpr std::uint8_t noted_failed = 8;

    int add(loop& on, descriptor&& of, std::uint32_t events, std::uint8_t noted) noexcept;
    void note(std::uint32_t events) noexcept;
    bool is_worth(direction which) const noexcept {
        switch (which) {
        case direction::reading: return maybe_readable();
        case direction::writing: return maybe_writable();
        case direction::closing: return peer_closed() || failed();
        }
        return false;
    }
    void place(direction which, ready_node* waiter, bool is_told) noexcept;
    void wake() noexcept;

    loop* loop_ = nullptr;
    ready_node* reader_ = nullptr;
    ready_node* writer_ = nullptr;
    descriptor fd_;
    std::uint8_t noted_ = 0;
    bool muted_ : 1 = false;
    bool closing_only_ : 1 = false;
    bool reader_is_told_ : 1 = false;  // it is a waiting_node
    bool writer_is_told_ : 1 = false;
};

}  // namespace martlet::inline v0
