// The forms of handlers on a connection: plain, coroutine, answered later; what they throw, and what becomes of them when the peer goes.
#include <expected>
#include <list>
#include <stdexcept>
#include <string>
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
using testing::turn_until;

constexpr std::uint64_t seeds = 20;

result<int> missing() { return failure(error(exchange_category, 0, blame::peer, 404)); }
result<int> broken() { return failure(error::system(5)); }

// --- what goes wrong in a handler ---

struct wrong {
    const char* path;
    int status;
    const char* logged;  // empty: nothing is
};

void add_wrong_handlers(router& app) {
    app.get("/throws", [](request&, response&) { throw std::runtime_error("the reason"); });
    app.get("/throws-int", [](request&, response&) { throw 42; });
    app.get("/missing", [](request&, response&) { static_cast<void>(missing().value()); });
    app.get("/broken", [](request&, response&) { static_cast<void>(broken().value()); });
    app.get("/silent", [](request&, response&) {});
    app.get("/bad-status", [](request&, response& res) { res.text(99, "x"); });
    app.get("/task/throws", [](request&, response&) -> task<> {
        co_await yield();
        throw std::runtime_error("the reason");
    });
    app.get("/task/throws-at-once", [](request&, response&) -> task<> {
        throw std::runtime_error("the reason");
        co_return;
    });
    app.get("/task/throws-int", [](request&, response&) -> task<> {
        co_await yield();
        throw 42;
    });
    app.get("/task/missing", [](request&, response&) -> task<> {
        co_await yield();
        static_cast<void>(missing().value());
    });
    app.get("/task/missing-at-once", [](request&, response&) -> task<> {
        static_cast<void>(missing().value());
        co_return;
    });
    app.get("/task/broken", [](request&, response&) -> task<> {
        co_await yield();
        static_cast<void>(broken().value());
    });
    app.get("/task/silent", [](request&, response&) -> task<> { co_await yield(); });
    app.get("/task/silent-at-once", [](request&, response&) -> task<> { co_return; });
    // No coroutines: they throw instead of returning a task.
    app.get("/start/throws", [](request&, response&) -> task<> { throw std::runtime_error("the reason"); });
    app.get("/start/throws-int", [](request&, response&) -> task<> { throw 42; });
    app.get("/start/missing", [](request&, response&) -> task<> {
        static_cast<void>(missing().value());
        return {};
    });
}

constexpr wrong wrongs[] = {
    {"/throws", 500, "the reason"},
    {"/throws-int", 500, "no std::exception"},
    {"/missing", 404, ""},
    {"/broken", 500, "Input/output error"},
    {"/silent", 500, "did not answer"},
    {"/bad-status", 500, "200 to 599"},
    {"/task/throws", 500, "the reason"},
    {"/task/throws-at-once", 500, "the reason"},
    {"/task/throws-int", 500, "no std::exception"},
    {"/task/missing", 404, ""},
    {"/task/missing-at-once", 404, ""},
    {"/task/broken", 500, "Input/output error"},
    {"/task/silent", 500, "did not answer"},
    {"/task/silent-at-once", 500, "did not answer"},
    {"/start/throws", 500, "the reason"},
    {"/start/throws-int", 500, "no std::exception"},
    {"/start/missing", 404, ""},
};

TEST(http1_handler_faults, are_answered_logged_and_leave_the_connection_as_it_was) {
    for (const bool watched : {true, false}) {
        bench server;
        server.watched = watched;
        add_wrong_handlers(server.app);
        server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
        for (const auto& [path, status, logged] : wrongs) {
            kept_log log;
            client peer(server);
            const auto answers = answers_in(peer.ask(get("/") + get(path) + get("/")));
            ASSERT_EQ(answers.size(), 3u) << path;
            EXPECT_EQ(answers[1].status, status) << path;
            EXPECT_EQ(answers[1].content, status == 404 ? "Not Found" : "Internal Server Error") << "the reason is not for the peer";
            EXPECT_FALSE(answers[1].closes());
            EXPECT_EQ(answers[2].content, "root");
            if (*logged != '\0') {
                EXPECT_GE(log.count(logged), 1u) << path << "\n" << log.text();
                EXPECT_GE(log.count(path), 1u) << path << "\n" << log.text();
            } else {
                EXPECT_EQ(log.text(), "");
            }
        }
    }
}

