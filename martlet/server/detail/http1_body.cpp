#include <martlet/server/detail/http1_body.hpp>

#include <algorithm>
#include <cstring>

namespace martlet::inline v0::server::detail {

std::string_view http1_body::take(buffer& in) noexcept {
    if (is_over()) return {};
    if (!chunked_) {
        const std::string_view piece(in.data(), static_cast<std::size_t>(std::min<std::uint64_t>(left_, in.size())));
        left_ -= piece.size();
        in.consume(piece.size());
        count(piece.size());
        return piece;
    }
    // Small chunks are moved together, over what framed them, so that many become one piece.
    std::string_view all;
    const std::size_t before = in.size();
    char* const base = in.data();
    while (!in.empty() && !failed_) {
        const http1::content_step step = chunks_.feed(in.view());
        if (all.empty()) {
            all = step.content;
        } else if (!step.content.empty()) {
            char* const behind = base + (all.data() - base) + all.size();
            std::memmove(behind, step.content.data(), step.content.size());
            all = {all.data(), all.size() + step.content.size()};
        }
        in.consume(step.consumed);
        if (step.state == http1::content_state::failed) fail(chunks_.error());
        if (step.state != http1::content_state::more) break;
    }
    count(before - in.size());
    received_ += all.size();
    return all;
}

// A byte buys the time that it may take at the lowest rate; a peer cannot save up more than the longest pause.
void http1_body::count(std::size_t bytes) noexcept {
    if (!chunked_) received_ += bytes;
    const std::uint64_t most = static_cast<std::uint64_t>(bounds_.body_timeout().count());
    const std::uint64_t per_byte = 1'000'000'000u / bounds_.body_rate_min();
    const std::uint64_t bought = bytes > most / (per_byte + 1) ? most : bytes * per_byte;
    allowance_ = std::min(allowance_ + duration(static_cast<duration::rep>(bought)), bounds_.body_timeout());
}

void http1_body::wait_ends(time_point now) noexcept {
    if (waiting_since_ == never) return;
    allowance_ = std::max(allowance_ - (now - waiting_since_), duration::zero());
    waiting_since_ = never;
}

}  // namespace martlet::inline v0::server::detail
