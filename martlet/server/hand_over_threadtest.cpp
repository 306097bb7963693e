// A loop that changes hands while a handler blocks: the other connections are served meanwhile, and nothing of the blocked one is lost.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <martlet/net/testing_internal.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/server/http_server.hpp>
#include <martlet/server/testing_internal.hpp>

namespace martlet::server {
namespace {

using namespace std::chrono_literals;
using net::testing::plain_socket;
using testing::answers_in;
using testing::get;
using testing::kept_log;
using testing::letters;
using testing::summary;

/// Handlers stop here, and the test lets them go in the order in which they came.
class turnstile {
public:
    void pass() {
        std::unique_lock held(lock_);
        const int own = ++arrived_;
        changed_.notify_all();
        EXPECT_TRUE(changed_.wait_for(held, 20s, [&] { return let_through_ >= own; }));
    }
    void wait_for(int count) {
        std::unique_lock held(lock_);
        EXPECT_TRUE(changed_.wait_for(held, 20s, [&] { return arrived_ >= count; }));
    }
    void let_through(int count = 1) {
        const std::lock_guard held(lock_);
        let_through_ += count;
        changed_.notify_all();
    }

private:
    std::mutex lock_;
    std::condition_variable changed_;
    int arrived_ = 0;
    int let_through_ = 0;
};

/// A server on one loop with several threads, any of which takes the loop when the one that runs it blocks in a handler.
class host {
public:
    host() : on_(loop_options().hand_over(true)) {
        app.get("/", [](request&, response& res) { res.text(200, "root"); });
        app.get("/echo", [](request& req, response& res) { res.text(200, req.target()); });
        app.get("/block", [this](request& req, response& res) {
            const std::string before(req.target());
            const std::string field(req.field("X-Own").value_or("none"));
            door.pass();
            // The head is where it was, whoever has used the loop meanwhile.
            EXPECT_EQ(req.target(), before);
            EXPECT_EQ(req.field("X-Own").value_or("none"), field);
            res.text(200, "blocked " + before);
        });
        app.get("/block/throws", [this](request&, response&) {
            door.pass();
            throw std::runtime_error("the reason");
        });
        app.get("/block/silent", [this](request&, response&) { door.pass(); });
        app.get("/block/long", [this](request&, response& res) {
            door.pass();
            res.text(200, letters(500'000));
        });
        app.get("/later", [](request&, response& res) {
            later_response kept = res.later();
            EXPECT_TRUE(kept.is_cancelled()) << "there is no later on a loop that may be taken";
            res.text(200, "now");
        });
        app.get("/task", [](request&, response& res) -> task<> {
            auto slept = co_await sleep_for(2ms);
            EXPECT_TRUE(slept.has_value());
            res.text(200, "task");
        });
    }
    ~host() {
        if (!threads_.empty()) stop();
    }

    void start(int threads, const limits& bounds = limits(), observer* watcher = nullptr) {
        options how("127.0.0.1:0");
        how.bounds(bounds);
        if (watcher != nullptr) how.watch(*watcher);
        serving_.emplace(app, how);
        const auto started = serving_->start_on(on_);
        ASSERT_TRUE(started.has_value()) << serving_->what();
        threads_.emplace_back([this] {
            if (on_.run() == loop_state::handed_over) take_turns();
        });
        for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { take_turns(); });
    }
    plain_socket connect() const { return plain_socket(net::address::parse(serving_->addresses().at(0)).value()); }
    http_server& serving() { return *serving_; }
    /// A request on a connection of its own.
    std::string ask(std::string_view target) const {
        const plain_socket client = connect();
        client.send(get(target, "Connection: close\r\n"));
        return summary(answers_in(client.receive_all()));
    }
    void stop() {
        serving_->stop();
        for (int i = 0; i < 5000 && serving_->is_running(); ++i) std::this_thread::sleep_for(1ms);
        if (serving_->is_running()) serving_->stop();
        for (int i = 0; i < 5000 && serving_->is_running(); ++i) std::this_thread::sleep_for(1ms);
        EXPECT_FALSE(serving_->is_running());
        on_.handle().post([this] { on_.stop(); });
        for (std::thread& each : threads_) each.join();
        threads_.clear();
        serving_.reset();
        EXPECT_EQ(on_.frames_live(), 0u);
    }
    int takes() const { return takes_; }

    router app;
    turnstile door;

private:
    void take_turns() {
        while (!over_) {
            if (!on_.take()) {
                std::this_thread::sleep_for(100us);
                continue;
            }
            ++takes_;
            if (on_.run() == loop_state::stopped) over_ = true;
        }
    }

    loop on_;
    std::optional<http_server> serving_;
    std::vector<std::thread> threads_;
    std::atomic<bool> over_{false};
    std::atomic<int> takes_{0};
};

/// What comes until `count` bytes "\r\n\r\n" heads with their contents are there; the contents here have no such bytes.
std::string receive_heads(const plain_socket& from, std::size_t count, std::size_t content_bytes_of_last = 0) {
    std::string all;
    for (;;) {
        std::size_t heads = 0, last = 0;
        for (std::size_t at = all.find("\r\n\r\n"); at != all.npos; at = all.find("\r\n\r\n", at + 4)) {
            ++heads;
            last = at + 4;
        }
        if (heads >= count && all.size() >= last + content_bytes_of_last) return all;
        const std::string part = from.receive();
        if (part == "<end>" || part.starts_with("<error")) return all + part;
        all += part;
    }
}

TEST(hand_over, others_are_answered_while_a_handler_blocks) {
    host serving;
    serving.start(2);
    for (int round = 0; round < 50; ++round) {
        const plain_socket blocked = serving.connect();
        blocked.send(get("/block?1", "X-Own: value\r\n"));
        serving.door.wait_for(round + 1);
        for (int i = 0; i < 3; ++i) EXPECT_EQ(serving.ask("/echo?" + std::string(200, 'x')), "200 /echo?" + std::string(34, 'x'));
        EXPECT_EQ(serving.ask("/task"), "200 task");
        serving.door.let_through();
        EXPECT_EQ(summary(answers_in(receive_heads(blocked, 1, 16))), "200 blocked /block?1");
    }
    EXPECT_EQ(serving.takes(), 50);
}

TEST(hand_over, what_is_pipelined_behind_the_blocked_request_is_answered_after_it) {
    host serving;
    serving.start(2);
    for (int round = 0; round < 30; ++round) {
        const plain_socket blocked = serving.connect();
        const std::string all = get("/") + get("/block?2") + get("/echo?3") + get("/task") + get("/echo?4");
        if (round % 2 == 0) {
            blocked.send(all);
        } else {
            // In pieces, so that the head and what is behind it lie in the connection's own memory.
            blocked.send(all.substr(0, 60));
            std::this_thread::sleep_for(3ms);
            blocked.send(all.substr(60));
        }
        serving.door.wait_for(round + 1);
        // Nobody else is given what belongs to that connection.
        for (int i = 0; i < 3; ++i) EXPECT_EQ(serving.ask("/echo?other"), "200 /echo?other");
        serving.door.let_through();
        EXPECT_EQ(summary(answers_in(receive_heads(blocked, 5, 7))), "200 root, 200 blocked /block?2, 200 /echo?3, 200 task, 200 /echo?4");
        for (int i = 0; i < 3; ++i) EXPECT_EQ(serving.ask("/echo?other"), "200 /echo?other");
    }
}

TEST(hand_over, what_arrives_while_it_blocks_is_answered_after_it) {
    host serving;
    serving.start(2);
    for (int round = 0; round < 30; ++round) {
        const plain_socket blocked = serving.connect();
        blocked.send(get("/block"));
        serving.door.wait_for(round + 1);
        blocked.send(get("/echo?5"));
        EXPECT_EQ(serving.ask("/"), "200 root");
        if (round % 2 == 0) blocked.finish();
        EXPECT_EQ(serving.ask("/"), "200 root");
        serving.door.let_through();
        EXPECT_EQ(summary(answers_in(receive_heads(blocked, 2, 7))), "200 blocked /block, 200 /echo?5");
        if (round % 2 == 0) {
            EXPECT_EQ(blocked.receive(), "<end>");
        }
    }
}

TEST(hand_over, several_handlers_block_at_once) {
    host serving;
    serving.start(5);
    int arrived = 0;
    for (int round = 0; round < 10; ++round) {
        std::vector<plain_socket> blocked;
        for (int i = 0; i < 4; ++i) {
            blocked.push_back(serving.connect());
            blocked.back().send(get("/block?" + std::to_string(i)) + get("/block?again"));
            serving.door.wait_for(++arrived);
        }
        EXPECT_EQ(serving.ask("/"), "200 root");
        // Those that come back find their next request waiting, and block again.
        serving.door.let_through(4);
        arrived += 4;
        serving.door.wait_for(arrived);
        EXPECT_EQ(serving.ask("/"), "200 root");
        serving.door.let_through(4);
        for (int i = 0; i < 4; ++i) {
            EXPECT_EQ(summary(answers_in(receive_heads(blocked[static_cast<std::size_t>(i)], 2, 20))),
                      "200 blocked /block?" + std::to_string(i) + ", 200 blocked /block?again");
        }
    }
}

TEST(hand_over, a_call_that_nobody_takes_over_goes_on_as_usual) {
    host serving;
    serving.start(1);
    for (int round = 0; round < 20; ++round) {
        const plain_socket client = serving.connect();
        client.send(get("/block") + get("/") + get("/later") + get("/task") + get("/missing", "Connection: close\r\n"));
        serving.door.wait_for(round + 1);
        serving.door.let_through();
        EXPECT_EQ(summary(answers_in(client.receive_all())), "200 blocked /block, 200 root, 200 now, 200 task, 404 Not Found");
    }
    EXPECT_EQ(serving.takes(), 0);
}

TEST(hand_over, faults_of_a_blocked_handler_are_answered) {
    host serving;
    serving.start(2);
    kept_log log;
    for (int round = 0; round < 10; ++round) {
        const plain_socket one = serving.connect(), two = serving.connect();
        one.send(get("/block/throws") + get("/", "Connection: close\r\n"));
        serving.door.wait_for(2 * round + 1);
        EXPECT_EQ(serving.ask("/"), "200 root");
        serving.door.let_through();
        EXPECT_EQ(summary(answers_in(one.receive_all())), "500 Internal Server Error, 200 root");
        two.send(get("/block/silent", "Connection: close\r\n") + get("/"));
        serving.door.wait_for(2 * round + 2);
        EXPECT_EQ(serving.ask("/"), "200 root");
        serving.door.let_through();
        EXPECT_EQ(summary(answers_in(two.receive_all())), "500 Internal Server Error");
    }
    EXPECT_EQ(log.count("the reason"), 10u);
    EXPECT_EQ(log.count("did not answer"), 10u);
}

TEST(hand_over, a_long_answer_comes_back_whole) {
    host serving;
    // The second request is served though nobody reads the first answer yet.
    serving.start(2, limits().unsent_bytes_max(4 * 1024 * 1024));
    for (int round = 0; round < 5; ++round) {
        const plain_socket client = serving.connect();
        client.send(get("/block/long") + get("/block/long", "Connection: close\r\n"));
        for (int i = 1; i <= 2; ++i) {
            serving.door.wait_for(2 * round + i);
            EXPECT_EQ(serving.ask("/"), "200 root");
            serving.door.let_through();
        }
        const auto answers = answers_in(client.receive_all());
        ASSERT_EQ(answers.size(), 2u);
        EXPECT_EQ(answers[0].content, letters(500'000));
        EXPECT_EQ(answers[1].content, letters(500'000));
    }
}

TEST(hand_over, a_peer_that_resets_meanwhile_is_found_out_afterwards) {
    host serving;
    serving.start(2);
    for (int round = 0; round < 30; ++round) {
        plain_socket client = serving.connect();
        client.send(get("/block") + get("/") + get("/block/long").substr(0, 10));
        serving.door.wait_for(round + 1);
        client.reset();
        EXPECT_EQ(serving.ask("/"), "200 root");
        serving.door.let_through();
        EXPECT_EQ(serving.ask("/"), "200 root");
    }
    for (int i = 0; i < 2000 && serving.serving().counts().connections_open() != 0; ++i) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(serving.serving().counts().connections_open(), 0u);
}

TEST(hand_over, stopping_waits_for_a_blocked_handler) {
    for (const bool force : {false, true}) {
        host serving;
        serving.start(2, limits().drain_timeout(1h));
        const plain_socket client = serving.connect(), idle = serving.connect();
        client.send(get("/block") + get("/"));
        serving.door.wait_for(1);
        EXPECT_EQ(serving.ask("/"), "200 root");
        serving.serving().stop();
        if (force) serving.serving().stop();
        const std::string end = idle.receive();
        EXPECT_TRUE(end == "<end>" || end == "<error 104>") << end;
        EXPECT_TRUE(serving.serving().is_running());
        serving.door.let_through();
        if (force) {
            EXPECT_TRUE(client.receive_all().ends_with("<error 104>"));
        } else {
            const auto answers = answers_in(receive_heads(client, 2, 4));
            EXPECT_EQ(summary(answers), "200 blocked /block, 200 root");
            EXPECT_TRUE(answers.back().closes());
            client.finish();
        }
        serving.stop();
    }
}

/// Counts what it is told, from whatever thread has the loop, and asks the exchange of each end.
class counting_observer final : public observer {
public:
    void head(connection_id, const exchange&) noexcept override { ++heads; }
    void response_head(connection_id, const exchange&, int) noexcept override { ++answers; }
    void end(connection_id, const exchange& x, int status, std::uint64_t response_bytes) noexcept override {
        ++ends;
        if (x.status() == status && x.field("X-Own") == "value" && x.target() == x.path() && x.method_text() == "GET" &&
            response_bytes > 100)
            ++whole_ends;
    }
    int heads = 0, answers = 0, ends = 0, whole_ends = 0;
};

TEST(hand_over, a_watcher_is_told_of_blocked_requests_too) {
    counting_observer seen;
    {
        host serving;
        serving.start(2, limits(), &seen);
        for (int round = 0; round < 20; ++round) {
            const plain_socket client = serving.connect();
            client.send(get("/block", "X-Own: value\r\n") + get("/block/throws", "X-Own: value\r\nConnection: close\r\n"));
            for (int i = 1; i <= 2; ++i) {
                serving.door.wait_for(2 * round + i);
                if (round % 2 == 0) {
                    EXPECT_EQ(serving.ask("/"), "200 root");
                }
                serving.door.let_through();
            }
            EXPECT_EQ(summary(answers_in(client.receive_all())), "200 blocked /block, 500 Internal Server Error");
        }
    }
    EXPECT_EQ(seen.heads, 20 * 2 + 20);
    EXPECT_EQ(seen.answers, seen.heads);
    EXPECT_EQ(seen.ends, seen.heads);
    EXPECT_EQ(seen.whole_ends, 20 * 2);
}

TEST(hand_over, many_clients_and_many_hands) {
    host serving;
    std::atomic<int> naps{0};
    serving.app.get("/nap", [&](request& req, response& res) {
        const std::string target(req.target());
        ++naps;
        std::this_thread::sleep_for(std::chrono::microseconds(naps % 7 * 50));
        EXPECT_EQ(req.target(), target);
        res.text(200, target);
    });
    serving.start(4);
    std::vector<std::thread> clients;
    for (int c = 0; c < 6; ++c) {
        clients.emplace_back([&serving, c] {
            for (int round = 0; round < 30; ++round) {
                const plain_socket client = serving.connect();
                const std::string own = std::to_string(c) + "." + std::to_string(round);
                const std::string all = get("/nap?" + own) + get("/echo?" + own) + get("/nap?" + own) + get("/task") +
                                        get("/echo?" + own, "Connection: close\r\n");
                if (round % 2 == 0) {
                    client.send(all);
                } else {
                    client.send(all.substr(0, 20));
                    std::this_thread::yield();
                    client.send(all.substr(20));
                }
                EXPECT_EQ(summary(answers_in(client.receive_all())),
                          "200 /nap?" + own + ", 200 /echo?" + own + ", 200 /nap?" + own + ", 200 task, 200 /echo?" + own);
            }
        });
    }
    for (std::thread& each : clients) each.join();
    EXPECT_EQ(naps, 6 * 30 * 2);
}

TEST(hand_over, a_content_that_was_collected_goes_with_its_call) {
    host server;
    server.app.post("/block", [&server](request& req, response& res) {
        const std::string before(req.content());
        server.door.pass();
        EXPECT_EQ(req.content(), before);
        res.text(200, before);
    });
    // Once it is answered the connection is idle, and no head is waited for.
    server.start(2, limits().head_timeout(20ms));
    const plain_socket client = server.connect();
    const auto heard_until = [&client](std::string_view end) {
        std::string all;
        while (!all.ends_with(end)) {
            const std::string part = client.receive();
            if (part == "<end>" || part.starts_with("<error")) return all + part;
            all += part;
        }
        return all;
    };
    for (int round = 1; round <= 3; ++round) {
        client.send("POST /block HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
        EXPECT_EQ(heard_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
        client.send("hello");
        server.door.wait_for(round);
        EXPECT_EQ(server.ask("/"), "200 root");
        server.door.let_through();
        EXPECT_EQ(summary(heard_until("hello")), "200 hello");
        // Longer than a head may take.
        for (int i = 0; i < 20; ++i) EXPECT_EQ(server.ask("/task"), "200 task");
    }
    client.send(get("/"));
    EXPECT_EQ(summary(heard_until("root")), "200 root");
    server.stop();
}

}  // namespace
}  // namespace martlet::server
