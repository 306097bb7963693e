// limits: how much, how many and how long. Every number has a name, a unit and a default; docs/limits.md is made from this.
#pragma once

#include <cstddef>
#include <cstdint>

#include <martlet/base/assert.hpp>
#include <martlet/base/time.hpp>

namespace martlet::inline v0::server {

/// What one server allows its peers. Setters chain. What a request head may hold is in `head`.
class limits {
public:
    limits() noexcept;

    // --- a request head; beyond it the request is refused and the connection closed ---

    /// The request line without its CRLF; beyond it 414.
    limits& request_line_bytes_max(std::size_t bytes) noexcept {
        request_line_bytes_max_ = bytes;
        return *this;
    }
    /// From the first byte of the request line to the empty line; beyond it 431. At most 65,535.
    limits& head_bytes_max(std::size_t bytes) noexcept {
        head_bytes_max_ = bytes;
        return *this;
    }
    /// Field lines; beyond it 431. At most `fields_cap`.
    limits& fields_max(std::uint16_t count) noexcept {
        MARTLET_ASSERT(count <= fields_cap, "fields_max is at most fields_cap");
        fields_max_ = count;
        return *this;
    }
    /// One field line; beyond it 431.
    limits& field_bytes_max(std::size_t bytes) noexcept {
        field_bytes_max_ = bytes;
        return *this;
    }

    // --- a connection ---

    /// Until the first byte of the first request; then the connection is closed.
    limits& first_byte_timeout(duration time) noexcept {
        first_byte_timeout_ = time;
        return *this;
    }
    /// From the first byte of a head to its end; then 408 and the connection is closed.
    limits& head_timeout(duration time) noexcept {
        head_timeout_ = time;
        return *this;
    }
    /// Between requests; then the connection is closed.
    limits& idle_timeout(duration time) noexcept {
        idle_timeout_ = time;
        return *this;
    }
    /// Without a byte of waiting output being accepted; then the connection is reset.
    limits& write_timeout(duration time) noexcept {
        write_timeout_ = time;
        return *this;
    }
    /// Of what was written and the peer has no room for, the kernel holds about this much of one connection; the rest waits in the server and
    /// counts against `buffered_bytes_max`. At least 1.
    limits& unsent_bytes_max(std::size_t bytes) noexcept {
        MARTLET_ASSERT(bytes != 0, "unsent_bytes_max is at least 1");
        unsent_bytes_max_ = bytes;
        return *this;
    }
    /// Requests on one connection; the last is answered with `Connection: close`. At least 1.
    limits& requests_max(std::uint32_t count) noexcept {
        MARTLET_ASSERT(count != 0, "requests_max is at least 1");
        requests_max_ = count;
        return *this;
    }
    /// Of what a peer still sends after the last answer, this much is read and dropped, so that the answer is not lost; then closed.
    limits& linger_bytes_max(std::size_t bytes) noexcept {
        linger_bytes_max_ = bytes;
        return *this;
    }
    /// For so long what a peer still sends after the last answer is read and dropped; then the connection is closed.
    limits& linger_timeout(duration time) noexcept {
        linger_timeout_ = time;
        return *this;
    }

    // --- a request's content ---

    /// Content of one request; beyond it 413. A route may say otherwise.
    limits& body_bytes_max(std::uint64_t bytes) noexcept {
        body_bytes_max_ = bytes;
        return *this;
    }
    /// Bytes of content a second that a peer keeps up, once `body_grace` is over; below it 408 and the connection is closed. At least 1.
    limits& body_rate_min(std::uint32_t bytes) noexcept {
        MARTLET_ASSERT(bytes != 0, "body_rate_min is at least 1");
        body_rate_min_ = bytes;
        return *this;
    }
    /// What a content may be late before its rate counts. Only time in which the server waits for it counts.
    limits& body_grace(duration time) noexcept {
        body_grace_ = time;
        return *this;
    }
    /// The longest pause inside a content, however fast it was before; then 408 and the connection is closed.
    limits& body_timeout(duration time) noexcept {
        body_timeout_ = time;
        return *this;
    }
    /// Content that no handler asked for: so much of it is read and dropped to keep the connection, which is closed beyond it.
    limits& unread_bytes_max(std::size_t bytes) noexcept {
        unread_bytes_max_ = bytes;
        return *this;
    }
    /// For so long content that no handler asked for is read and dropped; then the connection is closed.
    limits& unread_timeout(duration time) noexcept {
        unread_timeout_ = time;
        return *this;
    }

    // --- an answer that is streamed ---

    /// Queued output above which a handler that streams waits.
    limits& stream_queued_bytes_max(std::size_t bytes) noexcept {
        stream_queued_bytes_max_ = bytes;
        return *this;
    }
    /// Without an event for so long an event stream sends a comment, so that nobody between takes it for dead.
    limits& event_quiet_time(duration time) noexcept {
        event_quiet_time_ = time;
        return *this;
    }
    /// From a request's head to the end of its coroutine handler, which is cancelled then; an unanswered request is answered 504. 0 is no limit.
    limits& handler_timeout(duration time) noexcept {
        handler_timeout_ = time;
        return *this;
    }

    // --- a loop ---

