// response_parser: from bytes to a response head, strictly (RFC 9112), for a client.
#pragma once

#include <cstdint>
#include <string_view>

#include <martlet/wire/http/method.hpp>
#include <martlet/wire/http1/limits.hpp>
#include <martlet/wire/http1/parser.hpp>
#include <martlet/wire/http1/response_head.hpp>

namespace martlet::inline v0::http1 {

/// What must be known of a request to understand its response.
class response_context {
public:
    constexpr explicit response_context(http::method method) noexcept : method_(method) {}

    /// The request asked for an upgrade; no. Otherwise 101 is refused.
    constexpr response_context& asks_upgrade(bool yes) noexcept {
        asks_upgrade_ = yes;
        return *this;
    }

    constexpr http::method method() const noexcept { return method_; }
    constexpr bool asks_upgrade() const noexcept { return asks_upgrade_; }

private:
    http::method method_;
    bool asks_upgrade_ = false;
};

/// Where the search for the end of an unfinished head goes on, and how many interim responses came before. Belongs to the connection; used
/// from the first byte behind a request to its final response, and fresh again then.
class response_resume {
public:
    constexpr response_resume() noexcept = default;
    /// Nothing of this response was seen yet.
    constexpr bool is_fresh() const noexcept { return scan_.scanned == 0 && interim_heads_ == 0; }

private:
    friend struct detail::head_access;
    detail::scan_position scan_;
    std::uint16_t interim_heads_ = 0;
};

/// Parses the head at the beginning of `bytes`, which is everything received since the request was sent or the last interim head ended.
///
/// A complete head may be interim: then `parse_response` is called again with what follows it. A refusal comes as early as the line that
/// earns it; how the bytes were split changes neither verdict nor code. A refused response ends the connection; the error of its code is
/// `make_response_error`. `out` borrows `bytes`.
parse_status parse_response(std::string_view bytes, const head_limits& limits, response_context context, response_head& out,
                            response_resume& resume) noexcept;

}  // namespace martlet::inline v0::http1
