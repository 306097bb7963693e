// What a watcher is told of a connection's life.
#include <string>
#include <vector>

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
using testing::request_text;

TEST(observer, sees_a_connection_from_its_beginning_to_its_end) {
    bench server;
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    client peer(server);
    EXPECT_EQ(server.seen.text(), "accepted");
    EXPECT_EQ(answers_in(peer.ask(get("/?q") + request_text("POST", "/"))).size(), 2u);
    peer.finish();
    EXPECT_TRUE(peer.settle());
    EXPECT_EQ(server.seen.text(), "accepted, head GET /?q, answer 200, end 200, head POST /, answer 405, end 405, closed peer closed");
}

TEST(observer, sees_every_form_of_handler) {
    bench server;
    std::vector<later_response> waiting;
    server.app.get("/now", [](request&, response& res) -> task<> {
        res.text(200, "x");
        co_return;
    });
    server.app.get("/task", [](request&, response& res) -> task<> {
        co_await yield();
        res.text(201, "x");
    });
    server.app.get("/later", [&](request&, response& res) { waiting.push_back(res.later()); });
    client peer(server);
    peer.send(get("/now") + get("/task") + get("/later"));
    EXPECT_TRUE(peer.settle());
    waiting[0].text(202, "x");
    waiting.clear();
    EXPECT_EQ(answers_in(peer.heard()).size(), 3u);
    EXPECT_EQ(server.seen.text(),
              "accepted, head GET /now, answer 200, end 200, head GET /task, answer 201, end 201, head GET /later, answer 202, end 202");
}

TEST(observer, sees_the_end_of_an_exchange_whose_handler_was_not_called_because_its_peer_had_gone) {
    bench server(loop_options().hand_over(true));
    client* asking = nullptr;
    std::string ended;
    server.app.on_end(
        [&](request& req, const exchange_end& end) { ended += std::string(req.target()) + " " + std::to_string(end.status()) + ";"; });
    server.app.get("/first", [&](request&, response& res) {
        res.text(200, "x");
        asking->reset();
    });
    server.app.get("/second", [](request&, response& res) { res.text(200, "x"); });
    client peer(server, unruly_options::tame());
    asking = &peer;
    peer.send(get("/first") + get("/second"));
    EXPECT_TRUE(peer.settle());
    EXPECT_EQ(server.seen.text(), "accepted, head GET /first, answer 200, end 200, head GET /second, end 0, closed peer vanished");
    EXPECT_EQ(ended, "/first 200;/second 0;");
}

TEST(observer, an_exchange_can_be_asked_while_it_is_told) {
    class asker final : public observer {
    public:
        void head(connection_id, const exchange& x) noexcept override {
            heads += std::string(x.path()) + " " + std::string(x.host()) + ";";
        }
        void end(connection_id, const exchange& x, int, std::uint64_t) noexcept override {
            ends += std::string(x.method_text()) + " " + std::string(x.target()) + " " + std::string(x.path()) + " " +
                    std::string(x.host()) + " " + std::string(x.field("Host").value_or("none")) + ";";
        }
        std::string heads, ends;
    } asking;
    loop on;
    router app;
    std::vector<later_response> waiting;
    app.get("/", [](request&, response& res) { res.text(200, "x"); });
    app.get("/later", [&](request&, response& res) { waiting.push_back(res.later()); });
    detail::shared common(app, limits(), &asking);
    detail::worker work(on, common);
    net::test_peer peer(on);
    work.serve(peer.stream());
    peer.send(get("/") + get("/later"));
    EXPECT_TRUE(peer.settle());
    waiting[0].text(200, "x");
    waiting.clear();
    peer.finish();
    EXPECT_TRUE(peer.settle());
    EXPECT_EQ(answers_in(peer.take()).size(), 2u);
    EXPECT_EQ(asking.heads, "/ example.com;/later example.com;");
    EXPECT_EQ(asking.ends, "GET / / example.com example.com;GET /later /later example.com example.com;");
    EXPECT_TRUE(peer.settle());
    EXPECT_EQ(work.connections(), 0u);
}

TEST(observer, learns_the_size_of_each_answer) {
    bench server;
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.app.get("/long", [](request&, response& res) { res.text(200, letters(10'000)); });
    server.app.get("/task", [](request&, response& res) -> task<> {
        co_await yield();
        res.text(200, letters(5'000));
    });
    client peer(server);
    peer.send(get("/") + get("/long") + request_text("HEAD", "/long") + get("/task") + get("/missing"));
    const auto answers = answers_in(peer.heard(), {2});
    ASSERT_EQ(answers.size(), 5u);
    std::vector<std::uint64_t> sizes;
    for (const auto& each : answers) sizes.push_back(each.head.size() + 2 + each.content.size());
    EXPECT_EQ(server.seen.response_bytes(), sizes);
}

TEST(observer, sees_a_refusal_and_the_limit_that_was_met) {
    bench server;
    server.app.get("/", [](request&, response& res) { res.text(200, "root"); });
    server.bounds.requests_max(2).fields_max(2);
    client one(server);
    EXPECT_EQ(answers_in(one.ask(get("/") + get("/"))).size(), 2u);
    one.finish();
    EXPECT_TRUE(one.settle());
    EXPECT_EQ(server.seen.text(),
              "accepted, head GET /, answer 200, end 200, limit requests_max, head GET /, answer 200, end 200, closed finished");
    server.seen.clear();
    client two(server);
    EXPECT_EQ(answers_in(two.ask(get("/", "A: b\r\nC: d\r\n"))).size(), 1u);
    two.finish();
    EXPECT_TRUE(two.settle());
    EXPECT_EQ(server.seen.text(), "accepted, refused 431, closed refused");
}

TEST(observer, names_every_reason) {
    for (int i = 0; i <= static_cast<int>(close_reason::failed); ++i) EXPECT_NE(text(static_cast<close_reason>(i)), "unknown");
    EXPECT_EQ(text(static_cast<close_reason>(200)), "unknown");
}

}  // namespace
}  // namespace martlet::server
