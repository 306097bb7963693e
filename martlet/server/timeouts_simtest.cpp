// Every timeout of the limits, in simulated time: it comes when it is due and not before.
#include <string>

#include <martlet/server/sim_testing_internal.hpp>

namespace martlet::server {
namespace {

using namespace std::chrono_literals;
using testing::answers_in;
using testing::get;
using testing::letters;
using testing::pass;
using testing::sim_address;
using testing::sim_server;
using testing::summary;

/// Timers are kept in milliseconds, and a wait is rounded up.
constexpr duration late = 5ms;

TEST(timeouts, first_byte) {
    sim::simulation world;
    sim_server server;
    server.bounds.first_byte_timeout(15s);
    server.start();
    sim::peer silent(sim_address);
    pass(server.on, 15s - late);
    EXPECT_FALSE(silent.closed_by_other());
    EXPECT_EQ(server.seen.text(), "accepted");
    pass(server.on, 2 * late);
    EXPECT_TRUE(silent.closed_by_other());
    EXPECT_FALSE(silent.reset_by_other());
    EXPECT_EQ(silent.received(), "");
    EXPECT_EQ(server.seen.text(), "accepted, limit first_byte_timeout, closed timed out");
}

TEST(timeouts, first_byte_ends_with_it) {
    sim::simulation world;
    sim_server server;
    server.bounds.first_byte_timeout(5s).head_timeout(10s).linger_timeout(1s);
    server.start();
    sim::peer slow(sim_address);
    slow.send_after(5s - late, "G");
    pass(server.on, 15s - 2 * late);
    EXPECT_FALSE(slow.closed_by_other());
    pass(server.on, 3 * late);
    EXPECT_EQ(answers_in(slow.received()).at(0).status, 408);
}

TEST(timeouts, head) {
    sim::simulation world;
    sim_server server;
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.bounds.head_timeout(10s);
    server.start();
    // A byte a second: only the whole counts.
    sim::peer dripping(sim_address);
    const std::string bytes = get("/");
    for (std::size_t i = 0; i < 20; ++i) dripping.send_after(i * 1s, std::string_view(bytes).substr(i, 1));
    sim::peer in_time(sim_address);
    in_time.send("GET / HTTP/1.1\r\n");
    in_time.send_after(10s - late, "Host: a\r\n\r\n");
    pass(server.on, 10s - late / 2);
    EXPECT_EQ(dripping.received(), "");
    EXPECT_EQ(summary(in_time.receive()), "200 root");
    pass(server.on, late);
    const auto answers = answers_in(dripping.received());
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].status, 408);
    EXPECT_TRUE(answers[0].closes());
    EXPECT_TRUE(dripping.closed_by_other());
    EXPECT_FALSE(dripping.reset_by_other());
    EXPECT_FALSE(in_time.closed_by_other());
    dripping.close();
    pass(server.on, late);
    EXPECT_EQ(server.seen.count("limit head_timeout"), 1u);
    EXPECT_EQ(server.seen.count("closed timed out"), 1u);
}

TEST(timeouts, each_head_has_a_time_of_its_own) {
    sim::simulation world;
    sim_server server;
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.bounds.head_timeout(10s);
    server.start();
    // Always in the middle of a head, which was begun eight seconds ago at most.
    sim::peer overlapping(sim_address);
    overlapping.send("GET / HT");
    for (int i = 1; i <= 6; ++i) overlapping.send_after(i * 8s, "TP/1.1\r\nHost: a\r\n\r\nGET / HT");
    pass(server.on, 50s);
    EXPECT_EQ(answers_in(overlapping.received()).size(), 6u);
    EXPECT_FALSE(overlapping.closed_by_other());
    pass(server.on, 8s + late);
    const auto answers = answers_in(overlapping.received());
    ASSERT_EQ(answers.size(), 7u);
    EXPECT_EQ(answers[6].status, 408);
}

TEST(timeouts, a_head_behind_a_handler_has_its_time_too) {
    sim::simulation world;
    sim_server server;
    server.app.get("/slow", [](request&, response& res) -> task<> {
        auto slept = co_await sleep_for(30s);
        EXPECT_TRUE(slept.has_value());
        res.text(200, "slow");
    });
    server.bounds.head_timeout(10s);
    server.start();
    // The first head needs a while, so that there is a timer; its end brings the beginning of the next.
    sim::peer client(sim_address);
    client.send("GET /slow HT");
    client.send_after(5s, "TP/1.1\r\nHost: a\r\n\r\nGET / HT");
    pass(server.on, 35s + late);
    EXPECT_EQ(summary(client.receive()), "200 slow");
    pass(server.on, 10s - 2 * late);
    EXPECT_FALSE(client.closed_by_other());
    pass(server.on, 3 * late);
    EXPECT_TRUE(client.closed_by_other()) << "an unfinished head is waited for without end";
    EXPECT_EQ(answers_in(client.received()).at(0).status, 408);
}

