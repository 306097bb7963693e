#include <martlet/base/scan.hpp>

#include <cstring>

#include <martlet/base/assert.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// The wide loops read a whole vector at each offset below the end. The padding makes that safe; what it shows there is not judged.
namespace martlet::inline v0::scan {

namespace {

std::size_t scalar_find_not_in(byte_class set, std::string_view text) noexcept {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!is_in(set, text[i])) return i;
    }
    return npos;
}

constexpr std::string_view blank_line = "\r\n\r\n";

std::size_t scalar_find_head_end(std::string_view text) noexcept {
    const std::size_t at = text.find(blank_line);
    return at == npos ? npos : at + blank_line.size();
}

std::size_t scalar_find_byte(std::string_view text, char wanted) noexcept {
    if (text.empty()) return npos;
    const void* found = std::memchr(text.data(), wanted, text.size());
    return found == nullptr ? npos : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

/// A set as two tables of 16: `low[c & 15] & high[c >> 4]` is not zero for its members. For sets of bytes below 0x80.
struct nibble_tables {
    alignas(16) std::uint8_t low[16];
    alignas(16) std::uint8_t high[16];
};

constexpr nibble_tables make_nibbles(byte_class set) noexcept {
    nibble_tables made{};
    for (unsigned c = 0; c < 0x80; ++c) {
        if (is_in(set, static_cast<char>(c))) made.low[c & 15] = static_cast<std::uint8_t>(made.low[c & 15] | (1u << (c >> 4)));
    }
    for (unsigned h = 0; h < 8; ++h) made.high[h] = static_cast<std::uint8_t>(1u << h);
    return made;
}

constexpr nibble_tables nibbles[] = {make_nibbles(byte_class::token), make_nibbles(byte_class::path), make_nibbles(byte_class::digit),
                                     make_nibbles(byte_class::hex_digit)};

const nibble_tables& nibbles_of(byte_class set) noexcept {
    switch (set) {
    case byte_class::token: return nibbles[0];
    case byte_class::path: return nibbles[1];
    case byte_class::digit: return nibbles[2];
    case byte_class::hex_digit:
    case byte_class::field_value: break;
    }
    return nibbles[3];
}

/// `i + bit`, unless that is not below the end.
std::size_t judged(std::size_t i, unsigned mask, std::size_t size) noexcept {
    const std::size_t at = i + static_cast<unsigned>(__builtin_ctz(mask));
    return at < size ? at : npos;
}

std::size_t judged_head_end(std::size_t i, unsigned mask, std::size_t size) noexcept {
    const std::size_t end = i + static_cast<unsigned>(__builtin_ctz(mask)) + blank_line.size();
    return end <= size ? end : npos;
}

#if defined(__x86_64__)

namespace sse2 {

__m128i load(const char* from) noexcept { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }
unsigned bits(__m128i v) noexcept { return static_cast<unsigned>(_mm_movemask_epi8(v)); }

std::size_t find_byte(padded_view text, char wanted) noexcept {
    const __m128i pattern = _mm_set1_epi8(wanted);
    for (std::size_t i = 0; i < text.size(); i += 16) {
        const unsigned mask = bits(_mm_cmpeq_epi8(load(text.data() + i), pattern));
        if (mask != 0) return judged(i, mask, text.size());
    }
    return npos;
}

std::size_t find_head_end(padded_view text) noexcept {
    const __m128i cr = _mm_set1_epi8('\r');
    const __m128i lf = _mm_set1_epi8('\n');
    for (std::size_t i = 0; i < text.size(); i += 16) {
        const char* at = text.data() + i;
        const __m128i first = _mm_and_si128(_mm_cmpeq_epi8(load(at), cr), _mm_cmpeq_epi8(load(at + 1), lf));
        if (bits(first) == 0) continue;
        const __m128i second = _mm_and_si128(_mm_cmpeq_epi8(load(at + 2), cr), _mm_cmpeq_epi8(load(at + 3), lf));
        const unsigned mask = bits(_mm_and_si128(first, second));
        if (mask != 0) return judged_head_end(i, mask, text.size());
    }
    return npos;
}

/// Bits of the bytes that no field value may hold. `v < 0x20` unsigned is `max(v, 0x20) != v`.
std::size_t find_not_field_value(padded_view text) noexcept {
    const __m128i space = _mm_set1_epi8(0x20);
    const __m128i tab = _mm_set1_epi8('\t');
    const __m128i del = _mm_set1_epi8(0x7f);
    for (std::size_t i = 0; i < text.size(); i += 16) {
        const __m128i v = load(text.data() + i);
        const __m128i printable = _mm_cmpeq_epi8(_mm_max_epu8(v, space), v);
        const __m128i allowed = _mm_andnot_si128(_mm_cmpeq_epi8(v, del), _mm_or_si128(printable, _mm_cmpeq_epi8(v, tab)));
        const unsigned mask = bits(allowed) ^ 0xffffu;
        if (mask != 0) return judged(i, mask, text.size());
    }
    return npos;
}

}  // namespace sse2

namespace avx2 {

__attribute__((target("avx2"))) __m256i load(const char* from) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
__attribute__((target("avx2"))) unsigned bits(__m256i v) noexcept { return static_cast<unsigned>(_mm256_movemask_epi8(v)); }

__attribute__((target("avx2"))) std::size_t find_byte(padded_view text, char wanted) noexcept {
    const __m256i pattern = _mm256_set1_epi8(wanted);
    for (std::size_t i = 0; i < text.size(); i += 32) {
        const unsigned mask = bits(_mm256_cmpeq_epi8(load(text.data() + i), pattern));
        if (mask != 0) return judged(i, mask, text.size());
    }
    return npos;
}

__attribute__((target("avx2"))) std::size_t find_head_end(padded_view text) noexcept {
    const __m256i cr = _mm256_set1_epi8('\r');
    const __m256i lf = _mm256_set1_epi8('\n');
    for (std::size_t i = 0; i < text.size(); i += 32) {
        const char* at = text.data() + i;
        const __m256i first = _mm256_and_si256(_mm256_cmpeq_epi8(load(at), cr), _mm256_cmpeq_epi8(load(at + 1), lf));
        if (bits(first) == 0) continue;
        const __m256i second = _mm256_and_si256(_mm256_cmpeq_epi8(load(at + 2), cr), _mm256_cmpeq_epi8(load(at + 3), lf));
        const unsigned mask = bits(_mm256_and_si256(first, second));
        if (mask != 0) return judged_head_end(i, mask, text.size());
    }
    return npos;
}

__attribute__((target("avx2"))) std::size_t find_not_field_value(padded_view text) noexcept {
    const __m256i space = _mm256_set1_epi8(0x20);
    const __m256i tab = _mm256_set1_epi8('\t');
    const __m256i del = _mm256_set1_epi8(0x7f);
    for (std::size_t i = 0; i < text.size(); i += 32) {
        const __m256i v = load(text.data() + i);
        const __m256i printable = _mm256_cmpeq_epi8(_mm256_max_epu8(v, space), v);
        const __m256i allowed = _mm256_andnot_si256(_mm256_cmpeq_epi8(v, del), _mm256_or_si256(printable, _mm256_cmpeq_epi8(v, tab)));
        const unsigned mask = ~bits(allowed);
        if (mask != 0) return judged(i, mask, text.size());
    }
    return npos;
}

__attribute__((target("avx2"))) std::size_t find_not_in(const nibble_tables& set, padded_view text) noexcept {
    const __m256i low = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(set.low)));
    const __m256i high = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(set.high)));
    const __m256i nibble = _mm256_set1_epi8(0x0f);
    const __m256i zero = _mm256_setzero_si256();
    for (std::size_t i = 0; i < text.size(); i += 32) {
        const __m256i v = load(text.data() + i);
        const __m256i by_low = _mm256_shuffle_epi8(low, _mm256_and_si256(v, nibble));
        const __m256i by_high = _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble));
        const unsigned mask = bits(_mm256_cmpeq_epi8(_mm256_and_si256(by_low, by_high), zero));
        if (mask != 0) return judged(i, mask, text.size());
    }
    return npos;
}

}  // namespace avx2

