// Requests with content: collected for plain handlers, refused, dropped; and what is pipelined behind it.
#include <string>
#include <string_view>
#include <vector>

#include <martlet/rt/event.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/within.hpp>
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

constexpr std::uint64_t seeds = 30;

std::string with_length(std::string_view target, std::string_view content, std::string_view more = {}) {
    return request_text("POST", target, "Content-Length: " + std::to_string(content.size()) + "\r\n" + std::string(more)) +
           std::string(content);
}
std::string hex(std::size_t number) {
    char text[20];
    const int size = std::snprintf(text, sizeof text, "%zx", number);
    return {text, static_cast<std::size_t>(size)};
}
/// In chunks of `piece` bytes.
std::string chunked(std::string_view target, std::string_view content, std::size_t piece, std::string_view trailers = {},
                    std::string_view more = {}) {
    std::string all = request_text("POST", target, "Transfer-Encoding: chunked\r\n" + std::string(more));
    for (std::size_t at = 0; at < content.size(); at += piece) {
        const std::string_view part = content.substr(at, piece);
        all += hex(part.size()) + "\r\n" + std::string(part) + "\r\n";
    }
    return all + "0\r\n" + std::string(trailers) + "\r\n";
}

void add_routes(bench& server) {
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.app.post("/echo", [](request& req, response& res) { res.bytes(200, http::media::bytes, req.content()); });
    server.app.post("/size", [](request& req, response& res) {
        res.text(200, std::to_string(req.content().size()) + " " + std::to_string(req.content_length().value_or(99)) +
                          (req.has_content() ? " some" : " none") + std::string(req.trailer("x-sum").value_or(" no trailer")));
    });
    server.app.post("/later", [](request& req, response& res) {
        auto answer = res.later();
        answer.text(201, "later " + std::string(req.content()));
    });
    server.app.post("/task", [](request&, response& res) -> task<> {
        co_await yield();
        res.text(200, "did not read");
    });
    server.app.get("/echo", [](request& req, response& res) { res.text(200, "got " + std::string(req.content())); });
}

std::string all_but(std::string_view end, std::string bytes) {
    EXPECT_TRUE(bytes.ends_with(end));
    bytes.resize(bytes.size() - end.size());
    return bytes;
}

/// Requests that are all answered on one connection, and what comes back.
struct talk {
    std::string bytes;
    std::string answers;
};
std::vector<talk> talks() {
    return {
        {with_length("/echo", "hello") + get("/"), "200 hello, 200 root"},
        {with_length("/echo", "") + get("/"), "200 , 200 root"},
        {chunked("/echo", "hello", 5) + get("/"), "200 hello, 200 root"},
        {chunked("/echo", "hello, hello", 1) + get("/"), "200 hello, hello, 200 root"},
        {chunked("/echo", "", 1) + with_length("/echo", "x"), "200 , 200 x"},
        {with_length("/size", "12345"), "200 5 5 some no trailer"},
        {chunked("/size", "12345", 3, "X-Sum: 42\r\n"), "200 5 99 some42"},
        {request_text("POST", "/size"), "200 0 99 none no trailer"},
        {with_length("/later", "abc") + chunked("/later", "def", 2) + get("/"), "201 later abc, 201 later def, 200 root"},
        {with_length("/missing", "hello") + get("/"), "404 Not Found, 200 root"},
        {chunked("/missing", "hello", 2) + get("/"), "404 Not Found, 200 root"},
        {with_length("/", "hello") + get("/"), "405 Method Not Allowed, 200 root"},
        {request_text("GET", "/echo", "Content-Length: 3\r\n") + "abc" + get("/"), "200 got abc, 200 root"},
        {with_length("/task", "hello") + get("/"), "200 did not read, 200 root"},
        {chunked("/task", "hello", 2) + get("/"), "200 did not read, 200 root"},
        {get("/") + with_length("/echo", letters(40)) + get("/"), "200 root, 200 " + letters(40) + ", 200 root"},
    };
}

