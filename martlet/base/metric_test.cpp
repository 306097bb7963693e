#include <martlet/base/metric.hpp>

#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace martlet::metrics {
namespace {

counter at_namespace_scope("test_namespace_scope_total", "made before main");

TEST(metrics, a_counter_sums_shards_and_what_has_none) {
    counter requests("test_requests_total");
    requests.add();
    {
        shard one, two;
        ASSERT_TRUE(one.has_slots());
        requests.add(one);
        requests.add(two, 10);
        EXPECT_EQ(requests.value(), 12u);
    }
    EXPECT_EQ(requests.value(), 12u) << "a shard that is gone stays counted";
    at_namespace_scope.add(3);
    EXPECT_EQ(at_namespace_scope.value(), 3u);
}

TEST(metrics, shards_come_and_go_in_any_order) {
    counter c("test_shards_total");
    std::vector<std::optional<shard>> shards(5);
    for (auto& one : shards) c.add(one.emplace());
    for (const std::size_t gone : {2u, 0u, 4u, 1u, 3u}) {
        shards[gone].reset();
        EXPECT_EQ(c.value(), 5u);
    }
}

TEST(metrics, one_name_is_one_metric) {
    counter a("test_same_total");
    counter b("test_same_total");
    a.add(2);
    EXPECT_EQ(b.value(), 2u);
}

TEST(metrics, a_gauge_goes_below_zero) {
    gauge connections("test_connections");
    shard one;
    connections.add(one, 5);
    connections.add(-7);
    EXPECT_EQ(connections.value(), -2);
    connections.add(one, -5);
    EXPECT_EQ(connections.value(), -7);
}

TEST(metrics, buckets_cover_all_values_in_order) {
    std::size_t last = 0;
    for (std::uint64_t value = 0; value < 100'000; ++value) {
        const std::size_t bucket = histogram::bucket_of(value);
        ASSERT_GE(bucket, last);
        ASSERT_LE(bucket, last + 1);
        ASSERT_LE(value, histogram::upper_bound(bucket));
        if (bucket != 0) {
            ASSERT_GT(value, histogram::upper_bound(bucket - 1));
        }
        last = bucket;
    }
    for (std::size_t bucket = 4; bucket + 1 < histogram_buckets; ++bucket) {
        const std::uint64_t low = histogram::upper_bound(bucket - 1) + 1, high = histogram::upper_bound(bucket);
        ASSERT_EQ(histogram::bucket_of(low), bucket);
        ASSERT_EQ(histogram::bucket_of(high), bucket);
        ASSERT_LE((high - low) * 4, low) << "known to within a quarter";
    }
    EXPECT_EQ(histogram::bucket_of(~std::uint64_t{0}), histogram_buckets - 1);
    EXPECT_EQ(histogram::upper_bound(histogram_buckets - 1), ~std::uint64_t{0});
}

TEST(metrics, visit_shows_all_with_their_sums) {
    histogram latency("test_latency_microseconds", "time to answer");
    shard one;
    for (std::uint64_t i = 1; i <= 100; ++i) {
        if (i % 2 == 0) {
            latency.record(one, i);
        } else {
            latency.record(i);
        }
    }
    counter c("test_visited_total", "help");
    c.add(one, 4);
    bool seen_histogram = false, seen_counter = false;
    visit([&](const reading& r) {
        if (r.name() == "test_latency_microseconds") {
            seen_histogram = true;
            EXPECT_EQ(r.kind(), kind::histogram);
            EXPECT_EQ(r.help(), "time to answer");
            EXPECT_EQ(r.count(), 100u);
            EXPECT_EQ(r.sum(), 5050u);
            EXPECT_GE(r.quantile(0.5), 50u);
            EXPECT_LE(r.quantile(0.5), 62u);
            EXPECT_EQ(r.quantile(0), 1u);
            EXPECT_GE(r.quantile(1), 100u);
        }
        if (r.name() == "test_visited_total") {
            seen_counter = true;
            EXPECT_EQ(r.value(), 4);
        }
    });
    EXPECT_TRUE(seen_histogram);
    EXPECT_TRUE(seen_counter);
    histogram empty("test_empty");
    visit([&](const reading& r) {
        if (r.name() == "test_empty") {
            EXPECT_EQ(r.quantile(0.99), 0u);
        }
    });
}

TEST(metrics_death_test, one_name_of_two_kinds) {
    counter c("test_kinds");
    EXPECT_DEATH(gauge("test_kinds"), "a name belongs to metrics of one kind");
}

}  // namespace
}  // namespace martlet::metrics
