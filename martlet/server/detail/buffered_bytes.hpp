// buffered_bytes: what peers make a server hold beyond a turn, counted for the whole server in steps, and how near its limit that is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <martlet/base/assert.hpp>

namespace martlet::inline v0::server::detail {

enum class pressure : std::uint8_t {
    none,   ///< all goes on
    tight,  ///< from three quarters of the limit on: no new body is begun, and the slowest are refused
    full,   ///< the limit is reached: new requests are refused
};

/// The sum of all loops. Any thread.
class buffered_bytes {
public:
    explicit buffered_bytes(std::uint64_t bytes_max) noexcept : bytes_max_(bytes_max) {}

    pressure now() const noexcept {
        const std::uint64_t held = held_.load(std::memory_order_relaxed);
        if (held >= bytes_max_) return pressure::full;
        return held >= bytes_max_ - bytes_max_ / 4 ? pressure::tight : pressure::none;
    }
    std::uint64_t held() const noexcept { return held_.load(std::memory_order_relaxed); }

private:
    friend class buffered_bytes_share;
    const std::uint64_t bytes_max_;
    std::atomic<std::uint64_t> held_{0};
};

/// One loop's part. The sum is touched only when this has grown or shrunk by a step, so it may be off by a step for each loop, and by two where it has shrunk.
class buffered_bytes_share {
public:
    static constexpr std::size_t step_bytes = 64 * 1024;

    explicit buffered_bytes_share(buffered_bytes& of) noexcept : of_(of) {}
    buffered_bytes_share(const buffered_bytes_share&) = delete;
    buffered_bytes_share& operator=(const buffered_bytes_share&) = delete;
    ~buffered_bytes_share() {
        MARTLET_ASSERT(held_ == 0, "what a loop has counted it gives back before it ends");
        of_.held_.fetch_sub(told_, std::memory_order_relaxed);
    }

    void add(std::size_t bytes) noexcept {
        held_ += bytes;
        if (held_ > told_) [[unlikely]]
            tell();
    }
    void remove(std::size_t bytes) noexcept {
        MARTLET_ASSERT(bytes <= held_, "only what was counted is given back");
        held_ -= bytes;
        if (told_ - held_ >= 2 * step_bytes) [[unlikely]]
            tell();
    }
    /// Counts `now` instead of `before`.
    void change(std::size_t before, std::size_t now) noexcept { now > before ? add(now - before) : remove(before - now); }

    pressure now() const noexcept { return of_.now(); }
    std::uint64_t held() const noexcept { return held_; }

private:
    void tell() noexcept {
        const std::uint64_t wanted = (held_ + step_bytes - 1) / step_bytes * step_bytes;
        // Unsigned: the difference goes either way.
        of_.held_.fetch_add(wanted - told_, std::memory_order_relaxed);
        told_ = wanted;
    }

    buffered_bytes& of_;
    std::uint64_t held_ = 0;
    std::uint64_t told_ = 0;
};

}  // namespace martlet::inline v0::server::detail