TEST(http1_content, whole_in_one_piece) {
    for (const auto& [bytes, answers] : talks()) {
        for (const bool watched : {true, false}) {
            for (std::uint64_t seed = 0; seed < seeds; ++seed) {
                bench server;
                server.watched = watched;
                add_routes(server);
                client peer(server, seed == 0 ? unruly_options::tame() : unruly_options(seed));
                EXPECT_EQ(summary(peer.ask(bytes)), answers) << bytes << seed;
                EXPECT_FALSE(peer.is_closed());
            }
        }
    }
}

TEST(http1_content, at_every_split) {
    for (const auto& [bytes, answers] : talks()) {
        for (std::size_t at = 1; at < bytes.size(); ++at) {
            bench server;
            server.watched = at % 2 == 0;
            add_routes(server);
            client peer(server, at % 3 == 0 ? unruly_options::tame() : unruly_options(at));
            std::string heard = peer.ask(bytes.substr(0, at));
            heard += peer.ask(bytes.substr(at));
            EXPECT_EQ(summary(heard), answers) << bytes << at;
            EXPECT_FALSE(peer.is_closed());
        }
    }
}

TEST(http1_content, byte_by_byte) {
    for (const auto& [bytes, answers] : talks()) {
        bench server;
        add_routes(server);
        client peer(server);
        std::string heard;
        for (const char c : bytes) heard += peer.ask(std::string(1, c));
        EXPECT_EQ(summary(heard), answers) << bytes;
        EXPECT_FALSE(peer.is_closed());
    }
}

TEST(http1_content, large_ones_are_whole) {
    const std::string content = letters(1024 * 1024);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        for (const std::string& bytes :
             {with_length("/echo", content), chunked("/echo", content, 1000), chunked("/echo", content, 70'000)}) {
            bench server;
            add_routes(server);
            client peer(server, (seed == 0 ? unruly_options::tame() : unruly_options(seed)).capacity_bytes(1 << 21));
            const auto answers = answers_in(peer.ask(bytes + get("/")));
            ASSERT_EQ(answers.size(), 2u);
            EXPECT_EQ(answers[0].content, content);
            EXPECT_EQ(answers[1].content, "root");
        }
    }
}

TEST(http1_content, more_than_the_limit_is_413_before_anything_else) {
    int ran = 0;
    const auto routes = [&](bench& server) {
        server.bounds.body_bytes_max(100);
        server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
        server.app.post("/plain", [&](request&, response& res) {
            ++ran;
            res.empty(204);
        });
        server.app.post("/task", [&](request&, response& res) -> task<> {
            ++ran;
            res.empty(204);
            co_return;
        });
    };
    for (const std::string_view path : {"/plain", "/task"}) {
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            bench server;
            routes(server);
            client peer(server, unruly_options(seed));
            // It goes on sending before it reads.
            const auto answers = answers_in(peer.ask(get("/") + with_length(path, letters(101)) + get("/")));
            ASSERT_EQ(summary(answers), "200 root, 413 Content Too Large");
            EXPECT_TRUE(answers[1].closes());
            EXPECT_EQ(server.seen.count("limit body_bytes_max"), 1u);
            peer.finish();
            EXPECT_TRUE(peer.settle());
            EXPECT_TRUE(peer.is_closed());
            EXPECT_FALSE(peer.saw_reset());
            EXPECT_EQ(ran, 0);
        }
    }
    // In chunks it shows on the way, and exactly the limit passes.
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        bench server;
        routes(server);
        client good(server, unruly_options(seed)), bad(server, unruly_options(seed));
        EXPECT_EQ(answers_in(good.ask(chunked("/plain", letters(100), 7) + with_length("/plain", letters(100)))).size(), 2u);
        const int before = ran;
        const auto answers = answers_in(bad.ask(chunked("/plain", letters(101), 7) + get("/")));
        EXPECT_EQ(summary(answers), "413 Content Too Large");
        EXPECT_TRUE(answers.at(0).closes());
        EXPECT_EQ(ran, before);
        bad.finish();
        EXPECT_TRUE(bad.settle());
        EXPECT_FALSE(bad.saw_reset());
    }
}

