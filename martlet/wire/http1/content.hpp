// content_decoder: the content of a received message, however its end is known.
#pragma once

#include <cstdint>
#include <string_view>

#include <martlet/wire/http1/chunked.hpp>
#include <martlet/wire/http1/framing.hpp>

namespace martlet::inline v0::http1 {

/// Finds the end of a content by its framing. No more is consumed than belongs to the content.
class content_decoder {
public:
    /// `limits` must outlive the decoder. Without content it is complete at once; a length above `content_bytes_max` fails at once with
    /// `content_too_large`, and what has no length fails when it comes to exceed it.
    content_decoder(body_framing framing, const content_limits& limits, std::uint64_t content_bytes_max = content_unlimited) noexcept;

    /// As `chunked_decoder::feed`. The last bytes of a content with a length come with `complete`.
    content_step feed(std::string_view bytes) noexcept;

    /// The peer sends no more. That completes a content that ends with the connection; another unfinished one fails with
    /// `incomplete_content`.
    content_state end_of_input() noexcept;

    content_state state() const noexcept { return is_chunked_ ? chunked_.state() : state_; }
    errc code() const noexcept { return why_ != errc::none ? why_ : chunked_.code(); }
    martlet::error error() const noexcept { return make_error(code()); }

    /// Bytes of content that are still to come, when a length says so; otherwise 0.
    std::uint64_t bytes_left() const noexcept { return !is_chunked_ && !until_close_ && state_ == content_state::more ? left_ : 0; }

    /// As `chunked_decoder::trailers`; empty for other framings.
    field_lines trailers() const noexcept { return chunked_.trailers(); }

private:
    content_step fail(errc why) noexcept;

    std::uint64_t left_ = 0;
    chunked_decoder chunked_;
    content_state state_ = content_state::more;
    bool is_chunked_ = false;
    bool until_close_ = false;
    errc why_ = errc::none;
};

}  // namespace martlet::inline v0::http1
