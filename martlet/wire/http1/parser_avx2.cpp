// The wide parser in registers of 32 bytes. Compiled for AVX2, BMI and BMI2; called only where the processor has them.
#if defined(__x86_64__)

#include <immintrin.h>

#include <martlet/wire/http/field_table_internal.hpp>
#include <martlet/wire/http1/parser_internal.hpp>

namespace martlet::inline v0::http1::detail {

namespace {

struct lanes {
    __m256i bytes;

    [[gnu::always_inline]] static lanes load(const void* p) { return {_mm256_loadu_si256(static_cast<const __m256i*>(p))}; }

    [[gnu::always_inline]] static std::uint32_t mask_of(__m256i lanes_set) {
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(lanes_set));
    }

    [[gnu::always_inline]] std::uint32_t equal(const unsigned char* row) const {
        return mask_of(_mm256_cmpeq_epi8(bytes, load(row).bytes));
    }

    [[gnu::always_inline]] std::uint32_t controls(const wide_tables* t) const {
        const __m256i below = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, load(t->below_space).bytes), bytes);
        return mask_of(_mm256_or_si256(below, _mm256_cmpeq_epi8(bytes, load(t->del).bytes)));
    }

    [[gnu::always_inline]] std::uint32_t non_digits(const wide_tables* t) const {
        const __m256i from_zero = _mm256_sub_epi8(bytes, load(t->zero).bytes);
        return ~mask_of(_mm256_cmpeq_epi8(_mm256_min_epu8(from_zero, load(t->nine).bytes), from_zero));
    }

    [[gnu::always_inline]] bool matches(const name_pattern& pattern) const {
        return _mm256_testz_si256(_mm256_xor_si256(bytes, load(pattern.text).bytes), load(pattern.mask).bytes) != 0;
    }

    [[gnu::always_inline]] std::uint32_t outside(const unsigned char* row, const wide_tables* t) const {
        const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), load(t->low_nibble).bytes);
        // A byte from 0x80 looks up 0 by its low nibble, and so is in no class.
        const __m256i set = _mm256_shuffle_epi8(load(row).bytes, bytes);
        const __m256i bit = _mm256_shuffle_epi8(load(t->high_bit).bytes, high);
        return mask_of(_mm256_cmpeq_epi8(_mm256_and_si256(set, bit), _mm256_setzero_si256()));
    }
};

[[gnu::always_inline]] inline unsigned first_of(std::uint32_t mask) { return _tzcnt_u32(mask); }
[[gnu::always_inline]] inline std::uint32_t lowest(std::uint32_t mask, unsigned bits) { return _bzhi_u32(mask, bits); }

#include <martlet/wire/http1/parser_wide.inc>

}  // namespace

parse_status parse_head_avx2(const char* data, std::size_t bytes, const limit_numbers& limits, head_data& head,
                             scan_position& position) noexcept {
    if (position.scanned == 0 && parse_head(data, bytes, limits, head)) [[likely]]
        return parse_status(head.bytes);
    return parse_slowly(&parse_head_avx2, data, bytes, limits, head, position);
}

}  // namespace martlet::inline v0::http1::detail

#endif
