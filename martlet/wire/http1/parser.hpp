// parser: from bytes to a request head, strictly (RFC 9112). One pass over the usual head, in wide steps where the processor has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <martlet/base/buffer.hpp>
#include <martlet/base/error.hpp>
#include <martlet/wire/http1/error.hpp>
#include <martlet/wire/http1/head.hpp>
#include <martlet/wire/http1/limits.hpp>

namespace martlet::inline v0::http1 {

/// Where the search for the end of an unfinished head goes on, so that a head that comes in many small pieces is scanned once. Belongs to
/// the connection, as long as the same unfinished head is given again with more bytes behind it; fresh for each new head. Parsing resets
/// it when a head is complete.
class resume_state {
public:
    constexpr resume_state() noexcept = default;
    /// Nothing of this head was seen yet.
    constexpr bool is_fresh() const noexcept { return scan_.scanned == 0; }

private:
    friend struct detail::head_access;
    detail::scan_position scan_;
};

/// What became of one attempt.
class parse_status {
public:
    /// A head was complete; 0 when more is needed.
    [[gnu::always_inline]] constexpr explicit parse_status(std::uint32_t consumed) noexcept : bits_(consumed) {}
    static constexpr parse_status need_more() noexcept { return parse_status(0); }
    static constexpr parse_status failed(errc why) noexcept {
        parse_status status(0);
        status.bits_ = std::uint64_t{static_cast<std::uint8_t>(why)} << 32;
        return status;
    }

    /// A head was parsed.
    constexpr bool is_complete() const noexcept { return static_cast<std::uint32_t>(bits_) != 0; }
    /// All bytes so far can begin a head that is accepted.
    constexpr bool needs_more() const noexcept { return bits_ == 0; }
    /// The head is refused, and stays refused whatever follows.
    constexpr bool is_failed() const noexcept { return bits_ >> 32 != 0; }

    /// The bytes that the head took, with empty lines before it; 0 unless complete.
    constexpr std::size_t consumed() const noexcept { return static_cast<std::uint32_t>(bits_); }
    constexpr errc code() const noexcept { return static_cast<errc>(bits_ >> 32); }
    /// The error, blamed on the peer, with the status to answer. Only when failed.
    martlet::error error() const noexcept { return make_error(code()); }

private:
    std::uint64_t bits_;  // the bytes consumed, and an errc times 2^32: one register
};

/// The parsers there are. The widest that the processor has is the one used.
enum class parser_kind : std::uint8_t { scalar, sse2, avx2 };

/// The one that `parse_request` uses for a `padded_view` on this processor.
parser_kind widest_parser() noexcept;

/// Parses the head at the beginning of `bytes`, which is everything received since the last head and its content ended.
///
/// A refusal comes as early as the line that earns it, what needs the whole head (Host, framing, expectations, repeated fields) at its
/// end; how the bytes were split changes neither verdict nor code. `out` borrows `bytes`. Bytes behind the end of the view may be read,
/// never judged.
parse_status parse_request(padded_view bytes, const head_limits& limits, request_head& out, resume_state& resume) noexcept;

/// The same for bytes that have no readable bytes behind them; slower.
parse_status parse_request(std::string_view bytes, const head_limits& limits, request_head& out, resume_state& resume) noexcept;

/// The same with a given parser, for tests and measurements. A parser that the processor cannot run falls back to `scalar`.
parse_status parse_request(parser_kind kind, padded_view bytes, const head_limits& limits, request_head& out,
                           resume_state& resume) noexcept;

}  // namespace martlet::inline v0::http1
