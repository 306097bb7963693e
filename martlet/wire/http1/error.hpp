// error: why an HTTP/1 message was refused.
#pragma once

#include <cstdint>

#include <martlet/base/error.hpp>

namespace martlet::inline v0::http1 {

/// The peer broke a rule of RFC 9112, or a limit. Each code carries the status that answers it.
enum class errc : std::uint8_t {
    none = 0,
    bad_request_line,           ///< 400: not `method SP target SP version`
    too_many_empty_lines,       ///< 400: more CRLF before the request line than are ignored
    bad_line_end,               ///< 400: a line that does not end in CRLF, or a control byte in it
    bad_method,                 ///< 400: not a token
    method_too_long,            ///< 501: longer than any method that could be known
    bad_target,                 ///< 400: no form of request target, or a byte that none may hold
    target_form,                ///< 400: a form that the method does not take
    target_too_long,            ///< 414
    bad_version,                ///< 400: not HTTP/DIGIT.DIGIT
    version_not_supported,      ///< 505
    bad_field_name,             ///< 400: not a token directly before a colon
    folded_line,                ///< 400: a line that begins with whitespace
    field_too_large,            ///< 431
    too_many_fields,            ///< 431
    head_too_large,             ///< 431
    repeated_field,             ///< 400: a field that may come once came twice
    missing_host,               ///< 400
    bad_host,                   ///< 400
    host_mismatch,              ///< 400: Host and an absolute target name different authorities
    misdirected,                ///< 421: the target's scheme is not the connection's
    bad_content_length,         ///< 400
    length_and_coding,          ///< 400: Content-Length beside Transfer-Encoding
    coding_in_old_version,      ///< 400: Transfer-Encoding in HTTP/1.0
    bad_transfer_coding,        ///< 400: chunked is not last, or not a list of codings
    unknown_transfer_coding,    ///< 501
    unknown_expectation,        ///< 417
    bad_chunk_size,             ///< 400: not 1 to 16 hexadecimal digits, or 2^63 and more
    bad_chunk_extension,        ///< 400: not as RFC 9112 section 7.1.1 has it
    bad_chunk_end,              ///< 400: no CRLF where a chunk's data or its line ends
    chunk_extension_too_large,  ///< 400
    chunk_overhead_too_large,   ///< 400: many tiny chunks
    content_too_large,          ///< 413
    trailers_too_large,         ///< 431
    forbidden_trailer,          ///< 400: a field that frames or routes a message, behind it
    incomplete_content,         ///< 400: the connection ended before the content did
    out_of_memory,              ///< 503: no room for the trailers; blamed on the system
};

extern const error_category category;

/// The error for `code`, blamed on the peer, with its status as the hint.
error make_error(errc code) noexcept;

}  // namespace martlet::inline v0::http1
