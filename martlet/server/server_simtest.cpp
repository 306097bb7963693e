// The whole server, from accept to drain, over the simulated kernel: with chosen faults, and with a fault at every step.
#include <cerrno>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <martlet/rt/event.hpp>
#include <martlet/rt/sim/at_every_step.hpp>
#include <martlet/rt/within.hpp>
#include <martlet/server/sim_testing_internal.hpp>

namespace martlet::server {
namespace {

using namespace std::chrono_literals;
using sim::call_kind;
using sim::step_source;
using testing::get;
using testing::letters;
using testing::pass;
using testing::sim_address;
using testing::sim_server;

void add_routes(router& app, std::list<later_response>& waiting) {
    app.get("/", [](request&, response& res) { res.text(200, "root"); });
    app.get("/long", [](request&, response& res) { res.text(200, letters(40'000)); });
    app.get("/task", [](request&, response& res) -> task<> {
        auto slept = co_await sleep_for(3ms);
        if (!slept) co_await yield();
        res.text(200, "task");
    });
    app.get("/later", [&](request&, response& res) { waiting.push_back(res.later()); });
}

std::string expected_content(std::string_view target) {
    if (target == "/") return "root";
    if (target == "/long") return letters(40'000);
    if (target == "/missing") return "Not Found";
    return std::string(target.substr(1));
}

/// Answers what waits for an answer, every now and then.
void answer_waiting(std::list<later_response>& waiting) {
    while (!waiting.empty()) {
        waiting.front().text(200, "later");
        waiting.pop_front();
    }
}

// An HTTP/1.0 peer learns only from the connection's end that the content is over.
TEST(server_faults, a_content_without_length_that_the_system_cuts_short_does_not_look_whole) {
    for (const int code : {ENOBUFS, ENOMEM}) {
        sim::simulation world;
        sim_server server;
        server.app.get("/", [](request&, response& res) -> task<> {
            auto body = res.stream(200, http::media::text);
            for (int i = 0; i < 3; ++i) {
                auto sent = co_await body.send("piece");
                sent.value();
                auto slept = co_await sleep_for(1ms);
                slept.value();
            }
        });
        server.start();
        int sends = 0;
        world.on_call([&](const sim::call_facts& facts) {
            if (facts.kind == call_kind::send && ++sends == 2) world.fail_call(1, code);
        });
        sim::peer client(sim_address);
        client.send("GET / HTTP/1.0\r\n\r\n");
        pass(server.on, 50ms);
        EXPECT_TRUE(client.received().ends_with("\r\n\r\npiece"));
        EXPECT_TRUE(client.reset_by_other());
        world.on_call(nullptr);
    }
}

// A process that was stopped wakes with EINTR, its timers due, and what came meanwhile not told.
TEST(server_faults, what_came_while_the_process_was_stopped_came_in_time) {
    sim::simulation world;
    sim_server server;
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.bounds.head_timeout(10s).idle_timeout(10s);
    server.start();
    sim::peer partial(sim_address), idle(sim_address);
    partial.send("GET / HTTP/1.1\r\n");
    idle.send(get("/"));
    partial.send_after(5s, "Host: a\r\n\r\n");
    idle.send_after(5s, get("/"));
    pass(server.on, 1s);
    bool was_stopped = false;
    world.on_call([&](const sim::call_facts& facts) {
        if (facts.kind != call_kind::epoll_wait || std::exchange(was_stopped, true)) return;
        world.advance(1min);
        world.fail_call(1, EINTR);
    });
    pass(server.on, 1s);
    world.on_call(nullptr);
    EXPECT_EQ(testing::summary(partial.received()), "200 root");
    EXPECT_EQ(testing::summary(idle.received()), "200 root, 200 root");
}

// More than one wait can tell.
TEST(server_faults, what_came_to_many_while_the_loop_was_busy_came_in_time) {
    constexpr int count = 700;
    sim::simulation world;
    sim_server server;
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.app.get("/busy", [&](request&, response& res) {
        world.advance(1min);
        res.text(200, "busy");
    });
    server.start();
    std::vector<sim::peer> peers;
    for (int i = 0; i < count; ++i) {
        peers.emplace_back(sim_address).send("GET / HTTP/1.1\r\n");
        peers.back().send_after(5s, "Host: a\r\n\r\n");
    }
    sim::peer busy(sim_address);
    busy.send_after(1s, get("/busy"));
    pass(server.on, 3s);
    // They are many, and have their turns few at a time.
    pass(server.on, 10ms);
    for (const sim::peer& each : peers) ASSERT_EQ(testing::summary(each.received()), "200 root");
}

// It asked to go on, and may be sending its next request while the server has to close behind the first.
TEST(server_faults, a_late_request_does_not_reset_a_content_without_length) {
    sim::simulation world;
    sim_server server;
    server.app.get("/", [](request&, response& res) -> task<> {
        auto body = res.stream(200, http::media::text);
        auto sent = co_await body.send("whole");
        auto slept = co_await sleep_for(10ms);
        EXPECT_TRUE(sent && slept);
    });
    server.start();
    sim::peer client(sim_address);
    const std::string asks = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    client.send(asks);
    client.send_after(5ms, asks);
    pass(server.on, 50ms);
    EXPECT_TRUE(client.received().ends_with("\r\n\r\nwhole"));
    EXPECT_TRUE(client.closed_by_other());
    EXPECT_FALSE(client.reset_by_other());
}

// On a loop that may be taken, what was answered goes out before the next handler runs.
TEST(server_faults, a_request_that_a_failed_write_keeps_from_its_handler_has_an_end) {
    sim::simulation world;
    loop on(loop_options().hand_over(true));
    router app;
    app.get("/", [](request&, response& res) { res.text(200, "root"); });
    testing::recorder seen;
    http_server serving(app, options(sim_address).watch(seen));
    ASSERT_TRUE(serving.start_on(on).has_value());
    world.on_call([&](const sim::call_facts& facts) {
        if (facts.kind == call_kind::send) world.fail_call(1, ECONNRESET);
    });
    sim::peer client(sim_address);
    client.send(get("/") + get("/"));
    pass(on, 50ms);
    EXPECT_EQ(seen.text(), "accepted, head GET /, answer 200, end 200, head GET /, end 0, closed peer vanished");
    world.on_call(nullptr);
    serving.stop();
    pass(on, 50ms);
}

// The kernel tells of room late, so the timeout looks for itself; and what it finds may be enough for all that waits.
TEST(server_faults, output_that_the_timeout_finds_room_for_is_written_once) {
    sim::simulation world(sim::options().with_send_buffer_bytes(20'000).with_receive_buffer_bytes(20'000));
    sim_server server;
    server.app.get("/", [](request&, response& res) { res.text(200, letters(45'000)); });
    server.app.get("/short", [](request&, response& res) { res.text(200, "short"); });
    server.bounds.write_timeout(30s).flush_bytes(10'000);
    server.start();
    sim::peer slow(sim_address);
    slow.pause_reading();
    slow.send(get("/") + get("/short"));
    pass(server.on, 1s);
    slow.read_some(6000);
    pass(server.on, 30s);
    EXPECT_EQ(server.seen.count("limit write_timeout"), 0u);
    slow.resume_reading();
    pass(server.on, 1s);
    EXPECT_TRUE(slow.received().ends_with("\r\n\r\nshort"));
}

// It has lost its stream, its handler still runs, and what came behind the request stays where it is until then.
TEST(server_faults, what_gave_way_once_is_not_asked_to_give_way_again) {
    sim::simulation world;
    sim_server server;
    event over;
    server.app.get("/", [&](request&, response& res) -> task<> {
        res.text(200, letters(1'000'000));
        auto waited = co_await shield(over.wait());
        static_cast<void>(waited);
    });
    server.app.get("/short", [](request&, response& res) { res.text(200, "short"); });
    server.bounds.buffered_bytes_max(900'000);
    server.start();
    for (std::size_t i = 1; i <= 3; ++i) {
        sim::peer stuck(sim_address);
        stuck.pause_reading();
        stuck.send(get("/") + get("/"));
        pass(server.on, 10ms);
        EXPECT_EQ(server.seen.count("limit buffered_bytes_max"), i);
        EXPECT_EQ(server.seen.count("closed over limit"), 0u);
    }
    sim::peer late(sim_address);
    late.send(get("/short"));
    pass(server.on, 10ms);
    EXPECT_TRUE(late.received().ends_with("\r\n\r\nshort"));
    over.set();
    pass(server.on, 10ms);
    EXPECT_EQ(server.seen.count("closed over limit"), 3u);
}

// --- a fault at every step ---

/// One request for `target` through everything there is, and the end of the server. A cancelled play stops the server at that point.
void one_request(step_source& steps, std::string_view target, std::string_view more, loop_options how = loop_options()) {
    std::list<later_response> waiting;
    router app;
    add_routes(app, waiting);
    loop on(how);
    http_server serving(app, options(sim_address).bounds(limits().drain_timeout(1s)));
    const auto started = serving.start_on(on);
    if (!started) {
        EXPECT_FALSE(steps.is_faultless()) << serving.what();
        return;
    }
    steps.on_cancel([&] { serving.stop(); });
    std::unique_ptr<sim::peer> first, second;
    const auto ask = [&](std::unique_ptr<sim::peer>& from) {
        const sim::allocation_pause pause;
        from = std::make_unique<sim::peer>(sim_address);
        from->send(get(target, more));
    };
    const auto passes = [&](duration length) {
        pass(on, length);
        answer_waiting(waiting);
        pass(on, 20ms);
    };
    ask(first);
    passes(300ms);
    const bool hit = steps.was_hit();
    ask(second);
    passes(300ms);
    steps.on_cancel(nullptr);
    {
        const sim::allocation_pause pause;
        const std::string wanted = "\r\n\r\n" + expected_content(target);
        if (!hit) {
            EXPECT_TRUE(first->received().ends_with(wanted)) << first->received().substr(0, 400);
        }
        // One fault does not keep the server from serving the next.
        if (steps.kind() != sim::fault::cancellation && (hit || steps.is_faultless())) {
            EXPECT_TRUE(second->received().ends_with(wanted)) << second->received().substr(0, 400);
        }
    }
    for (int i = 0; i < 100 && serving.is_running(); ++i) {
        serving.stop();
        pass(on, 2s);
    }
    EXPECT_FALSE(serving.is_running());
    EXPECT_EQ(serving.counts().connections_open(), 0u);
}

sim::step_options slow_network() { return sim::step_options(sim::options(5).with_latency(1ms, 2ms).with_send_buffer_bytes(20'000)); }

TEST(server_at_every_step, a_plain_handler) {
    sim::at_every_step("plain", [](step_source& steps) { one_request(steps, "/", ""); }, slow_network());
}

TEST(server_at_every_step, a_coroutine_handler) {
    sim::at_every_step("coroutine", [](step_source& steps) { one_request(steps, "/task", ""); }, slow_network());
}

TEST(server_at_every_step, an_answer_given_later) {
    sim::at_every_step("later", [](step_source& steps) { one_request(steps, "/later", ""); }, slow_network());
}

TEST(server_at_every_step, a_long_answer_in_a_rough_network) {
    sim::at_every_step(
        "long", [](step_source& steps) { one_request(steps, "/long", ""); },
        sim::step_options(sim::options::rough(11).with_send_buffer_bytes(9000)));
}

TEST(server_at_every_step, a_plain_handler_on_a_loop_that_may_be_taken) {
    sim::at_every_step(
        "hand-over", [](step_source& steps) { one_request(steps, "/", "", loop_options().hand_over(true)); }, slow_network());
}

TEST(server_at_every_step, an_answer_without_a_handler) {
    sim::at_every_step("missing", [](step_source& steps) { one_request(steps, "/missing", "Connection: close\r\n"); }, slow_network());
}

}  // namespace
}  // namespace martlet::server