TEST(timeouts, idle) {
    sim::simulation world;
    sim_server server;
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.bounds.idle_timeout(60s);
    server.start();
    sim::peer idle(sim_address), busy(sim_address);
    idle.send_after(1s, get("/"));
    for (int i = 0; i < 4; ++i) busy.send_after(i * 59s, get("/"));
    pass(server.on, 61s - late);
    EXPECT_EQ(summary(idle.received()), "200 root");
    EXPECT_FALSE(idle.closed_by_other());
    pass(server.on, 2 * late);
    EXPECT_TRUE(idle.closed_by_other());
    EXPECT_FALSE(idle.reset_by_other());
    EXPECT_EQ(server.seen.count("limit idle_timeout"), 1u);
    pass(server.on, 3 * 59s - 61s);
    EXPECT_EQ(answers_in(busy.received()).size(), 4u);
    pass(server.on, 60s - 2 * late);
    EXPECT_FALSE(busy.closed_by_other());
    pass(server.on, 2 * late);
    EXPECT_TRUE(busy.closed_by_other());
}

TEST(timeouts, idle_does_not_count_while_a_handler_runs) {
    sim::simulation world;
    sim_server server;
    server.app.get("/slow", [](request&, response& res) -> task<> {
        auto slept = co_await sleep_for(100s);
        EXPECT_TRUE(slept.has_value());
        res.text(200, "slow");
    });
    server.bounds.idle_timeout(20s).first_byte_timeout(10s);
    server.start();
    sim::peer client(sim_address);
    client.send(get("/slow") + get("/slow"));
    pass(server.on, 201s);
    EXPECT_EQ(summary(client.received()), "200 slow, 200 slow");
    EXPECT_FALSE(client.closed_by_other());
    pass(server.on, 20s);
    EXPECT_TRUE(client.closed_by_other());
}

