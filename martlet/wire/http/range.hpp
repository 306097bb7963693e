// range: byte ranges (RFC 9110 section 14): which parts of a representation a request asks for, and what is said of those that are sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <martlet/base/assert.hpp>
#include <martlet/wire/http/field_value.hpp>

namespace martlet::inline v0::http {

/// Bytes `first` to `last`, both of them in it.
class byte_range {
public:
    constexpr byte_range() noexcept = default;
    constexpr byte_range(std::uint64_t first, std::uint64_t last) noexcept : first_(first), last_(last) {}
    constexpr std::uint64_t first() const noexcept { return first_; }
    constexpr std::uint64_t last() const noexcept { return last_; }
    /// How many; at least 1.
    constexpr std::uint64_t bytes() const noexcept { return last_ - first_ + 1; }
    friend constexpr bool operator==(const byte_range&, const byte_range&) noexcept = default;

private:
    std::uint64_t first_ = 0;
    std::uint64_t last_ = 0;
};

/// The most that `ranges_max` may be.
inline constexpr std::size_t ranges_cap = 64;

/// What a Range field may ask for.
class range_limits {
public:
    constexpr range_limits() noexcept = default;
    /// Ranges in one field; beyond it the field is ignored and the whole is sent. At most `ranges_cap`.
    constexpr range_limits& ranges_max(std::size_t count) noexcept {
        MARTLET_ASSERT(count <= ranges_cap, "ranges_max is at most ranges_cap");
        ranges_max_ = count;
        return *this;
    }
    constexpr std::size_t ranges_max() const noexcept { return ranges_max_; }

private:
    std::size_t ranges_max_ = 16;
};

/// What a Range field comes to for a representation of a known size.
enum class range_outcome : std::uint8_t {
    ignored,        ///< 200: another unit, not grammatical, too many, or an empty representation
    satisfiable,    ///< 206
    unsatisfiable,  ///< 416: not one of them reaches into the representation
};

/// The ranges to send. In itself; no allocation.
class range_set {
public:
    /// Reads the value of Range for a representation of `size_bytes`. Ranges that overlap, touch or lie closer together than the head of a part
    /// is long are made one; the others keep their order (RFC 9110 section 15.3.7.2), so no byte is sent twice. Positions beyond 64 bits
    /// count as beyond the end. The method is the caller's to ask: Range means something with GET only.
    static range_set parse(std::string_view value, std::uint64_t size_bytes, const range_limits& limits = {}) noexcept;

    range_outcome outcome() const noexcept { return outcome_; }
    /// At least one when satisfiable, otherwise none.
    std::span<const byte_range> ranges() const noexcept { return {ranges_.data(), count_}; }

private:
    void add(byte_range range) noexcept;

    std::array<byte_range, ranges_cap> ranges_;
    std::size_t count_ = 0;
    range_outcome outcome_ = range_outcome::ignored;
};

/// Appends the value of Content-Range for a part that is sent, "bytes 0-9/100", and for a 416, "bytes */100".
void append_content_range(std::string& out, byte_range range, std::uint64_t size_bytes);
void append_unsatisfied_range(std::string& out, std::uint64_t size_bytes);

/// A Content-Range as received (RFC 9110 section 14.4).
class content_range {
public:
    /// Nothing when `value` is none in bytes, or contradicts itself.
    static std::optional<content_range> parse(std::string_view value) noexcept;
    /// The part; none in a 416.
    std::optional<byte_range> range() const noexcept { return range_; }
    /// The size of the whole, if the sender knows it.
    std::optional<std::uint64_t> size_bytes() const noexcept { return size_bytes_; }

private:
    std::optional<byte_range> range_;
    std::optional<std::uint64_t> size_bytes_;
};

/// What stands around the parts of a multipart/byteranges content (RFC 9110 section 14.6).
class byteranges_frame {
public:
    /// `boundary` must not occur in the representation: 16 random letters or digits will not. Borrows both.
    byteranges_frame(token boundary, field_value part_type, std::uint64_t size_bytes) noexcept
        : boundary_(boundary.text()), part_type_(part_type.text()), size_bytes_(size_bytes) {}

    /// The value of the response's Content-Type.
    std::string content_type() const;
    /// Appends what stands in front of a part's bytes, and what stands behind the last.
    void append_part_head(std::string& out, byte_range range) const;
    void append_end(std::string& out) const;
    /// The size of the whole content, for Content-Length.
    std::uint64_t content_bytes(std::span<const byte_range> ranges) const;

private:
    std::string_view boundary_;
    std::string_view part_type_;
    std::uint64_t size_bytes_;
};

}  // namespace martlet::inline v0::http
