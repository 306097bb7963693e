#include <martlet/net/test_stream.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>

#include <martlet/net/file_front_internal.hpp>
#include <martlet/rt/loop.hpp>

namespace martlet::inline v0::net {

namespace {

std::uint64_t next_number(std::uint64_t& state) noexcept {
    state += 0x9e3779b97f4a7c15;
    std::uint64_t x = state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

constexpr std::size_t copied_file_bytes = 16 * 1024;

}  // namespace

/// What lies between two ends. ways[n] goes from side n to the other.
class test_link {
public:
    struct way {
        std::string bytes;
        bool ended = false;
        bool reset = false;
        bool nobody_reads = false;
    };

    test_link(loop& loop, const unruly_options& how) noexcept : on(loop), options(how), random(how.seed_) {}

    bool chance(bool enabled) noexcept { return enabled && next_number(random) % 2 == 0; }
    std::size_t capacity() const noexcept { return options.capacity_bytes_; }
    void wake(int side) noexcept {
        if (ends[side] != nullptr) ends[side]->wake();
    }
    /// What side `who` sees when the other is gone for good.
    void reset_towards(int who) noexcept {
        way& towards = ways[1 - who];
        towards.reset = true;
        towards.bytes.clear();
        ways[who].bytes.clear();
        wake(who);
    }

