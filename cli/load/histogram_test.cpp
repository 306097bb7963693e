#include "histogram.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace {

using load::histogram;

std::uint64_t exact(const std::vector<std::uint64_t>& sorted, double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size()) - 1e-6));
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

TEST(LoadHistogram, BucketsFollowEachOtherWithoutGap) {
    for (std::size_t i = 0; i < histogram::buckets; ++i) {
        ASSERT_LT(histogram::lowest_of(i), histogram::lowest_of(i + 1));
        ASSERT_EQ(histogram::bucket_of(histogram::lowest_of(i)), i);
        ASSERT_EQ(histogram::bucket_of(histogram::lowest_of(i + 1) - 1), i);
    }
    EXPECT_EQ(histogram::lowest_of(histogram::buckets), histogram::value_max_ns + 1);
}

TEST(LoadHistogram, PercentilesAreThoseOfTheSortedValues) {
    std::mt19937_64 random(7);
    for (const double spread : {0.3, 1.0, 3.0}) {
        std::lognormal_distribution<double> draw(12, spread);
        histogram counted;
        std::vector<std::uint64_t> values;
        for (int i = 0; i < 20'000; ++i) {
            values.push_back(static_cast<std::uint64_t>(std::min(draw(random), 4e12)));
            counted.record(static_cast<std::int64_t>(values.back()));
        }
        std::ranges::sort(values);
        for (const double share : {0.0001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
            const auto wanted = static_cast<double>(exact(values, share));
            EXPECT_NEAR(static_cast<double>(counted.at_ns(share)), wanted, 0.004 * wanted + 1) << share << " of spread " << spread;
        }
        EXPECT_EQ(counted.min_ns(), values.front());
        EXPECT_EQ(counted.max_ns(), values.back());
        EXPECT_EQ(counted.count(), values.size());
    }
}

TEST(LoadHistogram, FewValuesAreTheirOwnPercentiles) {
    histogram counted;
    EXPECT_EQ(counted.at_ns(0.5), 0u);
    EXPECT_EQ(counted.min_ns(), 0u);
    for (const int value : {10, 20, 30, 40}) counted.record(value);
    EXPECT_EQ(counted.at_ns(0), 10u);
    EXPECT_EQ(counted.at_ns(0.25), 10u);
    EXPECT_EQ(counted.at_ns(0.251), 20u);
    EXPECT_EQ(counted.at_ns(0.5), 20u);
    EXPECT_EQ(counted.at_ns(1), 40u);
    EXPECT_DOUBLE_EQ(counted.mean_ns(), 25);
    EXPECT_NEAR(counted.deviation_ns(), std::sqrt(125), 0.5);
    EXPECT_EQ(counted.count_up_to(30), 3u);
}

TEST(LoadHistogram, ValuesBeyondTheEndsCountAsTheEnds) {
    histogram counted;
    counted.record(-5);
    counted.record(INT64_MAX);
    EXPECT_EQ(counted.min_ns(), 0u);
    EXPECT_EQ(counted.max_ns(), histogram::value_max_ns);
    EXPECT_EQ(counted.count(), 2u);
}

TEST(LoadHistogram, MergingIsRecordingInOne) {
    histogram a, b, both;
    for (int i = 1; i < 1000; ++i) {
        (i % 3 == 0 ? a : b).record(i * i);
        both.record(i * i);
    }
    const histogram before = a;
    a.merge(b);
    EXPECT_EQ(a.count(), both.count());
    EXPECT_EQ(a.min_ns(), both.min_ns());
    EXPECT_EQ(a.max_ns(), both.max_ns());
    for (const double share : {0.1, 0.5, 0.99}) EXPECT_EQ(a.at_ns(share), both.at_ns(share));
    const histogram since = a.since(before);
    EXPECT_EQ(since.count(), b.count());
    for (const double share : {0.1, 0.5, 0.9}) EXPECT_EQ(since.at_ns(share), b.at_ns(share));
}

}  // namespace
