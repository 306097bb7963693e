// request_encoder: request heads, for a client. What begins a request is checked when its type is made; nothing that could be read in two
// ways is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <martlet/base/result.hpp>
#include <martlet/wire/http/field_value.hpp>
#include <martlet/wire/http/method.hpp>
#include <martlet/wire/http1/encoder.hpp>
#include <martlet/wire/http1/framing.hpp>

namespace martlet::inline v0::http1 {

/// A checked method, request target and Host (RFC 9112 sections 3 and 3.2). Borrows their bytes.
class request_start {
public:
    static constexpr std::size_t target_bytes_max = 32768;

    /// Takes what `parse_request` would take, and refuses the rest with its code, blamed on the program: a method that is no token, a
    /// target of no form or of one that the method does not have, a Host that is no authority or not that of an absolute target.
    ///
    /// The target is a path with an optional query ("/a?b"); "http://..." or "https://..." to a proxy; "host:port" for CONNECT; "*" for
    /// OPTIONS. The host is without the scheme's own port by custom.
    static result<request_start> make(std::string_view method, std::string_view target, std::string_view host) noexcept;

    http::method method() const noexcept { return http::method_of(method_); }
    std::string_view method_text() const noexcept { return method_; }
    std::string_view target() const noexcept { return target_; }
    std::string_view host() const noexcept { return host_; }

private:
    request_start(std::string_view method, std::string_view target, std::string_view host) noexcept
        : method_(method), target_(target), host_(host) {}

    std::string_view method_;
    std::string_view target_;
    std::string_view host_;
};

/// What a request says about its connection and its content beside the fields of the caller.
class request_options {
public:
    constexpr request_options() noexcept = default;

    /// How the content ends; none. A content that ends with the connection is refused.
    constexpr request_options& content(body_framing framing) noexcept {
        framing_ = framing;
        return *this;
    }
    /// Waits for 100 (Continue) before the content is sent; no. Said only when there is content.
    constexpr request_options& expect_continue(bool yes) noexcept {
        expect_continue_ = yes;
        return *this;
    }
    /// The connection ends with the response; no.
    constexpr request_options& close(bool yes) noexcept {
        close_ = yes;
        return *this;
    }
    /// Asks for an upgrade to `protocol`, a list of protocols; none.
    constexpr request_options& upgrade(http::field_value protocol) noexcept {
        protocol_ = protocol;
        return *this;
    }
    /// Says TE: trailers (RFC 9110 section 6.5); no.
    constexpr request_options& take_trailers(bool yes) noexcept {
        take_trailers_ = yes;
        return *this;
    }

    constexpr body_framing content() const noexcept { return framing_; }
    constexpr bool expect_continue() const noexcept { return expect_continue_; }
    constexpr bool close() const noexcept { return close_; }
    constexpr http::field_value protocol() const noexcept { return protocol_; }
    constexpr bool take_trailers() const noexcept { return take_trailers_; }

private:
    body_framing framing_;
    http::field_value protocol_;
    bool expect_continue_ = false;
    bool close_ = false;
    bool take_trailers_ = false;
};

/// How many bytes must be writable at `out` for `encode_request_head`.
inline std::size_t request_head_bytes_max(const request_start& start, const request_options& options, std::string_view extra) noexcept {
    return 256 + start.method_text().size() + start.target().size() + start.host().size() + options.protocol().text().size() + extra.size();
}

/// Writes a whole request head, Host first, and returns the byte behind it; null, with nothing written, for what no request may say:
/// content that ends with the connection, or content of CONNECT or TRACE (RFC 9110 sections 9.3.6 and 9.3.8).
///
/// POST, PUT and PATCH without content say Content-Length: 0. `extra` is field lines of `try_encode_request_field`.
char* try_encode_request_head(char* out, const request_start& start, const request_options& options, std::string_view extra) noexcept;

/// Writes a field line as `encode_field` does, `encoded_field_bytes` long; null, with nothing written, for a field that frames the message
/// or belongs to the connection, which `request_start` and `request_options` decide.
char* try_encode_request_field(char* out, http::token name, http::field_value value) noexcept;

}  // namespace martlet::inline v0::http1
