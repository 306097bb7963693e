// The cases of tests/vectors/http1/server-*.jsonl against the whole server in memory: whole, in pieces and split, on a fresh
// connection and behind a request that was served, with contents collected and streamed. What is not the strict answer stands in
// allowed-server-answers.jsonl with its reason; over_sockets sends the same cases to conformance-server.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/server/detail/testing_internal.hpp>
#include <tests/conformance/routes_internal.hpp>
#include <tests/conformance/server_cases_testing_internal.hpp>

namespace martlet {
namespace {

using conformance::case_judge;
using conformance::fields;
using conformance::heads_of;
using conformance::heard;
using conformance::taken_apart;
using server::testing::bench;
using server::testing::client;

class server_cases : public ::testing::TestWithParam<bool> {
protected:
    server_cases() {
        server_.watched = false;
        conformance::add_routes(server_.app, GetParam());
    }

    heard ask(std::string_view bytes, std::size_t first, std::size_t step, bool warm) {
        client peer(server_, net::unruly_options::tame());
        if (warm) {
            EXPECT_NE(peer.ask("GET / HTTP/1.1\r\nHost: t.example\r\n\r\n").find("200 OK"), std::string::npos);
        }
        // What is sent to a connection that has ended resets it, and takes away what was not read.
        std::string all;
        for (std::size_t at = 0; at < bytes.size() && !peer.saw_end();) {
            const std::size_t size = at == 0 ? first : step;
            peer.send(bytes.substr(at, size));
            all += peer.heard();
            at += size;
        }
        const heard found = taken_apart(all, heads_of(bytes), peer.saw_end() || peer.saw_reset());
        // Nothing of it stays with the server, but what a connection was upgraded to.
        if (!peer.is_closed()) peer.finish();
        EXPECT_TRUE(peer.settle());
        const bool is_upgraded = !found.statuses.empty() && found.statuses.back() == 101;
        EXPECT_TRUE(peer.is_closed() || is_upgraded) << bytes.substr(0, 100);
        return found;
    }

    case_judge judge_;
    bench server_;
};

// Every place is tried in a request of up to 4 KB, on a fresh connection.
#if defined(MARTLET_SANITIZED)
constexpr std::size_t splits_max = 4, long_splits_max = 1;
#else
constexpr std::size_t splits_max = 4096, long_splits_max = 2;
#endif

TEST_P(server_cases, are_answered_strictly_however_they_arrive) {
    const std::vector<fields> cases = conformance::server_cases();
    std::size_t runs = 0;
    for (const fields& each : cases) {
        const std::string bytes = testing::expanded(each.at("request"));
        for (const bool warm : {false, true}) {
            const std::string_view state = warm ? "warm" : "fresh";
            judge_.judge(each, std::string("whole, ") += state, ask(bytes, bytes.size(), 1, warm));
            ++runs;
            const bool is_long = bytes.size() > 4096;
            if (is_long && warm) continue;
            const std::size_t piece = is_long ? bytes.size() / 61 : 1;
            judge_.judge(each, std::string("in pieces, ") += state, ask(bytes, piece, piece, warm));
            const std::size_t stride = std::max<std::size_t>(warm ? 7 : 1, bytes.size() / (is_long ? long_splits_max : splits_max));
            for (std::size_t split = 1; split < bytes.size(); split += stride, ++runs)
                judge_.judge(each, "split at " + std::to_string(split) + ", " + std::string(state), ask(bytes, split, bytes.size(), warm));
            ++runs;
        }
    }
    judge_.judge_list(cases);
    std::printf("%zu cases in %zu runs\n", cases.size(), runs);
    EXPECT_GE(cases.size(), 1500u);
}

TEST(accept_key, is_that_of_the_rfc) { EXPECT_EQ(conformance::accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="); }

INSTANTIATE_TEST_SUITE_P(contents, server_cases, ::testing::Bool(),
                         [](const auto& is_streamed) { return std::string(is_streamed.param ? "streamed" : "collected"); });

}  // namespace
}  // namespace martlet
