// What a coroutine awaits on a byte_stream: reading, writing, a lingering close.
//
// Each refers to its stream and takes the stream's one waiter in its direction: one read and one write can be under way at a time, and a
// second fails with `stream_busy`. close(), abort() and the stream's end complete what waits with `stream_closed`.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

#include <martlet/base/buffer.hpp>
#include <martlet/base/outq.hpp>
#include <martlet/base/result.hpp>
#include <martlet/net/byte_stream.hpp>
#include <martlet/rt/operation.hpp>
#include <martlet/rt/task.hpp>

namespace martlet::inline v0::net {

namespace detail {

/// Tries, and tries again each time the stream says that it is worth it.
class stream_operation : public operation {
public:
    bool start(context& in, std::coroutine_handle<> awaiter) noexcept;

protected:
    stream_operation(byte_stream& on, direction which) noexcept
        : operation(&stream_operation::cancelled), waker_(*this), stream_(on), which_(which) {}
    stream_operation(stream_operation&& other) noexcept
        : operation(std::move(other)),
          waker_(*this),
          stream_(other.stream_),
          which_(other.which_),
          why_(other.why_),
          failed_(other.failed_) {}
    ~stream_operation() = default;

    /// True when the operation is complete.
    virtual bool attempt() noexcept = 0;

    bool fail(error why) noexcept {
        why_ = why;
        failed_ = true;
        return true;
    }
    bool has_failed() const noexcept { return failed_; }
    error why() const noexcept { return why_; }
    byte_stream& stream() const noexcept { return stream_; }

private:
    class waker final : public waiting_node {
    public:
        explicit waker(stream_operation& of) noexcept : waiting_node(&stream_operation::woken, &stream_operation::closed), of_(of) {}
        stream_operation& of_;
    };

    bool wait_again() noexcept;
    static void woken(ready_node& node) noexcept;
    static void closed(ready_node& node) noexcept;
    static void cancelled(operation& base, error why) noexcept;

    waker waker_;
    byte_stream& stream_;
    direction which_;
    error why_{cancel_reason::none};
    bool failed_ = false;
};

}  // namespace detail

class [[nodiscard]] read_operation final : public detail::stream_operation {
public:
    read_operation(byte_stream& from, buffer& into, std::size_t bytes_min) noexcept
        : stream_operation(from, direction::reading), into_(into), bytes_min_(bytes_min) {}
    read_operation(read_operation&& other) noexcept
        : stream_operation(std::move(other)), into_(other.into_), bytes_min_(other.bytes_min_) {}

    /// How many bytes were added.
    result<std::size_t> finish() const noexcept;

private:
    bool attempt() noexcept override;

    buffer& into_;
    std::size_t bytes_min_;  // held at the end; 0: whatever comes first
    std::size_t added_ = 0;
};

class [[nodiscard]] write_operation final : public detail::stream_operation {
public:
    write_operation(byte_stream& to, outq& from) noexcept : stream_operation(to, direction::writing), from_(&from) {}
    write_operation(byte_stream& to, std::string_view copied) noexcept;
    write_operation(write_operation&& other) noexcept
        : stream_operation(std::move(other)), own_(std::move(other.own_)), from_(other.from_ == &other.own_ ? &own_ : other.from_) {}

    result<void> finish() const noexcept;

private:
    bool attempt() noexcept override;

    outq own_;
    outq* from_;
};

class [[nodiscard]] wait_readable_operation final : public detail::stream_operation {
public:
    explicit wait_readable_operation(byte_stream& on) noexcept : stream_operation(on, direction::reading) {}
    wait_readable_operation(wait_readable_operation&& other) noexcept : stream_operation(std::move(other)) {}

    result<void> finish() const noexcept;

private:
    bool attempt() noexcept override;

    bool waited_ = false;
};

/// Reads what comes first into `into`, which must be able to hold more; 0 at the end of the stream. Cancelled, it has read nothing.
inline read_operation read(byte_stream& from, buffer& into) noexcept { return {from, into, 0}; }

/// Reads until `into` holds at least `bytes`, and gives how many were added. Fails with `ended_early` when the stream ends before. What came until a
/// failure is in `into`, so that the call can be made again.
inline read_operation read_at_least(byte_stream& from, buffer& into, std::size_t bytes) noexcept { return {from, into, bytes}; }

/// Writes all of `from`. What was not written by a failure is still in it.
inline write_operation write(byte_stream& to, outq& from) noexcept { return {to, from}; }

/// Writes a copy of `bytes`, which need not outlive the call. After a failure nobody knows how much was written.
inline write_operation write(byte_stream& to, std::string_view bytes) noexcept { return {to, bytes}; }

/// Waits until a read is worth a try: bytes, the end or a failure.
inline wait_readable_operation wait_readable(byte_stream& on) noexcept { return wait_readable_operation(on); }

/// How long a lingering close goes on reading.
class linger_limits {
public:
    linger_limits() noexcept {}
    /// What is read and dropped at most; then the stream is closed.
    linger_limits& bytes_max(std::size_t bytes) noexcept {
        bytes_max_ = bytes;
        return *this;
    }
    /// For how long; then the stream is closed.
    linger_limits& time_max(duration length) noexcept {
        time_max_ = length;
        return *this;
    }
    std::size_t bytes_max() const noexcept { return bytes_max_; }
    duration time_max() const noexcept { return time_max_; }

private:
    std::size_t bytes_max_ = 64 * 1024;
    duration time_max_ = std::chrono::seconds(1);
};

/// Closes so that the peer can read all that was written: sends FIN, then reads and drops what the peer still sends until its FIN or a limit.
/// Closing with bytes unread makes the kernel reset the connection, which can destroy an answer on its way (RFC 9112, section 9.6).
/// Cancelled, it closes at once.
task<> lingering_close(std::unique_ptr<byte_stream> stream, linger_limits limits = linger_limits());

}  // namespace martlet::inline v0::net
