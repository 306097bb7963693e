// The times of a connection over a stream that is as unruly as its contract allows.
#include <martlet/server/detail/testing_internal.hpp>
#include <martlet/server/sim_testing_internal.hpp>

namespace martlet::server {
namespace {

using namespace std::chrono_literals;
using testing::pass;

TEST(timeout_edges, first_byte_timeout_is_not_moved_by_a_wake_for_nothing) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        sim::simulation world;
        testing::bench server;
        server.bounds.first_byte_timeout(2s).idle_timeout(60s);
        // Its stream wakes who waits though nothing has come, sooner or later.
        testing::client silent(server, net::unruly_options(seed));
        for (int i = 0; i < 19; ++i) pass(server.on, 100ms);
        EXPECT_FALSE(silent.is_closed());
        pass(server.on, 105ms);
        EXPECT_TRUE(silent.is_closed());
        EXPECT_EQ(server.seen.count("limit first_byte_timeout"), 1u) << server.seen.text();
    }
}

}  // namespace
}  // namespace martlet::server
