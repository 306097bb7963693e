// The loops of a server: how connections spread over them, and that none is lost while loops come and go.
#include <martlet/server/http_server.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include <martlet/net/testing_internal.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/server/testing_internal.hpp>

namespace martlet::server {
namespace {

using net::testing::plain_socket;
using testing::get;

/// Counts by the thread that answered.
class counting_app {
public:
    counting_app() {
        app.get("/", [this](request&, response& res) {
            {
                const std::lock_guard held(lock_);
                ++answered_[std::this_thread::get_id()];
            }
            res.text(200, "here");
        });
    }
    std::vector<int> counts() const {
        const std::lock_guard held(lock_);
        std::vector<int> all;
        for (const auto& [thread, count] : answered_) all.push_back(count);
        return all;
    }

    router app;

private:
    mutable std::mutex lock_;
    std::map<std::thread::id, int> answered_;
};

net::address address_of(const http_server& serving) { return net::address::parse(serving.addresses().at(0)).value(); }

bool is_answered(const plain_socket& from) {
    std::string all;
    while (all.find("\r\n\r\nhere") == all.npos) {
        const std::string part = from.receive();
        if (part == "<end>" || part.starts_with("<error")) return false;
        all += part;
    }
    return true;
}

TEST(loops, new_connections_spread_evenly) {
    const counting_app to;
    http_server serving(to.app, options("127.0.0.1:0").threads(4));
    ASSERT_TRUE(serving.start().has_value()) << serving.what();
    std::vector<plain_socket> held;
    for (int i = 0; i < 32; ++i) {
        held.emplace_back(address_of(serving));
        ASSERT_TRUE(held.back().is_connected());
    }
    for (const plain_socket& each : held) each.send(get("/"));
    for (const plain_socket& each : held) ASSERT_TRUE(is_answered(each));
    std::vector<int> counts = to.counts();
    counts.resize(4);
    // Two loops that accept at the same moment may both see the same one as the emptiest.
    EXPECT_GE(*std::ranges::min_element(counts), 6) << ::testing::PrintToString(counts);
    EXPECT_LE(*std::ranges::max_element(counts), 10) << ::testing::PrintToString(counts);
}

TEST(loops, no_connection_is_lost_while_loops_come_and_go) {
    const counting_app to;
    http_server serving(to.app, options("127.0.0.1:0").threads(2));
    ASSERT_TRUE(serving.start().has_value()) << serving.what();
    const net::address where = address_of(serving);
    std::atomic<bool> over{false};
    std::atomic<int> changes{0};
    std::thread changing([&] {
        for (unsigned i = 0; !over; ++i) {
            constexpr unsigned counts[] = {4, 1, 3, 2, 5, 1};
            const auto changed = serving.threads(counts[i % std::size(counts)]);
            EXPECT_TRUE(changed.has_value()) << serving.what();
            ++changes;
        }
    });
    std::vector<std::thread> clients;
    std::atomic<int> answered{0};
    constexpr int client_count = 4, rounds = 250;
    for (int c = 0; c < client_count; ++c) {
        clients.emplace_back([&] {
            for (int i = 0; i < rounds; ++i) {
                const plain_socket client(where);
                EXPECT_TRUE(client.is_connected());
                // Between the two the connection may be moved, or its loop ended.
                if (i % 3 == 0) std::this_thread::yield();
                client.send(get("/"));
                answered += is_answered(client);
            }
        });
    }
    for (std::thread& each : clients) each.join();
    over = true;
    changing.join();
    EXPECT_EQ(answered, client_count * rounds);
    EXPECT_GT(changes, 1);
    EXPECT_EQ(serving.counts().connections_accepted(), static_cast<std::uint64_t>(client_count * rounds));
    serving.stop();
    serving.wait();
    EXPECT_EQ(serving.counts().connections_open(), 0u);
}

TEST(loops, threads_cannot_be_changed_before_the_start_or_after_the_end) {
    const counting_app to;
    http_server serving(to.app, options("127.0.0.1:0"));
    EXPECT_FALSE(serving.threads(2).has_value());
    ASSERT_TRUE(serving.start().has_value()) << serving.what();
    EXPECT_TRUE(serving.threads(2).has_value());
    serving.stop();
    EXPECT_FALSE(serving.threads(3).has_value());
    serving.wait();
}

/// Makes every new thread impossible while it lives: no stack is that large.
class no_threads {
public:
    no_threads() {
        pthread_attr_t huge;
        ::pthread_getattr_default_np(&before_);
        ::pthread_attr_init(&huge);
        ::pthread_attr_setstacksize(&huge, std::size_t{1} << 47);
        EXPECT_EQ(::pthread_setattr_default_np(&huge), 0);
        ::pthread_attr_destroy(&huge);
    }
    ~no_threads() {
        ::pthread_setattr_default_np(&before_);
        ::pthread_attr_destroy(&before_);
    }

private:
    pthread_attr_t before_;
};

TEST(loops, a_thread_that_cannot_be_had_is_an_error_of_start) {
    const counting_app to;
    http_server serving(to.app, options("127.0.0.1:0").threads(2));
    {
        const no_threads none;
        const auto started = serving.start();
        ASSERT_FALSE(started.has_value());
        EXPECT_NE(serving.what().find("thread"), std::string::npos) << serving.what();
        EXPECT_FALSE(serving.is_running());
    }
    // Nothing of the first try is in the way.
    ASSERT_TRUE(serving.start().has_value()) << serving.what();
    const plain_socket client(address_of(serving));
    client.send(get("/"));
    EXPECT_TRUE(is_answered(client));
    {
        const no_threads none;
        EXPECT_FALSE(serving.threads(4).has_value());
    }
    client.send(get("/"));
    EXPECT_TRUE(is_answered(client));
}

TEST(loops, what_a_leaving_loop_still_has_is_cancelled_after_drain_timeout) {
    using namespace std::chrono_literals;
    std::counting_semaphore<> begun{0}, cancelled{0};
    router app;
    app.get("/", [&](request&, response&) -> task<> {
        begun.release();
        auto slept = co_await sleep_for(1h);
        if (!slept) cancelled.release();
    });
    http_server serving(app, options("127.0.0.1:0").threads(2).bounds(limits().drain_timeout(20ms)));
    ASSERT_TRUE(serving.start().has_value()) << serving.what();
    std::vector<plain_socket> held;
    constexpr int clients = 6;
    for (int i = 0; i < clients; ++i) {
        held.emplace_back(address_of(serving));
        held.back().send(get("/"));
    }
    for (int i = 0; i < clients; ++i) begun.acquire();
    ASSERT_TRUE(serving.threads(1).has_value()) << serving.what();
    EXPECT_TRUE(cancelled.try_acquire_for(10s)) << "a loop that leaves waits without end";
}

}  // namespace
}  // namespace martlet::server
