// Many who move as much as they can, and one who asks for little: how much is done for the others before that one has its answer.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <martlet/server/sim_testing_internal.hpp>

namespace martlet::server::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t crowd_size = 120;
constexpr std::size_t content_bytes = 1'000'000;
// A read or a write for each node of the background, and a few that find nothing.
constexpr std::uint64_t calls_meanwhile_max = 3 * loop::background_budget;

class a_crowd : public ::testing::Test {
public:
    void SetUp() override {
        server.bounds.body_bytes_max(2 * content_bytes)
            .buffered_bytes_max(std::uint64_t{1} << 40)
            .unread_bytes_max(2 * content_bytes)
            .requests_max(1'000'000);
        server.app.get("/", [this](request&, response& res) {
            ++small_answers;
            res.text(200, "root");
        });
        server.app.post("/collected", [](request& req, response& res) { res.text(200, std::to_string(req.content().size())); });
        server.app.post("/pulled", [](request& req, response& res) -> task<> {
            for (;;) {
                const auto piece = (co_await req.read()).value();
                if (piece.empty()) break;
            }
            res.text(200, "taken");
        });
        server.app.post("/unread", [](request&, response& res) -> task<> {
            res.text(200, "unread");
            co_return;
        });
        server.app.get("/large", [this](request&, response& res) {
            ++large_answers;
            res.text(200, letters(content_bytes));
        });
        server.app.get("/stream/:piece", [](request& req, response& res) -> task<> {
            const std::string piece = letters(req.param<std::size_t>("piece").value());
            auto body = res.stream(200, http::media::bytes);
            for (std::size_t sent = 0; sent < content_bytes; sent += piece.size()) {
                if (!co_await body.send(std::string_view(piece))) co_return;
            }
        });
        server.start();
        // No newcomer any more.
        asking.emplace(sim_address);
        asking->send(get("/"));
        pass(server.on, 1ms);
        asking->receive();
    }

    void gather(std::string_view sends, std::size_t size = crowd_size) {
        for (std::size_t i = 0; i < size; ++i) {
            crowd.emplace_back(sim_address);
            crowd.back().send(sends);
        }
        // All are accepted, and have begun.
        turn_until([this, size] { return server.seen.count("accepted") == size + 1; });
        for (int i = 0; i < 20; ++i) server.on.turn(duration::zero());
    }

    void turn_until(const std::function<bool()>& done) {
        for (int turns = 0; turns < 10'000 && !done(); ++turns) {
            if (each_turn) each_turn();
            server.on.turn(duration::zero());
        }
        ASSERT_TRUE(done());
    }

    std::size_t received() const {
        std::size_t sum = 0;
        for (const sim::peer& each : crowd) sum += each.received().size();
        return sum;
    }

    /// Calls of the kernel that the server makes until the one has its answer.
    std::uint64_t calls_meanwhile() {
        const std::uint64_t before = world.calls();
        asking->send(get("/"));
        turn_until([this] { return !asking->received().empty(); });
        EXPECT_EQ(summary(asking->received()), "200 root");
        const std::uint64_t after = world.calls();
        for (int turns = 0; turns < 20; ++turns) {
            if (each_turn) each_turn();
            server.on.turn(duration::zero());
        }
        EXPECT_GT(world.calls() - after, 20 * loop::background_budget) << "the crowd has nothing more to do";
        return after - before;
    }

    std::string upload(std::string_view path) const {
        return "POST " + std::string(path) + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(content_bytes) + "\r\n\r\n" +
               letters(content_bytes);
    }

    sim::simulation world;
    sim_server server;
    std::optional<sim::peer> asking;
    std::size_t large_answers = 0;
    std::size_t small_answers = 0;
    // What the crowd does before each turn.
    std::function<void()> each_turn;
    std::vector<sim::peer> crowd;
};

TEST_F(a_crowd, that_sends_contents_to_be_collected) {
    gather(upload("/collected"));
    EXPECT_LE(calls_meanwhile(), calls_meanwhile_max);
}

// All of what has come is read, so that each piece is reported anew.
TEST_F(a_crowd, that_sends_contents_in_pieces) {
    const std::string whole = upload("/pulled");
    constexpr std::size_t piece = 30'000;
    std::size_t sent = 200;
    gather(std::string_view(whole).substr(0, sent));
    each_turn = [&] {
        if (whole.size() - sent < piece) return;
        for (sim::peer& each : crowd) {
            if (each.unsent() == 0) each.send(std::string_view(whole).substr(sent, piece));
        }
        sent += piece;
    };
    EXPECT_LE(calls_meanwhile(), calls_meanwhile_max);
}

