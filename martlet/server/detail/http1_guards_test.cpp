// Guards of a connection: what comes behind a last answer, 100 (Continue), answers without content, and ends inside a content.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/base/outq.hpp>
#include <martlet/rt/event.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/within.hpp>
#include <martlet/server/detail/testing_internal.hpp>

namespace martlet::server {
namespace {

using net::unruly_options;
using testing::answers_in;
using testing::bench;
using testing::client;
using testing::get;
using testing::kept_log;
using testing::letters;
using testing::request_text;
using testing::summary;

std::size_t count(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
}

constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";

// --- last answers ---

void add_ends(bench& server) {
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.app.post("/plain", [](request&, response& res) { res.text(200, "plain"); });
    server.app.post("/unread", [](request&, response& res) -> task<> {
        res.text(200, "unread");
        co_return;
    });
    server.app.get("/upgrade", [](request&, response& res) -> task<> {
        auto up = co_await res.upgrade("shout");
        static_cast<void>(up.value());
    });
}

// Each says that it is the last, and what its peer sent before it knew does not reset it.
TEST(http1_last_answer, is_not_lost_to_what_comes_behind_it) {
    struct row {
        std::string sent;
        int status;
    };
    const row rows[] = {
        {request_text("BREW", "/"), 501},
        {"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", 405},
        {request_text("POST", "/plain", "Content-Length: 2000\r\n"), 413},
        {request_text("POST", "/plain", "Transfer-Encoding: chunked\r\n") + "7d0\r\n", 413},
        {request_text("POST", "/plain", "Transfer-Encoding: chunked\r\n") + "x\r\n", 400},
        {request_text("POST", "/unread", "Content-Length: 900\r\n"), 200},
        {request_text("POST", "/missing", "Content-Length: 900\r\n"), 404},
        {request_text("POST", "/unread", "Content-Length: 9\r\nExpect: 100-continue\r\n"), 200},
        {request_text("POST", "/unread", "Content-Length: 9\r\nConnection: close\r\n"), 200},
        {request_text("POST", "/unread", "Transfer-Encoding: chunked\r\nConnection: close\r\n"), 200},
        {get("/upgrade"), 400},
        {"no request\r\n\r\n", 400},
    };
    for (const bool watched : {true, false}) {
        for (const row& each : rows) {
            bench server;
            server.watched = watched;
            server.bounds.body_bytes_max(1000).unread_bytes_max(100);
            add_ends(server);
            client peer(server, unruly_options::tame());
            const auto answers = answers_in(peer.ask(each.sent));
            ASSERT_EQ(answers.size(), 1u) << each.sent;
            EXPECT_EQ(answers[0].status, each.status) << each.sent;
            EXPECT_TRUE(answers[0].closes()) << each.sent;
            EXPECT_TRUE(peer.saw_end()) << each.sent;
            EXPECT_EQ(peer.ask(get("/") + get("/")), "") << each.sent;
            EXPECT_FALSE(peer.saw_reset()) << each.sent;
            peer.finish();
            EXPECT_TRUE(peer.settle());
            EXPECT_TRUE(peer.is_closed()) << each.sent;
        }
    }
}

TEST(http1_last_answer, of_requests_max_is_not_lost) {
    bench server;
    server.bounds.requests_max(1);
    add_ends(server);
    client peer(server, unruly_options::tame());
    const auto answers = answers_in(peer.ask(get("/")));
    ASSERT_EQ(summary(answers), "200 root");
    EXPECT_TRUE(answers[0].closes());
    EXPECT_EQ(peer.ask(get("/")), "");
    EXPECT_FALSE(peer.saw_reset());
}

TEST(http1_last_answer, of_a_connection_too_many_is_not_lost) {
    bench server;
    server.bounds.connections_max(1).refusals_per_second_max(1);
    add_ends(server);
    client first(server, unruly_options::tame()), second(server, unruly_options::tame());
    const auto answers = answers_in(second.ask(get("/")));
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].status, 503);
    EXPECT_EQ(second.ask(get("/")), "");
    EXPECT_FALSE(second.saw_reset());
}

