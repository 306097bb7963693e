// The cases of tests/vectors/http1/server-*.jsonl against the whole server over the simulated kernel: cut in two at every place of the first
// 4 KB and at samples beyond, and in drawn pieces over a rough network. Time passes there as the test says, so that "no answer" and "still
// open" are facts.
#include <cstdio>
#include <list>
#include <string>
#include <vector>

#include <martlet/server/sim_testing_internal.hpp>
#include <tests/conformance/routes_internal.hpp>
#include <tests/conformance/server_cases_testing_internal.hpp>

namespace martlet {
namespace {

using namespace std::chrono_literals;
using conformance::case_judge;
using conformance::fields;
using conformance::heads_of;
using conformance::heard;
using conformance::taken_apart;
using server::testing::pass;
using server::testing::sim_server;

constexpr std::string_view good = "GET / HTTP/1.1\r\nHost: t.example\r\n\r\n";
constexpr std::size_t every_place_bytes = 4096;
#if defined(MARTLET_SANITIZED)
constexpr std::size_t splits_max = 2, long_splits_max = 1;
#else
constexpr std::size_t splits_max = every_place_bytes, long_splits_max = 3;
#endif

class server_cases_simulated : public ::testing::TestWithParam<bool> {
protected:
    struct run {
        sim::peer peer{server::testing::sim_address};
        std::string how;
        bool warm = false;
    };

    void start(sim_server& server) {
        server.watched = false;
        conformance::add_routes(server.app, GetParam());
        server.start();
    }

    // Well below the second that a server waits for what it does not read.
    void judge_all(const fields& each, std::string_view bytes, sim_server& server, std::list<run>& runs) {
        pass(server.on, 400ms);
        for (run& one : runs) {
            std::string_view came = one.peer.received();
            if (one.warm) {
                const std::size_t end = came.find("root");
                EXPECT_NE(end, came.npos) << each.at("id");
                came.remove_prefix(end == came.npos ? came.size() : end + 4);
            }
            judge_.judge(each, one.how, taken_apart(came, heads_of(bytes), one.peer.closed_by_other()));
            // Before the answer was there, that is. A peer that goes on behind its own "close" may be reset behind it.
            EXPECT_FALSE(one.peer.reset_by_other()) << each.at("id") << ", " << one.how;
        }
        runs_ += runs.size();
        runs.clear();
        pass(server.on, 5ms);
    }

    case_judge judge_;
    std::size_t runs_ = 0;
};

TEST_P(server_cases_simulated, are_answered_strictly_wherever_they_are_cut) {
    const std::vector<fields> cases = conformance::server_cases();
    for (std::size_t number = 0; number < cases.size();) {
        sim::simulation world(sim::options(number + 1));
        sim_server server;
        start(server);
        for (std::size_t last = std::min(cases.size(), number + 20); number < last; ++number) {
            const fields& each = cases[number];
            const std::string bytes = martlet::testing::expanded(each.at("request"));
            const bool is_long = bytes.size() > every_place_bytes;
            const std::size_t stride = std::max<std::size_t>(1, bytes.size() / (is_long ? long_splits_max : splits_max));
            std::list<run> runs;
            for (std::size_t split = 1; split <= bytes.size(); split += stride) {
                run& one = runs.emplace_back();
                one.how = "cut at " + std::to_string(split);
                one.peer.send(bytes.substr(0, split));
                one.peer.send_after(1ms, std::string_view(bytes).substr(split));
                if (runs.size() == 100) judge_all(each, bytes, server, runs);
            }
            judge_all(each, bytes, server, runs);
        }
    }
    std::printf("%zu cases in %zu runs\n", cases.size(), runs_);
}

TEST_P(server_cases_simulated, are_answered_strictly_over_a_rough_network) {
    const std::vector<fields> cases = conformance::server_cases();
    for (std::size_t number = 0; number < cases.size();) {
        sim::simulation world(sim::options::rough(number + 1));
        sim_server server;
        start(server);
        for (std::size_t last = std::min(cases.size(), number + 20); number < last; ++number) {
            const fields& each = cases[number];
            const std::string bytes = martlet::testing::expanded(each.at("request"));
            std::list<run> runs;
            for (const bool warm : {false, true}) {
                run& one = runs.emplace_back();
                one.how = warm ? "in pieces, behind a good request" : "in pieces";
                one.warm = warm;
                if (warm) one.peer.send(good);
                const std::size_t piece_max = 1 + bytes.size() / 10;
                duration at = 0ms;
                for (std::size_t begin = 0; begin < bytes.size();) {
                    const std::size_t size = 1 + world.draw(piece_max);
                    one.peer.send_after(at, std::string_view(bytes).substr(begin, size));
                    at += std::chrono::microseconds(world.draw(2'000));
                    begin += size;
                }
            }
            judge_all(each, bytes, server, runs);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(contents, server_cases_simulated, ::testing::Bool(),
                         [](const auto& is_streamed) { return std::string(is_streamed.param ? "streamed" : "collected"); });

}  // namespace
}  // namespace martlet
