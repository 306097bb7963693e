// histogram: durations in log-linear buckets: 128 to each power of two, so that what it tells is right to 0.4 %. Merged by adding.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace load {

/// Counts durations in nanoseconds. What is longer than `value_max_ns` counts as that.
class histogram {
public:
    static constexpr int precision_bits = 7;
    static constexpr int value_bits = 42;  // 73 minutes
    static constexpr std::uint64_t value_max_ns = (std::uint64_t{1} << value_bits) - 1;
    static constexpr std::size_t buckets = static_cast<std::size_t>(value_bits - precision_bits + 1) << precision_bits;

    histogram() : counts_(buckets) {}

    void record(std::int64_t duration_ns) noexcept {
        std::uint64_t value = duration_ns < 0 ? 0 : static_cast<std::uint64_t>(duration_ns);
        if (value > value_max_ns) [[unlikely]]
            value = value_max_ns;
        ++counts_[bucket_of(value)];
        ++count_;
        sum_ += static_cast<double>(value);
        if (value < min_) min_ = value;
        if (value > max_) max_ = value;
    }

    void merge(const histogram& other) noexcept;
    /// What was recorded since `earlier`, a copy of this one. Its least and greatest are those of their buckets.
    histogram since(const histogram& earlier) const;

    std::uint64_t count() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }
    /// Exact; 0 when empty, as all that follow.
    std::uint64_t min_ns() const noexcept { return count_ == 0 ? 0 : min_; }
    std::uint64_t max_ns() const noexcept { return max_; }
    double mean_ns() const noexcept { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
    /// From the middles of the buckets.
    double deviation_ns() const noexcept;
    /// The least value that at least `share` (0 to 1) of all values do not exceed, right to 0.4 %.
    std::uint64_t at_ns(double share) const noexcept;
    /// How many are at most `value_ns`, to within its bucket.
    std::uint64_t count_up_to(std::uint64_t value_ns) const noexcept;

    static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
        // Up to 2^8 a bucket is one value wide; each power of two from there on has 128 of its own.
        if (value < (std::uint64_t{2} << precision_bits)) return static_cast<std::size_t>(value);
        const int shift = std::bit_width(value) - 1 - precision_bits;
        return (static_cast<std::size_t>(shift) << precision_bits) + static_cast<std::size_t>(value >> shift);
    }
    static constexpr std::uint64_t lowest_of(std::size_t bucket) noexcept {
        if (bucket < (std::size_t{2} << precision_bits)) return bucket;
        const int shift = static_cast<int>(bucket >> precision_bits) - 1;
        return (std::uint64_t{bucket} - (static_cast<std::uint64_t>(shift) << precision_bits)) << shift;
    }
    static constexpr std::uint64_t middle_of(std::size_t bucket) noexcept { return (lowest_of(bucket) + lowest_of(bucket + 1) - 1) / 2; }

private:
    std::vector<std::uint64_t> counts_;
    std::uint64_t count_ = 0;
    std::uint64_t min_ = UINT64_MAX;
    std::uint64_t max_ = 0;
    double sum_ = 0;
};

}  // namespace load
