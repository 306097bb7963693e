// Contents that coroutines pull, and answers that are sent piece by piece.
#include <stdexcept>
#include <string>
#include <vector>

#include <martlet/rt/combine.hpp>
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
using testing::turn_until;

constexpr std::uint64_t seeds = 30;

std::string post(std::string_view target, std::string_view content) {
    return request_text("POST", target, "Content-Length: " + std::to_string(content.size()) + "\r\n") + std::string(content);
}
std::string post_chunked(std::string_view target, std::string_view content, std::size_t piece, std::string_view trailers = {}) {
    std::string all = request_text("POST", target, "Transfer-Encoding: chunked\r\n");
    for (std::size_t at = 0; at < content.size(); at += piece) {
        const std::string_view part = content.substr(at, piece);
        char head[20];
        std::snprintf(head, sizeof head, "%zx\r\n", part.size());
        all += head + std::string(part) + "\r\n";
    }
    return all + "0\r\n" + std::string(trailers) + "\r\n";
}

/// What stands in the chunks of one answer; "<broken>" behind it when there is no last one.
std::string unchunked(std::string_view bytes, std::string* trailers = nullptr) {
    std::string all;
    const std::size_t end = bytes.find("\r\n\r\n");
    EXPECT_NE(bytes.substr(0, end).find("Transfer-Encoding: chunked"), bytes.npos) << bytes;
    bytes.remove_prefix(end + 4);
    for (;;) {
        const std::size_t line = bytes.find("\r\n");
        if (line == bytes.npos) return all + "<broken>";
        const std::size_t size = std::stoul(std::string(bytes.substr(0, line)), nullptr, 16);
        bytes.remove_prefix(line + 2);
        if (size == 0) {
            EXPECT_TRUE(bytes.ends_with("\r\n"));
            if (trailers != nullptr) *trailers = bytes.substr(0, bytes.size() - 2);
            return all;
        }
        if (bytes.size() < size + 2) return all + std::string(bytes) + "<broken>";
        all += bytes.substr(0, size);
        bytes.remove_prefix(size + 2);
    }
}

// --- pulled contents ---

void add_readers(bench& server) {
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.app.post("/pieces", [](request& req, response& res) -> task<> {
        std::string all;
        for (;;) {
            auto piece = co_await req.read();
            if (!piece) {
                res.text(piece.error().http_status(), piece.error().text());
                co_return;
            }
            if (piece->empty()) break;
            // It stays while this waits.
            co_await yield();
            all += *piece;
        }
        auto again = co_await req.read();
        EXPECT_TRUE(again.has_value() && again->empty());
        res.text(200, all + std::string(req.trailer("X-Sum").value_or("")));
    });
    server.app.post("/all", [](request& req, response& res) -> task<> {
        auto all = co_await req.read_all();
        res.text(200, all.value());
    });
    server.app.post("/first", [](request& req, response& res) -> task<> {
        auto piece = co_await req.read();
        res.text(200, piece.value().substr(0, 1));
    });
}

TEST(http1_stream, what_comes_behind_an_answer_that_ends_early_does_not_reset_the_answers_before_it) {
    const testing::kept_log log;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        bench server;
        server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
        server.app.get("/short", [](request&, response& res) -> task<> {
            auto body = res.stream(200, http::media::text, 100);
            auto sent = co_await body.send("too little");
            EXPECT_TRUE(sent);
        });
        client peer(server, unruly_options(seed));
        peer.send(get("/") + get("/short"));
        EXPECT_TRUE(peer.settle());
        // Asked before the end was seen.
        peer.send(get("/"));
        const std::string heard = peer.heard();
        EXPECT_FALSE(peer.saw_reset()) << seed;
        EXPECT_TRUE(peer.saw_end()) << seed;
        EXPECT_NE(heard.find("\r\n\r\nrootHTTP/1.1 200"), heard.npos) << seed << heard;
        EXPECT_TRUE(heard.ends_with("too little")) << seed;
    }
}