TEST(timeouts, write) {
    sim::simulation world(sim::options().with_send_buffer_bytes(20'000).with_receive_buffer_bytes(20'000));
    sim_server server;
    server.app.get("/", [](request&, response& res) { res.text(200, letters(1'000'000)); });
    server.bounds.write_timeout(30s);
    server.start();
    sim::peer stuck(sim_address), sluggish(sim_address);
    stuck.pause_reading();
    sluggish.pause_reading();
    stuck.send(get("/"));
    sluggish.send(get("/"));
    sluggish.after(30s - late, [](sim::peer& self) { self.read_some(30'000); });
    pass(server.on, 30s - late / 2);
    EXPECT_FALSE(stuck.reset_by_other());
    EXPECT_EQ(server.seen.count("limit write_timeout"), 0u);
    pass(server.on, late);
    EXPECT_EQ(server.seen.count("limit write_timeout"), 1u);
    EXPECT_EQ(server.seen.count("closed timed out"), 1u);
    stuck.resume_reading();
    pass(server.on, late);
    EXPECT_TRUE(stuck.reset_by_other());
    EXPECT_FALSE(sluggish.reset_by_other());
    pass(server.on, 30s - 4 * late);
    EXPECT_FALSE(sluggish.reset_by_other());
    pass(server.on, 4 * late);
    EXPECT_EQ(server.seen.count("limit write_timeout"), 2u);
}

TEST(timeouts, write_while_a_handler_runs) {
    sim::simulation world(sim::options().with_send_buffer_bytes(20'000).with_receive_buffer_bytes(20'000));
    sim_server server;
    error why(cancel_reason::none);
    server.app.get("/", [&](request&, response& res) -> task<> {
        res.text(200, letters(1'000'000));
        auto slept = co_await sleep_for(1h);
        if (!slept) why = slept.error();
    });
    server.bounds.write_timeout(30s);
    server.start();
    sim::peer stuck(sim_address);
    stuck.pause_reading();
    stuck.send(get("/"));
    pass(server.on, 30s - late);
    EXPECT_EQ(why.reason(), cancel_reason::none);
    pass(server.on, 2 * late);
    EXPECT_EQ(why.reason(), cancel_reason::peer_gone);
    stuck.resume_reading();
    pass(server.on, late);
    EXPECT_TRUE(stuck.reset_by_other());
    EXPECT_EQ(server.seen.text(), "accepted, head GET /, answer 200, limit write_timeout, end 200, closed timed out");
}

TEST(timeouts, linger) {
    sim::simulation world;
    sim_server server;
    server.bounds.linger_timeout(1s);
    server.start();
    sim::peer talking(sim_address), leaving(sim_address);
    talking.send("no request\r\n\r\n");
    leaving.send("no request\r\n\r\n");
    for (int i = 1; i < 30; ++i) talking.send_after(i * 100ms, "more");
    leaving.after(100ms, [](sim::peer& self) { self.close(); });
    pass(server.on, 1s - late);
    EXPECT_EQ(answers_in(talking.received()).at(0).status, 400);
    EXPECT_TRUE(talking.closed_by_other());
    EXPECT_FALSE(talking.reset_by_other());
    EXPECT_EQ(server.seen.count("closed refused"), 1u);
    pass(server.on, 2 * late);
    EXPECT_EQ(server.seen.count("closed refused"), 2u);
}

TEST(timeouts, drain) {
    sim::simulation world;
    sim_server server;
    error why(cancel_reason::none);
    server.app.get("/", [&](request&, response& res) -> task<> {
        auto slept = co_await sleep_for(1h);
        if (!slept) why = slept.error();
        res.text(200, "nobody hears this");
    });
    server.bounds.drain_timeout(30s);
    server.start();
    sim::peer idle(sim_address), waiting(sim_address), partial(sim_address);
    waiting.send(get("/"));
    partial.send("GET / HTTP/1.1\r\n");
    pass(server.on, 1s);
    server.serving().stop();
    pass(server.on, late);
    EXPECT_TRUE(idle.closed_by_other());
    EXPECT_FALSE(waiting.closed_by_other());
    // The head has its own time, which is over first.
    pass(server.on, 10s);
    EXPECT_EQ(answers_in(partial.received()).at(0).status, 408);
    partial.close();
    pass(server.on, 20s - 3 * late);
    EXPECT_FALSE(waiting.closed_by_other());
    EXPECT_TRUE(server.serving().is_running());
    pass(server.on, 3 * late);
    EXPECT_TRUE(waiting.reset_by_other());
    EXPECT_EQ(why.reason(), cancel_reason::shutting_down);
    EXPECT_FALSE(server.serving().is_running());
}

TEST(timeouts, drain_is_over_as_soon_as_nothing_is_left) {
    sim::simulation world;
    sim_server server;
    server.app.get("/", [](request&, response& res) -> task<> {
        auto slept = co_await sleep_for(2s);
        EXPECT_TRUE(slept.has_value());
        res.text(200, "done");
    });
    server.start();
    sim::peer client(sim_address);
    client.on_change([](sim::peer& self) {
        if (self.closed_by_other()) self.close();
    });
    client.send(get("/"));
    pass(server.on, 1s);
    const time_point begin = server.on.clock();
    server.serving().stop();
    server.on.run(server.serving().stopped());
    EXPECT_EQ(summary(client.received()), "200 done");
    EXPECT_LE(server.on.clock() - begin, 1s + late);
}

TEST(timeouts, what_came_in_time_counts_though_the_loop_was_busy) {
    sim::simulation world;
    sim_server server;
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.app.get("/busy", [&](request&, response& res) {
        world.advance(20s);
        res.text(200, "busy");
    });
    server.bounds.head_timeout(10s).idle_timeout(15s).first_byte_timeout(12s);
    server.start();
    sim::peer fresh(sim_address), partial(sim_address), idle(sim_address), silent(sim_address), busy(sim_address);
    partial.send("GET / HTTP/1.1\r\n");
    idle.send(get("/"));
    busy.send_after(1s, get("/busy"));
    partial.send_after(5s, "Host: a\r\n\r\n");
    idle.send_after(5s, get("/"));
    fresh.send_after(5s, get("/"));
    pass(server.on, 22s);
    EXPECT_EQ(summary(busy.received()), "200 busy");
    EXPECT_EQ(summary(partial.received()), "200 root");
    EXPECT_EQ(summary(idle.received()), "200 root, 200 root");
    EXPECT_EQ(summary(fresh.received()), "200 root");
    EXPECT_TRUE(silent.closed_by_other());
    EXPECT_EQ(silent.received(), "");
}

TEST(timeouts, a_peer_that_is_always_busy_meets_none) {
    sim::simulation world;
    sim_server server;
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.bounds.idle_timeout(2s).head_timeout(1s).first_byte_timeout(1s).slice_requests_max(3);
    server.start();
    // Each piece ends in the middle of a head.
    std::string piece;
    for (int i = 0; i < 20; ++i) piece += get("/");
    piece = piece.substr(30) + piece.substr(0, 30);
    sim::peer client(sim_address);
    client.send(get("/").substr(0, 30));
    for (int i = 1; i <= 100; ++i) client.send_after(i * 200ms, piece);
    pass(server.on, 20s + late);
    EXPECT_EQ(answers_in(client.received()).size(), 2000u);
    EXPECT_FALSE(client.closed_by_other());
    client.close();
    pass(server.on, late);
}

}  // namespace
}  // namespace martlet::server
