#include <martlet/wire/http1/content.hpp>

#include <algorithm>

namespace martlet::inline v0::http1 {

content_decoder::content_decoder(body_framing framing, const content_limits& limits, std::uint64_t content_bytes_max) noexcept
    : chunked_(limits, content_bytes_max), is_chunked_(framing.is_chunked()), until_close_(framing.is_until_close()) {
    if (framing.is_empty()) {
        state_ = content_state::complete;
    } else if (framing.is_length()) {
        left_ = framing.bytes();
        if (left_ > content_bytes_max) fail(errc::content_too_large);
    } else if (until_close_) {
        left_ = content_bytes_max;
    }
}

content_step content_decoder::feed(std::string_view bytes) noexcept {
    if (state() == content_state::failed) return {0, {}, content_state::failed};
    if (is_chunked_) return chunked_.feed(bytes);
    if (state_ != content_state::more || bytes.empty()) return {0, {}, state_};
    if (until_close_ && left_ == 0) return fail(errc::content_too_large);
    const std::size_t taken = std::min<std::uint64_t>(left_, bytes.size());
    left_ -= taken;
    if (left_ == 0 && !until_close_) state_ = content_state::complete;
    return {taken, bytes.substr(0, taken), state_};
}

content_state content_decoder::end_of_input() noexcept {
    if (state() == content_state::more) {
        if (until_close_) {
            state_ = content_state::complete;
        } else {
            fail(errc::incomplete_content);
        }
    }
    return state();
}

// One place for all framings: a chunked content that ends early is no longer asked of its decoder.
content_step content_decoder::fail(errc why) noexcept {
    why_ = why;
    is_chunked_ = false;
    state_ = content_state::failed;
    return {0, {}, content_state::failed};
}

}  // namespace martlet::inline v0::http1