TEST(http1_pull, gives_the_content_and_leaves_what_is_behind) {
    const std::string content = letters(30'000);
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        for (const char* target : {"/pieces", "/all", "/first"}) {
            for (const std::string& bytes :
                 {post(target, content), post_chunked(target, content, 1000), post_chunked(target, content, 50'000)}) {
                bench server;
                server.watched = seed % 2 == 0;
                add_readers(server);
                client peer(server, seed == 0 ? unruly_options::tame() : unruly_options(seed));
                const auto answers = answers_in(peer.ask(get("/") + bytes + get("/")));
                ASSERT_EQ(answers.size(), 3u) << target << seed;
                EXPECT_EQ(answers[1].content, std::string_view(target) == "/first" ? "a" : content);
                EXPECT_EQ(answers[2].content, "root");
                EXPECT_FALSE(peer.is_closed());
            }
        }
    }
}

TEST(http1_pull, at_every_split) {
    for (const std::string& bytes : {post("/pieces", "hello") + get("/"), post_chunked("/pieces", "hello", 2, "X-Sum: 1\r\n") + get("/"),
                                     post_chunked("/first", "xello", 2) + get("/"), post("/all", "") + get("/")}) {
        std::string whole;
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            bench server;
            add_readers(server);
            client peer(server, at % 2 == 0 ? unruly_options::tame() : unruly_options(at));
            std::string heard = at == 0 ? std::string() : peer.ask(bytes.substr(0, at));
            heard = summary(heard + peer.ask(bytes.substr(at)));
            if (at == 0) whole = heard;
            EXPECT_EQ(heard, whole) << bytes << at;
            EXPECT_TRUE(heard.ends_with(", 200 root"));
        }
    }
}

TEST(http1_pull, nothing_is_received_while_nobody_pulls) {
    bench server;
    event go;
    server.app.post("/", [&](request& req, response& res) -> task<> {
        auto waited = co_await go.wait();
        EXPECT_TRUE(waited.has_value());
        auto all = co_await req.read_all();
        res.text(200, std::to_string(all.value().size()));
    });
    server.bounds.body_bytes_max(100'000'000);
    client peer(server, unruly_options::tame());
    peer.send(request_text("POST", "/", "Content-Length: 10000000\r\n"));
    for (int i = 0; i < 10; ++i) peer.send(letters(1'000'000));
    EXPECT_TRUE(peer.settle());
    EXPECT_EQ(peer.heard(), "");
    go.set();
    EXPECT_EQ(summary(peer.heard()), "200 10000000");
}

TEST(http1_pull, content_that_is_wrong_is_an_error_with_its_status) {
    const auto plays = [](const std::string& bytes, int status) {
        for (std::uint64_t seed = 1; seed <= 10; ++seed) {
            for (const char* target : {"/pieces", "/all"}) {
                bench server;
                server.bounds.body_bytes_max(1000);
                add_readers(server);
                client peer(server, unruly_options(seed));
                const auto answers =
                    answers_in(peer.ask(request_text("POST", target, "Transfer-Encoding: chunked\r\n") + bytes + get("/")));
                ASSERT_EQ(answers.size(), 1u);
                EXPECT_EQ(answers[0].status, status) << bytes.substr(0, 20);
                EXPECT_TRUE(answers[0].closes());
                EXPECT_TRUE(peer.saw_end());
            }
        }
    };
    plays("5\r\nhelloX", 400);
    plays("zz\r\n", 400);
    plays("7d0\r\n" + letters(2000) + "\r\n0\r\n\r\n", 413);
    plays("1\r\na\r\n0\r\nContent-Length: 5\r\n\r\n", 400);
}

TEST(http1_pull, a_peer_that_goes_inside_the_content_is_an_error_of_the_peer) {
    for (const bool reset : {false, true}) {
        for (const bool waits : {false, true}) {
            for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
                bench server;
                error why(cancel_reason::none);
                bool cancelled = false;
                event never_set;
                server.app.post("/", [&](request& req, response&) -> task<> {
                    if (waits) {
                        auto waited = co_await never_set.wait();
                        why = waited.error();
                    }
                    for (;;) {
                        auto piece = co_await req.read();
                        if (!piece) {
                            why = piece.error();
                            break;
                        }
                        EXPECT_FALSE(piece->empty()) << "a short content was taken for whole";
                        if (piece->empty()) break;
                    }
                    cancelled = req.work()->is_cancelled();
                });
                client peer(server, unruly_options(seed));
                EXPECT_EQ(peer.ask(request_text("POST", "/", "Content-Length: 100\r\n") + letters(50)), "");
                reset ? peer.reset() : peer.finish();
                EXPECT_TRUE(peer.settle());
                EXPECT_TRUE(why.is_peer()) << why.text();
                EXPECT_TRUE(cancelled || !waits);
                EXPECT_EQ(server.connections(), 0u);
            }
        }
    }
}