width detect() noexcept { return __builtin_cpu_supports("avx2") ? width::avx2 : width::sse2; }

#else

width detect() noexcept { return width::scalar; }

#endif

// Scalar until this is set, which is right as well.
const width best = detect();

}  // namespace

width best_width() noexcept { return best; }

std::size_t find_byte_with(width with, padded_view text, char wanted) noexcept {
#if defined(__x86_64__)
    if (with == width::avx2) return avx2::find_byte(text, wanted);
    if (with == width::sse2) return sse2::find_byte(text, wanted);
#endif
    static_cast<void>(with);
    return scalar_find_byte(text.view(), wanted);
}

std::size_t find_head_end_with(width with, padded_view text) noexcept {
#if defined(__x86_64__)
    if (with == width::avx2) return avx2::find_head_end(text);
    if (with == width::sse2) return sse2::find_head_end(text);
#endif
    static_cast<void>(with);
    return scalar_find_head_end(text.view());
}

std::size_t find_not_in_with(width with, byte_class set, padded_view text) noexcept {
#if defined(__x86_64__)
    if (with == width::avx2)
        return set == byte_class::field_value ? avx2::find_not_field_value(text) : avx2::find_not_in(nibbles_of(set), text);
    // SSE2 has no table lookup: what is left of the other sets goes byte by byte.
    if (with == width::sse2 && set == byte_class::field_value) return sse2::find_not_field_value(text);
#endif
    static_cast<void>(with);
    return scalar_find_not_in(set, text.view());
}

std::size_t find_byte(std::string_view text, char wanted) noexcept { return scalar_find_byte(text, wanted); }
std::size_t find_byte(padded_view text, char wanted) noexcept { return find_byte_with(best, text, wanted); }
std::size_t find_head_end(std::string_view text) noexcept { return scalar_find_head_end(text); }
std::size_t find_head_end(padded_view text) noexcept { return find_head_end_with(best, text); }
std::size_t find_not_in(byte_class set, std::string_view text) noexcept { return scalar_find_not_in(set, text); }
std::size_t find_not_in(byte_class set, padded_view text) noexcept { return find_not_in_with(best, set, text); }

}  // namespace martlet::inline v0::scan
