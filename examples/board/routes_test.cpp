// The API and the page as a peer meets them, without sockets.
#include "routes.hpp"

#include <martlet/server/test_client.hpp>

#include <gtest/gtest.h>

#include <string>

namespace board {
namespace {

using martlet::http::method;
using martlet::server::test_answer;
using martlet::server::test_client;
using martlet::server::test_request;

/// A board in memory.
class routes_test : public testing::Test {
protected:
    routes_test() : asking_(app_) {
        EXPECT_TRUE(messages_.open(":memory:").has_value()) << messages_.what();
        messages_.listen([this](const message& posted) { news_.publish(posted); });
        add_routes(app_, messages_, news_);
    }

    test_answer get(std::string_view target) { return asking_.get(target); }
    test_answer post(std::string_view target, std::string_view type, std::string content) {
        return asking_.ask(test_request(method::post, target).field("Content-Type", type).content(std::move(content)));
    }
    test_answer post_json(std::string content) { return post("/api/messages", "application/json", std::move(content)); }
    test_answer post_form(std::string_view target, std::string content) {
        return post(target, "application/x-www-form-urlencoded", std::move(content));
    }

    feed news_;
    store messages_;
    martlet::server::router app_;
    test_client asking_;
};

constexpr std::string_view problem_type = "application/problem+json";

TEST_F(routes_test, what_was_posted_is_listed) {
    const test_answer posted = post_json(R"({"name":"Ada","text":"\"one\"\n\u00e9"})");
    EXPECT_EQ(posted.status(), 201);
    EXPECT_TRUE(posted.content().starts_with(R"({"id":1,"posted_at":")")) << posted.content();
    EXPECT_TRUE(posted.content().ends_with("\"name\":\"Ada\",\"text\":\"\\\"one\\\"\\n\xC3\xA9\"}")) << posted.content();
    EXPECT_EQ(post_form("/api/messages", "name=Bo&text=a+%26+b").status(), 201);

    EXPECT_EQ(get("/api/messages").content().find("{\"messages\":[" + posted.content() + ",\n{\"id\":2,"), 0u);
    EXPECT_EQ(get("/api/messages?after=2").content(), "{\"messages\":[]}\n");
    EXPECT_EQ(get("/api/messages?limit=1").content(), "{\"messages\":[" + posted.content() + "]}\n");
    EXPECT_EQ(get("/api/messages?after=1&limit=1").content().find("{\"messages\":[{\"id\":2,"), 0u);
}

TEST_F(routes_test, what_is_wrong_is_said) {
    test_answer refused = post_json("{");
    EXPECT_EQ(refused.status(), 400);
    EXPECT_EQ(refused.content_type(), problem_type);
    refused = post_json(R"({"name":"","text":"a\u0007"})");
    EXPECT_EQ(refused.status(), 422);
    EXPECT_NE(refused.content().find(R"("faults":{"name":"Please write a name.","text":"The message has a control)"), std::string::npos)
        << refused.content();
    EXPECT_EQ(post_form("/api/messages", "name=x").status(), 400);
    EXPECT_EQ(post_form("/api/messages", "name=x&text=%f").status(), 400);
    EXPECT_EQ(post_form("/api/messages", "name=x&text=%FF").status(), 422);
    EXPECT_EQ(post("/api/messages", "text/plain", "hello").status(), 415);
    EXPECT_EQ(post("/api/messages", "application/jsonp", "{}").status(), 415);
    EXPECT_EQ(post_json(std::string(100'000, ' ')).status(), 413);
    for (const char* query : {"after=x", "limit=0", "limit=101", "limit=1e1", "limit="}) {
        refused = get("/api/messages?" + std::string(query));
        EXPECT_EQ(refused.status(), 400) << query;
    }
    EXPECT_EQ(get("/api/messages").content(), "{\"messages\":[]}\n");
}

TEST_F(routes_test, the_page_shows_them_escaped) {
    EXPECT_EQ(post_json(R"({"name":"<i>","text":"<script>"})").status(), 201);
    const test_answer page = get("/");
    EXPECT_EQ(page.status(), 200);
    EXPECT_EQ(page.content_type(), "text/html; charset=utf-8");
    EXPECT_NE(page.content().find("&lt;i&gt;"), std::string::npos);
    EXPECT_EQ(page.content().find("<script>"), std::string::npos);
}

TEST_F(routes_test, the_form_works_without_script) {
    const test_answer posted = post_form("/", "name=Ada&text=hello");
    EXPECT_EQ(posted.status(), 303);
    EXPECT_EQ(posted.field("Location"), "/");
    EXPECT_NE(get("/").content().find("hello"), std::string::npos);

    const test_answer refused = post_form("/", "name=%22Ada&text=");
    EXPECT_EQ(refused.status(), 422);
    EXPECT_NE(refused.content().find("Please write a message."), std::string::npos);
    EXPECT_NE(refused.content().find("value=\"&quot;Ada\""), std::string::npos);
}

TEST_F(routes_test, what_the_page_needs_is_there_and_keeps) {
    const std::string page = get("/").content();
    for (std::string_view path : {"/board.css", "/board.js", "/icon.svg"}) {
        const std::size_t at = page.find(std::string(path) + "?");
        ASSERT_NE(at, page.npos) << path;
        const test_answer part = get(page.substr(at, page.find('"', at) - at));
        EXPECT_EQ(part.status(), 200) << path;
        EXPECT_NE(part.content(), "");
        EXPECT_EQ(part.field("Cache-Control"), "public, max-age=31536000, immutable");
    }
}

}  // namespace
}  // namespace board
