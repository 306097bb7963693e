// limits: how large a head may be, and what chunks and trailers may add to a content. Every number has a name, a unit and a default.
#pragma once

#include <cstddef>
#include <cstdint>

#include <martlet/base/assert.hpp>

namespace martlet::inline v0::http1 {

namespace detail {

/// The numbers of `head_limits`, as the parsers read them.
struct limit_numbers {
    std::uint32_t request_line_bytes = 8192;
    std::uint32_t head_bytes = 32768;
    std::uint32_t field_bytes = 16384;
    std::uint16_t fields = 100;
    std::uint16_t method_bytes = 32;
    std::uint16_t leading_empty_lines = 1;
    bool encrypted = false;
    std::uint16_t interim_heads = 32;
    std::uint32_t any_bytes = 8192;  ///< the smallest of the first three: a head that is no longer exceeds none of them

    constexpr void update() noexcept {
        any_bytes = request_line_bytes < field_bytes ? request_line_bytes : field_bytes;
        if (head_bytes < any_bytes) any_bytes = head_bytes;
    }
};

/// The numbers of `content_limits`, as the decoders read them.
struct content_limit_numbers {
    std::uint32_t chunk_overhead_bytes = 262144;
    std::uint32_t chunk_extensions_bytes = 16384;
    std::uint16_t chunk_extension_bytes = 256;
    std::uint16_t trailer_bytes = 8192;
    std::uint8_t trailers = 32;
};

}  // namespace detail

/// The most that `head_bytes_max` may be: offsets in a head have 16 bits.
inline constexpr std::size_t head_bytes_cap = 65535;

/// What one head may take; the words are those of requests, and a status line counts as a request line. A head of exactly a limit is
/// accepted, one unit more is refused with the status named.
class head_limits {
public:
    constexpr head_limits() noexcept = default;

    /// The request line without its CRLF; beyond it 414.
    constexpr head_limits& request_line_bytes_max(std::size_t bytes) noexcept {
        MARTLET_ASSERT(bytes <= head_bytes_cap, "request_line_bytes_max is at most 65535");
        numbers_.request_line_bytes = static_cast<std::uint32_t>(bytes);
        numbers_.update();
        return *this;
    }
    /// From the first byte of the request line to the end of the empty line; beyond it 431. At most `head_bytes_cap`.
    constexpr head_limits& head_bytes_max(std::size_t bytes) noexcept {
        MARTLET_ASSERT(bytes <= head_bytes_cap, "head_bytes_max is at most 65535");
        numbers_.head_bytes = static_cast<std::uint32_t>(bytes);
        numbers_.update();
        return *this;
    }
    /// Field lines; beyond it 431. The room for records that the caller gives is a limit as well.
    constexpr head_limits& fields_max(std::uint16_t count) noexcept {
        numbers_.fields = count;
        return *this;
    }
    /// One field line without its CRLF; beyond it 431.
    constexpr head_limits& field_bytes_max(std::size_t bytes) noexcept {
        MARTLET_ASSERT(bytes <= head_bytes_cap, "field_bytes_max is at most 65535");
        numbers_.field_bytes = static_cast<std::uint32_t>(bytes);
        numbers_.update();
        return *this;
    }
    /// The method; beyond it 501. From 7, which the methods of RFC 9110 need, to 254.
    constexpr head_limits& method_bytes_max(std::uint8_t bytes) noexcept {
        MARTLET_ASSERT(bytes >= 7 && bytes < 255, "method_bytes_max is from 7 to 254");
        numbers_.method_bytes = bytes;
        return *this;
    }
    /// CRLFs ignored before the request line (RFC 9112 section 2.2); beyond it 400. They do not count in `head_bytes_max`.
    constexpr head_limits& leading_empty_lines_max(std::uint16_t count) noexcept {
        numbers_.leading_empty_lines = count;
        return *this;
    }
    /// The connection is encrypted; no. Not a limit but what an absolute target is held against: its scheme must be https when it is and
    /// http when it is not, otherwise 421.
    constexpr head_limits& encrypted(bool yes) noexcept {
        numbers_.encrypted = yes;
        return *this;
    }

    /// Interim responses (1xx) before the final one, for a client; beyond it an error. A request has none.
    constexpr head_limits& interim_heads_max(std::uint16_t count) noexcept {
        numbers_.interim_heads = count;
        return *this;
    }

    constexpr std::size_t request_line_bytes_max() const noexcept { return numbers_.request_line_bytes; }
    constexpr std::size_t head_bytes_max() const noexcept { return numbers_.head_bytes; }
    constexpr std::uint16_t fields_max() const noexcept { return numbers_.fields; }
    constexpr std::size_t field_bytes_max() const noexcept { return numbers_.field_bytes; }
    constexpr std::uint16_t method_bytes_max() const noexcept { return numbers_.method_bytes; }
    constexpr std::uint16_t leading_empty_lines_max() const noexcept { return numbers_.leading_empty_lines; }
    constexpr bool encrypted() const noexcept { return numbers_.encrypted; }
    constexpr std::uint16_t interim_heads_max() const noexcept { return numbers_.interim_heads; }

    constexpr const detail::limit_numbers& numbers() const noexcept { return numbers_; }

private:
    detail::limit_numbers numbers_;
};

/// What a chunked content may hold beside its data. Exactly a limit is accepted, one unit more is refused with the status named.
class content_limits {
public:
    constexpr content_limits() noexcept = default;

    /// Extensions of one chunk, from behind the size to the end of the line; beyond it 400.
    constexpr content_limits& chunk_extension_bytes_max(std::uint16_t bytes) noexcept {
        numbers_.chunk_extension_bytes = bytes;
        return *this;
    }
    /// Extensions of all chunks together; beyond it 400.
    constexpr content_limits& chunk_extensions_bytes_max(std::uint32_t bytes) noexcept {
        numbers_.chunk_extensions_bytes = bytes;
        return *this;
    }
    /// Size lines and line ends beyond the data that they frame, as far as later, larger chunks have not made up for them: chunks of
    /// one byte each cost four. Beyond it 400.
    constexpr content_limits& chunk_overhead_bytes_max(std::uint32_t bytes) noexcept {
        numbers_.chunk_overhead_bytes = bytes;
        return *this;
    }
    /// The trailer section with its empty line; beyond it 431.
    constexpr content_limits& trailer_bytes_max(std::uint16_t bytes) noexcept {
        numbers_.trailer_bytes = bytes;
        return *this;
    }
    /// Trailer fields; beyond it 431.
    constexpr content_limits& trailers_max(std::uint8_t count) noexcept {
        numbers_.trailers = count;
        return *this;
    }

    constexpr const detail::content_limit_numbers& numbers() const noexcept { return numbers_; }

private:
    detail::content_limit_numbers numbers_;
};

}  // namespace martlet::inline v0::http1