TEST(http1_handler_faults, what_was_answered_before_the_throw_stands) {
    bench server;
    server.app.get("/", [](request&, response& res) {
        res.text(200, "answered");
        throw std::runtime_error("too late");
    });
    server.app.get("/task", [](request&, response& res) -> task<> {
        res.text(200, "answered");
        co_await yield();
        throw std::runtime_error("too late");
    });
    kept_log log;
    client peer(server);
    EXPECT_EQ(summary(peer.ask(get("/") + get("/task") + get("/"))), "200 answered, 200 answered, 200 answered");
    EXPECT_EQ(log.count("too late"), 3u);
}

TEST(http1_handler_faults, the_first_answer_stands_and_the_second_is_logged) {
    bench server;
    server.app.get("/", [](request&, response& res) {
        res.text(200, "first");
        EXPECT_TRUE(res.is_answered());
        res.text(201, "second");
        const auto third = res.try_respond(202, http::media::text, "third");
        EXPECT_FALSE(third.has_value());
    });
    kept_log log;
    client peer(server);
    EXPECT_EQ(summary(peer.ask(get("/"))), "200 first");
    EXPECT_EQ(log.count("answered already"), 1u) << log.text();
}

// --- coroutines ---

TEST(http1_coroutine, that_does_not_wait_answers_at_once) {
    bench server;
    server.app.get("/", [](request& req, response& res) -> task<> {
        res.text(200, req.target());
        co_return;
    });
    client peer(server);
    EXPECT_EQ(summary(peer.ask(get("/?1") + get("/?2") + get("/?3"))), "200 /?1, 200 /?2, 200 /?3");
    EXPECT_EQ(server.on.frames_live(), 0u);
}

TEST(http1_coroutine, the_head_stays_where_it_is_while_it_waits) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        bench server;
        event go;
        server.app.get("/wait", [&](request& req, response& res) -> task<> {
            const std::string_view target = req.target(), host = req.host(), query = req.query();
            const std::string_view field = req.field("X-Name").value_or("none"),
                                   agent = req.field(http::field_id::user_agent).value_or("none");
            const field_line line = req.field_at(2);
            auto waited = co_await go.wait();
            EXPECT_TRUE(waited.has_value());
            std::string all;
            for (const std::string_view part : {target, host, query, field, agent, line.name, line.value, req.target(), req.method_text()})
                all += std::string(part) + "|";
            EXPECT_EQ(req.field_count(), 3u);
            res.text(200, all);
        });
        server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
        client waiting(server, unruly_options(seed)), other(server, unruly_options(seed + 100));
        waiting.send(get("/wait?a=b", "X-Name: value\r\nUser-Agent: me\r\n") + get("/"));
        EXPECT_EQ(waiting.heard(), "");
        // The loop's read buffer is used for others meanwhile.
        for (int i = 0; i < 5; ++i) EXPECT_EQ(summary(other.ask(get("/", "X: " + std::string(2000, '#') + "\r\n"))), "200 root");
        go.set();
        const auto answers = answers_in(waiting.heard());
        ASSERT_EQ(answers.size(), 2u);
        EXPECT_EQ(answers[0].content, "/wait?a=b|example.com|a=b|value|me|User-Agent|me|/wait?a=b|GET|");
        EXPECT_EQ(answers[1].content, "root");
    }
}

// Blocks lie at hand, and are not held by who has nothing to write.
TEST(http1_coroutine, while_it_waits_no_memory_is_held_for_output) {
    bench server;
    event go;
    server.app.get("/wait", [&](request&, response& res) -> task<> {
        auto waited = co_await go.wait();
        EXPECT_TRUE(waited.has_value());
        res.text(200, "waited");
    });
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    auto& blocks = static_cast<pooled_blocks&>(server.on.blocks());
    const auto blocks_used = [&] { return blocks.blocks_used(); };
    std::vector<char*> taken;
    for (int i = 0; i < 100; ++i) taken.push_back(blocks.allocate_small());
    for (char* block : taken) blocks.free_small(block);
    client waiting(server), slow(server);
    EXPECT_EQ(summary(waiting.ask(get("/"))), "200 root");
    waiting.send(get("/wait"));
    EXPECT_EQ(waiting.heard(), "");
    EXPECT_EQ(blocks_used(), 0u) << "held by a handler that waits";
    slow.send("GET / HT");
    EXPECT_EQ(slow.heard(), "");
    EXPECT_EQ(blocks_used(), 0u) << "held by a head that is not whole";
    go.set();
    EXPECT_EQ(summary(waiting.heard()), "200 waited");
    EXPECT_EQ(blocks_used(), 0u);
}

