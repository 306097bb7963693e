// Connections over a stream that is as unruly as its contract allows: what is asked and what is answered.
#include <martlet/server/detail/http1_connection.hpp>

#include <string>
#include <utility>
#include <vector>

#include <martlet/rt/event.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/server/detail/testing_internal.hpp>

namespace martlet::server {
namespace {

using namespace std::chrono_literals;
using net::unruly_options;
using testing::answers_in;
using testing::bench;
using testing::client;
using testing::get;
using testing::kept_log;
using testing::letters;
using testing::request_text;
using testing::summary;

void add_routes(bench& server) {
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.app.get("/target", [](request& req, response& res) { res.text(200, req.target()); });
    server.app.get("/medium", [](request&, response& res) { res.text(200, letters(1500)); });
    server.app.get("/long", [](request&, response& res) { res.text(200, letters(6000)); });
    server.app.get("/empty", [](request&, response& res) { res.empty(204); });
    server.app.post("/only-post", [](request&, response& res) { res.json(201, "{}"); });
}

/// A batch of `count` requests of different kinds, and what is to be answered.
struct batch {
    explicit batch(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::string own = "/target?" + std::to_string(i);
            const std::pair<std::string, std::string> kinds[] = {
                {get("/"), "200 root"},
                {get(own, "X-Number: " + std::to_string(i) + "\r\n"), "200 " + own},
                {get("/missing"), "404 Not Found"},
                {request_text("PUT", "/only-post"), "405 Method Not Allowed"},
                {get("/long"), "200 " + letters(40)},
                {get("/empty"), "204 "},
                {"\r\n" + get("/"), "200 root"},
            };
            // So that no two neighbours are of the same size.
            const auto& [bytes, answer] = kinds[(i * 3 + i / 7) % std::size(kinds)];
            asked += bytes;
            expected += (i == 0 ? "" : ", ") + answer;
        }
    }
    std::string asked;
    std::string expected;
};

TEST(http1_pipelining, every_batch_in_one_piece) {
    for (const bool watched : {true, false}) {
        bench server;
        server.watched = watched;
        add_routes(server);
        for (std::size_t count = 1; count <= 20; ++count) {
            const batch all(count);
            client peer(server, unruly_options(count));
            EXPECT_EQ(summary(peer.ask(all.asked)), all.expected);
            EXPECT_FALSE(peer.is_closed());
        }
    }
}

TEST(http1_pipelining, every_batch_at_every_split) {
    bench server;
    server.watched = false;
    add_routes(server);
    for (std::size_t count = 1; count <= 20; ++count) {
        const batch all(count);
        for (std::size_t split = 1; split < all.asked.size(); ++split) {
            client peer(server, unruly_options(split * 31 + count));
            std::string answered = peer.ask(all.asked.substr(0, split));
            answered += peer.ask(all.asked.substr(split));
            ASSERT_EQ(summary(answered), all.expected) << count << " requests, split at " << split;
            peer.finish();
            ASSERT_TRUE(peer.settle());
            ASSERT_TRUE(peer.is_closed());
        }
    }
    EXPECT_EQ(server.connections(), 0u);
}

TEST(http1_pipelining, every_batch_byte_by_byte) {
    bench server;
    add_routes(server);
    for (std::size_t count = 1; count <= 20; ++count) {
        const batch all(count);
        client peer(server, count % 2 == 0 ? unruly_options(count) : unruly_options::tame());
        std::string answered;
        for (const char byte : all.asked) answered += peer.ask(std::string_view(&byte, 1));
        EXPECT_EQ(summary(answered), all.expected);
    }
}

TEST(http1_pipelining, a_spent_slice_lets_others_have_their_turn) {
    bench server;
    std::string order;
    server.app.get("/a", [&order](request&, response& res) {
        order += 'a';
        res.empty(204);
    });
    server.app.get("/b", [&order](request&, response& res) {
        order += 'b';
        res.empty(204);
    });
    server.bounds.slice_requests_max(4);
    client first(server, unruly_options::tame()), second(server, unruly_options::tame());
    std::string a, b;
    for (int i = 0; i < 10; ++i) {
        a += get("/a");
        b += get("/b");
    }
    first.send(a);
    second.send(b);
    EXPECT_EQ(answers_in(first.heard()).size(), 10u);
    EXPECT_EQ(answers_in(second.heard()).size(), 10u);
    EXPECT_EQ(order, "aaaabbbbaaaabbbbaabb");
}

TEST(http1_keep_alive, one_connection_serves_one_request_after_the_other) {
    bench server;
    add_routes(server);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        client peer(server, unruly_options(seed));
        for (int i = 0; i < 30; ++i) {
            const auto answers = answers_in(peer.ask(get("/")));
            ASSERT_EQ(summary(answers), "200 root");
            EXPECT_EQ(answers[0].field("Connection"), "<none>");
        }
    }
}

