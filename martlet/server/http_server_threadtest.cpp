// The server as an object, over real sockets and on threads: starting, answering, stopping.
#include <martlet/server/http_server.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include <martlet/net/testing_internal.hpp>
#include <martlet/rt/event.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/within.hpp>
#include <martlet/server/testing_internal.hpp>

namespace martlet::server {
namespace {

using namespace std::chrono_literals;
using net::testing::plain_socket;
using net::testing::temporary_folder;
using testing::answers_in;
using testing::get;
using testing::kept_log;
using testing::letters;
using testing::request_text;
using testing::summary;
using testing::wire_answer;

net::address address_of(const http_server& serving, std::size_t index = 0) {
    return net::address::parse(serving.addresses().at(index)).value();
}

/// Receives until `count` answers have come or the connection has ended.
std::vector<wire_answer> receive(const plain_socket& from, std::size_t count) {
    std::string all;
    std::size_t whole = 0, at = 0;
    for (;;) {
        for (std::size_t end = all.find("\r\n\r\n", at); end != all.npos; end = all.find("\r\n\r\n", at)) {
            const std::size_t length = all.find("Content-Length: ", at);
            const std::size_t size = length < end ? std::stoul(all.substr(length + 16, 20)) : 0;
            if (all.size() < end + 4 + size) break;
            at = end + 4 + size;
            ++whole;
        }
        if (whole >= count) return answers_in(all);
        const std::string part = from.receive();
        if (part == "<end>" || part.starts_with("<error")) {
            EXPECT_EQ(part, "<end>") << "after " << all.size() << " bytes";
            return answers_in(all);
        }
        all += part;
    }
}

/// A door that handlers stop at, from any thread. One that is never opened gives way after ten seconds.
class gate {
public:
    void pass() {
        std::unique_lock held(lock_);
        ++waiting_;
        changed_.notify_all();
        changed_.wait_for(held, 10s, [this] { return open_; });
    }
    void wait_for(int count) {
        std::unique_lock held(lock_);
        EXPECT_TRUE(changed_.wait_for(held, 10s, [&] { return waiting_ >= count; }));
    }
    void open() {
        const std::lock_guard held(lock_);
        open_ = true;
        changed_.notify_all();
    }

private:
    std::mutex lock_;
    std::condition_variable changed_;
    int waiting_ = 0;
    bool open_ = false;
};

/// Tells, to any thread, that a coroutine handler is running, and counts.
class routes {
public:
    static constexpr std::size_t big_bytes = 100'000;

    routes() {
        app.get("/", [](request&, response& res) { res.text(200, "root"); });
        app.get("/big", [this](request&, response& res) {
            ++big;
            res.text(200, letters(big_bytes));
        });
        app.get("/soon", [this](request&, response& res) -> task<> {
            ++running;
            auto slept = co_await sleep_for(300ms);
            res.text(slept ? 200 : 503, "soon");
        });
        app.get("/never", [this](request&, response&) -> task<> {
            ++running;
            auto slept = co_await sleep_for(1h);
            if (!slept && slept.error().reason() == cancel_reason::shutting_down) ++cancelled;
        });
    }
    void wait_for_running(int count) const {
        for (int i = 0; i < 5000 && running < count; ++i) std::this_thread::sleep_for(2ms);
        EXPECT_GE(running, count);
    }

