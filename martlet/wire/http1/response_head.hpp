// response_head: a parsed response head, for a client. In wire form, as a request head.
#pragma once

#include <cstdint>
#include <string_view>

#include <martlet/wire/http/status.hpp>
#include <martlet/wire/http1/framing.hpp>
#include <martlet/wire/http1/head.hpp>

namespace martlet::inline v0::http1 {

/// A response head, and the facts that decide what becomes of its content and its connection.
class response_head : public head_fields {
public:
    /// A head that keeps its field lines in `records`, which must outlive it. `capacity` limits the fields beside `fields_max`.
    response_head(field_record* records, std::uint16_t capacity) noexcept : head_fields(records, capacity) {}

    /// 100 to 999; what is above 599 is to be treated as 500 (RFC 9110 section 15).
    int status() const noexcept { return data_.status; }
    /// The reason phrase as sent; it means nothing to a program.
    std::string_view reason() const noexcept { return view(reason_offset, data_.reason_bytes); }
    /// The minor version as sent, 0 to 9.
    int version_minor() const noexcept { return data_.line.version_minor; }

    /// Another response to the same request follows. Never 101.
    bool is_interim() const noexcept { return http::is_interim(status()) && status() != 101; }
    /// What follows is no HTTP: 2xx to CONNECT, or 101 to a request that asked for an upgrade.
    bool is_tunnel() const noexcept { return (data_.line.flags & detail::flag_tunnel) != 0; }

    /// How the response's content ends (RFC 9112 section 6.3).
    body_framing framing() const noexcept {
        switch (data_.line.framing) {
        case body_framing::kind::none: return body_framing::none();
        case body_framing::kind::chunked: return body_framing::chunked();
        case body_framing::kind::close: return body_framing::until_close();
        case body_framing::kind::length: break;
        }
        return body_framing::length(data_.content_length);
    }
    /// The connection may carry another request once the content is complete (RFC 9112 section 9.3).
    bool keep_alive() const noexcept { return (data_.line.flags & detail::flag_keep_alive) != 0; }

private:
    static constexpr std::size_t reason_offset = 13;  // HTTP/1.1 200 and a SP
};

}  // namespace martlet::inline v0::http1
