// Timeouts of contents and streams, in simulated time: by rate and by progress, never by the length of the whole.
#include <string>
#include <vector>

#include <martlet/server/sim_testing_internal.hpp>

namespace martlet::server {
namespace {

using namespace std::chrono_literals;
using testing::answers_in;
using testing::get;
using testing::letters;
using testing::pass;
using testing::request_text;
using testing::sim_address;
using testing::sim_server;
using testing::summary;

/// Timers are kept in milliseconds, and a wait is rounded up.
constexpr duration late = 5ms;

std::string head_of(std::string_view target, std::size_t length) {
    return request_text("POST", target, "Content-Length: " + std::to_string(length) + "\r\n");
}

void add_routes(router& app) {
    app.get("/", [](request&, response& res) { res.text(200, "root"); });
    app.post("/plain", [](request& req, response& res) { res.text(200, std::to_string(req.content().size())); });
    app.post("/task", [](request& req, response& res) -> task<> {
        auto all = co_await req.read_all();
        res.text(200, std::to_string(all.value().size()));
    });
    app.post("/unread", [](request&, response& res) -> task<> {
        res.text(200, "unread");
        co_return;
    });
}

TEST(content_timeouts, a_rate_below_the_lowest_is_408) {
    for (const std::string_view target : {"/plain", "/task"}) {
        sim::simulation world;
        sim_server server;
        add_routes(server.app);
        server.bounds.body_rate_min(240).body_grace(5s).body_timeout(30s);
        server.start();
        // 120 bytes a second buy half a second each: the grace is used up after ten.
        sim::peer slow(sim_address);
        slow.send(head_of(target, 100'000));
        for (int i = 1; i < 60; ++i) slow.send_after(i * 1s, letters(120));
        pass(server.on, 9s);
        EXPECT_EQ(slow.received(), "");
        pass(server.on, 2s);
        const auto answers = answers_in(slow.received());
        ASSERT_EQ(answers.size(), 1u);
        EXPECT_EQ(answers[0].status, 408) << target;
        EXPECT_TRUE(answers[0].closes());
        EXPECT_FALSE(slow.reset_by_other());
        EXPECT_EQ(server.seen.count("limit body_timeout"), 1u);
        slow.close();
        pass(server.on, 1s);
    }
}

TEST(content_timeouts, slow_but_steady_is_enough) {
    for (const std::string_view target : {"/plain", "/task"}) {
        sim::simulation world;
        sim_server server;
        add_routes(server.app);
        server.bounds.body_rate_min(240).body_grace(5s).body_timeout(30s).idle_timeout(10s).head_timeout(10s);
        server.start();
        sim::peer steady(sim_address);
        steady.send(head_of(target, 300 * 250));
        for (int i = 1; i <= 300; ++i) steady.send_after(i * 1s, letters(250));
        pass(server.on, 299s);
        EXPECT_EQ(steady.received(), "");
        pass(server.on, 2s);
        EXPECT_EQ(summary(steady.received()), "200 75000");
    }
}

TEST(content_timeouts, a_pause_is_bounded_however_fast_it_was_before) {
    for (const std::string_view target : {"/plain", "/task"}) {
        sim::simulation world;
        sim_server server;
        add_routes(server.app);
        server.bounds.body_rate_min(240).body_grace(5s).body_timeout(30s);
        server.start();
        sim::peer stuck(sim_address), back(sim_address);
        stuck.send(head_of(target, 200'000) + letters(100'000));
        back.send(head_of(target, 200'000) + letters(100'000));
        back.send_after(30s - late, letters(100'000));
        pass(server.on, 30s - late / 2);
        EXPECT_EQ(stuck.received(), "");
        EXPECT_EQ(summary(back.received()), "200 200000");
        pass(server.on, 2 * late);
        EXPECT_EQ(answers_in(stuck.received()).at(0).status, 408);
    }
}

TEST(content_timeouts, a_handler_that_takes_its_time_is_not_the_peers_fault) {
    sim::simulation world;
    sim_server server;
    server.app.post("/slow", [](request& req, response& res) -> task<> {
        std::size_t bytes = 0;
        for (;;) {
            auto piece = co_await req.read();
            bytes += piece.value().size();
            if (piece->empty()) break;
            auto slept = co_await sleep_for(40s);
            EXPECT_TRUE(slept.has_value());
        }
        res.text(200, std::to_string(bytes));
    });
    server.bounds.body_timeout(5s).idle_timeout(5s).head_timeout(5s);
    server.start();
    sim::peer client(sim_address);
    client.send(head_of("/slow", 300'000) + letters(300'000));
    pass(server.on, 30min);
    EXPECT_EQ(summary(client.received()), "200 300000");
    client.close();
    pass(server.on, late);
}

TEST(content_timeouts, content_that_nobody_reads_is_waited_for_a_second) {
    sim::simulation world;
    sim_server server;
    add_routes(server.app);
    server.bounds.unread_timeout(1s).linger_timeout(1s);
    server.start();
    sim::peer slow(sim_address), quick(sim_address);
    slow.send(head_of("/unread", 100) + letters(10));
    quick.send(head_of("/unread", 100) + letters(10));
    quick.send_after(1s - 2 * late, letters(90) + get("/"));
    pass(server.on, 1s - late);
    EXPECT_FALSE(slow.closed_by_other());
    EXPECT_EQ(summary(slow.received()), "200 unread");
    pass(server.on, 2 * late);
    EXPECT_EQ(server.seen.count("limit unread_timeout"), 1u);
    EXPECT_TRUE(slow.closed_by_other());
    EXPECT_FALSE(slow.reset_by_other());
    EXPECT_EQ(summary(quick.received()), "200 unread, 200 root");
    EXPECT_FALSE(quick.closed_by_other());
    slow.close();
    quick.close();
    pass(server.on, late);
}

TEST(handler_timeout, cancels_and_is_answered_504) {
    sim::simulation world;
    sim_server server;
    error why(cancel_reason::none);
    server.app.get("/slow", [&](request&, response& res) -> task<> {
        auto slept = co_await sleep_for(1h);
        if (!slept) {
            why = slept.error();
            co_return;
        }
        res.text(200, "slow");
    });
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.bounds.handler_timeout(5s).idle_timeout(2s);
    server.start();
    sim::peer client(sim_address);
    client.send(get("/slow") + get("/"));
    pass(server.on, 5s - late);
    EXPECT_EQ(client.received(), "");
    pass(server.on, 2 * late);
    EXPECT_EQ(why.reason(), cancel_reason::timed_out);
    EXPECT_EQ(summary(client.received()), "504 Gateway Timeout, 200 root");
    EXPECT_FALSE(client.closed_by_other());
    client.close();
    pass(server.on, late);
}

// --- streams ---

void add_stream(router& app, error& ended) {
    app.get("/stream", [&ended](request&, response& res) -> task<> {
        auto body = res.stream(200, http::media::text);
        for (int i = 0; i < 1000; ++i) {
            auto sent = co_await body.send(letters(1000));
            if (!sent) {
                ended = sent.error();
                co_return;
            }
        }
    });
}

TEST(stream_timeouts, a_reader_that_takes_a_little_steadily_is_never_reset) {
    sim::simulation world(sim::options().with_send_buffer_bytes(40'000).with_receive_buffer_bytes(20'000));
    sim_server server;
    error ended(cancel_reason::none);
    add_stream(server.app, ended);
    server.bounds.write_timeout(30s).idle_timeout(5s);
    server.start();
    sim::peer slow(sim_address);
    slow.pause_reading();
    slow.send(get("/stream"));
    // Less in all of the time than the kernel would report as room.
    for (int i = 1; i <= 200; ++i) slow.after(i * 20s, [](sim::peer& self) { self.read_some(500); });
    pass(server.on, 200 * 20s + 1s);
    EXPECT_FALSE(slow.reset_by_other());
    EXPECT_EQ(server.seen.count("limit write_timeout"), 0u);
    EXPECT_EQ(ended.reason(), cancel_reason::none);
    slow.resume_reading();
    pass(server.on, 1s);
    EXPECT_TRUE(slow.received().ends_with("0\r\n\r\n"));
    slow.close();
    pass(server.on, late);
}

TEST(stream_timeouts, a_reader_that_takes_nothing_is_reset) {
    sim::simulation world(sim::options().with_send_buffer_bytes(40'000).with_receive_buffer_bytes(20'000));
    sim_server server;
    error ended(cancel_reason::none);
    add_stream(server.app, ended);
    server.bounds.write_timeout(30s);
    server.start();
    sim::peer stuck(sim_address);
    stuck.pause_reading();
    stuck.send(get("/stream"));
    pass(server.on, 30s - late);
    EXPECT_EQ(ended.reason(), cancel_reason::none);
    pass(server.on, 2 * late);
    EXPECT_EQ(ended.reason(), cancel_reason::peer_gone);
    stuck.resume_reading();
    pass(server.on, late);
    EXPECT_TRUE(stuck.reset_by_other());
    EXPECT_EQ(server.seen.count("limit write_timeout"), 1u);
}

TEST(event_stream, sends_a_comment_when_it_is_quiet) {
    sim::simulation world;
    sim_server server;
    server.app.get("/", [](request& req, response& res) -> task<> {
        auto feed = res.sse();
        auto first = co_await feed.send("post", "one\ntwo\r\nthree", "7");
        auto second = co_await feed.send(req.field("Last-Event-ID").value_or("none"));
        auto bad = co_await feed.send("a\nb", "x");
        auto last = co_await feed.send(sse::event("end").id("8").retry(3s));
        EXPECT_TRUE(first && second && !bad && last);
        auto slept = co_await sleep_for(1h);
        EXPECT_FALSE(slept.has_value());
    });
    server.bounds.event_quiet_time(15s).idle_timeout(2s).drain_timeout(30s);
    server.start();
    sim::peer reader(sim_address);
    reader.send(get("/", "Last-Event-ID: 6\r\n"));
    pass(server.on, 15s - late);
    const std::string events = "event: post\nid: 7\ndata: one\ndata: two\ndata: three\n\n";
    EXPECT_NE(reader.received().find("Content-Type: text/event-stream\r\n"), std::string::npos);
    EXPECT_NE(reader.received().find("Cache-Control: no-cache\r\n"), std::string::npos);
    EXPECT_NE(reader.received().find(events), std::string::npos);
    EXPECT_NE(reader.received().find("data: 6\n\n\r\n"), std::string::npos);
    const std::string last = reader.receive();
    for (const auto* line : {"id: 8\n", "retry: 3000\n", "data: end\n"}) EXPECT_NE(last.find(line), std::string::npos) << line;
    for (int i = 0; i < 3; ++i) {
        pass(server.on, 2 * late);
        EXPECT_EQ(reader.receive(), "3\r\n:\n\n\r\n");
        pass(server.on, 15s - 2 * late);
        EXPECT_EQ(reader.receive(), "");
    }
    // The server stops: the stream is told at once, and ends whole.
    const time_point begin = server.on.clock();
    reader.on_change([](sim::peer& self) {
        if (self.closed_by_other()) self.close();
    });
    server.serving().stop();
    server.on.run(server.serving().stopped());
    EXPECT_LE(server.on.clock() - begin, late);
    EXPECT_EQ(reader.received(), "0\r\n\r\n");
    EXPECT_FALSE(reader.reset_by_other());
}

TEST(drain, with_idle_connections_only_takes_no_time) {
    sim::simulation world;
    sim_server server;
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.start();
    std::vector<sim::peer> idle;
    for (int i = 0; i < 50; ++i) {
        idle.emplace_back(sim_address);
        if (i % 2 == 0) idle.back().send(get("/"));
    }
    pass(server.on, 1s);
    const time_point begin = server.on.clock();
    server.serving().stop();
    server.on.run(server.serving().stopped());
    EXPECT_LE(server.on.clock() - begin, 1ms);
}

TEST(drain, what_is_in_flight_says_close) {
    sim::simulation world;
    sim_server server;
    add_routes(server.app);
    server.app.get("/stream", [](request&, response& res) -> task<> {
        auto slept = co_await sleep_for(2s);
        auto body = res.stream(200, http::media::text);
        auto sent = co_await body.send("whole");
        auto again = co_await sleep_for(2s);
        EXPECT_TRUE(slept && sent && again) << "a stream that has an end is let to it";
    });
    server.start();
    sim::peer uploading(sim_address), streaming(sim_address);
    for (sim::peer* each : {&uploading, &streaming})
        each->on_change([](sim::peer& self) {
            if (self.closed_by_other()) self.close();
        });
    uploading.send(head_of("/plain", 20));
    uploading.send_after(3s, letters(20));
    streaming.send(get("/stream"));
    pass(server.on, 1s);
    server.serving().stop();
    server.on.run(server.serving().stopped());
    const auto answers = answers_in(uploading.received());
    EXPECT_EQ(summary(answers), "200 20");
    EXPECT_TRUE(answers.at(0).closes());
    EXPECT_NE(streaming.received().find("Connection: close\r\n"), std::string::npos);
    EXPECT_TRUE(streaming.received().ends_with("5\r\nwhole\r\n0\r\n\r\n"));
}

TEST(stream_timeouts, a_quiet_stream_meets_no_timeout) {
    sim::simulation world;
    sim_server server;
    server.app.get("/", [](request&, response& res) -> task<> {
        auto body = res.stream(200, http::media::text);
        for (int i = 0; i < 3; ++i) {
            auto sent = co_await body.send("x");
            EXPECT_TRUE(sent.has_value());
            auto slept = co_await sleep_for(1h);
            EXPECT_TRUE(slept.has_value());
        }
    });
    server.bounds.idle_timeout(2s).write_timeout(2s).head_timeout(2s).body_timeout(2s);
    server.start();
    sim::peer client(sim_address);
    client.send(get("/"));
    pass(server.on, 1s);
    EXPECT_TRUE(client.received().ends_with("1\r\nx\r\n"));
    pass(server.on, 3h);
    EXPECT_TRUE(client.received().ends_with("1\r\nx\r\n0\r\n\r\n"));
    EXPECT_FALSE(client.closed_by_other());
    client.close();
    pass(server.on, late);
}

}  // namespace
}  // namespace martlet::server