TEST(http1_keep_alive, an_answer_has_its_fields) {
    bench server;
    add_routes(server);
    client peer(server);
    const auto answers = answers_in(peer.ask(get("/")));
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_TRUE(answers[0].head.starts_with("HTTP/1.1 200 OK\r\n"));
    EXPECT_EQ(answers[0].field("Content-Type"), "text/plain; charset=utf-8");
    EXPECT_EQ(answers[0].field("Content-Length"), "4");
    EXPECT_EQ(answers[0].field("Server"), "martlet");
    EXPECT_EQ(answers[0].field("Date").size(), 29u);
    EXPECT_EQ(answers[0].field("Date").find("1970"), std::string::npos);
}

TEST(http1_keep_alive, version_1_0_is_closed_unless_it_asks_to_stay) {
    bench server;
    add_routes(server);
    client plain(server);
    const auto closed = answers_in(plain.ask("GET / HTTP/1.0\r\n\r\n"));
    ASSERT_EQ(summary(closed), "200 root");
    EXPECT_TRUE(closed[0].closes());
    EXPECT_TRUE(plain.saw_end());
    plain.finish();
    EXPECT_TRUE(plain.settle());
    EXPECT_TRUE(plain.is_closed());
    EXPECT_FALSE(plain.saw_reset());

    client staying(server);
    for (int i = 0; i < 3; ++i) {
        const auto kept = answers_in(staying.ask("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
        ASSERT_EQ(summary(kept), "200 root");
        EXPECT_EQ(kept[0].field("Connection"), "keep-alive");
    }
    EXPECT_FALSE(staying.is_closed());
}

TEST(http1_keep_alive, connection_close_is_obeyed_and_said) {
    for (const bool watched : {true, false}) {
        bench server;
        server.watched = watched;
        add_routes(server);
        client peer(server);
        const auto answers = answers_in(peer.ask(get("/") + get("/target", "Connection: close\r\n")));
        ASSERT_EQ(summary(answers), "200 root, 200 /target");
        EXPECT_FALSE(answers[0].closes());
        EXPECT_TRUE(answers[1].closes());
        EXPECT_TRUE(peer.saw_end());
        peer.finish();
        EXPECT_TRUE(peer.settle());
        EXPECT_FALSE(peer.saw_reset());
        EXPECT_EQ(server.connections(), 0u);
    }
}

TEST(http1_keep_alive, what_follows_connection_close_is_not_answered_and_loses_no_answer) {
    bench server;
    add_routes(server);
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        client peer(server, unruly_options(seed));
        EXPECT_EQ(summary(peer.ask(get("/", "Connection: close\r\n") + get("/target") + get("/"))), "200 root");
        EXPECT_TRUE(peer.saw_end());
        EXPECT_FALSE(peer.saw_reset()) << seed;
        peer.send("still talking");
        EXPECT_TRUE(peer.settle());
        peer.finish();
        EXPECT_TRUE(peer.settle());
        EXPECT_TRUE(peer.is_closed());
        EXPECT_FALSE(peer.saw_reset()) << seed;
    }
}

TEST(http1_keep_alive, the_last_of_requests_max_says_close) {
    for (const bool coroutine : {false, true}) {
        bench server;
        server.bounds.requests_max(3);
        if (coroutine) {
            server.app.get("/", [](request&, response& res) -> task<> {
                res.text(200, "root");
                co_return;
            });
        } else {
            server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
        }
        client peer(server);
        const auto answers = answers_in(peer.ask(get("/") + get("/") + get("/") + get("/")));
        ASSERT_EQ(summary(answers), "200 root, 200 root, 200 root");
        EXPECT_FALSE(answers[1].closes());
        EXPECT_TRUE(answers[2].closes());
        EXPECT_EQ(server.seen.count("limit requests_max"), 1u);
        peer.finish();
        EXPECT_TRUE(peer.settle());
        EXPECT_TRUE(peer.is_closed());
        EXPECT_FALSE(peer.saw_reset());
        EXPECT_EQ(server.seen.count("closed finished"), 1u);
    }
}

TEST(http1_methods, head_is_get_without_content) {
    bench server;
    add_routes(server);
    client peer(server);
    const auto answers = answers_in(peer.ask(request_text("HEAD", "/long") + request_text("HEAD", "/") + get("/") +
                                             request_text("HEAD", "/missing") + request_text("HEAD", "/only-post") + get("/")),
                                    {0, 1, 3, 4});
    ASSERT_EQ(summary(answers), "200 , 200 , 200 root, 404 , 405 , 200 root");
    EXPECT_EQ(answers[0].field("Content-Length"), "6000");
    EXPECT_EQ(answers[1].field("Content-Length"), "4");
    EXPECT_EQ(answers[4].field("Allow"), "POST, OPTIONS");
}

TEST(http1_methods, what_a_path_does_not_know_is_refused_with_what_it_knows) {
    bench server;
    add_routes(server);
    client peer(server);
    const auto answers = answers_in(peer.ask(request_text("POST", "/") + request_text("OPTIONS", "/") + request_text("OPTIONS", "*") +
                                             request_text("OPTIONS", "/missing") + get("/")));
    ASSERT_EQ(summary(answers), "405 Method Not Allowed, 204 , 204 , 404 Not Found, 200 root");
    EXPECT_EQ(answers[0].field("Allow"), "GET, HEAD, OPTIONS");
    EXPECT_EQ(answers[1].field("Allow"), "GET, HEAD, OPTIONS");
    EXPECT_EQ(answers[1].field("Content-Length"), "<none>");
    EXPECT_EQ(answers[2].field("Allow"), "GET, HEAD, OPTIONS");
}

TEST(http1_methods, a_handler_can_end_the_connection) {
    bench server;
    add_routes(server);
    server.app.get("/last", [](request&, response& res) {
        res.end_connection();
        res.text(403, "no more");
    });
    server.app.get("/last/waiting", [](request&, response& res) -> task<> {
        co_await yield();
        res.end_connection();
        auto body = res.stream(200, http::media::text);
        auto sent = co_await body.send("no more");
        EXPECT_TRUE(sent.has_value());
    });
    server.app.get("/too-late", [](request&, response& res) {
        res.text(200, "goes on");
        res.end_connection();
    });
    for (const bool watched : {true, false}) {
        server.watched = watched;
        client peer(server);
        const auto answers = answers_in(peer.ask(get("/too-late") + get("/last") + get("/")));
        ASSERT_EQ(summary(answers), "200 goes on, 403 no more");
        EXPECT_FALSE(answers[0].closes());
        EXPECT_TRUE(answers[1].closes());
        EXPECT_TRUE(peer.saw_end());
        client other(server);
        const std::string heard = other.ask(get("/last/waiting") + get("/"));
        EXPECT_NE(heard.find("Connection: close\r\n"), std::string::npos);
        EXPECT_TRUE(heard.ends_with("7\r\nno more\r\n0\r\n\r\n")) << heard;
        EXPECT_TRUE(other.saw_end());
        server.stop();
    }
}

TEST(http1_methods, what_comes_while_a_last_answer_is_made_does_not_reset_it) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        bench server;
        event go;
        server.app.get("/last", [&go](request&, response& res) -> task<> {
            auto waited = co_await go.wait();
            EXPECT_TRUE(waited.has_value());
            res.end_connection();
            res.text(403, "no more");
        });
        client peer(server, unruly_options(seed));
        EXPECT_EQ(peer.ask(get("/last")), "");
        // Nobody reads it.
        EXPECT_EQ(peer.ask(get("/")), "");
        go.set();
        EXPECT_EQ(summary(peer.heard()), "403 no more") << seed;
        EXPECT_FALSE(peer.saw_reset()) << seed;
    }
}