TEST(http1_pull, sends_100_at_the_first_pull_and_not_without) {
    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    bench server;
    event go;
    add_readers(server);
    server.app.post("/wait", [&](request& req, response& res) -> task<> {
        auto waited = co_await go.wait();
        EXPECT_TRUE(waited.has_value());
        auto all = co_await req.read_all();
        res.text(200, all.value());
    });
    client peer(server);
    EXPECT_EQ(peer.ask(request_text("POST", "/wait", "Content-Length: 5\r\nExpect: 100-continue\r\n")), "");
    go.set();
    EXPECT_EQ(peer.heard(), go_on);
    EXPECT_EQ(summary(peer.ask("hello" + get("/"))), "200 hello, 200 root");
}

TEST(http1_pull, two_readers_at_once_are_a_mistake_that_is_told) {
    bench server;
    server.app.post("/", [](request& req, response& res) -> task<> {
        auto [a, b] = co_await both(req.read(), req.read());
        EXPECT_TRUE(a.has_value());
        EXPECT_FALSE(b.has_value());
        res.text(200, "done");
    });
    client peer(server);
    EXPECT_EQ(peer.ask(request_text("POST", "/", "Content-Length: 5\r\n")), "");
    EXPECT_EQ(summary(peer.ask("hello")), "200 done");
}

// --- streamed answers ---

