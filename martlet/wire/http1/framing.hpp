// framing: how the end of a message's content is known. The head decides it, a body codec carries it out.
#pragma once

#include <cstdint>

namespace martlet::inline v0::http1 {

/// Where the content of a message ends (RFC 9112 section 6.3).
class body_framing {
public:
    enum class kind : std::uint8_t {
        none,     ///< no content, and no field says so
        length,   ///< as many bytes as Content-Length says
        chunked,  ///< Transfer-Encoding: chunked
        close,    ///< a response that ends with the connection
    };

    constexpr body_framing() noexcept = default;

    static constexpr body_framing none() noexcept { return {}; }
    static constexpr body_framing length(std::uint64_t bytes) noexcept { return body_framing(kind::length, bytes); }
    static constexpr body_framing chunked() noexcept { return body_framing(kind::chunked, 0); }
    static constexpr body_framing until_close() noexcept { return body_framing(kind::close, 0); }

    constexpr kind how() const noexcept { return kind_; }
    constexpr bool is_none() const noexcept { return kind_ == kind::none; }
    constexpr bool is_length() const noexcept { return kind_ == kind::length; }
    constexpr bool is_chunked() const noexcept { return kind_ == kind::chunked; }
    constexpr bool is_until_close() const noexcept { return kind_ == kind::close; }
    /// The length in bytes; 0 unless `is_length()`.
    constexpr std::uint64_t bytes() const noexcept { return bytes_; }
    /// No byte of content can follow: none, or a length of 0.
    constexpr bool is_empty() const noexcept { return kind_ == kind::none || (kind_ == kind::length && bytes_ == 0); }

    friend constexpr bool operator==(const body_framing&, const body_framing&) noexcept = default;

private:
    constexpr body_framing(kind how, std::uint64_t bytes) noexcept : bytes_(bytes), kind_(how) {}

    std::uint64_t bytes_ = 0;
    kind kind_ = kind::none;
};

}  // namespace martlet::inline v0::http1
