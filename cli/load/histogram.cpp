#include "histogram.hpp"

#include <algorithm>
#include <cmath>

namespace load {

void histogram::merge(const histogram& other) noexcept {
    for (std::size_t i = 0; i < buckets; ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
}

histogram histogram::since(const histogram& earlier) const {
    histogram between;
    for (std::size_t i = 0; i < buckets; ++i) {
        between.counts_[i] = counts_[i] - earlier.counts_[i];
        if (between.counts_[i] == 0) continue;
        between.min_ = std::min(between.min_, lowest_of(i));
        between.max_ = lowest_of(i + 1) - 1;
    }
    between.count_ = count_ - earlier.count_;
    between.sum_ = sum_ - earlier.sum_;
    if (between.count_ != 0) {
        between.min_ = std::max(between.min_, min_);
        between.max_ = std::min(between.max_, max_);
    }
    return between;
}

double histogram::deviation_ns() const noexcept {
    if (count_ == 0) return 0;
    const double mean = mean_ns();
    double squares = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
        const double away = static_cast<double>(middle_of(i)) - mean;
        squares += static_cast<double>(counts_[i]) * away * away;
    }
    return std::sqrt(squares / static_cast<double>(count_));
}

std::uint64_t histogram::at_ns(double share) const noexcept {
    if (count_ == 0) return 0;
    // The rank is rounded up; what floating point adds to a whole number must not make it the next one.
    const double wanted = std::ceil(share * static_cast<double>(count_) - 1e-6);
    const std::uint64_t rank = wanted < 1 ? 1 : std::min(count_, static_cast<std::uint64_t>(wanted));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
        seen += counts_[i];
        if (seen >= rank) return std::clamp(middle_of(i), min_, max_);
    }
    return max_;
}

std::uint64_t histogram::count_up_to(std::uint64_t value_ns) const noexcept {
    const std::size_t last = bucket_of(std::min(value_ns, value_max_ns));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i <= last; ++i) seen += counts_[i];
    return seen;
}

}  // namespace load