    loop& on;
    const unruly_options options;
    std::uint64_t random;
    std::array<way, 2> ways;
    std::array<test_stream*, 2> ends{};
};

io test_stream::fail(error why) noexcept {
    if (!failed_) why_ = why;
    failed_ = true;
    wake();
    return io::failed;
}

// At least one, where there is one.
std::size_t test_stream::part_of(std::size_t bytes) noexcept {
    if (!link_->options.short_moves_ || bytes < 2) return bytes;
    switch (next_number(link_->random) % 4) {
    case 0: return bytes;
    case 1: return 1;
    default: return 1 + static_cast<std::size_t>(next_number(link_->random) % bytes);
    }
}

// Moves all that has come to the hidden bytes. True if there was something.
bool test_stream::take_in() noexcept {
    auto& inbound = link_->ways[1 - side_];
    if (inbound.bytes.empty()) return false;
    hidden_ += inbound.bytes;
    inbound.bytes.clear();
    link_->wake(1 - side_);
    return true;
}

io test_stream::try_read(buffer& into) noexcept {
    if (failed_ || !open_) return io::failed;
    const auto& inbound = link_->ways[1 - side_];
    const bool has_bytes = !hidden_.empty() || !inbound.bytes.empty();
    if (has_bytes && !read_refused_ && hidden_.empty() && link_->chance(link_->options.blocked_at_first_)) {
        read_refused_ = true;
        return io::blocked;
    }
    read_refused_ = false;
    if (!has_bytes) {
        if (inbound.reset) return fail(error::system(ECONNRESET));
        return inbound.ended ? io::ended : io::blocked;
    }
    const std::span<char> room = into.prepare(1);
    if (room.empty()) return fail(into.full() ? make_error(net_error::buffer_full) : error::system(ENOMEM));
    if (hidden_.empty()) take_in();
    const std::size_t size = part_of(std::min(room.size(), hidden_.size()));
    std::memcpy(room.data(), hidden_.data(), size);
    into.commit(size);
    hidden_.erase(0, size);
    read_woken_for_nothing_ = false;
    if (!link_->options.hidden_bytes_ && !hidden_.empty()) {
        // Given back, so that the next try meets them as bytes that have come.
        link_->ways[1 - side_].bytes.insert(0, hidden_);
        hidden_.clear();
    }
    return io::moved;
}

// Bytes moved, 0 where a file has ended, or a negated errno value.
std::ptrdiff_t test_stream::write_some(outq& from, std::size_t room) noexcept {
    std::string& out = link_->ways[side_].bytes;
    std::size_t size = 0;
    if (const file_range* file = from.front_file()) {
        if (file->descriptor() < 0) return -EBADF;
        char copied[copied_file_bytes];
        const std::ptrdiff_t got = detail::read_file_front(*file, std::span(copied, std::min(room, sizeof copied)));
        if (got <= 0) return got;
        size = part_of(static_cast<std::size_t>(got));
        out.append(copied, size);
    } else {
        const_buffer front[1];
        from.gather(front);
        size = part_of(std::min(room, front[0].size));
        out.append(static_cast<const char*>(front[0].data), size);
    }
    from.consume(size);
    return static_cast<std::ptrdiff_t>(size);
}

io test_stream::try_write(outq& from) noexcept {
    if (failed_ || !open_) return io::failed;
    auto& outbound = link_->ways[side_];
    if (link_->ways[1 - side_].reset) return fail(error::system(ECONNRESET));
    if (outbound.ended) return from.empty() ? io::moved : fail(error::system(EPIPE));
    if (!write_refused_ && !from.empty()) {
        const bool took = link_->chance(link_->options.reads_to_write_) && take_in();
        if (took || link_->chance(link_->options.blocked_at_first_)) {
            write_refused_ = true;
            // Who waits to read learns of the bytes that were taken in.
            wake();
            return io::blocked;
        }
    }
    write_refused_ = false;
    while (!from.empty()) {
        if (outbound.nobody_reads) {
            from.clear();
            link_->reset_towards(side_);
            return io::moved;
        }
        if (!has_room()) {
            was_full_ = link_->options.late_room_;
            return io::blocked;
        }
        was_full_ = false;
        const std::ptrdiff_t moved = write_some(from, link_->capacity() - outbound.bytes.size());
        if (moved == 0) return fail(make_error(net_error::file_shrank));
        if (moved < 0) return fail(moved == -EBADF ? make_error(net_error::file_unreadable) : error::system(static_cast<int>(-moved)));
        write_woken_for_nothing_ = false;
        link_->wake(1 - side_);
        if (!from.empty() && link_->chance(link_->options.short_moves_)) return io::blocked;
    }
    return io::moved;
}

// Room that it would tell of.
bool test_stream::has_room() const noexcept {
    const std::size_t held = link_->ways[side_].bytes.size();
    const std::size_t capacity = link_->capacity();
    return was_full_ ? held <= capacity - (capacity + 2) / 3 : held < capacity;
}

bool test_stream::is_worth(direction which) const noexcept {
    const auto& inbound = link_->ways[1 - side_];
    const bool gone = failed_ || !open_ || inbound.reset;
    switch (which) {
    case direction::reading: return gone || inbound.ended || !hidden_.empty() || !inbound.bytes.empty();
    case direction::writing: return gone || link_->ways[side_].nobody_reads || link_->ways[side_].ended || has_room();
    case direction::closing: return gone || inbound.ended;
    }
    return true;
}

void test_stream::wake() noexcept {
    if (muted_) return;
    if (reader_ != nullptr && is_worth(reader_waits_for_)) link_->on.ready(*std::exchange(reader_, nullptr));
    if (writer_ != nullptr && is_worth(direction::writing)) link_->on.ready(*std::exchange(writer_, nullptr));
}

void test_stream::recheck_write() noexcept {
    write_refused_ = true;
    was_full_ = false;
}

bool test_stream::wait(direction which, waiting_node& waiter) noexcept {
    const bool is_taken = which == direction::writing ? writer_ != nullptr && writer_is_told_ : reader_ != nullptr && reader_is_told_;
    if (!is_taken) place(which, &waiter, true);
    return !is_taken;
}

void test_stream::place(direction which, ready_node* waiter, bool is_told) noexcept {
    if (which == direction::writing) {
        writer_ = waiter;
        writer_is_told_ = is_told;
    } else {
        reader_ = waiter;
        reader_is_told_ = is_told;
        reader_waits_for_ = which;
    }
    if (waiter == nullptr) return;
    wake();
    // Once between two moves of bytes, or it would never end.
    bool& woken = which == direction::writing ? write_woken_for_nothing_ : read_woken_for_nothing_;
    ready_node*& slot = which == direction::writing ? writer_ : reader_;
    if (slot == nullptr || muted_ || which == direction::closing || woken || !link_->chance(link_->options.spurious_wakes_)) return;
    woken = true;
    link_->on.ready(*std::exchange(slot, nullptr));
}

void test_stream::mute(bool on) noexcept {
    muted_ = on;
    wake();
}

bool test_stream::peer_closed() const noexcept { return link_->ways[1 - side_].ended; }
bool test_stream::peer_failed() const noexcept { return failed_ || !open_ || link_->ways[1 - side_].reset; }

void test_stream::shutdown_write() noexcept {
    if (!open_) return;
    link_->ways[side_].ended = true;
    link_->wake(1 - side_);
    // A write that waits fails, as it does on a socket.
    wake();
}

void test_stream::abort() noexcept {
    if (!open_) return;
    link_->reset_towards(1 - side_);
    hidden_.clear();
    close();
}

void test_stream::close() noexcept {
    if (!open_) return;
    ready_node* const reader = std::exchange(reader_, nullptr);
    ready_node* const writer = std::exchange(writer_, nullptr);
    open_ = false;
    link_->ends[static_cast<std::size_t>(side_)] = nullptr;
    fail(make_error(net_error::stream_closed));
    if (reader != nullptr && reader_is_told_) static_cast<waiting_node*>(reader)->closed();
    if (writer != nullptr && writer_is_told_) static_cast<waiting_node*>(writer)->closed();
    auto& inbound = link_->ways[1 - side_];
    inbound.nobody_reads = true;
    // As TCP does: what was not read makes a reset of the close, and that overtakes what was written.
    if (!hidden_.empty() || !inbound.bytes.empty()) {
        link_->reset_towards(1 - side_);
    } else {
        link_->ways[side_].ended = true;
        link_->wake(1 - side_);
    }
    hidden_.clear();
}

stream_info test_stream::info() const noexcept {
    const address at[2] = {address::ipv4(192, 0, 2, 1, 80), address::ipv4(192, 0, 2, 2, 40000)};
    return stream_info().local(at[side_]).peer(at[1 - side_]);
}

loop& test_stream::owner() const noexcept { return link_->on; }

std::pair<std::unique_ptr<byte_stream>, std::unique_ptr<byte_stream>> test_pair(loop& on, const unruly_options& options) {
    auto link = std::make_shared<test_link>(on, options);
    std::unique_ptr<test_stream> first(new test_stream(link, 0));
    std::unique_ptr<test_stream> second(new test_stream(link, 1));
    link->ends = {first.get(), second.get()};
    return {std::move(first), std::move(second)};
}

test_peer::test_peer(loop& on, const unruly_options& options) : loop_(on), link_(std::make_shared<test_link>(on, options)) {
    std::unique_ptr<test_stream> made(new test_stream(link_, 0));
    link_->ends[0] = made.get();
    stream_ = std::move(made);
}

test_peer::~test_peer() = default;

std::unique_ptr<byte_stream> test_peer::stream() noexcept { return std::move(stream_); }

void test_peer::send(std::string_view bytes) {
    auto& towards = link_->ways[1];
    if (towards.ended || towards.reset) return;
    if (towards.nobody_reads) {
        link_->ways[0].reset = true;
        link_->ways[0].bytes.clear();
        return;
    }
    towards.bytes += bytes;
    link_->wake(0);
}

void test_peer::finish() {
    link_->ways[1].ended = true;
    link_->wake(0);
}

void test_peer::reset() { link_->reset_towards(0); }

std::string_view test_peer::arrived() const noexcept { return link_->ways[0].bytes; }

std::string test_peer::take(std::size_t bytes_max) {
    std::string& bytes = link_->ways[0].bytes;
    std::string taken = bytes.substr(0, bytes_max);
    bytes.erase(0, taken.size());
    link_->wake(0);
    return taken;
}

bool test_peer::saw_end() const noexcept { return link_->ways[0].ended && link_->ways[0].bytes.empty(); }
bool test_peer::saw_reset() const noexcept { return link_->ways[0].reset; }
bool test_peer::is_closed() const noexcept { return link_->ends[0] == nullptr; }

bool test_peer::settle(unsigned turns_max) {
    for (unsigned turn = 0; turn < turns_max; ++turn) {
        loop_.turn(duration::zero());
        if (loop_.next_deadline() > loop_.now()) return true;
    }
    return false;
}

}  // namespace martlet::inline v0::net
