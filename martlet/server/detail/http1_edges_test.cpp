// The limits of a connection to the byte: exactly a limit is let pass, one more is not.
#include <string>
#include <string_view>

#include <martlet/server/detail/testing_internal.hpp>

namespace martlet::server {
namespace {

using net::unruly_options;
using testing::answers_in;
using testing::bench;
using testing::client;
using testing::get;
using testing::letters;
using testing::request_text;
using testing::summary;

TEST(http1_edges, head_bytes_max) {
    bench server;
    server.bounds.head_bytes_max(150);
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    const std::string one = "X: " + std::string(40, 'x') + "\r\n";
    const std::size_t left = 150 - get("/", one + "Y: \r\n").size();
    for (const std::size_t more : {0, 1}) {
        client peer(server, unruly_options::tame());
        const auto answers = answers_in(peer.ask(get("/", one + "Y: " + std::string(left + more, 'y') + "\r\n")));
        ASSERT_EQ(answers.size(), 1u);
        EXPECT_EQ(answers[0].status, more != 0 ? 431 : 200);
    }
}

TEST(http1_edges, linger_bytes_max) {
    for (const std::size_t more : {0, 1}) {
        bench server;
        server.bounds.linger_bytes_max(100);
        client peer(server, unruly_options::tame());
        EXPECT_EQ(answers_in(peer.ask("no request\r\n\r\n")).size(), 1u);
        peer.send(letters(60));
        EXPECT_TRUE(peer.settle());
        peer.send(letters(40 + more));
        EXPECT_TRUE(peer.settle());
        EXPECT_EQ(peer.is_closed(), more != 0);
    }
}

// An answer that a handler gives without its content.
void add_unread(bench& server) {
    server.bounds.unread_bytes_max(100);
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.app.post("/unread", [](request&, response& res) -> task<> {
        res.text(200, "unread");
        co_return;
    });
}

TEST(http1_edges, unread_bytes_max_of_a_length) {
    for (const std::size_t more : {0, 1}) {
        bench server;
        add_unread(server);
        client peer(server, unruly_options::tame());
        const auto answers =
            answers_in(peer.ask(request_text("POST", "/unread", "Content-Length: " + std::to_string(100 + more) + "\r\n")));
        ASSERT_EQ(summary(answers), "200 unread");
        EXPECT_EQ(answers[0].closes(), more != 0);
        EXPECT_EQ(peer.saw_end(), more != 0);
        EXPECT_EQ(summary(peer.ask(letters(100 + more) + get("/"))), more != 0 ? "" : "200 root");
    }
}

TEST(http1_edges, unread_bytes_max_of_a_length_counts_what_is_to_come) {
    for (const std::size_t more : {0, 1}) {
        bench server;
        add_unread(server);
        client peer(server, unruly_options::tame());
        const std::string head = request_text("POST", "/unread", "Content-Length: " + std::to_string(120 + more) + "\r\n");
        const auto answers = answers_in(peer.ask(head + letters(20)));
        ASSERT_EQ(summary(answers), "200 unread");
        EXPECT_EQ(answers[0].closes(), more != 0);
    }
}

TEST(http1_edges, unread_bytes_max_of_chunks) {
    for (const bool one_more : {false, true}) {
        bench server;
        add_unread(server);
        client peer(server, unruly_options::tame());
        const auto answers = answers_in(peer.ask(request_text("POST", "/unread", "Transfer-Encoding: chunked\r\n")));
        ASSERT_EQ(summary(answers), "200 unread");
        EXPECT_FALSE(answers[0].closes());
        EXPECT_EQ(peer.ask("32\r\n" + letters(50) + "\r\n"), "");
        EXPECT_FALSE(peer.saw_end());
        const std::string last = one_more ? "33\r\n" + letters(51) : "32\r\n" + letters(50);
        EXPECT_EQ(summary(peer.ask(last + "\r\n0\r\n\r\n" + get("/"))), one_more ? "" : "200 root");
        EXPECT_EQ(peer.saw_end(), one_more);
    }
}

TEST(http1_edges, flush_bytes) {
    const auto add_routes = [](bench& server, client*& peer, std::size_t& arrived) {
        server.app.get("/", [](request&, response& res) { res.text(200, "some text"); });
        server.app.get("/look", [&peer, &arrived](request&, response& res) {
            arrived = peer->arrived().size();
            res.text(200, "looked");
        });
    };
    for (const bool watched : {true, false}) {
        std::size_t size = 0, arrived = 0;
        client* asking = nullptr;
        {
            bench server;
            server.watched = watched;
            add_routes(server, asking, arrived);
            client peer(server, unruly_options::tame());
            size = peer.ask(get("/")).size();
        }
        for (const std::size_t more : {0, 1}) {
            bench server;
            server.watched = watched;
            server.bounds.flush_bytes(size + more);
            add_routes(server, asking, arrived);
            client peer(server, unruly_options::tame());
            asking = &peer;
            EXPECT_EQ(summary(peer.ask(get("/") + get("/look"))), "200 some text, 200 looked");
            EXPECT_EQ(arrived, more != 0 ? 0 : size) << "what fills flush_bytes is written at once";
        }
    }
}

TEST(http1_edges, stream_queued_bytes_max) {
    const auto add_route = [](bench& server, client*& peer, std::size_t bytes, std::size_t& arrived) {
        server.app.get("/", [&peer, &arrived, bytes](request&, response& res) -> task<> {
            auto body = res.stream(200, http::media::bytes, std::uint64_t{1000});
            auto sent = co_await body.send(letters(bytes));
            EXPECT_TRUE(sent.has_value());
            // What waits lets the loop write meanwhile.
            arrived = peer->arrived().size();
            auto rest = co_await body.send(letters(1000 - bytes));
            EXPECT_TRUE(rest.has_value());
        });
    };
    std::size_t arrived = 0, head = 0;
    client* asking = nullptr;
    {
        bench server;
        add_route(server, asking, 1000, arrived);
        client peer(server, unruly_options::tame());
        asking = &peer;
        head = peer.ask(get("/")).size() - 1000;
    }
    for (const std::size_t more : {0, 1}) {
        bench server;
        server.bounds.stream_queued_bytes_max(head + 100);
        add_route(server, asking, 100 + more, arrived);
        client peer(server, unruly_options::tame());
        asking = &peer;
        EXPECT_EQ(peer.ask(get("/")).size(), head + 1000);
        EXPECT_EQ(arrived, more != 0 ? head + 101 : 0) << "at its mark a stream does not wait, above it does";
    }
}

TEST(http1_edges, a_slice_of_none_has_one_request) {
    for (const bool watched : {true, false}) {
        bench server;
        server.watched = watched;
        server.bounds.slice_requests_max(0);
        std::string order;
        for (const char name : {'a', 'b'}) {
            server.app.get(std::string("/") + name, [&order, name](request&, response& res) {
                order += name;
                res.text(200, "0123456789");
            });
        }
        client first(server, unruly_options::tame()), second(server, unruly_options::tame());
        first.send(get("/a") + get("/a") + get("/a"));
        second.send(get("/b") + get("/b") + get("/b"));
        EXPECT_TRUE(first.settle());
        EXPECT_EQ(order, "ababab");
    }
}

TEST(http1_edges, requests_max) {
    for (const bool watched : {true, false}) {
        for (const bool at_once : {true, false}) {
            bench server;
            server.watched = watched;
            server.bounds.requests_max(3);
            server.app.get("/", [](request&, response& res) { res.text(200, "a text of some length"); });
            client peer(server, unruly_options::tame());
            std::string heard;
            if (at_once) {
                heard = peer.ask(get("/") + get("/") + get("/") + get("/"));
            } else {
                for (int i = 0; i < 4; ++i) heard += peer.ask(get("/"));
            }
            const auto answers = answers_in(heard);
            ASSERT_EQ(answers.size(), 3u);
            for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(answers[i].closes(), i == 2) << i;
        }
    }
}

}  // namespace
}  // namespace martlet::server