TEST(http1_content, bad_chunks_are_refused) {
    for (const std::string_view body :
         {"x\r\n", "5\r\nhelloX\r\n", "0x5\r\nhello\r\n0\r\n\r\n", "-1\r\n", "5\nhello\r\n0\r\n\r\n", ";\r\n"}) {
        for (const std::string_view path : {"/echo", "/missing"}) {
            for (std::uint64_t seed = 1; seed <= 10; ++seed) {
                bench server;
                add_routes(server);
                client peer(server, unruly_options(seed));
                const auto answers = answers_in(
                    peer.ask(get("/") + request_text("POST", path, "Transfer-Encoding: chunked\r\n") + std::string(body) + get("/")));
                ASSERT_EQ(answers.size(), 2u) << body;
                EXPECT_EQ(answers[1].status, path == "/echo" ? 400 : 404) << body;
                EXPECT_TRUE(peer.saw_end());
                peer.finish();
                EXPECT_TRUE(peer.settle());
                EXPECT_TRUE(peer.is_closed());
            }
        }
    }
}

// --- Expect: 100-continue ---

TEST(http1_continue, is_sent_to_a_peer_that_waits_and_to_no_other) {
    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        bench server;
        add_routes(server);
        client peer(server, unruly_options(seed));
        const std::string head = request_text("POST", "/echo", "Content-Length: 5\r\nExpect: 100-continue\r\n");
        EXPECT_EQ(peer.ask(head), go_on);
        EXPECT_EQ(summary(peer.ask("hello")), "200 hello");
        // Chunks as well; and who sends at once gets no 100.
        EXPECT_EQ(peer.ask(request_text("POST", "/echo", "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n")), go_on);
        EXPECT_EQ(summary(peer.ask("1\r\nx\r\n0\r\n\r\n")), "200 x");
        if (seed == 1) {
            client tame(server, unruly_options::tame());
            EXPECT_EQ(summary(tame.ask(head + "hello")), "200 hello");
        }
    }
}

TEST(http1_continue, a_final_answer_in_its_place_closes) {
    for (const std::string_view target : {"/missing", "/task", "/too-large"}) {
        bench server;
        server.bounds.body_bytes_max(1000);
        add_routes(server);
        server.app.post("/too-large", [](request&, response& res) { res.text(200, "large"); });
        client peer(server);
        const std::string length = target == "/too-large" ? "2000" : "5";
        const auto answers =
            answers_in(peer.ask(request_text("POST", target, "Content-Length: " + length + "\r\nExpect: 100-continue\r\n")));
        ASSERT_EQ(answers.size(), 1u) << target;
        EXPECT_TRUE(answers[0].closes()) << target;
        EXPECT_TRUE(peer.saw_end());
    }
}

// --- content that nobody reads ---

