// find_end: where the head of a request ends, found as quickly as is possible without looking at anything else in it.
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace bench {

inline constexpr std::size_t none = static_cast<std::size_t>(-1);

/// Offset behind the first blank line at or after `from`, or none. Reads up to 64 bytes behind `bytes`.
inline std::size_t find_end(const char* data, std::size_t from, std::size_t bytes) {
#if defined(__SSE2__)
    const __m128i returns = _mm_set1_epi8('\r');
    for (std::size_t at = from; at < bytes; at += 16) {
        const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + at));
        const __m128i third = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + at + 2));
        const __m128i both = _mm_and_si128(_mm_cmpeq_epi8(first, returns), _mm_cmpeq_epi8(third, returns));
        for (unsigned mask = static_cast<unsigned>(_mm_movemask_epi8(both)); mask != 0; mask &= mask - 1) {
            const std::size_t start = at + static_cast<std::size_t>(__builtin_ctz(mask));
            if (start + 4 > bytes) return none;
            if (std::memcmp(data + start, "\r\n\r\n", 4) == 0) return start + 4;
        }
    }
    return none;
#else
    const void* found = ::memmem(data + from, bytes - from, "\r\n\r\n", 4);
    return found == nullptr ? none : static_cast<std::size_t>(static_cast<const char*>(found) - data) + 4;
#endif
}

}  // namespace bench
