// The lifetime table: in each state of a connection, what a FIN and a reset of the peer bring about.
#include <string>
#include <vector>

#include <martlet/rt/event.hpp>
#include <martlet/server/detail/testing_internal.hpp>

namespace martlet::server {
namespace {

using net::unruly_options;
using testing::bench;
using testing::client;
using testing::get;
using testing::letters;
using testing::request_text;

/// What handlers saw.
struct seen {
    error why{cancel_reason::none};
    bool ran = false;
};

void add_routes(bench& server, seen& of, event& never_set, std::vector<later_response>& waiting) {
    server.app.post("/plain", [&of](request&, response& res) {
        of.ran = true;
        res.text(200, "plain");
    });
    server.app.post("/pulls", [&of](request& req, response& res) -> task<> {
        of.ran = true;
        auto all = co_await req.read_all();
        of.why = all ? of.why : all.error();
        res.text(all ? 200 : 400, "pulled");
    });
    server.app.get("/waits", [&](request&, response& res) -> task<> {
        of.ran = true;
        auto waited = co_await never_set.wait();
        of.why = waited.error();
        res.text(200, "waited");
    });
    server.app.get("/later", [&](request&, response& res) {
        of.ran = true;
        waiting.push_back(res.later());
    });
    server.app.get("/streams", [&](request&, response& res) -> task<> {
        of.ran = true;
        auto body = res.stream(200, http::media::text);
        auto sent = co_await body.send("part");
        auto waited = co_await never_set.wait();
        of.why = waited.error();
        EXPECT_TRUE(sent.has_value());
    });
    server.app.get("/floods", [&](request&, response& res) -> task<> {
        of.ran = true;
        auto body = res.stream(200, http::media::text);
        for (;;) {
            auto sent = co_await body.send(letters(1000));
            if (sent) continue;
            of.why = sent.error();
            co_return;
        }
    });
    server.app.get("/long", [&of](request&, response& res) {
        of.ran = true;
        res.text(200, letters(20'000));
    });
}

struct row {
    const char* name;
    std::string sent;
    // After a FIN: what comes (a part of it, or nothing), whether the handler is cancelled, how the connection ends.
    const char* answer;
    bool cancelled;
    const char* closed;
    // Whether its handler has run by then.
    bool ran;
};

std::vector<row> rows() {
    return {
        {"idle", "", "", false, "peer closed", false},
        {"head", "GET / HT", "", false, "peer vanished", false},
        {"body", request_text("POST", "/plain", "Content-Length: 9\r\n") + "half", "HTTP/1.1 400 ", false, "peer vanished", false},
        {"chunks", request_text("POST", "/plain", "Transfer-Encoding: chunked\r\n") + "4\r\nhalf\r\n", "HTTP/1.1 400 ", false,
         "peer vanished", false},
        {"pulled body", request_text("POST", "/pulls", "Content-Length: 9\r\n") + "half", "pulled", true, "finished", true},
        {"handler", get("/waits"), "waited", true, "peer closed", true},
        {"handler that answers later", get("/later"), "HTTP/1.1 500 ", true, "peer closed", true},
        {"stream", get("/streams"), "part\r\n", true, "failed", true},
        {"writing", get("/long"), "HTTP/1.1 200 ", false, "peer closed", true},
        {"writing a stream", get("/floods"), "HTTP/1.1 200 ", true, "failed", true},
    };
}

TEST(lifetime_table, fin_in_each_state) {
    for (const row& each : rows()) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            testing::kept_log log;
            bench server;
            seen of;
            event never_set;
            std::vector<later_response> waiting;
            add_routes(server, of, never_set, waiting);
            client peer(server, unruly_options(seed).capacity_bytes(10'000));
            peer.send(each.sent);
            EXPECT_TRUE(peer.settle());
            EXPECT_EQ(of.ran, each.ran) << each.name;
            EXPECT_EQ(server.connections(), 1u) << each.name;
            peer.finish();
            EXPECT_TRUE(peer.settle());
            if (!waiting.empty()) {
                EXPECT_TRUE(waiting[0].is_cancelled());
                of.why = waiting[0].work()->why();
                waiting.clear();
            }
            const std::string heard = peer.heard();
            EXPECT_NE(heard.find(each.answer), heard.npos) << each.name << ": " << heard.substr(0, 300);
            EXPECT_EQ(heard.empty(), *each.answer == '\0') << each.name;
            EXPECT_EQ(of.why.is_peer(), each.cancelled) << each.name << of.why.text();
            EXPECT_EQ(server.connections(), 0u) << each.name;
            EXPECT_EQ(server.seen.count("closed " + std::string(each.closed)), 1u) << each.name << ": " << server.seen.text();
            EXPECT_FALSE(peer.saw_reset()) << each.name;
            EXPECT_EQ(server.on.frames_live(), 0u);
        }
    }
}

TEST(lifetime_table, rst_in_each_state) {
    for (const row& each : rows()) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            testing::kept_log log;
            bench server;
            seen of;
            event never_set;
            std::vector<later_response> waiting;
            add_routes(server, of, never_set, waiting);
            client peer(server, unruly_options(seed).capacity_bytes(10'000));
            peer.send(each.sent);
            EXPECT_TRUE(peer.settle());
            peer.reset();
            EXPECT_TRUE(peer.settle());
            if (!waiting.empty()) {
                EXPECT_TRUE(waiting[0].is_cancelled());
                of.why = waiting[0].work()->why();
                waiting.clear();
                EXPECT_TRUE(peer.settle());
            }
            EXPECT_EQ(of.why.is_peer(), each.cancelled) << each.name << of.why.text();
            EXPECT_EQ(server.connections(), 0u) << each.name;
            EXPECT_EQ(server.seen.count("closed peer vanished"), 1u) << each.name << ": " << server.seen.text();
            EXPECT_EQ(server.on.frames_live(), 0u);
        }
    }
}

TEST(slices, are_as_long_whether_or_not_somebody_watches) {
    for (const bool watched : {true, false}) {
        bench server;
        server.watched = watched;
        server.bounds.slice_requests_max(3);
        std::string order;
        server.app.get("/a", [&](request&, response& res) {
            order += 'a';
            res.text(200, "0123456789");
        });
        server.app.get("/b", [&](request&, response& res) {
            order += 'b';
            res.text(200, "0123456789");
        });
        client a(server, unruly_options::tame()), b(server, unruly_options::tame());
        std::string many;
        for (int i = 0; i < 7; ++i) many += get("/a");
        a.send(many);
        b.send(get("/b"));
        EXPECT_TRUE(a.settle());
        EXPECT_EQ(order, "aaabaaaa") << watched;
    }
}

TEST(hand_over, what_was_answered_does_not_wait_for_a_call_that_blocks) {
    bench server(loop_options().hand_over(true));
    const client* asking = nullptr;
    std::string arrived;
    server.app.get("/first", [](request&, response& res) { res.text(200, "first"); });
    server.app.get("/blocks", [&](request&, response& res) {
        arrived = asking->arrived();
        res.text(200, "second");
    });
    client peer(server, unruly_options::tame());
    asking = &peer;
    peer.send(get("/first") + get("/blocks"));
    EXPECT_TRUE(peer.settle());
    EXPECT_TRUE(arrived.ends_with("first")) << arrived;
    EXPECT_EQ(testing::summary(peer.take()), "200 first, 200 second");
}

TEST(hand_over, no_memory_is_held_for_output_while_a_call_blocks) {
    bench server(loop_options().hand_over(true));
    auto& blocks = static_cast<pooled_blocks&>(server.on.blocks());
    std::size_t held = 99;
    server.app.get("/blocks", [&](request&, response& res) {
        held = blocks.blocks_used();
        res.text(200, "blocked");
    });
    // Enough at hand for some to be left when the loop has given part of them back.
    std::vector<char*> taken;
    for (int i = 0; i < 100; ++i) taken.push_back(blocks.allocate_small());
    for (char* block : taken) blocks.free_small(block);
    client peer(server, unruly_options::tame());
    EXPECT_EQ(testing::summary(peer.ask(get("/blocks"))), "200 blocked");
    EXPECT_EQ(held, 0u);
    EXPECT_EQ(blocks.blocks_used(), 0u);
}

TEST(lifetime_table, a_connection_too_many_is_told) {
    bench server;
    server.bounds.connections_max(1).refusals_per_second_max(1);
    client first(server), second(server);
    const auto answers = testing::answers_in(second.heard());
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].status, 503);
    second.finish();
    EXPECT_TRUE(second.settle());
    EXPECT_TRUE(second.is_closed());
    EXPECT_EQ(server.seen.count("closed over limit"), 1u) << server.seen.text();
    // As often in a second as it may be told.
    client third(server);
    EXPECT_TRUE(third.is_closed());
    EXPECT_EQ(server.seen.count("closed over limit"), 2u) << server.seen.text();
}

}  // namespace
}  // namespace martlet::server
