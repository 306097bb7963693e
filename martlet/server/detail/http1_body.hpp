// http1_body: a request's content on its way in: where it ends, what may be taken from the input now, how late it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <martlet/base/buffer.hpp>
#include <martlet/base/error.hpp>
#include <martlet/base/time.hpp>
#include <martlet/server/limits.hpp>
#include <martlet/wire/http1/chunked.hpp>
#include <martlet/wire/http1/framing.hpp>

namespace martlet::inline v0::server::detail {

/// Made when a request's content is not all there with its head, or has to outlive the turn. It stands beside the input it is taken from.
class http1_body {
public:
    /// `bytes_max` of 2^64-1 is no limit. A length beyond it has been refused before.
    http1_body(http1::body_framing how, const http1::content_limits& chunks, std::uint64_t bytes_max, const limits& bounds) noexcept
        : content(buffer::limit_bytes_max),
          bounds_(bounds),
          chunks_(chunks, bytes_max),
          left_(how.bytes()),
          bytes_max_(bytes_max),
          allowance_(bounds.body_grace() < bounds.body_timeout() ? bounds.body_grace() : bounds.body_timeout()),
          chunked_(how.is_chunked()) {}

    /// Takes content off the front of `in`, with what frames it. It is good until bytes are added to `in`. Empty when there is none now.
    std::string_view take(buffer& in) noexcept;

    bool is_complete() const noexcept { return !failed_ && (chunked_ ? chunks_.state() == http1::content_state::complete : left_ == 0); }
    bool is_failed() const noexcept { return failed_; }
    /// Complete or failed: nothing more is taken.
    bool is_over() const noexcept { return failed_ || is_complete(); }
    /// Why it failed.
    error why() const noexcept { return why_; }
    void fail(error why) noexcept {
        if (is_over()) return;
        failed_ = true;
        why_ = why;
    }
    /// The connection ended before it did.
    void break_off() noexcept { fail(http1::make_error(http1::errc::incomplete_content)); }

    /// Content that is known to be due still; 0 for a chunked one.
    std::uint64_t bytes_due() const noexcept { return chunked_ ? 0 : left_; }
    std::uint64_t bytes_max() const noexcept { return bytes_max_; }
    std::uint64_t received_bytes() const noexcept { return received_; }
    http1::field_lines trailers() const noexcept { return chunks_.trailers(); }

    // --- its rate: only time in which it is waited for counts ---

    void wait_begins(time_point now) noexcept {
        if (waiting_since_ == never) waiting_since_ = now;
    }
    void wait_ends(time_point now) noexcept;
    /// When waiting has been too long; `never` while nobody waits.
    time_point deadline() const noexcept { return waiting_since_ == never ? never : saturating_add(waiting_since_, allowance_); }

    /// All of it so far, for a plain handler.
    buffer content;
    /// The peer waits for 100 (Continue).
    bool continue_due = false;
    /// The end of what is dropped because nobody reads it.
    time_point drop_until = never;
    /// Bytes dropped.
    std::uint64_t dropped_bytes = 0;

private:
    void count(std::size_t bytes) noexcept;

    const limits& bounds_;
    http1::chunked_decoder chunks_;
    std::uint64_t left_;
    std::uint64_t bytes_max_;
    std::uint64_t received_ = 0;
    duration allowance_;  // how long it may be waited for without a byte
    time_point waiting_since_ = never;
    error why_{cancel_reason::none};
    bool chunked_;
    bool failed_ = false;
};

}  // namespace martlet::inline v0::server::detail