TEST(http1_last_answer, under_pressure_is_not_lost) {
    constexpr std::size_t budget = 4 * 1024 * 1024;
    for (const std::size_t held : {budget * 3 / 4, budget}) {
        bench server;
        server.bounds.buffered_bytes_max(budget);
        add_ends(server);
        client peer(server, unruly_options::tame());
        server.work().held.add(held);
        const auto answers = answers_in(peer.ask(held == budget ? get("/") : request_text("POST", "/plain", "Content-Length: 9\r\n")));
        ASSERT_EQ(answers.size(), 1u);
        EXPECT_EQ(answers[0].status, 503);
        EXPECT_TRUE(answers[0].closes());
        EXPECT_EQ(peer.ask(get("/")), "");
        EXPECT_FALSE(peer.saw_reset());
        server.work().held.remove(held);
    }
}

// What has begun gives way, and its peer, which is still sending, learns of it.
TEST(http1_last_answer, of_what_gives_way_is_not_lost) {
    constexpr std::size_t budget = 4 * 1024 * 1024;
    for (const std::string& sent :
         {request_text("POST", "/plain", "Content-Length: 900\r\n") + "begun", std::string("GET / HTTP/1.1\r\nHo")}) {
        bench server;
        server.bounds.buffered_bytes_max(budget);
        add_ends(server);
        client peer(server, unruly_options::tame());
        EXPECT_EQ(peer.ask(sent), "");
        server.work().held.add(budget * 3 / 4);
        server.work().relieve_later();
        const auto answers = answers_in(peer.heard());
        ASSERT_EQ(answers.size(), 1u);
        EXPECT_EQ(answers[0].status, 503);
        EXPECT_TRUE(answers[0].closes());
        EXPECT_EQ(peer.ask(get("/")), "");
        EXPECT_FALSE(peer.saw_reset());
        server.work().held.remove(budget * 3 / 4);
    }
}

TEST(http1_last_answer, behind_a_fin_with_bytes_before_it_is_not_lost) {
    bench server;
    event go;
    server.app.get(
        "/",
        [&go](request&, response& res) -> task<> {
            auto waited = co_await go.wait();
            EXPECT_TRUE(waited.has_value());
            res.text(200, "last");
        },
        route_options().keeps_running_after_fin());
    client peer(server, unruly_options::tame());
    EXPECT_EQ(peer.ask(get("/", "Connection: close\r\n")), "");
    peer.send(get("/"));
    peer.finish();
    EXPECT_TRUE(peer.settle());
    go.set();
    EXPECT_EQ(summary(peer.heard()), "200 last");
    EXPECT_FALSE(peer.saw_reset());
    EXPECT_TRUE(peer.is_closed());
}

TEST(http1_last_answer, given_later_inside_a_content_is_not_lost) {
    for (const std::string_view fields : {"Content-Length: 9\r\n", "Transfer-Encoding: chunked\r\n"}) {
        bench server;
        event go;
        server.app.post("/", [&go](request&, response& res) -> task<> {
            auto waited = co_await go.wait();
            EXPECT_TRUE(waited.has_value());
            res.text(200, "did not read");
        });
        client peer(server, unruly_options::tame());
        EXPECT_EQ(peer.ask(request_text("POST", "/", "Connection: close\r\n" + std::string(fields))), "");
        go.set();
        EXPECT_EQ(summary(peer.heard()), "200 did not read");
        EXPECT_EQ(peer.ask("5\r\nhello"), "");
        EXPECT_FALSE(peer.saw_reset());
    }
}

// --- 100 (Continue) ---

