// field_table_internal: the interned field names as a constant expression, for the tables that are made from them while compiling. Not for users:
// field.hpp is.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <martlet/wire/http/field.hpp>

namespace martlet::inline v0::http::detail {

struct field_row {
    field_id id;
    std::string_view name;
    std::uint8_t flags;
};

/// In the order of the ids.
inline constexpr field_row field_rows[field_ids] = {
    {field_id::other, "", 0},
    {field_id::host, "Host", field_singleton | field_framing},
    {field_id::content_length, "Content-Length", field_singleton | field_framing},
    {field_id::transfer_encoding, "Transfer-Encoding", field_framing | field_hop},
    {field_id::connection, "Connection", field_framing | field_hop},
    {field_id::expect, "Expect", field_framing},
    {field_id::upgrade, "Upgrade", field_framing | field_hop},
    {field_id::accept, "Accept", 0},
    {field_id::accept_charset, "Accept-Charset", 0},
    {field_id::accept_encoding, "Accept-Encoding", 0},
    {field_id::accept_language, "Accept-Language", 0},
    {field_id::access_control_request_headers, "Access-Control-Request-Headers", 0},
    {field_id::access_control_request_method, "Access-Control-Request-Method", 0},
    {field_id::authorization, "Authorization", field_singleton},
    {field_id::baggage, "baggage", 0},
    {field_id::cache_control, "Cache-Control", 0},
    {field_id::content_disposition, "Content-Disposition", 0},
    {field_id::content_encoding, "Content-Encoding", 0},
    {field_id::content_language, "Content-Language", 0},
    {field_id::content_range, "Content-Range", field_singleton},
    {field_id::content_type, "Content-Type", field_singleton},
    {field_id::cookie, "Cookie", 0},
    {field_id::date, "Date", 0},
    {field_id::dnt, "DNT", 0},
    {field_id::forwarded, "Forwarded", 0},
    {field_id::from, "From", 0},
    {field_id::http2_settings, "HTTP2-Settings", field_hop},
    {field_id::idempotency_key, "Idempotency-Key", 0},
    {field_id::if_match, "If-Match", 0},
    {field_id::if_modified_since, "If-Modified-Since", field_singleton},
    {field_id::if_none_match, "If-None-Match", 0},
    {field_id::if_range, "If-Range", field_singleton},
    {field_id::if_unmodified_since, "If-Unmodified-Since", field_singleton},
    {field_id::keep_alive, "Keep-Alive", field_framing | field_hop},
    {field_id::last_event_id, "Last-Event-ID", 0},
    {field_id::max_forwards, "Max-Forwards", field_singleton},
    {field_id::origin, "Origin", field_singleton},
    {field_id::pragma, "Pragma", 0},
    {field_id::priority, "Priority", 0},
    {field_id::proxy_authorization, "Proxy-Authorization", field_singleton | field_hop},
    {field_id::range, "Range", field_singleton},
    {field_id::referer, "Referer", field_singleton},
    {field_id::sec_ch_ua, "Sec-CH-UA", 0},
    {field_id::sec_ch_ua_mobile, "Sec-CH-UA-Mobile", 0},
    {field_id::sec_ch_ua_platform, "Sec-CH-UA-Platform", 0},
    {field_id::sec_fetch_dest, "Sec-Fetch-Dest", 0},
    {field_id::sec_fetch_mode, "Sec-Fetch-Mode", 0},
    {field_id::sec_fetch_site, "Sec-Fetch-Site", 0},
    {field_id::sec_fetch_user, "Sec-Fetch-User", 0},
    {field_id::sec_websocket_extensions, "Sec-WebSocket-Extensions", 0},
    {field_id::sec_websocket_key, "Sec-WebSocket-Key", field_singleton},
    {field_id::sec_websocket_protocol, "Sec-WebSocket-Protocol", 0},
    {field_id::sec_websocket_version, "Sec-WebSocket-Version", field_singleton},
    {field_id::te, "TE", field_framing | field_hop},
    {field_id::traceparent, "traceparent", 0},
    {field_id::tracestate, "tracestate", 0},
    {field_id::trailer, "Trailer", field_framing | field_hop},
    {field_id::upgrade_insecure_requests, "Upgrade-Insecure-Requests", 0},
    {field_id::user_agent, "User-Agent", field_singleton},
    {field_id::via, "Via", 0},
    {field_id::x_forwarded_for, "X-Forwarded-For", 0},
    {field_id::x_forwarded_host, "X-Forwarded-Host", 0},
    {field_id::x_forwarded_proto, "X-Forwarded-Proto", 0},
    {field_id::x_request_id, "X-Request-ID", 0},
    {field_id::accept_ranges, "Accept-Ranges", 0},
    {field_id::access_control_allow_credentials, "Access-Control-Allow-Credentials", 0},
    {field_id::access_control_allow_headers, "Access-Control-Allow-Headers", 0},
    {field_id::access_control_allow_methods, "Access-Control-Allow-Methods", 0},
    {field_id::access_control_allow_origin, "Access-Control-Allow-Origin", 0},
    {field_id::access_control_expose_headers, "Access-Control-Expose-Headers", 0},
    {field_id::access_control_max_age, "Access-Control-Max-Age", 0},
    {field_id::age, "Age", 0},
    {field_id::allow, "Allow", 0},
    {field_id::alt_svc, "Alt-Svc", 0},
    {field_id::content_location, "Content-Location", 0},
    {field_id::content_security_policy, "Content-Security-Policy", 0},
    {field_id::etag, "ETag", 0},
    {field_id::expires, "Expires", 0},
    {field_id::last_modified, "Last-Modified", 0},
    {field_id::link, "Link", 0},
    {field_id::location, "Location", 0},
    {field_id::proxy_authenticate, "Proxy-Authenticate", field_hop},
    {field_id::retry_after, "Retry-After", 0},
    {field_id::server, "Server", 0},
    {field_id::server_timing, "Server-Timing", 0},
    {field_id::set_cookie, "Set-Cookie", 0},
    {field_id::strict_transport_security, "Strict-Transport-Security", 0},
    {field_id::vary, "Vary", 0},
    {field_id::www_authenticate, "WWW-Authenticate", 0},
    {field_id::x_content_type_options, "X-Content-Type-Options", 0},
    {field_id::x_frame_options, "X-Frame-Options", 0},
};

/// Names shorter than this are not hashed.
inline constexpr std::size_t hashed_name_bytes_min = 4;

/// The first and last four bytes of a name without the case bit: what the hashes of names start from.
constexpr std::uint64_t name_ends(const char* name, std::size_t bytes) noexcept {
    std::uint64_t ends = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        ends |= std::uint64_t{static_cast<unsigned char>(name[i])} << (32 + 8 * i);
        ends |= std::uint64_t{static_cast<unsigned char>(name[bytes - 4 + i])} << (8 * i);
    }
    return ends | 0x2020202020202020;
}

/// Perfect over the names that occur in requests: 256 slots.
inline constexpr std::uint64_t request_name_factor = 0x1f8e652109eff2b5;
constexpr unsigned request_name_slot(std::uint64_t ends) noexcept { return static_cast<unsigned>((ends * request_name_factor) >> 56); }

/// Perfect over all names: 512 slots.
inline constexpr std::uint64_t any_name_factor = 0x5a077da7bc6b8b47;
constexpr unsigned any_name_slot(std::uint64_t ends, std::size_t bytes) noexcept {
    return static_cast<unsigned>(((ends + bytes) * any_name_factor) >> 55);
}

}  // namespace martlet::inline v0::http::detail
