// chunked: the chunked transfer coding (RFC 9112 section 7.1). A decoder that is fed any pieces, and what writes chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <martlet/base/buffer.hpp>
#include <martlet/base/error.hpp>
#include <martlet/wire/http/field.hpp>
#include <martlet/wire/http/field_value.hpp>
#include <martlet/wire/http1/error.hpp>
#include <martlet/wire/http1/field_lines.hpp>
#include <martlet/wire/http1/limits.hpp>

namespace martlet::inline v0::http1 {

namespace detail {
struct chunk_moves;
}

/// How far a content has come.
enum class content_state : std::uint8_t {
    more,      ///< more bytes are needed
    complete,  ///< the content ended; what was not consumed belongs to the next message
    failed,    ///< the content is refused, and stays refused
};

/// What became of bytes that a decoder was fed.
struct content_step {
    std::size_t consumed = 0;  ///< how many of them were used up
    std::string_view content;  ///< content among the consumed bytes, borrowed from them; may be empty
    content_state state = content_state::more;
};

/// A content of any length.
inline constexpr std::uint64_t content_unlimited = UINT64_MAX;

/// A chunked content as it is received. 72 bytes; takes memory only when a trailer field comes. After `complete` or `failed` it
/// consumes nothing.
///
/// Every byte is judged by itself, so how the bytes were split changes neither the content nor the verdict. Only CRLF ends a line. Whitespace
/// stands nowhere but around ';' and '=' of an extension (section 7.1.1); extensions are checked and dropped.
class chunked_decoder {
public:
    /// `limits` must outlive the decoder. A chunk that brings the content above `content_bytes_max` is refused at its size line with
    /// `content_too_large`.
    explicit chunked_decoder(const content_limits& limits, std::uint64_t content_bytes_max = content_unlimited) noexcept
        : content_left_(content_bytes_max), limits_(&limits.numbers()), trailers_(limits.numbers().trailer_bytes) {}

    /// Judges bytes up to the end of the content, or up to a second piece of it: with `more` and bytes left over, feed those. A step that
    /// gives content never fails; the byte that fails it is left over.
    content_step feed(std::string_view bytes) noexcept;

    content_state state() const noexcept {
        if (phase_ == phase::complete) return content_state::complete;
        return phase_ == phase::failed ? content_state::failed : content_state::more;
    }
    /// Why it failed; `none` unless it did.
    errc code() const noexcept { return why_; }
    /// The same, with the status to answer. Only when failed.
    martlet::error error() const noexcept { return make_error(why_); }

    /// The trailer fields, good as long as the decoder; none before the content is complete. Never to be merged into the fields of the head.
    /// Those that `trailer_use_of` drops are not among them.
    field_lines trailers() const noexcept {
        return phase_ == phase::complete ? field_lines(trailers_.view().substr(0, kept_bytes_)) : field_lines();
    }

private:
    // What comes next. The first ones are the rows of a table in chunked.cpp.
    enum class phase : std::uint8_t {
        size,           // a further digit, or the end of the size
        after_size,     // whitespace, then ';'
        before_name,    // behind ';'
        name,           // of an extension
        after_name,     // whitespace, then '=' or ';'
        before_value,   // behind '='
        value,          // a token
        after_value,    // whitespace, then ';'
        quoted,         // inside a quoted value
        escaped,        // behind '\'
        quoted_end,     // behind the closing '"'
        size_start,     // the first digit
        size_lf,        // LF of a size line
        data,           // content
        data_cr,        // CR behind it
        data_lf,        // LF behind it
        trailer_start,  // a field line, or CR of the empty line
        trailer,        // inside a field line
        trailer_lf,     // LF of a field line
        last_lf,        // LF of the empty line
        complete,
        failed,
    };
    static constexpr std::size_t table_states = static_cast<std::size_t>(phase::size_start);

    friend struct detail::chunk_moves;

    errc take_size(char c) noexcept;
    errc take_line_end(char c) noexcept;
    errc finish_size_line() noexcept;
    errc take_trailer(std::string_view bytes, std::size_t& taken) noexcept;
    errc finish_trailer() noexcept;

    std::uint64_t chunk_left_ = 0;  // of the chunk's data; before that, the size so far
    std::uint64_t content_left_;    // what may still come
    const detail::content_limit_numbers* limits_;
    buffer trailers_;  // the lines that are kept, perhaps a gap, and the unfinished one
    std::uint32_t overhead_bytes_ = 0;
    std::uint32_t extensions_bytes_ = 0;
    std::uint16_t section_bytes_ = 0;  // of the extensions of this chunk; at the end, of the trailers
    std::uint16_t kept_bytes_ = 0;     // of trailer lines
    std::uint16_t line_start_ = 0;     // of the unfinished one
    std::uint8_t digits_ = 0;          // of the chunk's size; at the end, of the trailers
    phase phase_ = phase::size_start;
    errc why_ = errc::none;
};
static_assert(sizeof(chunked_decoder) == 72);

/// What becomes of a field in a trailer section (RFC 9110 section 6.5.1).
enum class trailer_use : std::uint8_t {
    keep,
    drop,    ///< it would change how the message is understood: conditions, credentials, content coding
    refuse,  ///< it frames or routes a message
};
trailer_use trailer_use_of(http::field_id id) noexcept;

/// What `encode_chunk_head` writes at most: 16 digits and CRLF.
inline constexpr std::size_t chunk_head_bytes_max = 18;
/// Follows the data of a chunk.
inline constexpr std::string_view chunk_end = "\r\n";
/// Ends a content without trailers.
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

/// Writes the size line of a chunk of `bytes` and returns the byte behind it. `bytes` is not 0, which would end the content.
char* encode_chunk_head(char* out, std::uint64_t bytes) noexcept;

/// What `encode_last_chunk` writes.
constexpr std::size_t last_chunk_bytes(std::string_view trailers) noexcept { return trailers.size() + last_chunk.size(); }
/// Writes the end of a content whose trailers are `trailers`, lines of `try_encode_trailer`.
char* encode_last_chunk(char* out, std::string_view trailers) noexcept;

/// Writes a trailer line as `encode_field` does, `encoded_field_bytes` long; null, with nothing written, for a field that a trailer section
/// may not hold.
char* try_encode_trailer(char* out, http::token name, http::field_value value) noexcept;

}  // namespace martlet::inline v0::http1