TEST_F(a_crowd, that_sends_heads_in_pieces) {
    gather(get("/"));
    for (sim::peer& each : crowd) each.send("GET / HTTP/1.1\r\nHost: a\r\nX: ");
    for (int turns = 0; turns < 20; ++turns) server.on.turn(duration::zero());
    each_turn = [this] {
        for (sim::peer& each : crowd) each.send("a");
    };
    EXPECT_LE(calls_meanwhile(), calls_meanwhile_max);
}

TEST_F(a_crowd, that_sends_contents_to_be_pulled) {
    gather(upload("/pulled"));
    EXPECT_LE(calls_meanwhile(), calls_meanwhile_max);
}

TEST_F(a_crowd, that_sends_contents_nobody_reads) {
    gather(upload("/unread"));
    EXPECT_LE(calls_meanwhile(), calls_meanwhile_max);
}

TEST_F(a_crowd, that_sends_many_requests_at_once) {
    std::string many;
    for (int i = 0; i < 20'000; ++i) many += get("/");
    gather(many);
    const std::size_t before = small_answers;
    asking->send(get("/"));
    turn_until([this] { return !asking->received().empty(); });
    EXPECT_LE(small_answers - before, 1 + 2 * loop::background_budget * server.bounds.slice_requests_max());
}

TEST_F(a_crowd, that_reads_large_answers) {
    gather(get("/large"));
    EXPECT_LE(calls_meanwhile(), calls_meanwhile_max);
}

// Room that was made is reported.
TEST_F(a_crowd, that_reads_large_answers_in_pieces) {
    gather("");
    for (sim::peer& each : crowd) {
        each.pause_reading();
        each.send(get("/large"));
    }
    for (int turns = 0; turns < 100; ++turns) server.on.turn(duration::zero());
    each_turn = [this] {
        for (sim::peer& each : crowd) each.read_some(60'000);
    };
    // Until what the connections held at first is read.
    for (int turns = 0; turns < 20; ++turns) {
        each_turn();
        server.on.turn(duration::zero());
    }
    EXPECT_LE(calls_meanwhile(), calls_meanwhile_max);
}

TEST_F(a_crowd, that_was_served_before_and_asks_for_large_answers) {
    gather(get("/"));
    for (sim::peer& each : crowd) {
        EXPECT_EQ(summary(each.receive()), "200 root");
        each.send(get("/large"));
    }
    // Each request is read, in front of those that came later.
    EXPECT_LE(calls_meanwhile(), crowd_size + calls_meanwhile_max);
}

TEST_F(a_crowd, that_reads_streams) {
    // Always a little more than a connection holds, so that its output waits.
    gather(get("/stream/12288"));
    EXPECT_LE(calls_meanwhile(), calls_meanwhile_max);
}

// Who was served before does not wait for newcomers.
TEST_F(a_crowd, that_asks_for_the_first_time) {
    gather("");
    for (sim::peer& each : crowd) each.send(get("/large"));
    asking->send(get("/"));
    turn_until([this] { return !asking->received().empty(); });
    EXPECT_LE(large_answers, 2 * loop::background_budget);
}

// Nor for those whose last answer was long.
TEST_F(a_crowd, that_asks_for_more) {
    gather(get("/large"));
    turn_until([this] { return received() > crowd_size * content_bytes; });
    pass(server.on, 1ms);
    large_answers = 0;
    for (sim::peer& each : crowd) each.send(get("/large"));
    asking->send(get("/"));
    turn_until([this] { return !asking->received().empty(); });
    EXPECT_LE(large_answers, 2 * loop::background_budget);
}

// New connections come a few in a turn, whatever they ask for.
TEST_F(a_crowd, that_arrives_at_once) {
    for (std::size_t i = 0; i < crowd_size; ++i) {
        crowd.emplace_back(sim_address);
        crowd.back().send(get("/large"));
    }
    asking->send(get("/"));
    turn_until([this] { return !asking->received().empty(); });
    EXPECT_LE(server.seen.count("accepted"), 1 + 3 * server.bounds.accepts_per_turn_max());
}

}  // namespace
}  // namespace martlet::server::testing
