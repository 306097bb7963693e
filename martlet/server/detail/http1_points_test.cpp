// What runs around handlers, as a connection calls it: before, on_head, the filter, on_end; and the change to another protocol.
#include <string>
#include <vector>

#include <martlet/net/stream_operations.hpp>
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

/// Doubles each byte.
class doubling final : public body_filter {
public:
    result<void> put(std::string_view content, outq& out) override {
        for (const char c : content) {
            if (!out.append_copy(std::string(2, c))) return failure(error::system(12));
        }
        return {};
    }
    result<void> end(outq& out) override {
        if (!out.append_copy("!")) return failure(error::system(12));
        return {};
    }
};

void add_routes(bench& server, std::string& told) {
    router& app = server.app;
    app.before([](request& req, response& res) {
        static_cast<void>(res.set("X-Before", "yes"));
        if (req.field("X-Stop")) res.text(403, "stopped");
    });
    app.on_head([](request& req, answer_head& head) {
        static_cast<void>(head.replace("X-Head", std::to_string(head.status())));
        if (req.field("X-Hide")) static_cast<void>(head.status(404));
    });
    app.on_end([&told](request& req, const exchange_end& end) {
        told += std::string(req.path()) + " " + std::to_string(end.status()) +
                (end.how() == outcome::answered  ? " answered"
                 : end.how() == outcome::cut_off ? " cut off"
                                                 : " unanswered") +
                " in " + std::to_string(end.bytes_in()) + ", ";
    });
    app.get("/", [](request&, response& res) { res.text(200, "root"); });
    app.post("/echo", [](request& req, response& res) { res.text(200, req.content()); });
    app.get("/task", [](request&, response& res) -> task<> {
        co_await yield();
        res.text(200, "task");
    });
    app.get("/later", [](request&, response& res) {
        auto answer = res.later();
        answer.text(201, "later");
    });
    app.get("/stream", [](request&, response& res) -> task<> {
        auto body = res.stream(200, http::media::text, 4);
        auto sent = co_await body.send("part");
        EXPECT_TRUE(sent.has_value());
    });
    app.get("/cut", [](request&, response& res) -> task<> {
        auto body = res.stream(200, http::media::text, 40);
        auto sent = co_await body.send("part");
        EXPECT_TRUE(sent.has_value());
    });
}

std::string post(std::string_view target, std::string_view content, std::string_view more = {}) {
    return request_text("POST", target, "Content-Length: " + std::to_string(content.size()) + "\r\n" + std::string(more)) +
           std::string(content);
}

TEST(http1_points, run_around_every_form_of_answer) {
    for (const bool hand_over : {false, true}) {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            bench server(loop_options().hand_over(hand_over));
            server.watched = seed % 2 == 0;
            std::string told;
            add_routes(server, told);
            client peer(server, seed == 0 ? unruly_options::tame() : unruly_options(seed));
            const bool later = !hand_over;  // a loop that may go away keeps nothing
            const auto answers =
                answers_in(peer.ask(get("/") + post("/echo", "hello") + get("/task") + (later ? get("/later") : get("/")) + get("/stream") +
                                    get("/missing") + get("/echo") + get("/", "X-Stop: 1\r\n") + get("/task", "X-Stop: 1\r\n") +
                                    post("/echo", letters(1000), "X-Stop: 1\r\n") + get("/", "X-Hide: 1\r\n")));
            const std::string expected =
                std::string("200 root, 200 hello, 200 task, ") + (later ? "201 later" : "200 root") +
                ", 200 part, 404 Not Found, 405 Method Not Allowed, 403 stopped, 403 stopped, 403 stopped, 404 root";
            ASSERT_EQ(summary(answers), expected) << seed;
            for (std::size_t i = 0; i < answers.size(); ++i) {
                // Fields of the handler that has returned are not those of the one that answers later.
                EXPECT_TRUE((later && i == 3) || answers[i].field("X-Before") == "yes") << answers[i].head;
                EXPECT_EQ(answers[i].field("X-Head"), i == 10 ? "200" : std::to_string(answers[i].status));
            }
            EXPECT_EQ(told, std::string("/ 200 answered in 0, /echo 200 answered in 5, /task 200 answered in 0, ") +
                                (later ? "/later 201 answered in 0, " : "/ 200 answered in 0, ") +
                                "/stream 200 answered in 0, /missing 404 answered in 0, /echo 405 answered in 0, / 403 answered in 0, "
                                "/task 403 answered in 0, " +
                                told.substr(told.find("/echo 403")));
            EXPECT_NE(told.find("/ 404 answered in 0"), told.npos);
        }
    }
}