TEST(http1_coroutine, requests_behind_one_that_waits_keep_their_order) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        bench server;
        server.app.get("/", [](request& req, response& res) { res.text(200, req.query()); });
        server.app.get("/yield", [](request& req, response& res) -> task<> {
            co_await yield();
            res.text(200, req.query());
        });
        server.app.get("/sleep", [](request& req, response& res) -> task<> {
            auto slept = co_await sleep_for(1ms);
            EXPECT_TRUE(slept.has_value());
            res.text(200, req.query());
        });
        client peer(server, unruly_options(seed));
        std::string all, expected;
        for (int i = 0; i < 30; ++i) {
            const char* path = i % 3 == 0 ? "/" : i % 3 == 1 ? "/yield" : "/sleep";
            all += get(std::string(path) + "?" + std::to_string(i));
            expected += (i == 0 ? "200 " : ", 200 ") + std::to_string(i);
        }
        const std::size_t split = seed * 37 % all.size();
        peer.send(all.substr(0, split));
        EXPECT_TRUE(peer.settle());
        peer.send(all.substr(split));
        std::string heard;
        EXPECT_TRUE(turn_until(server.on, [&] {
            heard += peer.take();
            return heard.find("\r\n\r\n29") != heard.npos;
        }));
        EXPECT_EQ(summary(heard), expected);
    }
}

TEST(http1_coroutine, a_fin_cancels_it_and_what_it_still_sends_is_written) {
    for (const bool finish_first : {false, true}) {
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            bench server;
            error why(cancel_reason::none);
            server.app.get("/", [&](request& req, response& res) -> task<> {
                EXPECT_NE(req.work(), nullptr);
                auto slept = co_await sleep_for(1h);
                EXPECT_FALSE(slept.has_value());
                if (!slept) why = slept.error();
                EXPECT_TRUE(req.work()->is_cancelled());
                auto sent = res.try_respond(200, http::media::text, "goodbye");
                EXPECT_TRUE(sent.has_value());
            });
            server.app.get("/next", [](request&, response& res) { res.text(200, "next"); });
            client peer(server, unruly_options(seed));
            peer.send(get("/") + get("/next"));
            if (finish_first) {
                peer.finish();
            } else {
                EXPECT_EQ(peer.heard(), "");
                peer.finish();
            }
            EXPECT_EQ(summary(peer.heard()), "200 goodbye, 200 next");
            EXPECT_EQ(why.reason(), cancel_reason::peer_gone);
            EXPECT_TRUE(peer.is_closed());
            EXPECT_EQ(server.seen.count("closed peer closed"), 1u) << server.seen.text();
        }
    }
}

TEST(http1_coroutine, a_reset_cancels_it_and_nobody_hears_what_it_sends) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        bench server;
        error why(cancel_reason::none);
        bool ended = false;
        server.app.get("/", [&](request& req, response& res) -> task<> {
            auto slept = co_await sleep_for(1h);
            if (!slept) why = slept.error();
            // Still to be asked, though the connection has gone.
            EXPECT_EQ(req.target(), "/");
            EXPECT_TRUE(req.connection().peer().has_value() || !req.connection().peer().has_value());
            co_await yield();
            auto sent = res.try_respond(200, http::media::text, "goodbye");
            EXPECT_FALSE(sent.has_value());
            EXPECT_TRUE(sent.error().is_peer());
            ended = true;
        });
        kept_log log;
        client peer(server, unruly_options(seed));
        EXPECT_EQ(peer.ask(get("/") + get("/")), "");
        peer.reset();
        EXPECT_TRUE(peer.settle());
        EXPECT_TRUE(ended);
        EXPECT_EQ(why.reason(), cancel_reason::peer_gone);
        EXPECT_EQ(server.connections(), 0u);
        EXPECT_EQ(server.seen.text(), "accepted, head GET /, end 0, closed peer vanished");
        EXPECT_EQ(log.text(), "") << "a peer that goes is no error of the program";
    }
}

TEST(http1_coroutine, one_that_takes_no_notice_of_the_end_holds_the_connection_until_it_is_done) {
    bench server;
    event go;
    server.app.get("/", [&](request&, response& res) -> task<> {
        auto waited = co_await shield(go.wait());
        EXPECT_TRUE(waited.has_value());
        res.text(200, "x");
    });
    client peer(server);
    EXPECT_EQ(peer.ask(get("/")), "");
    peer.reset();
    EXPECT_TRUE(peer.settle());
    EXPECT_EQ(server.connections(), 1u);
    EXPECT_TRUE(peer.is_closed());
    go.set();
    EXPECT_TRUE(peer.settle());
    EXPECT_EQ(server.connections(), 0u);
}

