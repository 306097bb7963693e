// A server that is made to hold too much: what it refuses, whom, and that everybody else is answered all along.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <martlet/rt/event.hpp>
#include <martlet/server/detail/testing_internal.hpp>

namespace martlet::server::testing {
namespace {

using net::unruly_options;

constexpr std::uint64_t budget = 4 * 1024 * 1024;
constexpr int hostile_count = 2000;

void add_routes(bench& server) {
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.app.post("/form", [](request& req, response& res) { res.text(200, std::to_string(req.content().size())); });
    server.app.post("/pulled", [](request& req, response& res) -> task<> {
        for (;;) {
            const auto piece = (co_await req.read()).value();
            if (piece.empty()) break;
        }
        res.text(200, "taken");
    });
    server.app.get("/large", [](request&, response& res) { res.text(200, letters(200'000)); });
}

/// Many that do not finish what they begin, and between them one that behaves.
class crowd {
public:
    explicit crowd(bench& of) : of_(of), good_(of, unruly_options::tame()) {}

    void join(std::string_view sends) {
        hostile_.push_back(std::make_unique<client>(of_, unruly_options::tame().capacity_bytes(16 * 1024)));
        hostile_.back()->send(sends);
        EXPECT_TRUE(hostile_.back()->settle());
        most_ = std::max(most_, held());
        if (hostile_.size() % 20 != 0) return;
        EXPECT_EQ(summary(good_.ask(get("/"))), "200 root") << "after " << hostile_.size();
        most_ = std::max(most_, held());
    }
    std::uint64_t held() const { return of_.work().common.held.held(); }
    std::uint64_t most() const { return most_; }

    /// How many were told 503, and how many simply lost their connection.
    std::pair<int, int> refused() {
        int told = 0, cut = 0;
        for (const auto& each : hostile_) {
            const std::string heard = each->heard();
            told += heard.find("503 Service Unavailable") != heard.npos;
            cut += each->saw_reset();
        }
        return {told, cut};
    }

private:
    bench& of_;
    client good_;
    std::vector<std::unique_ptr<client>> hostile_;
    std::uint64_t most_ = 0;
};

std::string upload(std::string_view path) {
    return "POST " + std::string(path) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n" + letters(12'000);
}

/// What all of them have in common: the limit holds, room is made, nothing is left.
void expect_held(bench& server, const std::string& sends, bool told) {
    server.bounds.buffered_bytes_max(budget);
    add_routes(server);
    {
        crowd all(server);
        for (int i = 0; i < hostile_count; ++i) all.join(sends);
        EXPECT_GT(all.most(), budget / 2);
        EXPECT_LE(all.most(), budget);
        const auto [refused, cut] = all.refused();
        EXPECT_GT(told ? refused : cut, hostile_count / 2);
        EXPECT_LT(all.held(), budget - budget / 4);
        EXPECT_GT(server.seen.count("limit buffered_bytes_max"), 0u);
    }
    server.stop();
}

TEST(http1_pressure, collected_uploads_give_way) {
    bench server;
    expect_held(server, upload("/form"), true);
}

TEST(http1_pressure, pulled_uploads_give_way) {
    bench server;
    // A peer must not be able to write a line of the log with each request: observers are told.
    const kept_log log;
    expect_held(server, upload("/pulled"), true);
    EXPECT_EQ(log.text(), "");
}

TEST(http1_pressure, unfinished_heads_give_way) {
    bench server;
    expect_held(server, "GET / HTTP/1.1\r\nHost: a\r\nX: " + letters(8'000), true);
}

TEST(http1_pressure, readers_that_take_nothing_are_reset) {
    bench server;
    expect_held(server, get("/large"), false);
}

TEST(http1_pressure, what_was_reset_is_not_reset_again_while_its_handler_still_holds_content) {
    bench server;
    server.bounds.buffered_bytes_max(budget).stream_queued_bytes_max(1);
    event gone;
    server.app.post("/pipe", [&](request& req, response& res) -> task<> {
        auto body = res.stream(200, http::media::bytes);
        auto piece = co_await req.read();
        auto sent = co_await body.send(piece.value());
        EXPECT_FALSE(sent);
        gone.set();
    });
    client peer(server, unruly_options::tame().capacity_bytes(1000));
    peer.send("POST /pipe HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\n\r\n" + letters(20'000));
    EXPECT_TRUE(peer.settle());
    server.work().held.add(budget * 3 / 4);
    server.work().relieve_later();
    EXPECT_TRUE(peer.settle());
    EXPECT_TRUE(peer.saw_reset());
    EXPECT_TRUE(gone.is_set());
    EXPECT_EQ(server.connections(), 0u);
    EXPECT_EQ(server.seen.count("limit buffered_bytes_max"), 1u);
    server.work().held.remove(budget * 3 / 4);
}

TEST(http1_pressure, the_slowest_goes_first) {
    bench server;
    server.bounds.buffered_bytes_max(2 * budget).body_bytes_max(budget);
    add_routes(server);
    client slow(server, unruly_options::tame()), quick(server, unruly_options::tame());
    const std::string head = "POST /form HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n";
    // The more one has sent, the longer it may be waited for.
    EXPECT_EQ(slow.ask(head + letters(1'500'000)), "");
    EXPECT_EQ(quick.ask(head + letters(2'900'000)), "");
    EXPECT_EQ(summary(slow.heard()).substr(0, 3), "503");
    EXPECT_EQ(summary(quick.ask(letters(100'000))), "200 3000000");
}

TEST(http1_pressure, of_many_the_slowest_go) {
    constexpr std::uint64_t most = 16 * budget;
    constexpr std::size_t count = 60;
    bench server;
    server.bounds.buffered_bytes_max(most).body_bytes_max(budget).body_timeout(std::chrono::hours(1));
    add_routes(server);
    std::vector<std::unique_ptr<client>> peers;
    for (std::size_t i = 0; i < count; ++i) {
        // Each may be waited for a little less long than the one before.
        peers.push_back(std::make_unique<client>(server, unruly_options::tame()));
        EXPECT_EQ(peers.back()->ask("POST /form HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n" + letters(200'000 - 1000 * i)), "");
    }
    // So much more that half of them have to go, which the next to hold something brings about.
    const std::uint64_t held = server.work().common.held.held();
    const std::uint64_t more = most * 3 / 4 - held / 2;
    server.work().held.add(more);
    client last(server, unruly_options::tame());
    last.ask("GET / HTTP/1.1\r\n");
    for (std::size_t i = 0; i < count; ++i) {
        const std::string heard = peers[i]->heard();
        if (i < count / 3) {
            EXPECT_EQ(heard, "") << i;
        } else if (i >= count - count / 3) {
            EXPECT_EQ(summary(heard), "503 Service Unavailable") << i;
        }
    }
    server.work().held.remove(more);
}

TEST(http1_pressure, no_more_heads_go_than_have_to) {
    constexpr int count = 100;
    bench server;
    server.bounds.buffered_bytes_max(budget);
    add_routes(server);
    std::vector<std::unique_ptr<client>> peers;
    for (int i = 0; i < count; ++i) {
        peers.push_back(std::make_unique<client>(server, unruly_options::tame()));
        EXPECT_EQ(peers.back()->ask("GET / HTTP/1.1\r\nHost: a\r\nX: " + letters(8'000)), "");
    }
    const std::uint64_t held = server.work().common.held.held();
    const std::uint64_t more = budget * 3 / 4 - held / 2;
    server.work().held.add(more);
    client last(server, unruly_options::tame());
    last.ask("GET / HTTP/1.1\r\n");
    int refused = 0;
    for (const auto& each : peers) refused += !each->heard().empty();
    EXPECT_GE(refused, count / 2 - 5);
    EXPECT_LE(refused, count * 3 / 4);
    server.work().held.remove(more);
}

TEST(http1_pressure, no_content_is_begun_and_requests_without_go_on) {
    bench server;
    server.bounds.buffered_bytes_max(budget);
    add_routes(server);
    client peer(server, unruly_options::tame());
    server.work().held.add(budget * 3 / 4);
    EXPECT_EQ(summary(peer.ask(get("/"))), "200 root");
    // One that is there whole takes no memory.
    EXPECT_EQ(summary(peer.ask(request_text("POST", "/form", "Content-Length: 3\r\n") + "abc")), "200 3");
    const auto answers = answers_in(peer.ask(upload("/form")));
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].status, 503);
    EXPECT_EQ(answers[0].field("Retry-After"), "1");
    EXPECT_TRUE(answers[0].closes());
    server.work().held.remove(budget * 3 / 4);
}

TEST(http1_pressure, at_the_limit_every_request_is_refused) {
    bench server;
    server.bounds.buffered_bytes_max(budget);
    add_routes(server);
    for (const bool watched : {true, false}) {
        server.watched = watched;
        client peer(server, unruly_options::tame());
        EXPECT_EQ(summary(peer.ask(get("/"))), "200 root");
        server.work().held.add(budget);
        const auto answers = answers_in(peer.ask(get("/")));
        ASSERT_EQ(answers.size(), 1u);
        EXPECT_EQ(answers[0].status, 503);
        EXPECT_TRUE(answers[0].closes());
        server.work().held.remove(budget);
        client next(server, unruly_options::tame());
        EXPECT_EQ(summary(next.ask(get("/"))), "200 root");
        server.stop();
    }
}

}  // namespace
}  // namespace martlet::server::testing