TEST(http1_stream, in_chunks_or_with_a_length) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        bench server;
        server.watched = seed % 2 == 0;
        server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
        server.app.get("/chunks", [](request&, response& res) -> task<> {
            EXPECT_TRUE(res.set("X-A", "b").has_value());
            auto body = res.stream(200, http::media::text);
            for (int i = 0; i < 10; ++i) {
                auto sent = co_await body.send(std::to_string(i) + ",");
                EXPECT_TRUE(sent.has_value());
                if (i % 3 == 0) co_await yield();
            }
            auto long_one = co_await body.send(letters(10'000));
            auto copied = co_await body.send(std::string_view(letters(5'000)));
            auto none = co_await body.send("");
            EXPECT_TRUE(long_one && copied && none);
            EXPECT_TRUE(body.trailer("X-Sum", "45").has_value());
            EXPECT_FALSE(body.trailer("Content-Length", "45").has_value());
            EXPECT_FALSE(body.trailer("X-Bad", "a\r\nb").has_value());
            EXPECT_TRUE(body.end().has_value());
            auto late = co_await body.send("late");
            EXPECT_FALSE(late.has_value());
        });
        server.app.get("/length", [](request&, response& res) -> task<> {
            auto body = res.stream(200, http::media::bytes, 6);
            auto a = co_await body.send("abc");
            auto more = co_await body.send("defg");
            EXPECT_FALSE(more.has_value()) << "more than the head announced";
            auto b = co_await body.send("def");
            EXPECT_TRUE(a && b);
        });
        client peer(server, seed == 0 ? unruly_options::tame() : unruly_options(seed));
        std::string trailers;
        const std::string heard = peer.ask(get("/chunks"));
        EXPECT_EQ(unchunked(heard, &trailers), "0,1,2,3,4,5,6,7,8,9," + letters(10'000) + letters(5'000));
        EXPECT_EQ(trailers, "X-Sum: 45\r\n");
        EXPECT_NE(heard.find("X-A: b\r\n"), heard.npos);
        EXPECT_EQ(summary(peer.ask(get("/length") + get("/") + get("/length"))), "200 abcdef, 200 root, 200 abcdef");
        EXPECT_FALSE(peer.is_closed());
        // HEAD has the head alone.
        const std::string head = peer.ask(request_text("HEAD", "/chunks"));
        EXPECT_TRUE(head.ends_with("\r\n\r\n"));
        EXPECT_EQ(head.find("\r\n\r\n"), head.size() - 4);
        EXPECT_EQ(summary(peer.ask(get("/"))), "200 root");
        // HTTP/1.0 knows no chunks.
        client old(server, unruly_options(seed + 1));
        const std::string all = old.ask("GET /chunks HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        EXPECT_EQ(all.find("Transfer-Encoding"), all.npos);
        EXPECT_NE(all.find("Connection: close\r\n"), all.npos);
        EXPECT_TRUE(all.ends_with("9," + letters(10'000) + letters(5'000)));
        EXPECT_TRUE(old.saw_end());
        // It asked to go on, and may be sending.
        EXPECT_FALSE(old.is_closed());
        old.finish();
        EXPECT_EQ(old.heard(), "");
        EXPECT_TRUE(old.is_closed());
        EXPECT_FALSE(old.saw_reset());
    }
}

TEST(http1_stream, goes_out_while_its_handler_waits) {
    bench server;
    event go;
    server.app.get("/", [&](request&, response& res) -> task<> {
        auto body = res.stream(200, http::media::text);
        auto first = co_await body.send("first");
        auto waited = co_await go.wait();
        EXPECT_TRUE(first && waited);
    });
    client peer(server);
    EXPECT_EQ(unchunked(peer.ask(get("/"))), "first<broken>");
    go.set();
    EXPECT_EQ(peer.heard(), "0\r\n\r\n");
}

TEST(http1_stream, waits_above_its_mark_and_no_further) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        bench server;
        std::size_t sent_bytes = 0;
        bool flushed = false;
        server.app.get("/", [&](request&, response& res) -> task<> {
            auto body = res.stream(200, http::media::bytes);
            for (int i = 0; i < 1000; ++i) {
                auto sent = co_await body.send(letters(1000));
                EXPECT_TRUE(sent.has_value());
                if (!sent) co_return;
                sent_bytes += 1000;
            }
            auto all = co_await body.flush();
            flushed = all.has_value();
        });
        server.bounds.stream_queued_bytes_max(20'000);
        client peer(server, unruly_options(seed).capacity_bytes(10'000));
        peer.send(get("/"));
        EXPECT_TRUE(peer.settle());
        EXPECT_GE(sent_bytes, 25'000u);
        EXPECT_LE(sent_bytes, 32'000u);
        std::string all;
        while (!flushed) {
            all += peer.take(5000);
            ASSERT_TRUE(peer.settle());
        }
        EXPECT_EQ(sent_bytes, 1'000'000u);
        all += peer.heard();
        EXPECT_EQ(unchunked(all).size(), 1'000'000u);
    }
}

// Peers that take all at once get their streams by turns, few of them in one.
TEST(http1_stream, much_of_it_waits_behind_others) {
    constexpr std::size_t count = 5 * loop::background_budget;
    bench server;
    std::size_t sent = 0;
    server.app.get("/", [&](request&, response& res) -> task<> {
        auto body = res.stream(200, http::media::bytes);
        while (co_await body.send(letters(40'000))) ++sent;
    });
    server.bounds.stream_queued_bytes_max(20'000);
    std::vector<std::unique_ptr<client>> crowd;
    for (std::size_t i = 0; i < count; ++i) {
        crowd.push_back(std::make_unique<client>(server, unruly_options::tame().capacity_bytes(100'000'000)));
        crowd.back()->send(get("/"));
    }
    for (int turns = 0; turns < 20; ++turns) server.on.turn(duration::zero());
    const std::size_t before = sent;
    server.on.turn(duration::zero());
    EXPECT_GT(sent, before);
    EXPECT_LE(sent, before + loop::background_budget);
    server.stop();
}

TEST(http1_stream, that_ends_early_is_never_taken_for_whole) {
    struct play {
        const char* target;
        bool old;
        bool whole;
    };
    for (const auto& [target, old, whole] : {play{"/throws", false, false}, play{"/short", false, false}, play{"/cancelled", false, false},
                                             play{"/throws", true, false}, play{"/none", false, true}, play{"/none", true, true}}) {
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            kept_log log;
            bench server;
            server.app.get("/throws", [](request&, response& res) -> task<> {
                auto body = res.stream(200, http::media::text);
                auto sent = co_await body.send("part");
                auto flushed = co_await body.flush();
                EXPECT_TRUE(sent && flushed);
                throw std::runtime_error("in the middle");
            });
            server.app.get("/short", [](request&, response& res) -> task<> {
                auto body = res.stream(200, http::media::text, 100);
                auto sent = co_await body.send("part");
                EXPECT_TRUE(sent.has_value());
            });
            server.app.get("/cancelled", [](request& req, response& res) -> task<> {
                auto body = res.stream(200, http::media::text);
                auto sent = co_await body.send("part");
                EXPECT_TRUE(sent.has_value());
                req.work()->cancel(cancel_reason::cancelled);
            });
            server.app.get("/none", [](request&, response& res) -> task<> {
                auto body = res.stream(200, http::media::text);
                co_return;
            });
            client peer(server, unruly_options(seed));
            const std::string heard = peer.ask(old ? "GET " + std::string(target) + " HTTP/1.0\r\n\r\n" : get(target));
            if (whole) {
                EXPECT_TRUE(old || unchunked(heard).empty());
                EXPECT_FALSE(peer.saw_reset());
            } else {
                EXPECT_TRUE(peer.saw_end() || peer.saw_reset()) << target;
                peer.finish();
                EXPECT_TRUE(peer.settle());
                EXPECT_TRUE(peer.is_closed()) << target;
                if (std::string_view(target) == "/short") {
                    EXPECT_TRUE(heard.ends_with("\r\n\r\npart"));
                } else if (!old) {
                    EXPECT_EQ(unchunked(heard), "part<broken>");
                } else {
                    EXPECT_TRUE(peer.saw_reset()) << "nothing else tells";
                }
                EXPECT_EQ(server.seen.count("closed failed"), 1u) << server.seen.text();
            }
        }
    }
}

TEST(http1_stream, to_a_peer_that_has_gone_fails) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        bench server;
        error why(cancel_reason::none);
        server.app.get("/", [&](request&, response& res) -> task<> {
            auto body = res.stream(200, http::media::text);
            for (;;) {
                auto sent = co_await body.send(letters(1000));
                if (sent) continue;
                why = sent.error();
                auto again = co_await body.send("x");
                EXPECT_FALSE(again.has_value());
                co_return;
            }
        });
        client peer(server, unruly_options(seed).capacity_bytes(10'000));
        peer.send(get("/"));
        EXPECT_TRUE(peer.settle());
        peer.reset();
        EXPECT_TRUE(peer.settle());
        EXPECT_TRUE(why.is_peer()) << why.text();
        EXPECT_EQ(server.connections(), 0u);
        EXPECT_EQ(server.on.frames_live(), 0u);
    }
}

TEST(http1_stream, from_later) {
    for (const bool ended : {true, false}) {
        bench server;
        std::vector<later_response> waiting;
        server.app.get("/", [&](request&, response& res) { waiting.push_back(res.later()); });
        client peer(server);
        EXPECT_EQ(peer.ask(get("/")), "");
        {
            auto body = waiting[0].stream(200, http::media::text);
            auto unawaited = body.send("part");
            EXPECT_TRUE(peer.settle());
            EXPECT_EQ(unchunked(peer.take()), "part<broken>");
            EXPECT_TRUE(!ended || body.end().has_value());
        }
        waiting.clear();
        EXPECT_EQ(peer.heard(), ended ? "0\r\n\r\n" : "");
        EXPECT_EQ(peer.saw_end(), !ended);
    }
}

TEST(http1_stream, is_refused_to_a_plain_handler) {
    kept_log log;
    bench server;
    server.app.get("/", [](request&, response& res) {
        auto body = res.stream(200, http::media::text);
        EXPECT_FALSE(body.begun().has_value());
        EXPECT_FALSE(body.is_open());
        EXPECT_FALSE(body.end().has_value());
    });
    client peer(server);
    EXPECT_EQ(summary(peer.ask(get("/"))), "500 Internal Server Error");
}

TEST(http1_stream, an_answer_may_go_out_while_the_content_comes_in) {
    const std::string content = letters(300'000);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        bench server;
        server.app.post("/echo", [](request& req, response& res) -> task<> {
            auto body = res.stream(200, http::media::bytes);
            for (;;) {
                auto piece = co_await req.read();
                if (piece.value().empty()) co_return;
                auto sent = co_await body.send(*piece);
                if (!sent) co_return;
            }
        });
        client peer(server, unruly_options(seed));
        std::string heard;
        const std::string bytes = post("/echo", content);
        for (std::size_t at = 0; at < bytes.size(); at += 30'000) heard += peer.ask(bytes.substr(at, 30'000));
        EXPECT_EQ(unchunked(heard), content);
    }
}

TEST(later_response, can_be_assigned) {
    kept_log log;
    bench server;
    std::vector<later_response> waiting;
    server.app.get("/", [&](request&, response& res) { waiting.push_back(res.later()); });
    client a(server), b(server);
    EXPECT_EQ(a.ask(get("/")), "");
    EXPECT_EQ(b.ask(get("/")), "");
    // What it held before is dropped unanswered.
    waiting[0] = std::move(waiting[1]);
    EXPECT_EQ(summary(a.heard()), "500 Internal Server Error");
    waiting[0].text(200, "second");
    EXPECT_EQ(summary(b.heard()), "200 second");
    EXPECT_TRUE(waiting[1].is_cancelled());
}

TEST(http1_stream, an_event_stream_to_head_comes_to_its_end) {
    bench server;
    server.app.get("/", [](request&, response& res) -> task<> {
        auto feed = res.sse();
        // As handlers do that go on until their reader is gone; bounded here.
        for (int sent = 0; sent < 1000; ++sent) {
            auto went = co_await feed.send("more");
            if (!went) co_return;
        }
        ADD_FAILURE() << "nothing told the handler that nobody listens";
    });
    event never;
    server.app.get("/news", [&never](request&, response& res) -> task<> {
        auto feed = res.sse();
        auto woken = co_await never.wait();
        EXPECT_FALSE(woken.has_value());
    });
    client peer(server);
    const auto answers =
        answers_in(peer.ask(request_text("HEAD", "/") + request_text("HEAD", "/news") + request_text("HEAD", "/")), {0, 1, 2});
    EXPECT_EQ(summary(answers), "200 , 200 , 200 ");
}

}  // namespace
}  // namespace martlet::server