TEST(http1_coroutine, a_deadline_of_its_own_is_its_own_affair) {
    bench server;
    server.app.get("/", [](request&, response& res) -> task<> {
        auto slept = co_await within(1ms, sleep_for(1h));
        EXPECT_TRUE(slept.error().is_timeout());
        res.text(200, "in time");
    });
    server.app.get("/value", [](request&, response&) -> task<> {
        auto slept = co_await within(1ms, sleep_for(1h));
        slept.value();
    });
    client peer(server);
    peer.send(get("/") + get("/value") + get("/"));
    std::string heard;
    EXPECT_TRUE(turn_until(server.on, [&] {
        heard += peer.take();
        return testing::summary(std::string_view()).empty() && heard.find("in time", heard.find("in time") + 1) != heard.npos;
    }));
    const auto answers = answers_in(heard);
    ASSERT_EQ(answers.size(), 3u);
    EXPECT_EQ(answers[1].status, error(cancel_reason::timed_out).http_status());
}

TEST(http1_coroutine, its_answer_is_written_while_it_goes_on) {
    bench server;
    event go;
    server.app.get("/", [&](request&, response& res) -> task<> {
        co_await yield();
        res.text(200, "early");
        auto waited = co_await go.wait();
        EXPECT_TRUE(waited.has_value());
    });
    client peer(server);
    EXPECT_EQ(summary(peer.ask(get("/") + get("/"))), "200 early");
    go.set();
    EXPECT_EQ(summary(peer.heard()), "200 early");
}

TEST(http1_coroutine, later_is_not_for_it) {
    bench server;
    server.app.get("/", [](request&, response& res) -> task<> {
        later_response kept = res.later();
        EXPECT_TRUE(kept.is_cancelled());
        EXPECT_EQ(kept.work(), nullptr);
        co_await yield();
        res.text(200, "itself");
    });
    client peer(server);
    EXPECT_EQ(summary(peer.ask(get("/"))), "200 itself");
}

// --- later ---

TEST(http1_later, the_answer_comes_from_the_loop_and_the_order_is_kept) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        bench server;
        std::vector<later_response> waiting;
        server.app.get("/later", [&](request&, response& res) { waiting.push_back(res.later()); });
        server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
        client one(server, unruly_options(seed)), two(server, unruly_options(seed + 7));
        EXPECT_EQ(summary(one.ask(get("/") + get("/later") + get("/"))), "200 root");
        EXPECT_EQ(two.ask(get("/later") + get("/later")), "");
        ASSERT_EQ(waiting.size(), 2u);
        EXPECT_FALSE(waiting[0].is_cancelled());
        EXPECT_FALSE(waiting[0].is_answered());
        waiting[1].text(201, "second");
        const bool set = waiting[0].set("X-Late", "yes").has_value();
        EXPECT_TRUE(set);
        waiting[0].json(200, "{}");
        EXPECT_TRUE(waiting[0].is_answered());
        waiting.clear();
        const auto first = answers_in(one.heard());
        EXPECT_EQ(summary(first), "200 {}, 200 root");
        EXPECT_EQ(first.at(0).field("X-Late"), "yes");
        EXPECT_EQ(summary(two.heard()), "201 second");
        ASSERT_EQ(waiting.size(), 1u);
        waiting[0].text(200, "third");
        waiting.clear();
        EXPECT_EQ(summary(two.heard()), "200 third");
    }
}

TEST(http1_later, an_answer_inside_the_handler_is_as_good) {
    bench server;
    server.app.get("/", [](request&, response& res) {
        auto kept = res.later();
        kept.text(200, "at once");
    });
    server.app.get("/after", [](request&, response& res) {
        auto kept = res.later();
        // The exchange belongs to what later() gave.
        const auto sent = res.try_respond(200, http::media::text, "too late");
        EXPECT_FALSE(sent.has_value());
        kept.text(200, "kept");
    });
    client peer(server);
    EXPECT_EQ(summary(peer.ask(get("/") + get("/after") + get("/", "Connection: close\r\n"))), "200 at once, 200 kept, 200 at once");
    EXPECT_TRUE(peer.saw_end());
}

TEST(http1_later, asked_for_twice_it_is_given_once) {
    bench server;
    server.app.get("/", [](request&, response& res) {
        auto kept = res.later();
        auto none = res.later();
        EXPECT_TRUE(none.is_cancelled());
        kept.text(200, "one");
    });
    client peer(server);
    EXPECT_EQ(summary(peer.ask(get("/"))), "200 one");
}

