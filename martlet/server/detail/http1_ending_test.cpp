// How connections end, and what they do while their peer does not read: FIN and RST in each state, blocked output, drain.
#include <string>
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
using testing::letters;
using testing::summary;

constexpr std::uint64_t seeds = 30;

std::string repeated(std::string_view text, std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
}

// --- FIN ---

TEST(http1_fin, between_requests_closes_at_once) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        bench server;
        server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
        client silent(server, unruly_options(seed)), one(server, unruly_options(seed));
        EXPECT_EQ(summary(one.ask(get("/"))), "200 root");
        silent.finish();
        one.finish();
        EXPECT_TRUE(one.settle());
        EXPECT_TRUE(silent.is_closed());
        EXPECT_TRUE(one.is_closed());
        EXPECT_EQ(server.seen.count("closed peer closed"), 2u);
    }
}

TEST(http1_fin, all_requests_before_it_are_answered) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        bench server;
        server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
        server.bounds.slice_requests_max(7);
        client peer(server, unruly_options(seed));
        peer.send(repeated(get("/"), 20));
        peer.finish();
        EXPECT_EQ(answers_in(peer.heard()).size(), 20u);
        EXPECT_TRUE(peer.is_closed());
        EXPECT_FALSE(peer.saw_reset());
        EXPECT_EQ(server.seen.count("closed peer closed"), 1u) << server.seen.text();
    }
}

TEST(http1_fin, inside_a_head_loses_only_that_head) {
    for (const std::string_view part : {"G", "GET / HTTP/1.1\r\nHost: exam", "GET / HTTP/1.1\r\nHost: example.com\r\n"}) {
        for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
            bench server;
            server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
            client peer(server, seed == 0 ? unruly_options::tame() : unruly_options(seed));
            peer.send(repeated(get("/"), 3));
            peer.send(part);
            peer.finish();
            EXPECT_EQ(summary(peer.heard()), "200 root, 200 root, 200 root") << seed;
            EXPECT_TRUE(peer.is_closed());
            EXPECT_FALSE(peer.saw_reset());
        }
    }
}

TEST(http1_fin, while_the_output_is_blocked_loses_nothing) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        bench server;
        server.app.get("/", [](request&, response& res) { res.text(200, letters(3000)); });
        client peer(server, unruly_options(seed).capacity_bytes(1000));
        peer.send(repeated(get("/"), 20));
        EXPECT_TRUE(peer.settle());
        peer.finish();
        std::string all;
        for (;;) {
            EXPECT_TRUE(peer.settle());
            const std::string part = peer.take(700);
            if (part.empty()) break;
            all += part;
        }
        EXPECT_EQ(answers_in(all).size(), 20u);
        EXPECT_TRUE(peer.is_closed());
        EXPECT_FALSE(peer.saw_reset());
    }
}

// --- RST ---

/// Plays `with` up to its end and then resets; the server must have let everything go.
template <class Play>
void reset_after(Play play, std::string_view reason) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        bench server;
        server.app.get("/", [](request&, response& res) { res.text(200, letters(3000)); });
        server.app.get("/asleep", [](request&, response& res) -> task<> {
            auto slept = co_await sleep_for(1h);
            EXPECT_FALSE(slept.has_value());
            res.text(200, "awake");
        });
        client peer(server, unruly_options(seed).capacity_bytes(1000));
        play(peer);
        EXPECT_EQ(server.connections(), 1u) << seed;
        peer.reset();
        EXPECT_TRUE(peer.settle());
        EXPECT_EQ(server.connections(), 0u) << seed;
        EXPECT_EQ(server.on.frames_live(), 0u) << seed;
        EXPECT_EQ(server.seen.count("closed " + std::string(reason)), 1u) << seed << ": " << server.seen.text();
    }
}

TEST(http1_rst, in_each_state_ends_the_connection) {
    reset_after([](client& peer) { EXPECT_TRUE(peer.settle()); }, "peer vanished");
    reset_after([](client& peer) { EXPECT_EQ(peer.ask("GET / HT"), ""); }, "peer vanished");
    // running
    reset_after([](client& peer) { EXPECT_EQ(peer.ask(get("/asleep") + get("/")), ""); }, "peer vanished");
    // blocked
    reset_after(
        [](client& peer) {
            peer.send(repeated(get("/"), 5));
            EXPECT_TRUE(peer.settle());
        },
        "peer vanished");
    // blocked and running
    reset_after(
        [](client& peer) {
            peer.send(get("/") + get("/asleep"));
            EXPECT_TRUE(peer.settle());
        },
        "peer vanished");
    // finishing
    reset_after(
        [](client& peer) {
            peer.send(get("/", "Connection: close\r\n"));
            EXPECT_TRUE(peer.settle());
        },
        "peer vanished");
    // lingering: the answer was delivered
    reset_after([](client& peer) { EXPECT_EQ(answers_in(peer.ask("no request\r\n\r\n")).size(), 1u); }, "refused");
}