    /// Requests that one connection is served in a row before others have their turn.
    limits& slice_requests_max(std::uint32_t count) noexcept {
        slice_requests_max_ = count;
        return *this;
    }
    /// Queued output at which a connection's answers are written at once instead of at the end of the turn.
    limits& flush_bytes(std::size_t bytes) noexcept {
        flush_bytes_ = bytes;
        return *this;
    }
    /// Connections accepted in a row before others have their turn.
    limits& accepts_per_turn_max(std::uint32_t count) noexcept {
        accepts_per_turn_max_ = count;
        return *this;
    }

    // --- the server ---

    /// Open connections of the whole server; beyond it new ones are answered 503, or closed at once when refusals_per_second_max is spent.
    limits& connections_max(std::uint32_t count) noexcept {
        connections_max_ = count;
        return *this;
    }
    /// What peers make the whole server hold beyond a turn: unfinished heads, contents, answers that are not taken. From three quarters of it
    /// on no content is begun and the slowest connections are refused with 503; at all of it every new request is answered 503.
    limits& buffered_bytes_max(std::uint64_t bytes) noexcept {
        buffered_bytes_max_ = bytes;
        return *this;
    }
    /// Connections beyond connections_max that a loop answers in a second, with 503; further ones are closed without an answer.
    limits& refusals_per_second_max(std::uint32_t count) noexcept {
        refusals_per_second_max_ = count;
        return *this;
    }
    /// From stop() until what is still open is reset.
    limits& drain_timeout(duration time) noexcept {
        drain_timeout_ = time;
        return *this;
    }

    std::size_t request_line_bytes_max() const noexcept { return request_line_bytes_max_; }
    std::size_t head_bytes_max() const noexcept { return head_bytes_max_; }
    std::uint16_t fields_max() const noexcept { return fields_max_; }
    std::size_t field_bytes_max() const noexcept { return field_bytes_max_; }
    duration first_byte_timeout() const noexcept { return first_byte_timeout_; }
    duration head_timeout() const noexcept { return head_timeout_; }
    duration idle_timeout() const noexcept { return idle_timeout_; }
    duration write_timeout() const noexcept { return write_timeout_; }
    std::size_t unsent_bytes_max() const noexcept { return unsent_bytes_max_; }
    std::uint32_t requests_max() const noexcept { return requests_max_; }
    std::size_t linger_bytes_max() const noexcept { return linger_bytes_max_; }
    duration linger_timeout() const noexcept { return linger_timeout_; }
    std::uint64_t body_bytes_max() const noexcept { return body_bytes_max_; }
    std::uint32_t body_rate_min() const noexcept { return body_rate_min_; }
    duration body_grace() const noexcept { return body_grace_; }
    duration body_timeout() const noexcept { return body_timeout_; }
    std::size_t unread_bytes_max() const noexcept { return unread_bytes_max_; }
    duration unread_timeout() const noexcept { return unread_timeout_; }
    std::size_t stream_queued_bytes_max() const noexcept { return stream_queued_bytes_max_; }
    duration event_quiet_time() const noexcept { return event_quiet_time_; }
    duration handler_timeout() const noexcept { return handler_timeout_; }
    std::uint32_t slice_requests_max() const noexcept { return slice_requests_max_; }
    std::size_t flush_bytes() const noexcept { return flush_bytes_; }
    std::uint32_t accepts_per_turn_max() const noexcept { return accepts_per_turn_max_; }
    std::uint32_t connections_max() const noexcept { return connections_max_; }
    std::uint64_t buffered_bytes_max() const noexcept { return buffered_bytes_max_; }
    std::uint32_t refusals_per_second_max() const noexcept { return refusals_per_second_max_; }
    duration drain_timeout() const noexcept { return drain_timeout_; }

    /// The most that `fields_max` may be: room for so many is kept on each loop.
    static constexpr std::uint16_t fields_cap = 1000;

private:
    // The head's defaults are those of the HTTP/1 codec, taken over in the constructor.
    std::size_t request_line_bytes_max_;
    std::size_t head_bytes_max_;
    std::uint16_t fields_max_;
    std::size_t field_bytes_max_;
    duration first_byte_timeout_ = std::chrono::seconds(15);
    duration head_timeout_ = std::chrono::seconds(10);
    duration idle_timeout_ = std::chrono::seconds(60);
    duration write_timeout_ = std::chrono::seconds(30);
    std::size_t unsent_bytes_max_ = 128 * 1024;
    std::uint32_t requests_max_ = 10'000;
    std::size_t linger_bytes_max_ = 4 * 1024 * 1024;
    duration linger_timeout_ = std::chrono::seconds(1);
    std::uint64_t body_bytes_max_ = 1024 * 1024;
    std::uint32_t body_rate_min_ = 240;
    duration body_grace_ = std::chrono::seconds(5);
    duration body_timeout_ = std::chrono::seconds(30);
    std::size_t unread_bytes_max_ = 64 * 1024;
    duration unread_timeout_ = std::chrono::seconds(1);
    std::size_t stream_queued_bytes_max_ = 64 * 1024;
    duration event_quiet_time_ = std::chrono::seconds(15);
    duration handler_timeout_ = duration::zero();
    std::uint32_t slice_requests_max_ = 128;
    std::size_t flush_bytes_ = 64 * 1024;
    std::uint32_t accepts_per_turn_max_ = 8;
    std::uint32_t connections_max_ = 50'000;
    std::uint64_t buffered_bytes_max_ = 256 * 1024 * 1024;
    std::uint32_t refusals_per_second_max_ = 100;
    duration drain_timeout_ = std::chrono::seconds(30);
};

}  // namespace martlet::inline v0::server
