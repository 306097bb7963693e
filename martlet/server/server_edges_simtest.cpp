// The limits on connections, each to the one: what is let pass, and what is not.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/rt/within.hpp>
#include <martlet/server/sim_testing_internal.hpp>

namespace martlet::server {
namespace {

using namespace std::chrono_literals;
using testing::get;
using testing::pass;
using testing::sim_address;
using testing::sim_server;
using testing::summary;

TEST(connection_edges, connections_max_and_refusals_per_second_max) {
    sim::simulation world;
    sim_server server;
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.bounds.connections_max(3).refusals_per_second_max(2);
    server.start();
    const auto answered_503 = [](const sim::peer& each) { return each.received().starts_with("HTTP/1.1 503 "); };
    std::vector<sim::peer> admitted;
    for (int i = 0; i < 3; ++i) {
        admitted.emplace_back(sim_address);
        admitted.back().send(get("/"));
    }
    pass(server.on, 10ms);
    for (const sim::peer& each : admitted) EXPECT_EQ(summary(each.received()), "200 root");
    // Each second has its own two.
    for (int second = 0; second < 3; ++second) {
        std::vector<sim::peer> surplus;
        for (int i = 0; i < 4; ++i) {
            surplus.emplace_back(sim_address);
            pass(server.on, 10ms);
            EXPECT_EQ(answered_503(surplus.back()), i < 2) << "second " << second << ", connection " << i;
            EXPECT_TRUE(surplus.back().closed_by_other());
        }
        surplus.clear();
        pass(server.on, 900ms);
        sim::peer still_the_same(sim_address);
        pass(server.on, 10ms);
        EXPECT_EQ(still_the_same.received(), "") << "second " << second;
        still_the_same.close();
        pass(server.on, 100ms);
    }
    // One goes, and one may come.
    admitted.back().close();
    pass(server.on, 10ms);
    sim::peer next(sim_address);
    next.send(get("/"));
    pass(server.on, 10ms);
    EXPECT_EQ(summary(next.received()), "200 root");
}

TEST(connection_edges, accepts_per_turn_max) {
    sim::simulation world;
    sim_server server;
    std::vector<std::size_t> accepted;
    server.app.get("/watch", [&](request&, response& res) -> task<> {
        for (int i = 0; i < 50; ++i) {
            accepted.push_back(server.seen.count("accepted"));
            co_await yield();
        }
        res.text(200, "watched");
    });
    server.bounds.accepts_per_turn_max(3);
    server.start();
    sim::peer watching(sim_address);
    pass(server.on, 10ms);
    watching.send(get("/watch"));
    std::vector<sim::peer> all;
    for (int i = 0; i < 12; ++i) all.emplace_back(sim_address);
    pass(server.on, 10ms);
    EXPECT_EQ(summary(watching.received()), "200 watched");
    EXPECT_EQ(server.seen.count("accepted"), 13u);
    // The handler has its turn between them.
    std::size_t most = 0;
    for (std::size_t i = 1; i < accepted.size(); ++i) most = std::max(most, accepted[i] - accepted[i - 1]);
    EXPECT_EQ(most, 3u);
    all.clear();
    pass(server.on, 10ms);
}

// A peer that is told too late that it was too slow is sending on; what it sends does not take the answer from it.
TEST(last_answer, of_a_timeout_is_not_lost_to_what_comes_behind_it) {
    sim::simulation world;
    sim_server server;
    server.app.post("/unread", [](request&, response& res) -> task<> {
        res.text(200, "unread");
        co_return;
    });
    server.bounds.head_timeout(2s).unread_timeout(2s).linger_timeout(2s);
    server.start();
    sim::peer partial(sim_address), unread(sim_address);
    partial.send("GET / HTTP/1.1\r\n");
    unread.send("POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nbegun");
    for (sim::peer* each : {&partial, &unread}) {
        for (int i = 1; i < 10; ++i) each->send_after(2s + i * 100ms, "Host: a\r\n\r\n");
    }
    pass(server.on, 3s);
    EXPECT_EQ(testing::answers_in(partial.received()).at(0).status, 408);
    EXPECT_EQ(summary(unread.received()), "200 unread");
    for (sim::peer* each : {&partial, &unread}) {
        EXPECT_TRUE(each->closed_by_other());
        EXPECT_FALSE(each->reset_by_other());
    }
    EXPECT_EQ(server.seen.text().find("closed"), std::string::npos) << "it still takes what comes";
    for (sim::peer* each : {&partial, &unread}) each->close();
    pass(server.on, 10ms);
    EXPECT_EQ(server.seen.count("closed timed out") + server.seen.count("closed finished"), 2u) << server.seen.text();
}

// When memory ends between a head and its content, nothing else may come in the content's place.
TEST(last_answer, that_is_broken_has_nothing_behind_it) {
    int broken = 0, whole = 0;
    const std::string large = testing::letters(75'000);
    // A sanitizer takes each block by itself.
    for (std::uint64_t n = 1; n <= 300 && whole < 5; ++n) {
        sim::simulation world;
        sim_server server;
        server.watched = false;
        server.app.get("/large", [&large](request&, response& res) { res.text(200, std::string_view(large)); });
        server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
        server.start();
        sim::peer client(sim_address);
        pass(server.on, 1ms);
        client.send(get("/large") + get("/"));
        sim::fail_allocation(n);
        pass(server.on, 100ms);
        sim::fail_allocation(0);
        const std::string_view heard = client.received();
        const std::size_t end = heard.find("\r\n\r\n");
        if (end == heard.npos || heard.find("Content-Length: 75000\r\n") > end) continue;
        const std::string_view content = heard.substr(end + 4, large.size());
        EXPECT_TRUE(large.starts_with(content)) << n << ": " << content.substr(0, 40);
        (content.size() == large.size() ? whole : broken) += 1;
        EXPECT_TRUE(content.size() == large.size() || client.closed_by_other()) << n;
    }
    EXPECT_GT(broken, 0);
    EXPECT_GT(whole, 0);
}

TEST(timeout_edges, body_grace_is_no_longer_than_body_timeout) {
    sim::simulation world;
    sim_server server;
    server.app.post("/", [](request&, response& res) { res.text(200, "taken"); });
    server.bounds.body_grace(60s).body_timeout(5s);
    server.start();
    sim::peer slow(sim_address);
    slow.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n");
    pass(server.on, 5s - 5ms);
    EXPECT_EQ(slow.received(), "");
    pass(server.on, 10ms);
    EXPECT_EQ(testing::answers_in(slow.received()).at(0).status, 408);
    slow.close();
    pass(server.on, 10ms);
}

TEST(timeout_edges, a_route_has_its_own_handler_timeout) {
    sim::simulation world;
    sim_server server;
    const auto slow = [](request&, response& res) -> task<> {
        auto slept = co_await sleep_for(10s);
        if (slept) res.text(200, "slow");
    };
    server.app.get("/short", slow, route_options().handler_timeout(2s));
    server.app.get("/none", slow, route_options().handler_timeout(duration::zero()));
    server.app.get("/usual", slow);
    server.bounds.handler_timeout(5s);
    server.start();
    sim::peer brief(sim_address), none(sim_address), usual(sim_address);
    brief.send(get("/short"));
    none.send(get("/none"));
    usual.send(get("/usual"));
    pass(server.on, 2s - 5ms);
    EXPECT_EQ(brief.received(), "");
    pass(server.on, 10ms);
    EXPECT_EQ(summary(brief.received()), "504 Gateway Timeout");
    pass(server.on, 3s - 10ms);
    EXPECT_EQ(usual.received(), "");
    pass(server.on, 10ms);
    EXPECT_EQ(summary(usual.received()), "504 Gateway Timeout");
    pass(server.on, 5s);
    EXPECT_EQ(summary(none.received()), "200 slow");
    for (sim::peer* each : {&brief, &none, &usual}) each->close();
    pass(server.on, 10ms);
}

TEST(timeout_edges, a_read_that_was_given_up_costs_the_peer_no_more_time) {
    sim::simulation world;
    sim_server server;
    server.app.post("/", [](request& req, response& res) -> task<> {
        auto none = co_await within(1s, req.read());
        EXPECT_FALSE(none.has_value());
        auto slept = co_await sleep_for(40s);
        EXPECT_TRUE(slept.has_value());
        auto all = co_await req.read_all();
        res.text(200, all.value_or("late"));
    });
    server.bounds.body_grace(5s).body_timeout(5s);
    server.start();
    sim::peer client(sim_address);
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n");
    client.send_after(42s, "hello");
    pass(server.on, 43s);
    EXPECT_EQ(summary(client.received()), "200 hello");
    client.close();
    pass(server.on, 10ms);
}

}  // namespace
}  // namespace martlet::server
