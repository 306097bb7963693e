// copy: copies of a few bytes in registers, without a call and without a detour over the stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace martlet::inline v0 {

namespace detail {

// A vector and no array, which g++ puts through memory; and none wider, for which it aligns the stack.
using copy_block [[gnu::vector_size(16)]] = std::uint64_t;

[[gnu::always_inline]] inline void copy_16(char* out, const char* from) noexcept {
    copy_block taken;
    std::memcpy(&taken, from, sizeof(taken));
    std::memcpy(out, &taken, sizeof(taken));
}

}  // namespace detail

/// Copies `Bytes` bytes, a multiple of 16, that do not overlap.
template <std::size_t Bytes>
[[gnu::always_inline]] inline void copy_blocks(char* out, const char* from) noexcept {
    static_assert(Bytes % 16 == 0);
#pragma GCC unroll 16
    for (std::size_t at = 0; at < Bytes; at += 16) detail::copy_16(out + at, from + at);
}

/// Copies 8 to 64 bytes that do not overlap.
[[gnu::always_inline]] inline void copy_8_to_64(char* out, const char* from, std::size_t bytes) noexcept {
    if (bytes <= 16) {
        std::uint64_t front;
        std::uint64_t back;
        std::memcpy(&front, from, sizeof(front));
        std::memcpy(&back, from + bytes - sizeof(back), sizeof(back));
        std::memcpy(out, &front, sizeof(front));
        std::memcpy(out + bytes - sizeof(back), &back, sizeof(back));
        return;
    }
    if (bytes > 32) {
        copy_blocks<32>(out, from);
        out += bytes - 32;
        from += bytes - 32;
        bytes = 32;
    }
    detail::copy_16(out, from);
    detail::copy_16(out + bytes - 16, from + bytes - 16);
}

}  // namespace martlet::inline v0
