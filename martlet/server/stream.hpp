// body_writer: an answer that a handler sends piece by piece.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <martlet/base/result.hpp>
#include <martlet/server/body_sink.hpp>
#include <martlet/server/field_block.hpp>

namespace martlet::inline v0::server {

/// Given back by answer::stream(). Good until the handler ends, or until the later_response does. Move-only.
///
/// A handler that returns ends the content as whole; one that throws or is cancelled, or that sent less than its head announced, ends the
/// connection, so that the peer can tell. To a peer that is gone, sending fails with its error.
class [[nodiscard]] body_writer {
public:
    body_writer(body_writer&& other) noexcept
        : to_(std::exchange(other.to_, nullptr)), begun_(other.begun_), trailers_(std::move(other.trailers_)) {}
    body_writer& operator=(body_writer&&) = delete;

    /// Whether the head was queued.
    result<void> begun() const noexcept;

    /// Queues `content`, of which a copy is made, at the call; to be awaited at once: waits while more than `stream_queued_bytes_max` are
    /// queued. It goes out at the end of the loop's turn.
    sink_wait send(std::string_view content) noexcept { return waits(put(content)); }
    sink_wait send(const char* content) noexcept { return send(std::string_view(content)); }
    /// The same taking a string over: long ones are sent without a copy.
    sink_wait send(std::string&& content) noexcept;
    /// A part of a file, sent without a copy where the transport can. The file must not shrink.
    sink_wait send(file_range content) noexcept;
    /// To be awaited: until the transport has taken all that was sent.
    sink_wait flush() noexcept { return {to_, to_ == nullptr ? outcome_of_none() : exchange_errc::none, 0}; }

    /// A field behind the content, sent with its end where the protocol can: not to HTTP/1.0, not behind a content of known length.
    /// Refused with a local error: what set() refuses too, and fields that change how a message is understood.
    result<void> trailer(std::string_view name, std::string_view value);
    /// Ends the content. Returning from the handler does the same, but cannot tell what was wrong.
    result<void> end() noexcept;

    bool is_open() const noexcept { return to_ != nullptr && to_->is_open(); }

private:
    friend class answer;
    friend class event_stream;
    body_writer(body_sink* to, exchange_errc begun) noexcept : to_(begun == exchange_errc::none ? to : nullptr), begun_(begun) {}

    exchange_errc put(std::string_view content) noexcept { return to_ != nullptr ? to_->put(content) : outcome_of_none(); }
    exchange_errc outcome_of_none() const noexcept { return begun_ != exchange_errc::none ? begun_ : exchange_errc::no_stream; }
    sink_wait waits(exchange_errc put) noexcept { return {to_, put, to_ != nullptr ? to_->queued_bytes_max() : 0}; }

    body_sink* to_;
    exchange_errc begun_;
    field_block trailers_;
};

}  // namespace martlet::inline v0::server