    router app;
    std::atomic<int> running{0}, cancelled{0}, big{0};
};

// --- starting ---

TEST(http_server, listens_where_it_is_told_and_says_where) {
    const temporary_folder folder;
    const std::string path = folder.path("socket"), name = "martlet-server-test-" + std::to_string(::getpid());
    const routes to;
    http_server serving(to.app, options("127.0.0.1:0").listen("unix:" + path).listen("unix:@" + name).listen("[::1]:0"));
    EXPECT_FALSE(serving.is_running());
    EXPECT_TRUE(serving.addresses().empty());
    const auto started = serving.start();
    ASSERT_TRUE(started.has_value()) << serving.what();
    EXPECT_TRUE(serving.is_running());
    const auto addresses = serving.addresses();
    ASSERT_EQ(addresses.size(), 4u);
    EXPECT_TRUE(addresses[0].starts_with("127.0.0.1:"));
    EXPECT_FALSE(addresses[0].ends_with(":0"));
    EXPECT_EQ(addresses[1], "unix:" + path);
    EXPECT_EQ(addresses[2], "unix:@" + name);
    EXPECT_TRUE(addresses[3].starts_with("[::1]:"));
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const plain_socket client(address_of(serving, i));
        client.send(get("/"));
        EXPECT_EQ(summary(receive(client, 1)), "200 root") << addresses[i];
    }
    serving.stop();
    serving.wait();
    EXPECT_FALSE(serving.is_running());
    EXPECT_EQ(serving.counts().connections_accepted(), 4u);
    EXPECT_EQ(serving.counts().connections_open(), 0u);
}

TEST(http_server, says_what_keeps_it_from_starting) {
    const routes to;
    const net::listener taken = net::testing::listen_on("127.0.0.1:0");
    const std::string where = net::testing::where(taken).text();
    http_server serving(to.app, options("127.0.0.1:0").listen(where));
    const auto started = serving.start();
    ASSERT_FALSE(started.has_value());
    EXPECT_TRUE(started.error().is_system(EADDRINUSE));
    EXPECT_EQ(serving.what(), "cannot listen on " + where + ": Address already in use");
    EXPECT_FALSE(serving.is_running());
    EXPECT_TRUE(serving.addresses().empty());
    serving.stop();
    serving.wait();

    http_server nowhere(to.app, options("nonsense"));
    EXPECT_FALSE(nowhere.start().has_value());
    EXPECT_TRUE(nowhere.what().starts_with("cannot listen on \"nonsense\": ")) << nowhere.what();

    http_server elsewhere(to.app, options("192.0.2.1:80"));
    EXPECT_FALSE(elsewhere.start().has_value());
    EXPECT_EQ(elsewhere.what(), "cannot listen on 192.0.2.1:80: Cannot assign requested address");
}

TEST(http_server, says_that_descriptors_are_wanting) {
#if defined(MARTLET_SANITIZED)
    GTEST_SKIP() << "UndefinedBehaviorSanitizer needs descriptors itself to look at an exception";
#endif
    const routes to;
    http_server serving(to.app, options("127.0.0.1:0").threads(3));
    ::rlimit before;
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const int lowest_free = ::dup(0);
    ::close(lowest_free);
    // Enough for the listener and the first loop.
    const ::rlimit few{static_cast<rlim_t>(lowest_free) + 5, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    const auto started = serving.start();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_FALSE(started.has_value());
    EXPECT_TRUE(started.error().is_system(EMFILE)) << serving.what();
    EXPECT_NE(serving.what(), "");
    EXPECT_FALSE(serving.is_running());
}

// --- answering, over a real network ---

class http_server_over_tcp : public ::testing::Test {
protected:
    void start(const limits& bounds = limits(), unsigned threads = 1) {
        serving_.emplace(to_.app, options("127.0.0.1:0").bounds(bounds).threads(threads));
        const auto started = serving_->start();
        ASSERT_TRUE(started.has_value()) << serving_->what();
    }
    plain_socket connect() const {
        plain_socket made(address_of(*serving_));
        EXPECT_TRUE(made.is_connected());
        return made;
    }

    routes to_;
    std::optional<http_server> serving_;
};

TEST_F(http_server_over_tcp, keep_alive_pipelines_and_pieces) {
    start();
    const plain_socket client = connect();
    for (int i = 0; i < 20; ++i) {
        client.send(get("/"));
        ASSERT_EQ(summary(receive(client, 1)), "200 root");
    }
    std::string all;
    for (int i = 0; i < 500; ++i) all += get("/");
    client.send(all);
    EXPECT_EQ(receive(client, 500).size(), 500u);
    for (const char byte : get("/")) client.send(std::string_view(&byte, 1));
    EXPECT_EQ(summary(receive(client, 1)), "200 root");
    client.send(get("/soon") + get("/") + get("/missing"));
    EXPECT_EQ(summary(receive(client, 3)), "200 soon, 200 root, 404 Not Found");
    client.finish();
    EXPECT_EQ(client.receive(), "<end>");
}

TEST_F(http_server_over_tcp, a_fin_behind_requests_loses_no_answer) {
    start();
    for (int i = 0; i < 50; ++i) {
        const plain_socket client = connect();
        client.send(get("/") + get("/") + get("/big") + get("/") + "GET / HT");
        client.finish();
        EXPECT_EQ(answers_in(client.receive_all()).size(), 4u);
    }
}

TEST_F(http_server_over_tcp, a_refused_request_is_answered_though_its_peer_goes_on_sending) {
    start();
    for (int i = 0; i < 50; ++i) {
        const plain_socket client = connect();
        client.send(get("/") + "nonsense\r\n\r\n" + letters(50'000));
        const auto answers = answers_in(client.receive_all());
        ASSERT_EQ(answers.size(), 2u);
        EXPECT_EQ(answers[1].status, 400);
        EXPECT_TRUE(answers[1].closes());
    }
    for (int i = 0; i < 20; ++i) {
        const plain_socket client = connect();
        // Short enough to be read and dropped: the connection goes on.
        client.send(request_text("POST", "/", "Content-Length: 60000\r\n") + letters(60'000) + get("/", "Connection: close\r\n"));
        const auto answers = answers_in(client.receive_all());
        ASSERT_EQ(answers.size(), 2u);
        EXPECT_EQ(answers[0].status, 405);
        EXPECT_EQ(answers[1].content, "root");
    }
    for (int i = 0; i < 20; ++i) {
        // Too long for that.
        const plain_socket client = connect();
        client.send(request_text("POST", "/", "Content-Length: 200000\r\n") + letters(50'000));
        const auto answers = answers_in(client.receive_all());
        ASSERT_EQ(answers.size(), 1u);
        EXPECT_EQ(answers[0].status, 405);
        EXPECT_TRUE(answers[0].closes());
    }
}

TEST_F(http_server_over_tcp, a_peer_that_sends_far_too_much_before_it_reads_still_gets_its_answer) {
    start();
    for (int i = 0; i < 5; ++i) {
        const plain_socket client = connect();
        client.send(request_text("POST", "/", "Content-Length: 3200000\r\n"));
        const std::string piece = letters(32'000);
        for (int sent = 0; sent < 100; ++sent) client.send(piece);
        const auto answers = receive(client, 1);
        ASSERT_EQ(answers.size(), 1u);
        EXPECT_EQ(answers[0].status, 405);
        client.finish();
        EXPECT_EQ(client.receive(), "<end>");
    }
}

TEST_F(http_server_over_tcp, version_1_0_and_close_end_the_connection) {
    start();
    const plain_socket old = connect();
    old.send("GET / HTTP/1.0\r\n\r\n");
    EXPECT_EQ(summary(answers_in(old.receive_all())), "200 root");
    const plain_socket closing = connect();
    closing.send(get("/", "Connection: close\r\n"));
    EXPECT_EQ(summary(answers_in(closing.receive_all())), "200 root");
}

// The most of a long answer is still in the kernel when all of it is written; a reset would throw that away.
TEST_F(http_server_over_tcp, a_peer_that_asks_for_the_end_and_sends_on_gets_its_whole_answer) {
    start();
    for (int i = 0; i < 5; ++i) {
        const plain_socket client(address_of(*serving_), 4096);
        client.send(get("/big", "Connection: close\r\n"));
        std::string all = client.receive(100);
        client.send("\r\n");
        all += client.receive_all();
        const auto answers = answers_in(all);
        ASSERT_EQ(answers.size(), 1u);
        EXPECT_EQ(answers[0].content, letters(routes::big_bytes));
    }
}

TEST_F(http_server_over_tcp, a_peer_that_does_not_read_stops_being_served) {
    start();
    const plain_socket client(address_of(*serving_), 4096);
    std::string all;
    for (int i = 0; i < 400; ++i) all += get("/big");
    client.send(all);
    // Until what the kernel holds is full and nothing moves any more.
    for (int before = -1; before != to_.big;) {
        before = to_.big;
        std::this_thread::sleep_for(200ms);
    }
    EXPECT_LT(to_.big, 200);
    const plain_socket other = connect();
    other.send(get("/"));
    EXPECT_EQ(summary(receive(other, 1)), "200 root");
    EXPECT_EQ(receive(client, 400).size(), 400u);
    EXPECT_EQ(to_.big, 400);
}

TEST_F(http_server_over_tcp, the_kernel_holds_little_for_a_peer_that_does_not_read) {
    start();
    const plain_socket client(address_of(*serving_), 4096);
    std::string all;
    for (int i = 0; i < 400; ++i) all += get("/big");
    client.send(all);
    for (int before = -1; before != to_.big;) {
        before = to_.big;
        std::this_thread::sleep_for(200ms);
    }
    // What waits in the server, what the kernel may hold, a piece that it takes at once, and what the peer's own buffer takes.
    const limits usual;
    const auto bytes = static_cast<std::size_t>(to_.big) * routes::big_bytes;
    EXPECT_LE(bytes, 2 * usual.flush_bytes() + usual.unsent_bytes_max() + 128 * 1024);
}

TEST_F(http_server_over_tcp, resets_at_any_moment_leave_it_well) {
    start(limits(), 2);
    for (int i = 0; i < 300; ++i) {
        plain_socket client = connect();
        const std::string all = get("/") + get("/big") + get("/soon") + get("/big");
        client.send(all.substr(0, all.size() * static_cast<std::size_t>(i) / 300));
        if (i % 3 == 1 && i >= 100) client.receive(100);
        if (i % 3 == 2) std::this_thread::sleep_for(1ms);
        client.reset();
    }
    const plain_socket client = connect();
    client.send(get("/"));
    EXPECT_EQ(summary(receive(client, 1)), "200 root");
    client.finish();
    EXPECT_EQ(client.receive(), "<end>");
    for (int i = 0; i < 2000 && serving_->counts().connections_open() != 0; ++i) std::this_thread::sleep_for(2ms);
    EXPECT_EQ(serving_->counts().connections_open(), 0u);
    EXPECT_EQ(serving_->counts().connections_accepted(), 301u);
}

TEST_F(http_server_over_tcp, connections_beyond_the_most_are_answered_503) {
    start(limits().connections_max(3).refusals_per_second_max(2));
    std::vector<plain_socket> held;
    for (int i = 0; i < 3; ++i) {
        held.push_back(connect());
        held.back().send(get("/"));
        EXPECT_EQ(summary(receive(held.back(), 1)), "200 root");
    }
    for (int i = 0; i < 2; ++i) {
        // Whether or not it has asked already.
        const plain_socket refused = connect();
        if (i == 1) refused.send(get("/"));
        const std::vector<wire_answer> answers = receive(refused, 1);
        ASSERT_EQ(answers.size(), 1u);
        EXPECT_EQ(answers[0].status, 503);
        EXPECT_EQ(answers[0].field("Retry-After"), "1");
        EXPECT_EQ(answers[0].field("Connection"), "close");
        refused.finish();
        EXPECT_EQ(refused.receive(), "<end>");
    }
    // More than refusals_per_second_max would make work of a flood.
    EXPECT_EQ(connect().receive(), "<end>");
    EXPECT_EQ(serving_->counts().connections_refused(), 3u);
    EXPECT_EQ(serving_->counts().connections_accepted(), 6u);
    held.pop_back();
    for (int i = 0; i < 2000 && serving_->counts().connections_open() >= 3; ++i) std::this_thread::sleep_for(2ms);
    const plain_socket next = connect();
    next.send(get("/"));
    EXPECT_EQ(summary(receive(next, 1)), "200 root");
}

TEST_F(http_server_over_tcp, two_threads_share_the_work) {
    start(limits(), 2);
    std::vector<std::thread> clients;
    std::atomic<int> answered{0};
    for (int c = 0; c < 8; ++c) {
        clients.emplace_back([&] {
            for (int round = 0; round < 20; ++round) {
                const plain_socket client = connect();
                client.send(get("/") + get("/big") + get("/"));
                answered += static_cast<int>(receive(client, 3).size());
            }
        });
    }
    for (std::thread& each : clients) each.join();
    EXPECT_EQ(answered, 8 * 20 * 3);
    EXPECT_EQ(serving_->counts().connections_accepted(), 160u);
}

TEST_F(http_server_over_tcp, a_handler_that_blocks_one_thread_does_not_block_the_other) {
    gate door;
    to_.app.get("/block", [&](request&, response& res) {
        door.pass();
        res.text(200, "unblocked");
    });
    start(limits(), 2);
    const plain_socket blocked = connect();
    blocked.send(get("/block"));
    door.wait_for(1);
    // Each connection wakes one of the two; those of the blocked one wait for it.
    std::vector<plain_socket> others;
    for (int i = 0; i < 20; ++i) {
        others.push_back(connect());
        others.back().send(get("/"));
    }
    EXPECT_EQ(summary(receive(others[0], 1)), "200 root");
    door.open();
    EXPECT_EQ(summary(receive(blocked, 1)), "200 unblocked");
    for (std::size_t i = 1; i < others.size(); ++i) EXPECT_EQ(summary(receive(others[i], 1)), "200 root");
}

// --- stopping ---

TEST_F(http_server_over_tcp, stop_closes_idle_connections_and_lets_running_requests_finish) {
    for (const unsigned threads : {1u, 2u}) {
        to_.running = 0;
        start(limits(), threads);
        const plain_socket idle = connect(), used = connect(), busy = connect();
        used.send(get("/"));
        EXPECT_EQ(summary(receive(used, 1)), "200 root");
        busy.send(get("/soon"));
        to_.wait_for_running(1);
        serving_->stop();
        EXPECT_EQ(idle.receive(), "<end>");
        EXPECT_EQ(used.receive(), "<end>");
        const auto last = receive(busy, 1);
        ASSERT_EQ(summary(last), "200 soon");
        EXPECT_TRUE(last[0].closes());
        EXPECT_EQ(busy.receive(), "<end>");
        busy.finish();
        serving_->wait();
        EXPECT_FALSE(serving_->is_running());
    }
}

TEST_F(http_server_over_tcp, drain_timeout_resets_what_does_not_finish) {
    start(limits().drain_timeout(100ms));
    const plain_socket stuck = connect();
    stuck.send(get("/never"));
    to_.wait_for_running(1);
    serving_->stop();
    EXPECT_EQ(stuck.receive(), "<error 104>");
    serving_->wait();
    EXPECT_EQ(to_.cancelled, 1);
}

TEST_F(http_server_over_tcp, a_second_stop_forces) {
    start(limits().drain_timeout(1h), 2);
    const plain_socket stuck = connect();
    stuck.send(get("/never"));
    to_.wait_for_running(1);
    serving_->stop();
    EXPECT_TRUE(serving_->is_running());
    serving_->stop();
    serving_->wait();
    EXPECT_EQ(stuck.receive(), "<error 104>");
    EXPECT_EQ(to_.cancelled, 1);
}

TEST_F(http_server_over_tcp, stop_and_wait_from_many_threads_at_once) {
    for (int round = 0; round < 20; ++round) {
        start(limits(), 2);
        const plain_socket client = connect();
        client.send(get("/never"));
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                serving_->stop();
                serving_->wait();
                EXPECT_FALSE(serving_->is_running());
                serving_->stop();
            });
        }
        for (std::thread& each : threads) each.join();
    }
}

TEST_F(http_server_over_tcp, the_destructor_stops_it) {
    start(limits().drain_timeout(1h), 2);
    const plain_socket stuck = connect();
    stuck.send(get("/never"));
    to_.wait_for_running(1);
    serving_.reset();
    EXPECT_EQ(to_.cancelled, 1);
    EXPECT_EQ(stuck.receive(), "<error 104>");
}

TEST(http_server, one_stopped_before_it_started_can_be_stopped_all_the_same) {
    const routes to;
    http_server serving(to.app, options("127.0.0.1:0"));
    serving.stop();
    const auto started = serving.start();
    ASSERT_TRUE(started.has_value());
    const plain_socket client(address_of(serving));
    client.send(get("/soon"));
    to.wait_for_running(1);
    // This is the first one still: it lets requests finish.
    serving.stop();
    EXPECT_EQ(summary(receive(client, 1)), "200 soon");
    serving.wait();
}

TEST(http_server, runs_on_a_loop_of_the_caller_and_threads_beside_it) {
    for (const unsigned threads : {1u, 3u}) {
        const routes to;
        loop on;
        http_server serving(to.app, options("127.0.0.1:0").threads(threads));
        const auto started = serving.start_on(on);
        ASSERT_TRUE(started.has_value()) << serving.what();
        std::thread visitor([&] {
            for (int i = 0; i < 30; ++i) {
                const plain_socket client(address_of(serving));
                client.send(get("/"));
                EXPECT_EQ(summary(receive(client, 1)), "200 root");
            }
            serving.stop();
        });
        on.run(serving.stopped());
        EXPECT_FALSE(serving.is_running());
        visitor.join();
    }
}

}  // namespace
}  // namespace martlet::server
