#include <martlet/base/metric.hpp>

#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace martlet::metrics {
namespace {

TEST(metrics, threads_lose_nothing) {
    counter c("test_threads_total");
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            shard own;
            for (int k = 0; k < 20'000; ++k) {
                c.add(own);
                c.add();
            }
        });
    }
    for (int i = 0; i < 100; ++i) EXPECT_LE(c.value(), 120'000u);
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(c.value(), 120'000u);
}

TEST(metrics, shards_come_and_go_while_they_are_read) {
    counter c("test_coming_and_going_total");
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&] {
            for (int k = 0; k < 200; ++k) {
                shard own;
                c.add(own);
            }
        });
    }
    std::uint64_t last = 0;
    for (int i = 0; i < 200; ++i) {
        const std::uint64_t now = c.value();
        EXPECT_GE(now, last) << "a counter never goes back";
        last = now;
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(c.value(), 400u);
}

}  // namespace
}  // namespace martlet::metrics
