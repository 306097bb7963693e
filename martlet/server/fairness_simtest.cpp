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

constexpr int crowd_size = 60;
constexpr std::size_t content_bytes = 2'000'000;
// What a read or a write moves at most: as much as a simulated connection holds.
constexpr std::size_t share_bytes = 64 * 1024;
// In one turn the request arrives, in the next it is answered, in a third the answer may arrive.
constexpr std::size_t moved_meanwhile_max = 3 * loop::background_budget * share_bytes;

class a_crowd : public ::testing::Test {
public:
    void SetUp() override {
        server.bounds.body_bytes_max(2 * content_bytes)
            .buffered_bytes_max(std::uint64_t{1} << 40)
            .unread_bytes_max(2 * content_bytes)
            .requests_max(1'000'000);
        server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
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
        server.app.get("/large", [](request&, response& res) { res.text(200, letters(content_bytes)); });
        server.app.get("/stream", [](request&, response& res) -> task<> {
            const std::string piece = letters(16 * 1024);
            auto body = res.stream(200, http::media::bytes);
            for (std::size_t sent = 0; sent < content_bytes; sent += piece.size()) {
                if (!co_await body.send(std::string_view(piece))) co_return;
            }
        });
        server.start();
        asking.emplace(sim_address);
        pass(server.on, 1ms);
    }

    void gather(std::string_view sends) {
        for (int i = 0; i < crowd_size; ++i) {
            crowd.emplace_back(sim_address);
            crowd.back().send(sends);
        }
        // All are accepted, and have begun.
        turn_until([this] { return server.seen.count("accepted") == crowd_size + 1; });
        for (int i = 0; i < 10; ++i) server.on.turn(duration::zero());
    }

    void turn_until(const std::function<bool()>& done) {
        for (int turns = 0; turns < 10'000 && !done(); ++turns) server.on.turn(duration::zero());
        ASSERT_TRUE(done());
    }

    std::size_t unsent() const {
        std::size_t sum = 0;
        for (const sim::peer& each : crowd) sum += each.unsent();
        return sum;
    }
    std::size_t received() const {
        std::size_t sum = 0;
        for (const sim::peer& each : crowd) sum += each.received().size();
        return sum;
    }

    /// By how much `moved` changes until the one has its answer.
    std::size_t meanwhile(std::size_t (a_crowd::*moved)() const) {
        const std::size_t before = (this->*moved)();
        asking->send(get("/"));
        turn_until([this] { return !asking->received().empty(); });
        EXPECT_EQ(summary(asking->received()), "200 root");
        const std::size_t after = (this->*moved)();
        // Otherwise nobody would have been in the way.
        for (int turns = 0; turns < 20; ++turns) server.on.turn(duration::zero());
        EXPECT_NE((this->*moved)(), after) << "the crowd has nothing more to do";
        return after > before ? after - before : before - after;
    }

    std::string upload(std::string_view path) const {
        return "POST " + std::string(path) + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(content_bytes) + "\r\n\r\n" +
               letters(content_bytes);
    }

    sim::simulation world;
    sim_server server;
    std::optional<sim::peer> asking;
    std::vector<sim::peer> crowd;
};

TEST_F(a_crowd, that_sends_contents_to_be_collected) {
    gather(upload("/collected"));
    EXPECT_LE(meanwhile(&a_crowd::unsent), moved_meanwhile_max);
}

TEST_F(a_crowd, that_sends_contents_to_be_pulled) {
    gather(upload("/pulled"));
    EXPECT_LE(meanwhile(&a_crowd::unsent), moved_meanwhile_max);
}

TEST_F(a_crowd, that_sends_contents_nobody_reads) {
    gather(upload("/unread"));
    EXPECT_LE(meanwhile(&a_crowd::unsent), moved_meanwhile_max);
}

TEST_F(a_crowd, that_sends_many_requests_at_once) {
    std::string many;
    for (int i = 0; i < 20'000; ++i) many += get("/");
    gather(many);
    EXPECT_LE(meanwhile(&a_crowd::received), moved_meanwhile_max);
}

TEST_F(a_crowd, that_reads_large_answers) {
    gather(get("/large"));
    EXPECT_LE(meanwhile(&a_crowd::received), moved_meanwhile_max);
}

TEST_F(a_crowd, that_reads_streams) {
    gather(get("/stream"));
    EXPECT_LE(meanwhile(&a_crowd::received), moved_meanwhile_max);
}

// New connections come a few in a turn, whatever they ask for.
TEST_F(a_crowd, that_arrives_at_once) {
    for (int i = 0; i < crowd_size; ++i) {
        crowd.emplace_back(sim_address);
        crowd.back().send(get("/large"));
    }
    asking->send(get("/"));
    turn_until([this] { return !asking->received().empty(); });
    EXPECT_LE(server.seen.count("accepted"), 1 + 3 * server.bounds.accepts_per_turn_max());
}

}  // namespace
}  // namespace martlet::server::testing