TEST(http1_methods, what_stands_behind_a_closing_request_does_not_reset_its_answer) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        bench server;
        server.app.get("/waits", [](request&, response& res) -> task<> {
            co_await yield();
            res.text(200, "done");
        });
        client peer(server, unruly_options(seed));
        EXPECT_EQ(summary(peer.ask(get("/waits", "Connection: close\r\n") + get("/") + get("/"))), "200 done") << seed;
        EXPECT_FALSE(peer.saw_reset()) << seed;
    }
}

TEST(http1_methods, one_that_nobody_knows_ends_the_connection) {
    bench server;
    add_routes(server);
    for (const auto* unknown : {"BREW", "get", "M-SEARCH"}) {
        for (const auto* path : {"/", "/missing"}) {
            client peer(server);
            const auto answers = answers_in(peer.ask(get("/") + request_text(unknown, path) + get("/")));
            ASSERT_EQ(summary(answers), "200 root, 501 Not Implemented");
            EXPECT_EQ(answers[1].field("Allow"), "<none>");
            EXPECT_TRUE(answers[1].closes());
        }
    }
}

TEST(http1_methods, a_target_with_a_query_or_an_authority_finds_its_route) {
    bench server;
    server.app.get("/q", [](request& req, response& res) {
        res.text(200, std::string(req.path()) + " " + std::string(req.query()) + " " + std::string(req.host()));
    });
    client peer(server);
    EXPECT_EQ(
        summary(peer.ask("GET /q?a=b?c HTTP/1.1\r\nHost: x.example:81\r\n\r\nGET http://y.example/q HTTP/1.1\r\nHost: y.example\r\n\r\n")),
        "200 /q a=b?c x.example:81, 200 /q  y.example");
}

