// The wide parser in pairs of 16-byte registers: what every x86-64 processor has.
#if defined(__x86_64__)

#include <emmintrin.h>

#include <martlet/wire/http/field_table_internal.hpp>
#include <martlet/wire/http1/parser_internal.hpp>

namespace martlet::inline v0::http1::detail {

namespace {

struct lanes {
    __m128i low;
    __m128i high;

    [[gnu::always_inline]] static lanes load(const void* p) {
        const auto* blocks = static_cast<const __m128i*>(p);
        return {_mm_loadu_si128(blocks), _mm_loadu_si128(blocks + 1)};
    }

    [[gnu::always_inline]] static std::uint32_t mask_of(__m128i low_set, __m128i high_set) {
        return static_cast<std::uint32_t>(_mm_movemask_epi8(low_set)) | static_cast<std::uint32_t>(_mm_movemask_epi8(high_set)) << 16;
    }

    [[gnu::always_inline]] std::uint32_t equal(const unsigned char* row) const {
        const lanes wanted = load(row);
        return mask_of(_mm_cmpeq_epi8(low, wanted.low), _mm_cmpeq_epi8(high, wanted.high));
    }

    [[gnu::always_inline]] static __m128i controls_of(__m128i bytes, const wide_tables* t) {
        const __m128i below = _mm_cmpeq_epi8(_mm_min_epu8(bytes, load(t->below_space).low), bytes);
        return _mm_or_si128(below, _mm_cmpeq_epi8(bytes, load(t->del).low));
    }
    [[gnu::always_inline]] std::uint32_t controls(const wide_tables* t) const { return mask_of(controls_of(low, t), controls_of(high, t)); }

    [[gnu::always_inline]] static __m128i digits_of(__m128i bytes, const wide_tables* t) {
        const __m128i from_zero = _mm_sub_epi8(bytes, load(t->zero).low);
        return _mm_cmpeq_epi8(_mm_min_epu8(from_zero, load(t->nine).low), from_zero);
    }
    [[gnu::always_inline]] std::uint32_t non_digits(const wide_tables* t) const { return ~mask_of(digits_of(low, t), digits_of(high, t)); }

    [[gnu::always_inline]] bool matches(const name_pattern& pattern) const {
        const lanes text = load(pattern.text);
        const lanes mask = load(pattern.mask);
        const __m128i differing =
            _mm_or_si128(_mm_and_si128(_mm_xor_si128(low, text.low), mask.low), _mm_and_si128(_mm_xor_si128(high, text.high), mask.high));
        return _mm_movemask_epi8(_mm_cmpeq_epi8(differing, _mm_setzero_si128())) == 0xffff;
    }

    // There is no look into a table of 16 here: byte by byte, and only up to the first that is outside.
    [[gnu::always_inline]] std::uint32_t outside(const unsigned char* row, const wide_tables* t) const {
        alignas(16) unsigned char bytes[32];
        _mm_store_si128(reinterpret_cast<__m128i*>(bytes), low);
        _mm_store_si128(reinterpret_cast<__m128i*>(bytes + 16), high);
        for (unsigned i = 0; i < 32; ++i) {
            if ((row[bytes[i] & 15] & t->high_bit[bytes[i] >> 4]) == 0) return 1u << i;
        }
        return 0;
    }
};

[[gnu::always_inline]] inline unsigned first_of(std::uint32_t mask) { return static_cast<unsigned>(__builtin_ctz(mask | 1u << 31)); }
[[gnu::always_inline]] inline std::uint32_t lowest(std::uint32_t mask, unsigned bits) {
    return static_cast<std::uint32_t>(mask & ((std::uint64_t{1} << bits) - 1));
}

#include <martlet/wire/http1/parser_wide.inc>

}  // namespace

parse_status parse_head_sse2(const char* data, std::size_t bytes, const limit_numbers& limits, head_data& head,
                             scan_position& position) noexcept {
    if (position.scanned == 0 && parse_head(data, bytes, limits, head)) [[likely]]
        return parse_status(head.bytes);
    return parse_slowly(&parse_head_sse2, data, bytes, limits, head, position);
}

}  // namespace martlet::inline v0::http1::detail

#endif