TEST(http1_guards, who_has_begun_to_send_is_not_told_to_go_on) {
    bench server;
    server.app.post("/plain", [](request& req, response& res) { res.text(200, req.content()); });
    server.app.post("/pulls", [](request& req, response& res) -> task<> {
        auto all = co_await req.read_all();
        res.text(200, all.value());
    });
    for (const std::string_view target : {"/plain", "/pulls"}) {
        client peer(server, unruly_options::tame());
        EXPECT_EQ(peer.ask(request_text("POST", target, "Content-Length: 5\r\nExpect: 100-continue\r\n") + "he"), "") << target;
        EXPECT_EQ(summary(peer.ask("llo")), "200 hello") << target;
    }
}

TEST(http1_guards, a_peer_is_told_once_to_go_on) {
    bench server;
    server.app.post("/", [](request& req, response& res) -> task<> {
        std::string all;
        for (;;) {
            auto piece = co_await req.read();
            if (piece.value().empty()) break;
            all += *piece;
        }
        res.text(200, all);
    });
    client peer(server, unruly_options::tame());
    EXPECT_EQ(peer.ask(request_text("POST", "/", "Content-Length: 5\r\nExpect: 100-continue\r\n")), go_on);
    EXPECT_EQ(peer.ask("he"), "");
    EXPECT_EQ(summary(peer.ask("llo")), "200 hello");
}

TEST(http1_guards, nobody_is_told_to_go_on_behind_an_answer) {
    bench server;
    std::string content;
    server.app.post("/", [&content](request& req, response& res) -> task<> {
        res.text(200, "answered");
        auto all = co_await req.read_all();
        content = all.value_or("failed");
    });
    client peer(server, unruly_options::tame());
    const std::string heard = peer.ask(request_text("POST", "/", "Content-Length: 5\r\nExpect: 100-continue\r\n"));
    EXPECT_EQ(count(heard, "100 Continue"), 0u);
    EXPECT_EQ(summary(heard), "200 answered");
    EXPECT_EQ(peer.ask("hello"), "");
    EXPECT_EQ(content, "hello");
}

// --- answers without content ---

