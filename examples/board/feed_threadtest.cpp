// The feed between threads: what one publishes reaches the tails of loops on others, whole and in order.
#include "feed.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace board {
namespace {

constexpr std::int64_t published = 2000;

/// Reads to the end, and gives how many came in their order. What the tail has forgotten meanwhile counts as read from the store.
martlet::task<std::int64_t> follow(const std::shared_ptr<tail>& latest, std::atomic<int>& joined) {
    ++joined;
    std::int64_t place = 0, in_order = 0;
    while (place < published) {
        const std::uint64_t heard = latest->heard();
        notices next;
        if (!latest->after(place, next) && heard != 0) {
            in_order += static_cast<std::int64_t>(heard) - static_cast<std::int64_t>(tail::kept_max) - place;
            place = static_cast<std::int64_t>(heard) - static_cast<std::int64_t>(tail::kept_max);
            continue;
        }
        for (const auto& each : next) {
            if (each->id() == place + 1) ++in_order;
            place = each->id();
        }
        if (next.empty()) {
            auto woken = co_await latest->changed();
            if (!woken) co_return -1;
        }
    }
    co_return in_order;
}

TEST(feed_threads, all_loops_hear_of_all_messages_in_order) {
    feed news;
    std::atomic<int> joined{0};
    std::vector<std::int64_t> in_order(3);
    std::vector<std::thread> loops;
    for (std::int64_t& mine : in_order) {
        loops.emplace_back([&] {
            martlet::loop on;
            const auto latest = news.join(on);
            mine = on.run(follow(latest, joined));
        });
    }
    while (joined < 3) std::this_thread::yield();
    for (std::int64_t id = 1; id <= published; ++id) {
        message m;
        m.id = id;
        m.name = "Ada";
        m.text = std::to_string(id);
        news.publish(m);
    }
    for (std::thread& each : loops) each.join();
    for (const std::int64_t count : in_order) EXPECT_EQ(count, published);
}

TEST(feed_threads, a_loop_that_has_ended_is_forgotten) {
    feed news;
    std::shared_ptr<tail> kept;
    std::thread([&] {
        martlet::loop on;
        kept = news.join(on);
        on.stop();
        on.run();
    }).join();
    message m;
    m.id = 1;
    news.publish(m);
    EXPECT_EQ(kept->heard(), 0u);
}

}  // namespace
}  // namespace board
