// The limits on connections, each to the one: what is let pass, and what is not.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/server/sim_testing_internal.hpp>

namespace martlet::server {
namespace {

using namespace std::chrono_literals;
using testing::get;
using testing::pass;
using testing::sim_address;
using testing::sim_server;
using testing::summary;

TEST(connection_edges, connections_max_and_refusals_per_second_max) {
    sim::simulation world;
    sim_server server;
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.bounds.connections_max(3).refusals_per_second_max(2);
    server.start();
    const auto answered_503 = [](const sim::peer& each) { return each.received().starts_with("HTTP/1.1 503 "); };
    std::vector<sim::peer> admitted;
    for (int i = 0; i < 3; ++i) {
        admitted.emplace_back(sim_address);
        admitted.back().send(get("/"));
    }
    pass(server.on, 10ms);
    for (const sim::peer& each : admitted) EXPECT_EQ(summary(each.received()), "200 root");
    // Each second has its own two.
    for (int second = 0; second < 3; ++second) {
        std::vector<sim::peer> surplus;
        for (int i = 0; i < 4; ++i) {
            surplus.emplace_back(sim_address);
            pass(server.on, 10ms);
            EXPECT_EQ(answered_503(surplus.back()), i < 2) << "second " << second << ", connection " << i;
            EXPECT_TRUE(surplus.back().closed_by_other());
        }
        surplus.clear();
        pass(server.on, 900ms);
        sim::peer still_the_same(sim_address);
        pass(server.on, 10ms);
        EXPECT_EQ(still_the_same.received(), "") << "second " << second;
        still_the_same.close();
        pass(server.on, 100ms);
    }
    // One goes, and one may come.
    admitted.back().close();
    pass(server.on, 10ms);
    sim::peer next(sim_address);
    next.send(get("/"));
    pass(server.on, 10ms);
    EXPECT_EQ(summary(next.received()), "200 root");
}

TEST(connection_edges, accepts_per_turn_max) {
    sim::simulation world;
    sim_server server;
    std::vector<std::size_t> accepted;
    server.app.get("/watch", [&](request&, response& res) -> task<> {
        for (int i = 0; i < 50; ++i) {
            accepted.push_back(server.seen.count("accepted"));
            co_await yield();
        }
        res.text(200, "watched");
    });
    server.bounds.accepts_per_turn_max(3);
    server.start();
    sim::peer watching(sim_address);
    pass(server.on, 10ms);
    watching.send(get("/watch"));
    std::vector<sim::peer> all;
    for (int i = 0; i < 12; ++i) all.emplace_back(sim_address);
    pass(server.on, 10ms);
    EXPECT_EQ(summary(watching.received()), "200 watched");
    EXPECT_EQ(server.seen.count("accepted"), 13u);
    // The handler has its turn between them.
    std::size_t most = 0;
    for (std::size_t i = 1; i < accepted.size(); ++i) most = std::max(most, accepted[i] - accepted[i - 1]);
    EXPECT_EQ(most, 3u);
    all.clear();
    pass(server.on, 10ms);
}

}  // namespace
}  // namespace martlet::server