struct refusal {
    std::string_view bytes;
    int status;
};

TEST(http1_refusals, each_is_answered_with_its_status_and_closed_without_a_reset) {
    const std::string long_line = "GET /" + std::string(9000, 'x') + " HTTP/1.1\r\n";
    const std::string long_field = "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(17'000, 'x') + "\r\n\r\n";
    std::string many_fields = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (int i = 0; i < 100; ++i) many_fields += "X: y\r\n";
    many_fields += "\r\n";
    std::string large_head = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (int i = 0; i < 9; ++i) large_head += "X: " + std::string(4000, 'x') + "\r\n";
    large_head += "\r\n";
    const refusal refusals[] = {
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
        {"GET / HTTP/1.1\nHost: a\n\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\n X: folded\r\n\r\n", 400},
        {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET nothing HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
        {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
        {"GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505},
        {"AVERYLONGMETHODTHATNOBODYHASEVERHEARDOFINALLTHEIRLIFE / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
        {"PUT / HTTP/1.1\r\nHost: a\r\nExpect: the-unexpected\r\n\r\n", 417},
        {long_line, 414},
        {long_field, 431},
        {many_fields, 431},
        {large_head, 431},
        {std::string_view("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15), 400},
    };
    for (const auto& [bytes, status] : refusals) {
        for (std::uint64_t seed = 1; seed <= 8; ++seed) {
            bench server;
            add_routes(server);
            client peer(server, seed == 1 ? unruly_options::tame() : unruly_options(seed));
            peer.send(get("/"));
            peer.send(bytes);
            peer.send(get("/target"));
            const auto answers = answers_in(peer.heard());
            ASSERT_EQ(answers.size(), 2u) << bytes.substr(0, 60);
            EXPECT_EQ(answers[0].content, "root");
            EXPECT_EQ(answers[1].status, status) << bytes.substr(0, 60);
            EXPECT_TRUE(answers[1].closes());
            EXPECT_TRUE(peer.saw_end());
            peer.send(get("/target"));
            EXPECT_EQ(peer.heard(), "");
            peer.finish();
            EXPECT_TRUE(peer.settle());
            EXPECT_TRUE(peer.is_closed());
            EXPECT_FALSE(peer.saw_reset()) << bytes.substr(0, 60);
            EXPECT_EQ(server.seen.count("refused " + std::to_string(status)), 1u);
            EXPECT_EQ(server.seen.count("closed refused"), 1u);
        }
    }
}

// RFC 9110 section 9.3.2
TEST(http1_refusals, of_a_request_for_a_head_have_no_content) {
    const std::string_view refused[] = {
        "HEAD / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "\r\nHEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        "HEAD * HTTP/1.1\r\nHost: a\r\n\r\n",
        "HEAD / HTTP/2.0\r\nHost: a\r\n\r\n",
    };
    for (const std::string_view bytes : refused) {
        for (const bool split : {false, true}) {
            bench server;
            add_routes(server);
            client peer(server);
            const std::size_t first = split ? 9 : 0;
            EXPECT_EQ(peer.ask(bytes.substr(0, first)), "");
            const auto answers = answers_in(peer.ask(bytes.substr(first)), {0});
            ASSERT_EQ(answers.size(), 1u) << bytes;
            EXPECT_GE(answers[0].status, 400);
            EXPECT_EQ(answers[0].content, "");
            EXPECT_TRUE(peer.saw_end());
        }
    }
}

TEST(http1_refusals, limits_are_those_of_the_server) {
    bench server;
    add_routes(server);
    server.bounds.request_line_bytes_max(40).fields_max(3).field_bytes_max(60).head_bytes_max(150);
    const auto status_of = [&](std::string_view bytes) {
        client peer(server);
        const auto answers = answers_in(peer.ask(bytes));
        return answers.size() == 1 ? answers[0].status : 0;
    };
    EXPECT_EQ(status_of("GET /target?" + std::string(19, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
    EXPECT_EQ(status_of("GET /target?" + std::string(20, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n"), 414);
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nC: d\r\n\r\n"), 200);
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nC: d\r\nE: f\r\n\r\n"), 431);
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(57, 'x') + "\r\n\r\n"), 200);
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(58, 'x') + "\r\n\r\n"), 431);
    EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(50, 'x') + "\r\nY: " + std::string(60, 'y') + "\r\n\r\n"), 431);
}

TEST(http1_refusals, the_peer_that_goes_on_sending_is_cut_off_in_the_end) {
    bench server;
    add_routes(server);
    server.bounds.linger_bytes_max(10'000);
    client peer(server, unruly_options::tame());
    EXPECT_EQ(answers_in(peer.ask("no request\r\n\r\n")).size(), 1u);
    peer.send(letters(9000));
    EXPECT_TRUE(peer.settle());
    EXPECT_FALSE(peer.is_closed());
    peer.send(letters(2000));
    EXPECT_TRUE(peer.settle());
    EXPECT_TRUE(peer.is_closed());
}

}  // namespace
}  // namespace martlet::server
