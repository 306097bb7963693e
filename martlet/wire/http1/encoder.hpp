// encoder: response heads, assembled by copying pieces that were encoded before. Nothing is checked here: the types were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>

#include <martlet/base/copy.hpp>
#include <martlet/wire/http/content_type.hpp>
#include <martlet/wire/http/field.hpp>
#include <martlet/wire/http/field_value.hpp>
#include <martlet/wire/http1/framing.hpp>

namespace martlet::inline v0::http1 {

/// What a response says about its connection (RFC 9112 section 9.3).
enum class persistence : std::uint8_t {
    keep,        ///< nothing: HTTP/1.1 stays open
    close,       ///< Connection: close
    keep_alive,  ///< Connection: keep-alive, the answer to HTTP/1.0 that asked for it
};

class response_prefix;

namespace detail {

/// "00" to "99".
struct digit_pair_table {
    char text[200];
};
extern const digit_pair_table digit_pairs;

/// A whole head up to its length, as it was last encoded.
struct alignas(16) usual_head {
    static constexpr std::size_t bytes_max = 192;

    char bytes[bytes_max];
    int status = 0;
    http::media type = http::media::custom;  // then there is none
    std::uint8_t size = 0;
};
static_assert(usual_head::bytes_max % 16 == 0 && usual_head::bytes_max < 256);

}  // namespace detail

/// "Server: ..." and "Date: ...", encoded once a second, and the heads that begin with them. One for each loop.
class response_prefix {
public:
    static constexpr std::size_t server_bytes_max = 64;

    /// `server` is the value of Server, cut to `server_bytes_max` bytes; without one the field is left out. The date is that
    /// of 1970 until the first `refresh`.
    explicit response_prefix(http::field_value server = http::field_value::literal("martlet")) noexcept;

    /// Encodes the date again if `unix_seconds` is another second than last time.
    void refresh(std::int64_t unix_seconds) noexcept {
        if (unix_seconds != seconds_) encode(unix_seconds);
    }

    std::string_view bytes() const noexcept { return {bytes_, size_}; }

private:
    friend char* encode_plain_head(char*, int, http::media, std::uint64_t, const response_prefix&) noexcept;
    friend char* try_encode_plain_head(char*, int, http::media, std::uint64_t, const response_prefix&) noexcept;

    // Heads that are in use at the same time seldom share a place: the few that an application sends most differ in status or type.
    detail::usual_head& place_of(int status, http::media type) const noexcept {
        return heads_[(static_cast<unsigned>(status) ^ static_cast<unsigned>(type)) % std::size(heads_)];
    }
    void encode(std::int64_t unix_seconds) noexcept;

    std::int64_t seconds_ = 0;
    std::uint32_t size_ = 0;
    std::uint32_t date_offset_ = 0;
    char bytes_[128] = {};
    mutable detail::usual_head heads_[4];
};

/// What a head without extra fields and with a built-in content type takes at most, the room included that copying in whole blocks needs.
inline constexpr std::size_t plain_head_bytes_max = 512;

/// How many bytes must be writable at `out` for `encode_head`: more than it writes, since pieces are copied in whole blocks.
constexpr std::size_t encoded_bytes_max(http::content_type type, std::string_view extra) noexcept {
    return plain_head_bytes_max + type.value().size() + extra.size();
}

/// The head of a response with a length, a built-in type and no other field, if one like it was encoded in this second: then it is copied.
/// Null, with nothing written, when there was none, or when the length does not have two digits. Heads of statuses without content are never
/// among them.
inline char* try_encode_plain_head(char* out, int status, http::media type, std::uint64_t content_length,
                                   const response_prefix& prefix) noexcept {
    const detail::usual_head& head = prefix.place_of(status, type);
    if (head.status != status || head.type != type || content_length - 10 >= 90) [[unlikely]]
        return nullptr;
    constexpr std::size_t first = 128;
    copy_blocks<first>(out, head.bytes);
    if (head.size > first) copy_blocks<detail::usual_head::bytes_max - first>(out + first, head.bytes + first);
    out += head.size;
    std::memcpy(out, &detail::digit_pairs.text[2 * content_length], 2);
    std::memcpy(out + 2, "\r\n\r\n", 4);
    return out + 6;
}

/// The same whatever the length and whether or not there was one. As `encode_head`, and cheaper.
char* encode_plain_head(char* out, int status, http::media type, std::uint64_t content_length, const response_prefix& prefix) noexcept;

/// As `encode_head`, for the heads that are not plain.
char* encode_any_head(char* out, int status, http::content_type type, body_framing framing, std::string_view extra, persistence connection,
                      const response_prefix& prefix) noexcept;

/// Writes a whole response head and returns the byte behind it.
///
/// `status` is 100 to 599 (one without a reason phrase gets an empty one); `framing` gives Content-Length, Transfer-Encoding or neither,
/// and the caller knows what the status and method allow; `extra` is field lines in wire form, each with its CRLF, as `encode_field`
/// makes them. Needs `encoded_bytes_max(type, extra)` writable bytes at `out`.
inline char* encode_head(char* out, int status, http::content_type type, body_framing framing, std::string_view extra,
                         persistence connection, const response_prefix& prefix) noexcept {
    if (framing.is_length() && extra.empty() && connection == persistence::keep && type.id() != http::media::custom) {
        return encode_plain_head(out, status, type.id(), framing.bytes(), prefix);
    }
    return encode_any_head(out, status, type, framing, extra, connection, prefix);
}

/// How a content whose length is not known is framed: chunked, or ended with the connection to HTTP/1.0, which then closes.
constexpr body_framing streamed_framing(int version_minor) noexcept {
    return version_minor == 0 ? body_framing::until_close() : body_framing::chunked();
}

/// Writes an interim response (RFC 9110 section 15.2) and returns the byte behind it: 102 or 103 with its fields, 100. Never sent to
/// HTTP/1.0. `extra` as for `encode_head`. Needs `interim_bytes_max(extra)` writable bytes.
char* encode_interim_head(char* out, int status, std::string_view extra) noexcept;
constexpr std::size_t interim_bytes_max(std::string_view extra) noexcept { return plain_head_bytes_max + extra.size(); }

/// Writes 101 (Switching Protocols) to `protocol` and returns the byte behind it. `extra` as for `encode_head`. Needs
/// `switching_bytes_max(protocol, extra)` writable bytes.
char* encode_switching_head(char* out, http::field_value protocol, std::string_view extra, const response_prefix& prefix) noexcept;
constexpr std::size_t switching_bytes_max(http::field_value protocol, std::string_view extra) noexcept {
    return plain_head_bytes_max + protocol.text().size() + extra.size();
}

/// The whole of "HTTP/1.1 100 Continue" with its empty line.
inline constexpr std::string_view continue_response = "HTTP/1.1 100 Continue\r\n\r\n";

/// The bytes that `encode_field` writes.
inline std::size_t encoded_field_bytes(http::field_id id, http::field_value value) noexcept {
    return http::text(id).size() + value.text().size() + 4;
}
constexpr std::size_t encoded_field_bytes(http::token name, http::field_value value) noexcept {
    return name.text().size() + value.text().size() + 4;
}

/// Writes one field line with its CRLF and returns the byte behind it. `id` is not `other`.
char* encode_field(char* out, http::field_id id, http::field_value value) noexcept;
char* encode_field(char* out, http::token name, http::field_value value) noexcept;

/// Writes `number` in decimal, at most 20 digits, and returns the byte behind it.
char* encode_decimal(char* out, std::uint64_t number) noexcept;

}  // namespace martlet::inline v0::http1