TEST(http1_guards, where_there_can_be_no_content_none_is_sent) {
    for (const bool watched : {true, false}) {
        for (const int status : {200, 204, 304}) {
            bench server;
            server.watched = watched;
            server.app.get("/short", [status](request&, response& res) { res.text(status, "neither long nor empty"); });
            server.app.get("/long", [status](request&, response& res) { res.text(status, letters(3000)); });
            server.app.get("/slice", [status](request&, response& res) { res.text(status, letters(10'000)); });
            server.app.get("/fields", [status](request&, response& res) {
                EXPECT_TRUE(res.set("X-Own", "1").has_value());
                res.text(status, "neither long nor empty");
            });
            server.app.get("/stream", [status](request&, response& res) -> task<> {
                auto body = res.stream(status, http::media::text);
                auto sent = co_await body.send("content");
                EXPECT_TRUE(sent.has_value());
            });
            server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
            for (const std::string_view target : {"/short", "/long", "/slice", "/fields", "/stream"}) {
                client peer(server, unruly_options::tame());
                // Twice: what is remembered of the first answer serves the second.
                const std::string asked = request_text("HEAD", target);
                const auto answers = answers_in(peer.ask(asked + asked + get("/")), {0, 1});
                ASSERT_EQ(answers.size(), 3u) << target << status;
                EXPECT_EQ(answers[0].status, status);
                EXPECT_EQ(answers[2].content, "root") << target << status;
                if (status == 200) continue;
                const auto to_get = answers_in(peer.ask(get(target) + get(target) + get("/")));
                ASSERT_EQ(to_get.size(), 3u) << target << status;
                EXPECT_EQ(to_get[1].status, status);
                EXPECT_EQ(to_get[1].field("Transfer-Encoding"), "<none>") << target;
                EXPECT_TRUE(status != 204 || to_get[1].field("Content-Length") == "<none>") << target;
                EXPECT_EQ(to_get[2].content, "root") << target << status;
            }
        }
    }
}

TEST(http1_guards, an_answer_has_a_final_status) {
    for (const bool watched : {true, false}) {
        kept_log log;
        bench server;
        server.watched = watched;
        server.app.get("/", [](request&, response& res) {
            for (const int status : {0, 99, 100, 103, 199, 600}) {
                const auto sent = res.try_respond(status, http::media::text, "interim");
                EXPECT_FALSE(sent.has_value()) << status;
                res.text(status, "interim, and longer");
                EXPECT_FALSE(res.is_answered()) << status;
            }
            res.text(200, "final");
        });
        client peer(server, unruly_options::tame());
        EXPECT_EQ(summary(peer.ask(get("/"))), "200 final");
    }
}

TEST(http1_guards, an_empty_piece_is_no_end_of_a_stream) {
    bench server;
    server.app.get("/", [](request&, response& res) -> task<> {
        auto body = res.stream(200, http::media::text);
        auto none = co_await body.send("");
        auto no_file = co_await body.send(file_range(file_owner(), 0, 0));
        auto sent = co_await body.send("whole");
        EXPECT_TRUE(none && no_file && sent);
    });
    client peer(server, unruly_options::tame());
    EXPECT_TRUE(peer.ask(get("/")).ends_with("\r\n\r\n5\r\nwhole\r\n0\r\n\r\n"));
}

// --- ends inside a content ---

TEST(http1_guards, a_fin_inside_a_content_has_cancelled_its_handler_when_that_learns_of_it) {
    for (const bool keeps : {false, true}) {
        bench server;
        bool failed = false, cancelled = false;
        server.app.post(
            "/",
            [&](request& req, response& res) -> task<> {
                auto all = co_await req.read_all();
                failed = !all;
                cancelled = req.work()->is_cancelled();
                res.text(400, "cut short");
            },
            route_options().keeps_running_after_fin(keeps));
        client peer(server, unruly_options::tame());
        EXPECT_EQ(peer.ask(request_text("POST", "/", "Content-Length: 5\r\n") + "he"), "");
        peer.finish();
        EXPECT_EQ(summary(peer.heard()), "400 cut short");
        EXPECT_TRUE(failed);
        EXPECT_EQ(cancelled, !keeps);
    }
}

// A shield keeps cancellation away, and what it shields ends nevertheless.
TEST(http1_guards, a_reset_ends_a_shielded_read_too) {
    bench server;
    bool ended = false;
    server.app.post("/", [&](request& req, response&) -> task<> {
        auto all = co_await shield(req.read_all());
        ended = !all;
    });
    client peer(server, unruly_options::tame());
    EXPECT_EQ(peer.ask(request_text("POST", "/", "Content-Length: 5\r\n") + "he"), "");
    peer.reset();
    EXPECT_TRUE(peer.settle());
    EXPECT_TRUE(ended);
    EXPECT_EQ(server.connections(), 0u);
}

TEST(http1_guards, a_reset_ends_a_shielded_write_too) {
    bench server;
    server.bounds.stream_queued_bytes_max(1'000'000);
    bool ended = false;
    server.app.get("/", [&](request&, response& res) -> task<> {
        auto body = res.stream(200, http::media::text);
        auto first = co_await body.send(letters(100'000));
        EXPECT_TRUE(first.has_value());
        auto all = co_await shield(body.flush());
        ended = !all;
    });
    client peer(server, unruly_options::tame().capacity_bytes(10'000));
    peer.send(get("/"));
    EXPECT_TRUE(peer.settle());
    EXPECT_FALSE(ended);
    peer.reset();
    EXPECT_TRUE(peer.settle());
    EXPECT_TRUE(ended);
    EXPECT_EQ(server.connections(), 0u);
}

TEST(http1_guards, what_a_peer_that_has_gone_did_not_take_is_not_held) {
    bench server;
    event go;
    server.app.get("/", [&go](request&, response& res) -> task<> {
        res.text(200, letters(200'000));
        auto waited = co_await shield(go.wait());
        EXPECT_TRUE(waited.has_value());
    });
    client peer(server, unruly_options::tame().capacity_bytes(10'000));
    peer.send(get("/"));
    EXPECT_TRUE(peer.settle());
    EXPECT_GT(server.work().held.held(), 100'000u);
    peer.reset();
    EXPECT_TRUE(peer.settle());
    EXPECT_EQ(server.connections(), 1u) << "its handler still runs";
    EXPECT_EQ(server.work().held.held(), 0u);
    go.set();
    EXPECT_TRUE(peer.settle());
    EXPECT_EQ(server.connections(), 0u);
}

// --- upgrade ---

constexpr std::string_view asks = "Connection: Upgrade\r\nUpgrade: shout\r\n";

TEST(http1_guards, there_is_no_upgrade_inside_a_content) {
    bench server;
    server.app.get("/", [](request&, response& res) -> task<> {
        auto up = co_await res.upgrade("shout");
        res.text(up ? 200 : 400, "refused");
    });
    client peer(server, unruly_options::tame());
    const auto answers = answers_in(peer.ask(get("/", std::string(asks).append("Content-Length: 5\r\n"))));
    EXPECT_EQ(summary(answers), "400 refused");
    EXPECT_TRUE(answers.at(0).closes());
}

TEST(http1_guards, after_an_upgrade_a_fin_is_the_handlers_affair) {
    bench server;
    event go;
    bool cancelled = true;
    server.app.get("/", [&](request& req, response& res) -> task<> {
        auto up = co_await res.upgrade("shout");
        EXPECT_TRUE(up.has_value());
        auto waited = co_await go.wait();
        EXPECT_TRUE(waited.has_value());
        cancelled = req.work()->is_cancelled();
    });
    client peer(server, unruly_options::tame());
    EXPECT_TRUE(peer.ask(get("/", asks)).starts_with("HTTP/1.1 101 "));
    peer.finish();
    EXPECT_TRUE(peer.settle());
    go.set();
    EXPECT_TRUE(peer.settle());
    EXPECT_FALSE(cancelled);
    EXPECT_TRUE(peer.is_closed());
}

// --- pressure ---

constexpr std::size_t budget = 4 * 1024 * 1024;

TEST(http1_guards, a_content_gives_way_before_a_head) {
    bench server;
    server.bounds.buffered_bytes_max(budget);
    add_ends(server);
    client head(server, unruly_options::tame()), content(server, unruly_options::tame());
    EXPECT_EQ(head.ask(get("/").substr(0, 20)), "");
    EXPECT_EQ(content.ask(request_text("POST", "/plain", "Content-Length: 900000\r\n")), "");
    server.work().held.add(budget * 3 / 4 - 200'000);
    EXPECT_EQ(summary(content.ask(letters(400'000))), "503 Service Unavailable");
    EXPECT_EQ(summary(head.ask(get("/").substr(20))), "200 root");
    server.work().held.remove(budget * 3 / 4 - 200'000);
}

TEST(http1_guards, what_is_behind_a_last_answer_is_not_held) {
    bench server;
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    client peer(server, unruly_options::tame());
    EXPECT_EQ(summary(peer.ask(get("/", "Connection: close\r\n") + letters(20'000))), "200 root");
    EXPECT_FALSE(peer.is_closed()) << "it waits for the peer's end";
    EXPECT_EQ(server.work().held.held(), 0u);
}

TEST(http1_guards, requests_that_wait_for_their_turn_do_not_give_way) {
    bench server;
    server.bounds.buffered_bytes_max(budget).slice_requests_max(1).flush_bytes(1);
    bool under_pressure = false;
    server.app.get("/", [&](request&, response& res) {
        if (!under_pressure) {
            under_pressure = true;
            server.work().held.add(budget * 3 / 4);
            server.work().relieve_later();
        }
        res.text(200, "root");
    });
    client peer(server, unruly_options::tame());
    // More than have their turn at once.
    constexpr std::size_t count = 3 * loop::background_budget;
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += get("/");
    const auto answers = answers_in(peer.ask(all));
    EXPECT_EQ(answers.size(), count);
    for (const auto& each : answers) EXPECT_EQ(each.status, 200);
    server.work().held.remove(budget * 3 / 4);
}

}  // namespace
}  // namespace martlet::server