TEST(http1_points, are_told_of_an_answer_that_was_cut_off) {
    kept_log log;
    bench server;
    std::string told;
    add_routes(server, told);
    client peer(server);
    static_cast<void>(peer.ask(get("/cut")));
    EXPECT_EQ(told, "/cut 200 cut off in 0, ");
    client gone(server);
    told.clear();
    EXPECT_EQ(gone.ask(request_text("POST", "/echo", "Content-Length: 5\r\n") + "x"), "");
    gone.reset();
    EXPECT_TRUE(gone.settle());
    EXPECT_EQ(told, "/echo 0 unanswered in 1, ");
}

TEST(http1_points, a_filter_stands_between_content_and_framing) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        bench server;
        auto group = server.app.group("/f");
        group.filter([](request&, answer_head&) -> std::unique_ptr<body_filter> { return std::make_unique<doubling>(); });
        group.get("/text", [](request&, response& res) { res.text(200, "abc"); });
        group.get("/long", [](request&, response& res) { res.text(200, letters(10'000)); });
        group.get("/empty", [](request&, response& res) { res.empty(204); });
        group.get("/stream", [](request&, response& res) -> task<> {
            auto body = res.stream(200, http::media::text, 6);
            auto a = co_await body.send("abc");
            auto b = co_await body.send("def");
            EXPECT_TRUE(a && b);
        });
        server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
        client peer(server, unruly_options(seed));
        const auto answers = answers_in(peer.ask(get("/f/text") + get("/f/long") + get("/f/empty") + get("/")));
        ASSERT_EQ(answers.size(), 4u);
        EXPECT_EQ(answers[0].content, "aabbcc!");
        EXPECT_EQ(answers[1].content.size(), 20'001u);
        EXPECT_EQ(answers[2].status, 204);
        EXPECT_EQ(answers[3].content, "root");
        EXPECT_TRUE(peer.ask(get("/f/stream")).ends_with("6\r\naabbcc\r\n6\r\nddeeff\r\n1\r\n!\r\n0\r\n\r\n"));
    }
}

TEST(http1_points, that_throw_are_a_500_and_nothing_of_the_answer_goes_out) {
    kept_log log;
    bench server;
    auto before = server.app.group("/b"), head = server.app.group("/h");
    before.before([](request&, response&) { throw 1; });
    head.on_head([](request&, answer_head&) { throw 1; });
    const auto secret = [](request&, response& res) { res.text(200, "secret"); };
    const auto secret_task = [](request&, response& res) -> task<> {
        res.text(200, "secret");
        co_return;
    };
    before.get("/plain", secret);
    before.get("/task", secret_task);
    head.get("/plain", secret);
    head.get("/task", secret_task);
    head.get("/stream", [](request&, response& res) -> task<> {
        auto body = res.stream(200, http::media::text);
        auto sent = co_await body.send("secret");
        EXPECT_FALSE(sent.has_value());
    });
    client peer(server);
    for (const char* target : {"/b/plain", "/b/task", "/h/plain", "/h/task", "/h/stream"})
        EXPECT_EQ(summary(peer.ask(get(target))), "500 Internal Server Error") << target;
}

// --- another protocol ---

constexpr const char* asks = "Connection: Upgrade\r\nUpgrade: other/1, shout\r\n";

void add_shout(bench& server, std::string& ended) {
    server.app.get("/shout", [&ended](request&, response& res) -> task<> {
        EXPECT_TRUE(res.set("X-Volume", "11").has_value());
        auto up = co_await res.upgrade("shout");
        net::byte_stream& stream = up.value().stream();
        auto first = co_await net::write(stream, std::string_view("<" + std::string(up->already_read()) + ">"));
        EXPECT_TRUE(first.has_value());
        buffer in(1000);
        for (;;) {
            auto got = co_await net::read(stream, in);
            if (!got || *got == 0) {
                ended = got ? "fin" : got.error().text();
                co_return;
            }
            auto sent = co_await net::write(stream, in.view());
            EXPECT_TRUE(sent.has_value());
            in.clear();
        }
    });
}

TEST(http1_upgrade, gives_the_connection_to_the_handler) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        bench server;
        std::string ended;
        add_shout(server, ended);
        client peer(server, seed == 0 ? unruly_options::tame() : unruly_options(seed));
        std::string heard = peer.ask(get("/shout", asks) + "early");
        const std::size_t end = heard.find("\r\n\r\n");
        ASSERT_NE(end, heard.npos);
        EXPECT_TRUE(heard.starts_with("HTTP/1.1 101 Switching Protocols\r\n"));
        EXPECT_NE(heard.find("\r\nConnection: Upgrade\r\nUpgrade: shout\r\nX-Volume: 11\r\n"), heard.npos) << heard;
        EXPECT_EQ(heard.find("Content-Length"), heard.npos);
        std::string said = heard.substr(end + 4);
        said += peer.ask("hello");
        said += peer.ask(get("/"));
        std::string plain;
        for (const char c : said) {
            if (c != '<' && c != '>') plain += c;
        }
        EXPECT_EQ(plain, "earlyhello" + get("/")) << "what follows is no HTTP";
        peer.finish();
        EXPECT_TRUE(peer.settle());
        EXPECT_EQ(ended, "fin");
        EXPECT_TRUE(peer.is_closed());
        EXPECT_FALSE(peer.saw_reset());
        EXPECT_EQ(server.connections(), 0u);
    }
}

TEST(http1_upgrade, is_refused_to_a_peer_that_did_not_ask) {
    bench server;
    std::string ended;
    add_shout(server, ended);
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    for (const char* fields : {"", "Upgrade: shout\r\n", "Connection: Upgrade\r\nUpgrade: whisper\r\n"}) {
        client peer(server);
        const auto answers = answers_in(peer.ask(get("/") + get("/shout", fields) + get("/")));
        EXPECT_EQ(summary(answers), "200 root, 400 Bad Request") << fields;
        EXPECT_TRUE(answers.at(1).closes());
        EXPECT_TRUE(peer.saw_end());
    }
}

TEST(http1_upgrade, ends_with_the_peer_and_with_the_server) {
    for (const bool stops : {false, true}) {
        bench server;
        std::string ended;
        add_shout(server, ended);
        client peer(server);
        EXPECT_TRUE(peer.ask(get("/shout", asks)).starts_with("HTTP/1.1 101"));
        bool drained = false;
        if (stops) {
            server.work().drain(never, [](void* done) noexcept { *static_cast<bool*>(done) = true; }, &drained);
        } else {
            peer.reset();
        }
        EXPECT_TRUE(peer.settle());
        EXPECT_FALSE(ended.empty());
        EXPECT_EQ(ended == "shutting down", stops) << ended;
        if (stops) {
            EXPECT_TRUE(peer.saw_end());
            peer.finish();
            EXPECT_TRUE(peer.settle());
        }
        EXPECT_EQ(drained, stops);
        EXPECT_EQ(server.connections(), 0u);
    }
}

// No status is 99, so nothing is sent; with no memory left it is the same.
TEST(http1_points, a_refusal_that_cannot_be_given_lets_nobody_pass) {
    const kept_log logged;
    bench server;
    int ran = 0;
    server.app.before([](request& req, response& res) {
        if (req.method() == http::method::get) res.text(99, "stopped");
    });
    server.app.get("/plain", [&](request&, response& res) {
        ++ran;
        res.text(200, "secret");
    });
    server.app.get("/task", [&](request&, response& res) -> task<> {
        ++ran;
        res.text(200, "secret");
        co_return;
    });
    for (const char* path : {"/plain", "/task", "/missing"}) {
        client peer(server);
        peer.send(get(path));
        EXPECT_TRUE(peer.settle());
        EXPECT_TRUE(peer.take().starts_with("HTTP/1.1 500 ")) << path;
    }
    EXPECT_EQ(ran, 0);
}

}  // namespace
}  // namespace martlet::server
