// field: the interned field names. One table; everything that names a field by id reads it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace martlet::inline v0::http {

/// A well-known field name. Ids below 64 occur in requests and fit a 64-bit mask of what a head holds; the rest are names of response
/// fields. The first six after `other` decide how a message is framed.
enum class field_id : std::uint8_t {
    other = 0,
    host,
    content_length,
    transfer_encoding,
    connection,
    expect,
    upgrade,
    accept,
    accept_charset,
    accept_encoding,
    accept_language,
    access_control_request_headers,
    access_control_request_method,
    authorization,
    baggage,
    cache_control,
    content_disposition,
    content_encoding,
    content_language,
    content_range,
    content_type,
    cookie,
    date,
    dnt,
    forwarded,
    from,
    http2_settings,
    idempotency_key,
    if_match,
    if_modified_since,
    if_none_match,
    if_range,
    if_unmodified_since,
    keep_alive,
    last_event_id,
    max_forwards,
    origin,
    pragma,
    priority,
    proxy_authorization,
    range,
    referer,
    sec_ch_ua,
    sec_ch_ua_mobile,
    sec_ch_ua_platform,
    sec_fetch_dest,
    sec_fetch_mode,
    sec_fetch_site,
    sec_fetch_user,
    sec_websocket_extensions,
    sec_websocket_key,
    sec_websocket_protocol,
    sec_websocket_version,
    te,
    traceparent,
    tracestate,
    trailer,
    upgrade_insecure_requests,
    user_agent,
    via,
    x_forwarded_for,
    x_forwarded_host,
    x_forwarded_proto,
    x_request_id,
    accept_ranges = 64,
    access_control_allow_credentials,
    access_control_allow_headers,
    access_control_allow_methods,
    access_control_allow_origin,
    access_control_expose_headers,
    access_control_max_age,
    age,
    allow,
    alt_svc,
    content_location,
    content_security_policy,
    etag,
    expires,
    last_modified,
    link,
    location,
    proxy_authenticate,
    retry_after,
    server,
    server_timing,
    set_cookie,
    strict_transport_security,
    vary,
    www_authenticate,
    x_content_type_options,
    x_frame_options,
};

/// How many ids there are, and how many of them may occur in a request.
inline constexpr std::size_t field_ids = static_cast<std::size_t>(field_id::x_frame_options) + 1;
inline constexpr std::size_t request_field_ids = 64;

/// What is known of a field beside its name.
enum field_flags : std::uint8_t {
    field_singleton = 1,  ///< at most one field line may carry it (RFC 9110 section 5.3)
    field_framing = 2,    ///< decides where a message ends or what becomes of the connection: never in trailers, never set by a handler
    field_hop = 4,        ///< belongs to one connection, not to be forwarded (RFC 9110 section 7.6.1)
};

/// One interned name: its canonical spelling with the colon behind it, padded with zero bytes.
struct field_name_entry {
    char text[46];       ///< "Content-Length:"
    std::uint8_t size;   ///< without the colon
    std::uint8_t flags;  ///< field_flags
};

/// Indexed by id. The entry of `other` is empty.
extern const std::array<field_name_entry, field_ids> field_names;

/// The canonical spelling: "Content-Length"; empty for `other`.
inline std::string_view text(field_id id) noexcept {
    const field_name_entry& entry = field_names[static_cast<std::size_t>(id)];
    return {entry.text, entry.size};
}

/// The spelling with its colon: "Content-Length:".
inline std::string_view text_with_colon(field_id id) noexcept {
    const field_name_entry& entry = field_names[static_cast<std::size_t>(id)];
    return {entry.text, entry.size == 0 ? 0u : entry.size + 1u};
}

inline bool is_singleton(field_id id) noexcept { return (field_names[static_cast<std::size_t>(id)].flags & field_singleton) != 0; }
inline bool is_framing(field_id id) noexcept { return (field_names[static_cast<std::size_t>(id)].flags & field_framing) != 0; }
inline bool is_hop_by_hop(field_id id) noexcept { return (field_names[static_cast<std::size_t>(id)].flags & field_hop) != 0; }

/// The id of `name`, compared without case; `other` when it is not interned.
field_id field_id_of(std::string_view name) noexcept;

/// The mask bit of an id below 64.
constexpr std::uint64_t field_bit(field_id id) noexcept { return std::uint64_t{1} << static_cast<std::uint8_t>(id); }

}  // namespace martlet::inline v0::http