TEST(http1_later, dropped_unanswered_it_is_a_logged_500) {
    bench server;
    std::vector<later_response> waiting;
    server.app.get("/at-once", [](request&, response& res) { auto dropped = res.later(); });
    server.app.get("/later", [&](request&, response& res) { waiting.push_back(res.later()); });
    server.app.get("/throws", [](request&, response& res) {
        auto dropped = res.later();
        throw std::runtime_error("the reason");
    });
    kept_log log;
    client peer(server);
    peer.send(get("/at-once") + get("/later") + get("/throws") + get("/at-once"));
    EXPECT_TRUE(peer.settle());
    EXPECT_EQ(waiting.size(), 1u);
    waiting.clear();
    EXPECT_EQ(summary(peer.heard()),
              "500 Internal Server Error, 500 Internal Server Error, 500 Internal Server Error, 500 Internal Server Error");
    EXPECT_EQ(log.count("dropped unanswered"), 4u) << log.text();
    EXPECT_EQ(log.count("the reason"), 1u) << log.text();
    EXPECT_FALSE(peer.is_closed());
}

TEST(http1_later, a_handler_that_throws_after_it_still_has_its_answer_given) {
    bench server;
    std::vector<later_response> waiting;
    server.app.get("/", [&](request&, response& res) {
        waiting.push_back(res.later());
        throw std::runtime_error("the reason");
    });
    kept_log log;
    client peer(server);
    EXPECT_EQ(peer.ask(get("/")), "");
    ASSERT_EQ(waiting.size(), 1u);
    waiting[0].text(200, "all the same");
    waiting.clear();
    EXPECT_EQ(summary(peer.heard()), "200 all the same");
}

TEST(http1_later, it_learns_that_the_peer_has_gone) {
    for (const bool reset : {false, true}) {
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            bench server;
            std::vector<later_response> waiting;
            server.app.get("/", [&](request&, response& res) { waiting.push_back(res.later()); });
            kept_log log;
            client peer(server, unruly_options(seed));
            EXPECT_EQ(peer.ask(get("/")), "");
            ASSERT_EQ(waiting.size(), 1u);
            EXPECT_FALSE(waiting[0].is_cancelled());
            if (reset) {
                peer.reset();
            } else {
                peer.finish();
            }
            EXPECT_TRUE(peer.settle());
            EXPECT_TRUE(waiting[0].is_cancelled());
            EXPECT_EQ(waiting[0].work()->why().reason(), cancel_reason::peer_gone);
            if (seed % 2 == 0) waiting[0].text(200, "late");
            waiting.clear();
            EXPECT_TRUE(peer.settle());
            if (!reset) {
                EXPECT_EQ(answers_in(peer.heard()).at(0).status, seed % 2 == 0 ? 200 : 500);
            }
            EXPECT_EQ(server.connections(), 0u);
            EXPECT_EQ(log.text(), "") << "to let go of what nobody waits for is no error";
        }
    }
}

TEST(http1_later, it_learns_that_the_server_stops) {
    bench server;
    std::list<later_response> waiting;
    server.app.get("/", [&](request&, response& res) { waiting.push_back(res.later()); });
    client one(server), two(server);
    EXPECT_EQ(one.ask(get("/")), "");
    EXPECT_EQ(two.ask(get("/")), "");
    bool done = false;
    server.work().drain(server.on.clock() + 1h, [](void* data) noexcept { *static_cast<bool*>(data) = true; }, &done);
    EXPECT_FALSE(waiting.front().is_cancelled());
    waiting.front().text(200, "in time");
    waiting.pop_front();
    const auto answers = answers_in(one.heard());
    ASSERT_EQ(summary(answers), "200 in time");
    EXPECT_TRUE(answers[0].closes());
    one.finish();
    server.work().force();
    EXPECT_TRUE(two.settle());
    EXPECT_TRUE(waiting.front().is_cancelled());
    EXPECT_EQ(waiting.front().work()->why().reason(), cancel_reason::shutting_down);
    EXPECT_FALSE(done);
    waiting.clear();
    EXPECT_TRUE(one.settle());
    EXPECT_TRUE(done);
}

TEST(http1_later, a_large_answer_is_sent_without_a_copy_and_whole) {
    bench server;
    std::vector<later_response> waiting;
    server.app.get("/", [&](request&, response& res) { waiting.push_back(res.later()); });
    server.app.get("/plain", [&](request&, response& res) { res.text(200, letters(300'000)); });
    client peer(server, unruly_options(3).capacity_bytes(5000));
    peer.send(get("/") + get("/plain"));
    EXPECT_TRUE(peer.settle());
    waiting[0].text(200, letters(300'000));
    waiting.clear();
    const auto answers = answers_in(peer.heard());
    ASSERT_EQ(answers.size(), 2u);
    EXPECT_EQ(answers[0].content, letters(300'000));
    EXPECT_EQ(answers[1].content, letters(300'000));
}

}  // namespace
}  // namespace martlet::server
