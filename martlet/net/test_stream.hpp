// A byte_stream without a socket, for tests, that makes use of everything the contract of byte_stream allows: TLS will behave so.
//
// Its unruliness is drawn from a seed, so that a failure can be repeated. It never withholds anything for good: each refusal is followed
// by a wake-up, so a user that keeps to the contract always gets on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <martlet/net/byte_stream.hpp>
#include <martlet/net/error.hpp>

namespace martlet::inline v0::net {

/// How a test stream behaves. Each setter returns the options, so that they chain.
class unruly_options {
public:
    /// Everything unruly is on.
    explicit unruly_options(std::uint64_t seed = 1) noexcept : seed_(seed) {}
    /// As a socket behaves that is never slow.
    static unruly_options tame() noexcept {
        return unruly_options()
            .spurious_wakes(false)
            .blocked_at_first(false)
            .hidden_bytes(false)
            .short_moves(false)
            .reads_to_write(false)
            .late_room(false);
    }

    /// Wakes a waiter, once, when there is nothing to do.
    unruly_options& spurious_wakes(bool on) noexcept {
        spurious_wakes_ = on;
        return *this;
    }
    /// Says `blocked` once though it could move bytes.
    unruly_options& blocked_at_first(bool on) noexcept {
        blocked_at_first_ = on;
        return *this;
    }
    /// Takes all that has come and hands out a part: the rest is pending(), and no event will tell of it.
    unruly_options& hidden_bytes(bool on) noexcept {
        hidden_bytes_ = on;
        return *this;
    }
    /// Reads and writes move fewer bytes than they could.
    unruly_options& short_moves(bool on) noexcept {
        short_moves_ = on;
        return *this;
    }
    /// A write may first take in what has come, and so make bytes pending.
    unruly_options& reads_to_write(bool on) noexcept {
        reads_to_write_ = on;
        return *this;
    }
    /// Once full, it says `blocked` until a third of its capacity is free, unless it is asked to look again (recheck_write).
    unruly_options& late_room(bool on) noexcept {
        late_room_ = on;
        return *this;
    }
    /// What a direction holds before writing blocks. Default: 64 KiB.
    unruly_options& capacity_bytes(std::size_t bytes) noexcept {
        capacity_bytes_ = bytes;
        return *this;
    }

private:
    friend class test_stream;
    friend class test_link;
    std::uint64_t seed_;
    std::size_t capacity_bytes_ = 64 * 1024;
    bool spurious_wakes_ = true;
    bool blocked_at_first_ = true;
    bool hidden_bytes_ = true;
    bool short_moves_ = true;
    bool reads_to_write_ = true;
    bool late_room_ = true;
};

class test_link;

/// One end of a link in memory. Both ends are on one loop.
class test_stream final : public byte_stream {
public:
    ~test_stream() override { close(); }

    io try_read(buffer& into) noexcept override;
    io try_write(outq& from) noexcept override;
    std::size_t pending() const noexcept override { return hidden_.size(); }
    void recheck_write() noexcept override;
    void arm(direction which, ready_node* waiter) noexcept override { place(which, waiter, false); }
    bool wait(direction which, waiting_node& waiter) noexcept override;
    void mute(bool on) noexcept override;
    bool peer_closed() const noexcept override;
    bool peer_failed() const noexcept override;
    void shutdown_write() noexcept override;
    void abort() noexcept override;
    void close() noexcept override;
    error failure() const noexcept override { return why_; }
    stream_info info() const noexcept override;
    loop& owner() const noexcept override;

private:
    friend class test_link;
    friend class test_peer;
    friend std::pair<std::unique_ptr<byte_stream>, std::unique_ptr<byte_stream>> test_pair(loop& on, const unruly_options& options);

    test_stream(std::shared_ptr<test_link> link, int side) noexcept : link_(std::move(link)), side_(side) {}

    io fail(error why) noexcept;
    void place(direction which, ready_node* waiter, bool is_told) noexcept;
    bool take_in() noexcept;
    std::ptrdiff_t write_some(outq& from, std::size_t room) noexcept;
    bool is_worth(direction which) const noexcept;
    bool has_room() const noexcept;
    void wake() noexcept;
    std::size_t part_of(std::size_t bytes) noexcept;

    std::shared_ptr<test_link> link_;
    int side_;
    std::string hidden_;
    ready_node* reader_ = nullptr;
    ready_node* writer_ = nullptr;
    direction reader_waits_for_ = direction::reading;
    bool reader_is_told_ = false;
    bool writer_is_told_ = false;
    bool muted_ = false;
    bool open_ = true;
    bool failed_ = false;
    bool read_refused_ = false;
    bool write_refused_ = false;
    bool was_full_ = false;
    bool read_woken_for_nothing_ = false;
    bool write_woken_for_nothing_ = false;
    error why_{cancel_reason::none};
};

/// Two ends that are connected with each other.
std::pair<std::unique_ptr<byte_stream>, std::unique_ptr<byte_stream>> test_pair(loop& on, const unruly_options& options = unruly_options());

/// The other end of a test stream, played by the test itself.
class test_peer {
public:
    /// `on` outlives the peer and the stream.
    explicit test_peer(loop& on, const unruly_options& options = unruly_options());
    test_peer(const test_peer&) = delete;
    test_peer& operator=(const test_peer&) = delete;
    ~test_peer();

    /// The end for the code under test; given once.
    std::unique_ptr<byte_stream> stream() noexcept;

    /// Arrives at the stream at once, however much it is.
    void send(std::string_view bytes);
    /// FIN behind what was sent.
    void finish();
    /// A reset: what the stream has not taken in is lost.
    void reset();

    /// What the stream has written and was not taken yet. While it is not taken the stream has that much less room.
    std::string_view arrived() const noexcept;
    /// Takes all of that.
    std::string take() { return take(static_cast<std::size_t>(-1)); }
    std::string take(std::size_t bytes_max);
    /// The stream has shut down writing or closed, and all that it wrote was taken.
    bool saw_end() const noexcept;
    bool saw_reset() const noexcept;
    /// The stream was closed, aborted or destroyed.
    bool is_closed() const noexcept;

    /// Turns the loop until nothing is ready. False if that did not come about within `turns_max`, as in a loop that spins.
    bool settle(unsigned turns_max = 10'000);

private:
    loop& loop_;
    std::shared_ptr<test_link> link_;
    std::unique_ptr<byte_stream> stream_;
};

}  // namespace martlet::inline v0::net
