#include <martlet/server/test_client.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <expected>
#include <stdexcept>
#include <string>
#include <vector>

#include <martlet/rt/sleep.hpp>
#include <martlet/server/testing_internal.hpp>

namespace martlet::server {
namespace {

using namespace std::chrono_literals;
using testing::kept_log;

TEST(test_client, gives_the_request_to_the_handler) {
    router app;
    app.get("/path", [](request& req, response& res) {
        std::string all = std::string(req.method_text()) + " " + std::string(req.path()) + " " + std::string(req.query()) + " " +
                          std::string(req.target()) + " " + std::string(req.host());
        for (std::size_t i = 0; i < req.field_count(); ++i)
            all += " " + std::string(req.field_at(i).name) + "=" + std::string(req.field_at(i).value);
        all +=
            " " + std::string(req.field("x-own").value_or("none")) + " " + std::string(req.field(http::field_id::accept).value_or("none"));
        res.text(200, all);
    });
    test_client client(app);
    EXPECT_EQ(
        client.ask(test_request(http::method::get, "/path?a=b?c").field("Host", "h").field("X-Own", "1").field("X-OWN", "2")).content(),
        "GET /path a=b?c /path?a=b?c h Host=h X-Own=1 X-OWN=2 1 none");
    EXPECT_EQ(client.get("/path").content(), "GET /path  /path test none none");
}

TEST(test_client, runs_coroutines_to_their_end) {
    router app;
    app.get("/", [](request& req, response& res) -> task<> {
        EXPECT_NE(req.work(), nullptr);
        auto slept = co_await sleep_for(1ms);
        EXPECT_TRUE(slept.has_value());
        res.text(200, req.target());
    });
    test_client client(app);
    EXPECT_EQ(client.get("/?x").content(), "/?x");
    EXPECT_EQ(client.on().frames_live(), 0u);
}

TEST(test_client, answers_as_the_router_has_it) {
    router app;
    app.get("/", [](request&, response& res) { res.text(200, "root"); });
    test_client client(app);
    EXPECT_EQ(client.get("/missing").status(), 404);
    const auto wrong = client.ask(test_request(http::method::post, "/"));
    EXPECT_EQ(wrong.status(), 405);
    EXPECT_EQ(wrong.field("Allow"), "GET, HEAD, OPTIONS");
    const auto asked = client.ask(test_request(http::method::options, "/"));
    EXPECT_EQ(asked.status(), 204);
    EXPECT_EQ(asked.field("Allow"), "GET, HEAD, OPTIONS");
    const auto whole = client.ask(test_request(http::method::options, "*"));
    EXPECT_EQ(whole.status(), 204);
    EXPECT_EQ(whole.field("Allow"), "GET, HEAD, OPTIONS");
    EXPECT_EQ(client.ask(test_request(http::method::options, "/missing")).status(), 404);
    const auto head = client.ask(test_request(http::method::head, "/"));
    EXPECT_EQ(head.status(), 200);
    EXPECT_EQ(head.content(), "");
}

TEST(test_client, answers_for_handlers_that_fail) {
    router app;
    const auto missing = []() -> result<int> { return failure(error(exchange_category, 0, blame::peer, 404)); };
    app.get("/throws", [](request&, response&) { throw std::runtime_error("x"); });
    app.get("/missing", [=](request&, response&) { static_cast<void>(missing().value()); });
    app.get("/silent", [](request&, response&) {});
    app.get("/task/throws", [](request&, response&) -> task<> {
        co_await yield();
        throw 42;
    });
    app.get("/task/missing", [=](request&, response&) -> task<> {
        co_await yield();
        static_cast<void>(missing().value());
    });
    app.get("/task/silent", [](request&, response&) -> task<> { co_await yield(); });
    app.get("/start/missing", [=](request&, response&) -> task<> {
        static_cast<void>(missing().value());
        return {};
    });
    kept_log log;
    test_client client(app);
    for (const char* path : {"/throws", "/silent", "/task/throws", "/task/silent"}) EXPECT_EQ(client.get(path).status(), 500) << path;
    for (const char* path : {"/missing", "/task/missing", "/start/missing"}) EXPECT_EQ(client.get(path).status(), 404) << path;
}

TEST(test_client, waits_for_an_answer_given_later) {
    router app;
    test_client client(app);
    std::vector<later_response> waiting;
    app.get("/at-once", [](request&, response& res) { res.later().text(200, "at once"); });
    app.get("/dropped", [](request&, response& res) { auto kept = res.later(); });
    app.get("/posted", [&](request& req, response& res) {
        EXPECT_EQ(req.work(), nullptr) << "a plain handler has none";
        client.on().handle().post([kept = res.later()]() mutable { kept.text(200, "posted"); });
    });
    app.get("/both", [](request&, response& res) {
        auto kept = res.later();
        const auto sent = res.try_respond(200, http::media::text, "the handler's");
        EXPECT_FALSE(sent.has_value());
        kept.text(200, "kept");
    });
    app.get("/twice", [](request&, response& res) {
        auto kept = res.later();
        auto none = res.later();
        EXPECT_TRUE(none.is_cancelled());
        kept.text(200, "kept");
    });
    kept_log log;
    EXPECT_EQ(client.get("/at-once").content(), "at once");
    EXPECT_EQ(client.get("/dropped").status(), 500);
    EXPECT_EQ(log.count("dropped unanswered"), 1u);
    EXPECT_EQ(client.get("/posted").content(), "posted");
    EXPECT_EQ(client.get("/both").content(), "kept");
    EXPECT_EQ(client.get("/twice").content(), "kept");
}

TEST(test_client, gives_content_to_every_form) {
    router app;
    app.post("/plain", [](request& req, response& res) { res.text(200, req.content()); });
    app.post("/task", [](request& req, response& res) -> task<> {
        auto all = co_await req.read_all();
        res.text(200, all.value());
    });
    app.post(
        "/ignores", [](request& req, response& res) { res.text(200, std::to_string(req.content().size())); },
        route_options().body_bytes_max(3));
    test_client client(app);
    EXPECT_EQ(client.post("/plain", "abc").content(), "abc");
    EXPECT_EQ(client.post("/task", "abc").content(), "abc");
    EXPECT_EQ(client.post("/ignores", "abcd").status(), 413);
    EXPECT_EQ(client.ask(test_request(http::method::post, "/plain").json("{}")).content(), "{}");
    EXPECT_EQ(client.ask(test_request(http::method::post, "/plain").form("a b", "c&d").form("e", "")).content(), "a+b=c%26d&e=");
}

TEST(test_client, collects_what_is_streamed) {
    router app;
    app.get("/whole", [](request&, response& res) -> task<> {
        auto body = res.stream(200, http::media::text);
        auto a = co_await body.send("ab");
        auto b = co_await body.send(std::string("cd"));
        EXPECT_TRUE(a && b && body.trailer("X-Sum", "4"));
        EXPECT_TRUE(body.end().has_value());
    });
    app.get("/cut", [](request&, response& res) -> task<> {
        auto body = res.stream(200, http::media::text);
        auto a = co_await body.send("ab");
        EXPECT_TRUE(a.has_value());
        throw 1;
    });
    test_client client(app);
    const test_answer whole = client.get("/whole");
    EXPECT_EQ(whole.content(), "abcd");
    EXPECT_TRUE(whole.is_whole());
    EXPECT_EQ(whole.trailer("x-sum"), "4");
    EXPECT_EQ(client.ask(test_request(http::method::head, "/whole")).content(), "");
    EXPECT_FALSE(client.get("/cut").is_whole());
    EXPECT_EQ(client.get("/cut").content(), "ab");
}

TEST(test_client, runs_what_stands_around_a_route) {
    router app;
    std::string told;
    app.before([](request& req, response& res) {
        if (req.path() == "/stop") res.text(403, "stopped");
    });
    app.on_head([](request&, answer_head& head) { EXPECT_TRUE(head.add("X-Head", "1").has_value()); });
    app.on_end([&told](request& req, const exchange_end& end) { told += std::string(req.path()) + std::to_string(end.status()) + " "; });
    app.get("/", [](request&, response& res) { res.text(200, "root"); });
    app.get("/stop", [](request&, response& res) { res.text(200, "not reached"); });
    test_client client(app);
    EXPECT_EQ(client.get("/").field("X-Head"), "1");
    EXPECT_EQ(client.get("/stop").content(), "stopped");
    EXPECT_EQ(client.get("/missing").field("X-Head"), "1");
    EXPECT_EQ(told, "/200 /stop403 /missing404 ");
}

}  // namespace
}  // namespace martlet::server
