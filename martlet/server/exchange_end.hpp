// exchange_end: what is known of an exchange when it is over.
#pragma once

#include <cstdint>
#include <optional>

#include <martlet/base/error.hpp>
#include <martlet/base/time.hpp>

namespace martlet::inline v0::server {

class route;

/// How an exchange ended.
enum class outcome : std::uint8_t {
    answered,    ///< the whole answer was queued
    cut_off,     ///< the head went out, its content did not go whole
    unanswered,  ///< nothing went out: the peer had gone, or memory was out
};

/// What `on_end` is told, for that call. Setters chain.
class exchange_end {
public:
    exchange_end(outcome how, int status) noexcept : how_(how), status_(status) {}

    exchange_end& to(const route* of) noexcept {
        to_ = of;
        return *this;
    }
    exchange_end& bytes(std::uint64_t in, std::uint64_t out) noexcept {
        bytes_in_ = in;
        bytes_out_ = out;
        return *this;
    }
    exchange_end& times(time_point began, time_point ended) noexcept {
        began_ = began;
        ended_ = ended;
        return *this;
    }
    exchange_end& reason(error why) noexcept {
        reason_ = why;
        return *this;
    }

    outcome how() const noexcept { return how_; }
    /// 0 when nothing was answered.
    int status() const noexcept { return status_; }
    /// The route; null when none had the path.
    const route* to() const noexcept { return to_; }
    /// Of content that was received.
    std::uint64_t bytes_in() const noexcept { return bytes_in_; }
    /// Of the answer, head included.
    std::uint64_t bytes_out() const noexcept { return bytes_out_; }
    /// When the head was there, by the loop's clock.
    time_point began() const noexcept { return began_; }
    duration lasting() const noexcept { return ended_ - began_; }
    /// Why it was not `answered`, or what the handler failed with.
    const std::optional<error>& reason() const noexcept { return reason_; }

private:
    outcome how_;
    int status_;
    const route* to_ = nullptr;
    std::uint64_t bytes_in_ = 0;
    std::uint64_t bytes_out_ = 0;
    time_point began_{};
    time_point ended_{};
    std::optional<error> reason_;
};

}  // namespace martlet::inline v0::server