TEST(http1_rst, inside_a_batch_leaves_nothing_of_it_for_other_connections) {
    for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
        bench server;
        client* victim = nullptr;
        int asked = 0;
        server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
        server.app.get("/big", [&](request&, response& res) {
            res.text(200, letters(40'000));
            if (++asked == 2) victim->reset();
        });
        const auto how = seed == 0 ? unruly_options::tame() : unruly_options(seed);
        client first(server, how), second(server, how);
        victim = &first;
        first.send(repeated(get("/big"), 20));
        EXPECT_TRUE(first.settle());
        // A write tells the server, and there is one at least behind every second answer.
        const int answered = asked;
        EXPECT_LE(answered, 3) << seed;
        EXPECT_EQ(summary(second.ask(get("/"))), "200 root");
        EXPECT_EQ(asked, answered) << seed;
        EXPECT_EQ(server.seen.count("closed peer vanished"), 1u) << server.seen.text();
    }
}

TEST(http1_rst, met_by_a_write_counts_as_the_peers) {
    bench server;
    client* peer = nullptr;
    server.app.get("/", [&](request&, response& res) {
        peer->reset();
        res.text(200, "root");
    });
    client one(server, unruly_options::tame());
    peer = &one;
    one.send(get("/"));
    EXPECT_TRUE(one.settle());
    EXPECT_EQ(server.seen.count("closed peer vanished"), 1u) << server.seen.text();
}

// --- a peer that does not read ---

TEST(http1_blocked_output, nothing_more_is_read_and_everything_comes_when_the_peer_reads) {
    for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
        bench server;
        int served = 0;
        server.app.get("/", [&](request&, response& res) {
            ++served;
            res.text(200, letters(20'000));
        });
        const auto how = seed == 0 ? unruly_options::tame() : unruly_options(seed);
        client peer(server, unruly_options(how).capacity_bytes(4000));
        constexpr int requests = 100;
        peer.send(repeated(get("/"), requests));
        EXPECT_TRUE(peer.settle());
        // As many as fill flush_bytes, and one that comes to it.
        EXPECT_LE(served, 5);
        // Later input is left with the peer.
        const int before = served;
        peer.send(get("/"));
        EXPECT_TRUE(peer.settle());
        EXPECT_EQ(served, before);
        std::string all;
        for (int turn = 0; turn < 10'000 && all.size() < (requests + 1) * 20'000; ++turn) {
            all += peer.take(3000);
            EXPECT_TRUE(peer.settle());
        }
        all += peer.heard();
        const auto answers = answers_in(all);
        EXPECT_EQ(answers.size(), static_cast<std::size_t>(requests + 1));
        EXPECT_EQ(served, requests + 1);
    }
}

TEST(http1_blocked_output, is_bounded_behind_handlers_that_suspend) {
    for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
        bench server;
        int served = 0;
        server.app.get("/", [&](request&, response& res) -> task<> {
            co_await yield();
            ++served;
            res.text(200, letters(20'000));
        });
        const auto how = seed == 0 ? unruly_options::tame() : unruly_options(seed);
        client peer(server, unruly_options(how).capacity_bytes(4000));
        constexpr std::size_t requests = 100;
        peer.send(repeated(get("/"), requests));
        EXPECT_TRUE(peer.settle());
        EXPECT_LE(served, 6);
        EXPECT_EQ(answers_in(peer.heard()).size(), requests);
    }
}

TEST(http1_blocked_output, is_bounded_behind_answers_given_later) {
    for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
        bench server;
        std::vector<later_response> waiting;
        server.app.get("/", [&](request&, response& res) { waiting.push_back(res.later()); });
        const auto how = seed == 0 ? unruly_options::tame() : unruly_options(seed);
        client peer(server, unruly_options(how).capacity_bytes(4000));
        constexpr int requests = 100;
        peer.send(repeated(get("/"), requests));
        int served = 0;
        const auto answer = [&] {
            while (peer.settle() && !waiting.empty()) {
                waiting.back().text(200, letters(20'000));
                waiting.pop_back();
                ++served;
            }
        };
        answer();
        EXPECT_LE(served, 6);
        std::string all;
        for (int turn = 0; turn < 100'000 && served < requests; ++turn) {
            all += peer.take(3000);
            answer();
        }
        all += peer.heard();
        EXPECT_EQ(answers_in(all).size(), static_cast<std::size_t>(requests));
    }
}

TEST(http1_blocked_output, a_slow_reader_does_not_keep_others_waiting) {
    bench server;
    server.app.get("/", [](request&, response& res) { res.text(200, letters(100'000)); });
    server.app.get("/small", [](request&, response& res) { res.text(200, "small"); });
    client slow(server, unruly_options::tame().capacity_bytes(1000)), other(server);
    slow.send(repeated(get("/"), 10));
    EXPECT_TRUE(slow.settle());
    for (int i = 0; i < 10; ++i) EXPECT_EQ(summary(other.ask(get("/small"))), "200 small");
}

// --- drain ---

class drained {
public:
    explicit drained(bench& server) {
        server.work().drain(server.on.clock() + 1h, [](void* data) noexcept { *static_cast<bool*>(data) = true; }, &done_);
    }
    explicit operator bool() const { return done_; }

private:
    bool done_ = false;
};

TEST(http1_drain, closes_what_is_idle_and_lets_the_rest_finish) {
    bench server;
    event go;
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.app.get("/wait", [&](request&, response& res) -> task<> {
        auto waited = co_await go.wait();
        EXPECT_TRUE(waited.has_value());
        res.text(200, "waited");
    });
    client fresh(server), idle(server), partial(server), running(server);
    EXPECT_EQ(summary(idle.ask(get("/"))), "200 root");
    EXPECT_EQ(partial.ask("GET / HTTP/1.1\r\n"), "");
    EXPECT_EQ(running.ask(get("/wait") + get("/")), "");
    const drained over(server);
    EXPECT_TRUE(fresh.settle());
    EXPECT_TRUE(fresh.is_closed());
    EXPECT_TRUE(idle.is_closed());
    EXPECT_FALSE(partial.is_closed());
    EXPECT_FALSE(running.is_closed());
    EXPECT_FALSE(over);

    const auto last = answers_in(partial.ask("Host: a\r\n\r\n"));
    ASSERT_EQ(summary(last), "200 root");
    EXPECT_TRUE(last[0].closes());
    partial.finish();
    go.set();
    const auto late = answers_in(running.heard());
    ASSERT_EQ(summary(late), "200 waited");
    EXPECT_TRUE(late[0].closes());
    running.finish();
    EXPECT_TRUE(running.settle());
    EXPECT_FALSE(running.saw_reset());
    EXPECT_TRUE(over);
    EXPECT_EQ(server.connections(), 0u);
}

TEST(http1_drain, closes_a_connection_whose_answer_was_given_before_it) {
    bench server;
    event go;
    server.app.get("/early", [&](request&, response& res) -> task<> {
        res.text(200, "early");
        auto waited = co_await go.wait();
        EXPECT_TRUE(waited.has_value());
    });
    client peer(server);
    const auto answers = answers_in(peer.ask(get("/early")));
    ASSERT_EQ(summary(answers), "200 early");
    const drained over(server);
    go.set();
    EXPECT_TRUE(peer.settle());
    EXPECT_TRUE(peer.is_closed()) << "an idle connection outlives the drain";
    EXPECT_TRUE(over);
}

TEST(http1_drain, closes_a_connection_once_its_output_is_gone) {
    bench server;
    server.app.get("/", [](request&, response& res) { res.text(200, letters(10'000)); });
    client peer(server, unruly_options::tame().capacity_bytes(1000));
    peer.send(get("/"));
    EXPECT_TRUE(peer.settle());
    const drained over(server);
    EXPECT_TRUE(peer.settle());
    EXPECT_FALSE(peer.is_closed());
    EXPECT_EQ(answers_in(peer.heard()).size(), 1u);
    EXPECT_TRUE(peer.is_closed()) << "an idle connection outlives the drain";
    EXPECT_TRUE(over);
}

TEST(http1_drain, answers_a_request_that_came_before_it) {
    for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
        bench server;
        server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
        const auto how = seed == 0 ? unruly_options::tame() : unruly_options(seed);
        client fresh(server, how), used(server, how);
        EXPECT_EQ(summary(used.ask(get("/"))), "200 root");
        fresh.send(get("/"));
        used.send(get("/"));
        const drained over(server);
        for (client* each : {&fresh, &used}) {
            const auto answers = answers_in(each->heard());
            ASSERT_EQ(summary(answers), "200 root") << seed;
            EXPECT_TRUE(answers[0].closes());
            each->finish();
        }
        EXPECT_TRUE(used.settle());
        EXPECT_FALSE(used.saw_reset());
        EXPECT_TRUE(over);
    }
}

TEST(http1_drain, in_the_turn_of_an_answer_comes_after_it) {
    bench server;
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    client peer(server, unruly_options::tame());
    EXPECT_EQ(summary(peer.ask(get("/"))), "200 root");
    bool done = false;
    server.on.handle().post(
        [&] { server.work().drain(server.on.clock() + 1h, [](void* data) noexcept { *static_cast<bool*>(data) = true; }, &done); });
    // Served before the drain begins, and written after it.
    peer.send(get("/"));
    EXPECT_EQ(summary(peer.heard()), "200 root");
    EXPECT_TRUE(peer.saw_end());
    peer.finish();
    EXPECT_TRUE(peer.settle());
    EXPECT_FALSE(peer.saw_reset());
    EXPECT_TRUE(done);
}

TEST(http1_drain, force_resets_and_cancels) {
    bench server;
    error why(cancel_reason::none);
    server.app.get("/", [&](request&, response& res) -> task<> {
        auto slept = co_await sleep_for(1h);
        if (!slept) why = slept.error();
        auto sent = res.try_respond(200, http::media::text, "nobody hears this");
        EXPECT_FALSE(sent.has_value());
    });
    client running(server), partial(server);
    EXPECT_EQ(running.ask(get("/")), "");
    EXPECT_EQ(partial.ask("GET /"), "");
    const drained over(server);
    server.work().force();
    EXPECT_TRUE(running.settle());
    EXPECT_TRUE(running.saw_reset());
    EXPECT_TRUE(partial.saw_reset());
    EXPECT_EQ(why.reason(), cancel_reason::shutting_down);
    EXPECT_TRUE(over);
    EXPECT_EQ(server.seen.count("closed shutting down"), 2u) << server.seen.text();
}

// --- a loop that has little time in each turn ---

TEST(http1_small_budget, events_that_meet_a_connection_already_queued) {
    for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
        bench server(loop_options().ready_budget(1));
        std::vector<later_response> waiting;
        server.app.get("/later", [&](request&, response& res) { waiting.push_back(res.later()); });
        server.app.get("/yield", [&](request&, response& res) -> task<> {
            co_await yield();
            res.text(200, "yielded");
        });
        server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
        const auto how = seed == 0 ? unruly_options::tame() : unruly_options(seed);
        client peer(server, how);
        for (int round = 0; round < 3; ++round) {
            peer.send(get("/later") + get("/yield") + get("/"));
            EXPECT_TRUE(peer.settle());
            ASSERT_EQ(waiting.size(), 1u);
            waiting.back().text(200, "late");
            waiting.clear();
            // The connection is queued to go on; the last time a FIN arrives before it does.
            if (round == 2) peer.finish();
            EXPECT_EQ(summary(peer.heard()), "200 late, 200 yielded, 200 root");
        }
        EXPECT_TRUE(peer.is_closed());
    }
}

TEST(http1_small_budget, a_fin_and_an_answer_from_elsewhere_in_one_turn) {
    for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
        bench server;
        std::vector<later_response> waiting;
        client* first = nullptr;
        server.app.get("/later", [&](request&, response& res) { waiting.push_back(res.later()); });
        server.app.get("/answer", [&](request&, response& res) {
            // The FIN is noted, and nothing of it has run, when the answer comes.
            first->finish();
            waiting.back().text(200, "late");
            waiting.clear();
            res.text(200, "done");
        });
        const auto how = seed == 0 ? unruly_options::tame() : unruly_options(seed);
        client one(server, how), two(server, how);
        first = &one;
        EXPECT_EQ(one.ask(get("/later")), "");
        EXPECT_EQ(summary(two.ask(get("/answer"))), "200 done");
        EXPECT_EQ(summary(one.heard()), "200 late");
        EXPECT_TRUE(one.is_closed());
    }
}

}  // namespace
}  // namespace martlet::server