TEST(http1_unread, a_little_is_dropped_and_more_closes) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        bench server;
        add_routes(server);
        client little(server, unruly_options(seed).capacity_bytes(1 << 20)), much(server, unruly_options(seed).capacity_bytes(1 << 20)),
            chunks(server, unruly_options(seed).capacity_bytes(1 << 20));
        const std::string most = letters(64 * 1024);
        EXPECT_EQ(summary(little.ask(with_length("/missing", most) + with_length("/task", most) + get("/"))),
                  "404 Not Found, 200 did not read, 200 root");
        // As much as is there when the answer comes: a peer that sends on for long is cut off.
        const auto refused = answers_in(much.ask(with_length("/task", letters(1'000'000)).substr(0, 50'000)));
        EXPECT_EQ(summary(refused), "200 did not read");
        EXPECT_TRUE(refused.at(0).closes());
        EXPECT_TRUE(much.saw_end());
        EXPECT_FALSE(much.saw_reset());
        // Chunks do not tell before.
        const auto cut = answers_in(chunks.ask(chunked("/task", letters(200'000), 1000).substr(0, 110'000)));
        EXPECT_EQ(summary(cut), "200 did not read");
        EXPECT_TRUE(chunks.saw_end());
    }
}

// --- what a route says ---

TEST(http1_route_options, limit_or_ignore_the_content) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        bench server;
        server.bounds.body_bytes_max(10);
        const auto size = [](request& req, response& res) { res.text(200, std::to_string(req.content().size())); };
        server.app.post("/more", size, route_options().body_bytes_max(20'000));
        server.app.post("/less", size, route_options().body_bytes_max(5));
        server.app.post("/ignores", size, route_options().ignores_body());
        server.app.post(
            "/pulls",
            [](request& req, response& res) -> task<> {
                auto all = co_await req.read_all();
                res.text(200, std::to_string(all.value().size()));
            },
            route_options().body_bytes_max(20'000));
        client peer(server, unruly_options(seed)), less(server, unruly_options(seed)), waiting(server);
        EXPECT_EQ(summary(peer.ask(with_length("/more", letters(20'000)) + chunked("/more", letters(20'000), 999) +
                                   with_length("/pulls", letters(20'000)) + with_length("/ignores", letters(20'000)) +
                                   chunked("/ignores", letters(20'000), 999) + with_length("/less", "12345"))),
                  "200 20000, 200 20000, 200 20000, 200 0, 200 0, 200 5");
        EXPECT_EQ(summary(less.ask(with_length("/less", "123456"))), "413 Content Too Large");
        // Who does not read asks for nothing.
        const auto answers = answers_in(waiting.ask(request_text("POST", "/ignores", "Content-Length: 5\r\nExpect: 100-continue\r\n")));
        EXPECT_EQ(summary(answers), "200 0");
        EXPECT_TRUE(answers.at(0).closes());
    }
}

TEST(http1_route_options, a_fin_may_be_no_reason_to_stop) {
    for (const bool keeps : {false, true}) {
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            bench server;
            event go;
            bool cancelled = false;
            server.app.post(
                "/",
                [&](request& req, response& res) -> task<> {
                    auto all = co_await req.read_all();
                    auto waited = co_await shield(go.wait());
                    cancelled = req.work()->is_cancelled();
                    EXPECT_TRUE(waited && (all || !keeps));
                    res.text(200, all.value_or("cancelled"));
                },
                route_options().keeps_running_after_fin(keeps));
            client peer(server, unruly_options(seed));
            peer.send(with_length("/", "hello"));
            peer.finish();
            EXPECT_EQ(peer.heard(), "");
            go.set();
            const std::string heard = summary(peer.heard());
            EXPECT_TRUE(heard == "200 hello" || (!keeps && heard == "200 cancelled")) << heard;
            EXPECT_EQ(cancelled, !keeps);
            EXPECT_EQ(server.connections(), 0u);
        }
    }
}

// --- the peer goes ---

TEST(http1_content, that_breaks_off_never_runs_its_handler) {
    for (const bool reset : {false, true}) {
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            for (const std::string& part :
                 {all_but("lo", with_length("/run", "hello")), all_but("0\r\n\r\n", chunked("/run", "hello", 2))}) {
                bench server;
                bool ran = false;
                server.app.post("/run", [&](request&, response& res) {
                    ran = true;
                    res.empty(204);
                });
                client peer(server, unruly_options(seed));
                EXPECT_EQ(peer.ask(part), "");
                reset ? peer.reset() : peer.finish();
                const std::string heard = peer.heard();
                EXPECT_EQ(reset ? heard : summary(heard), reset ? "" : "400 Bad Request");
                EXPECT_FALSE(ran);
                EXPECT_EQ(server.connections(), 0u);
                EXPECT_EQ(server.seen.count("closed peer vanished"), 1u) << server.seen.text();
                EXPECT_EQ(server.seen.count(reset ? "end 0" : "end 400"), 1u) << server.seen.text();
            }
        }
    }
}

}  // namespace
}  // namespace martlet::server
