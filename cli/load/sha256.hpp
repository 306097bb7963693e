// sha256: the hash that says whether the content of an answer is the one expected (FIPS 180-4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace load {

/// Takes bytes in any pieces.
class sha256 {
public:
    using digest = std::array<std::uint8_t, 32>;

    void add(std::string_view bytes) noexcept;
    /// Of all bytes so far. Nothing is added afterwards.
    digest finish() noexcept;

    static digest of(std::string_view bytes) noexcept;
    /// 64 hexadecimal digits of either case, as sha256sum prints them.
    static std::optional<digest> parse(std::string_view text) noexcept;
    static std::string text(const digest& of);

private:
    void block(const char* bytes) noexcept;

    std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<char, 64> pending_{};
    std::uint64_t bytes_ = 0;
};

}  // namespace load
