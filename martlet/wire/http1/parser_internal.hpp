// parser_internal: what the parsers share. Not for users.
//
// A wide parser either accepts a whole head at once or says nothing; then the scalar one decides. So a wide parser must be exact only about what
// it accepts. Lines are judged one by one, each as soon as its end is there; what takes the whole head to know is judged at its end.
#pragma once

#include <cstddef>
#include <cstdint>

#include <martlet/wire/http1/error.hpp>
#include <martlet/wire/http1/head.hpp>
#include <martlet/wire/http1/limits.hpp>
#include <martlet/wire/http1/parser.hpp>

namespace martlet::inline v0::http1::detail {

/// The way of the parsers into the classes that users see.
struct head_access {
    static head_data& data(request_head& head) noexcept { return head.data_; }
    template <class Resume>
    static scan_position& position(Resume& resume) noexcept {
        return resume.scan_;
    }
};

inline constexpr std::uint64_t framing_fields = http::field_bit(http::field_id::host) | http::field_bit(http::field_id::content_length) |
                                                http::field_bit(http::field_id::transfer_encoding) |
                                                http::field_bit(http::field_id::connection) | http::field_bit(http::field_id::expect) |
                                                http::field_bit(http::field_id::upgrade);

/// The field line that a record may describe has at most this many name bytes; longer ones are marked.
inline constexpr std::size_t long_name_bytes = 255;

// Request line, for all parsers (parser_line.cpp).

/// Whether the bytes of a request line so far, at most its first `method_bytes + 1`, can begin with a method.
errc judge_method_start(const char* line, std::size_t bytes, const limit_numbers& limits) noexcept;
/// Judges a whole request line without its CRLF, which has no control bytes; fills in the parts of `head` that it decides. `line` is at
/// the head's base.
errc parse_request_line(const char* line, std::size_t bytes, const limit_numbers& limits, head_data& head) noexcept;

// A field line, of heads and of trailers (parser_scalar.cpp).

/// Judges one whole field line without its CRLF, not empty and without control bytes: field-name ":" OWS field-value OWS (RFC 9112 section 5).
/// Offsets in `record` count from `base`.
errc parse_field_line(const char* base, const char* line, std::size_t bytes, field_record& record) noexcept;

// The end of a head, for all parsers (parser_finish.cpp).

/// The fields that may come in one line only.
extern const std::uint64_t singleton_fields;
/// Judges what takes the whole head to know, in this order: repeated fields, Host, framing, expectation. `host_is_valid`: the value of
/// Host was found valid before.
errc finish_head(head_data& head, bool host_is_valid) noexcept;

// The parsers.

/// What the scalar parser found.
struct scan_result {
    std::uint32_t consumed;  ///< 0: not complete
    errc why;
};

/// Goes on from `position` to the end of the head or of the bytes. With `record_fields`, `position` must be fresh, and `head` is filled in
/// and judged as a whole; without, only the lines are judged, and `head` is scratch but for its capacity.
scan_result scan_head(const char* data, std::size_t bytes, const limit_numbers& limits, scan_position& position, head_data& head,
                      bool record_fields) noexcept;

/// One attempt. 64 bytes behind the end are readable for all but `parse_head_scalar`.
using head_parser = parse_status (*)(const char* data, std::size_t bytes, const limit_numbers& limits, head_data& head,
                                     scan_position& position) noexcept;

parse_status parse_head_scalar(const char* data, std::size_t bytes, const limit_numbers& limits, head_data& head,
                               scan_position& position) noexcept;
#if defined(__x86_64__)
parse_status parse_head_sse2(const char* data, std::size_t bytes, const limit_numbers& limits, head_data& head,
                             scan_position& position) noexcept;
parse_status parse_head_avx2(const char* data, std::size_t bytes, const limit_numbers& limits, head_data& head,
                             scan_position& position) noexcept;
#endif

/// What `parser` did not accept at once: judged by the scalar parser, in as many attempts as it takes; a head that came in pieces goes
/// back to `parser` when it is all there.
parse_status parse_slowly(head_parser parser, const char* data, std::size_t bytes, const limit_numbers& limits, head_data& head,
                          scan_position& position) noexcept;

// What the wide parsers read (parser_tables.cpp).

/// A stored name with its colon, and which bits of 32 bytes of a line must equal it: not the case of letters, nothing behind the colon.
struct alignas(64) name_pattern {
    unsigned char text[32];
    unsigned char mask[32];
};

struct alignas(64) wide_tables {
    // Constants for whole registers: loaded, since g++ would build them anew for each field.
    unsigned char colon[32];
    unsigned char below_space[32];  // 0x1f
    unsigned char del[32];          // 0x7f
    unsigned char zero[32];         // '0'
    unsigned char nine[32];         // 9
    unsigned char low_nibble[32];   // 0x0f
    unsigned char high_bit[32];     // of a high nibble h < 8: 1 << h; of others 0
    // Classes: of a low nibble, the set of high nibbles with which it is in the class.
    unsigned char token[32];
    unsigned char path[32];
    unsigned char query[32];
    unsigned char plain_host[32];
    std::uint64_t case_bits;    // 0x20 in each byte
    std::uint64_t name_factor;  // of request_name_slot
    std::uint8_t slots[256];    // by request_name_slot: an id below 64, or 0
    name_pattern names[http::request_field_ids];
};

extern const wide_tables parser_tables;

}  // namespace martlet::inline v0::http1::detail
