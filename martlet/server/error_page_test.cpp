#include <martlet/server/error_page.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <martlet/server/input.hpp>
#include <martlet/server/router.hpp>
#include <martlet/server/test_client.hpp>

namespace martlet::server {
namespace {

std::string type_for(std::optional<std::string_view> accept) {
    const error_page page(404, "", accept);
    return std::string(page.type().id() == http::media::custom ? page.type().value() : http::text(page.type().id()));
}

TEST(error_page, takes_the_form_that_is_asked_for) {
    constexpr const char* text = "text/plain; charset=utf-8";
    constexpr const char* html = "text/html; charset=utf-8";
    constexpr const char* json = "application/problem+json";
    EXPECT_EQ(type_for(std::nullopt), text);
    for (const char* accept : {"", "*/*", " */* ", "text/*;q=0.1, text/plain", "image/png", "text/plain", "nonsense", ";;,,"})
        EXPECT_EQ(type_for(accept), text) << accept;
    for (const char* accept :
         {"text/html", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/*", "application/json;q=0.1, text/html"})
        EXPECT_EQ(type_for(accept), html) << accept;
    for (const char* accept : {"application/json", "application/problem+json", "application/*", "application/json, text/plain, */*",
                               "text/html;q=0.5, application/problem+json"})
        EXPECT_EQ(type_for(accept), json) << accept;
}

std::string content(int status, std::string_view detail, std::string_view accept) {
    return std::string(error_page(status, detail, accept).content());
}

TEST(error_page, says_status_and_detail) {
    EXPECT_EQ(content(404, "", "text/plain"), "Not Found");
    EXPECT_EQ(content(400, "path parameter \"id\" <&>", "text/plain"), "Bad Request\npath parameter \"id\" <&>");
    EXPECT_EQ(content(404, "", "application/json"), R"({"type":"about:blank","title":"Not Found","status":404})");
    EXPECT_EQ(content(400, "\"a\"\\\n\x7f<\xc3\xa9", "application/json"),
              "{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,\"detail\":\"\\\"a\\\"\\\\\\u000a\\u007f<\xc3\xa9\"}");
    EXPECT_EQ(content(400, "<a href='x'>\"&", "text/html"),
              "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>400 Bad Request</title>\n<h1>400 Bad Request</h1>\n"
              "<p>&lt;a href=&#39;x&#39;&gt;&quot;&amp;</p>\n</html>\n");
    EXPECT_EQ(content(418, "", "text/plain"), "Client Error");
    EXPECT_EQ(content(599, "", "application/json"), R"({"type":"about:blank","title":"Server Error","status":599})");
}

TEST(error_page, cuts_a_long_detail_between_characters) {
    const std::string prefix = "Not Found\n";
    EXPECT_EQ(content(404, std::string(600, 'x'), "text/plain"), prefix + std::string(error_page::detail_bytes_max, 'x'));
    std::string e_acute;
    for (int i = 0; i < 300; ++i) e_acute += "\xc3\xa9";
    EXPECT_EQ(content(404, "x" + e_acute, "text/plain"), prefix + "x" + e_acute.substr(0, 510));
    EXPECT_TRUE(content(404, std::string(600, '"'), "text/html").ends_with("&quot;</p>\n</html>\n"));
    EXPECT_TRUE(content(404, std::string(600, '\x01'), "application/json").ends_with("\\u0001\"}"));
}

TEST(error_page, replaces_bytes_that_are_no_utf8) {
    const std::string bad = "\xef\xbf\xbd";
    EXPECT_EQ(content(404, "a\xff\x62", "text/plain"), "Not Found\na" + bad + "b");
    for (const char* one : {"\xc0", "\xc3", "\xf5", "\x80"}) EXPECT_EQ(content(404, one, "text/plain"), "Not Found\n" + bad) << one;
    EXPECT_EQ(content(404, "\xed\xa0\x80", "text/plain"), "Not Found\n" + bad + bad + bad) << "a surrogate";
    EXPECT_EQ(content(404, "\xe0\x80\x80", "text/plain"), "Not Found\n" + bad + bad + bad) << "too long for what it is";
    EXPECT_EQ(content(404, "\xf4\x90\x80\x80", "text/plain"), "Not Found\n" + bad + bad + bad + bad) << "beyond the last";
    EXPECT_EQ(content(404, "\xf0\x9f\x90\xa6\xe2\x82\xac", "text/plain"), "Not Found\n\xf0\x9f\x90\xa6\xe2\x82\xac");
    EXPECT_EQ(problem_json(404, "a\xff"), "{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404,\"detail\":\"a" + bad + "\"}");
}

void nothing(request&, response&) {}

test_answer asked(handler h, std::string_view accept, http::method method = http::method::get) {
    router app;
    app.get("/x/:id", std::move(h));
    auto what = test_request(method, "/x/y");
    if (!accept.empty()) what.field("Accept", accept);
    return test_client(app).ask(what);
}

TEST(error_answers, tell_a_peer_what_it_did_wrong) {
    const auto wants_number = [](request& req, response& res) { res.text(200, std::to_string(req.param<int>("id").value())); };
    const auto json = asked(wants_number, "application/json");
    EXPECT_EQ(json.status(), 400);
    EXPECT_EQ(json.content_type(), "application/problem+json");
    EXPECT_EQ(json.content(), R"({"type":"about:blank","title":"Bad Request","status":400,)"
                              R"("detail":"path parameter \"id\" must be a whole number from -2147483648 to 2147483647"})");
    EXPECT_EQ(json.field("Vary"), "Accept");
    const auto text = asked(wants_number, "");
    EXPECT_EQ(text.content(), "Bad Request\npath parameter \"id\" must be a whole number from -2147483648 to 2147483647");
}

TEST(error_answers, tell_nothing_of_what_went_wrong_here) {
    const auto secret = [](auto what) {
        for (const char* accept : {"", "text/html", "application/json"}) {
            const auto answer = asked(what, accept);
            EXPECT_EQ(answer.status(), 500);
            EXPECT_EQ(answer.content().find("secret"), std::string::npos) << answer.content();
            EXPECT_EQ(answer.content().find("detail"), std::string::npos) << answer.content();
            EXPECT_EQ(answer.field("X-Secret"), std::nullopt);
        }
    };
    secret([](request&, response& res) {
        EXPECT_TRUE(res.set("X-Secret", "1").has_value());
        throw std::runtime_error("secret");
    });
    secret([](request& req, response&) { static_cast<void>(req.param("secret").value()); });
    secret([](request&, response&) {});
    secret([](request&, response&) -> task<> {
        throw std::runtime_error("secret");
        co_return;
    });
    EXPECT_EQ(public_detail(error::system(2)), "");
    EXPECT_EQ(public_detail(error(cancel_category, 1, blame::local, 404)), "");
    EXPECT_EQ(public_detail(error(cancel_category, 1, blame::peer, 502)), "");
    EXPECT_EQ(public_detail(error(cancel_category, 1, blame::peer, 404)), "");
    EXPECT_EQ(public_detail(input_error(input_source::query, "n", "is missing")), "query parameter \"n\" is missing");
}

TEST(error_answers, are_those_of_the_router_too) {
    router app;
    app.get("/x", nothing);
    test_client client(app);
    const auto missing = client.ask(test_request(http::method::get, "/y").field("Accept", "text/html"));
    EXPECT_EQ(missing.status(), 404);
    EXPECT_EQ(missing.content_type(), "text/html; charset=utf-8");
    const auto wrong = client.ask(test_request(http::method::post, "/x").field("Accept", "application/json"));
    EXPECT_EQ(wrong.status(), 405);
    EXPECT_EQ(wrong.field("Allow"), "GET, HEAD, OPTIONS");
    EXPECT_EQ(wrong.field("Vary"), "Accept");
    EXPECT_EQ(wrong.content_type(), "application/problem+json");
}

TEST(error_answers, can_be_given_by_a_handler) {
    const auto failing = asked(
        [](request&, response& res) {
            EXPECT_TRUE(res.set("X-More", "1").has_value());
            res.fail(503, "until five");
        },
        "text/plain");
    EXPECT_EQ(failing.status(), 503);
    EXPECT_EQ(failing.content(), "Service Unavailable\nuntil five");
    EXPECT_EQ(failing.field("X-More"), "1");
    const auto problem = asked([](request&, response& res) { res.problem(409, std::string(2000, 'x')); }, "text/plain");
    EXPECT_EQ(problem.status(), 409);
    EXPECT_EQ(problem.content_type(), "application/problem+json");
    EXPECT_EQ(problem.content(), R"({"type":"about:blank","title":"Conflict","status":409,"detail":")" + std::string(2000, 'x') + "\"}");
}

TEST(redirects, go_where_they_are_told_and_nowhere_else) {
    const auto to = [](int status, std::string_view where) {
        return asked([=](request&, response& res) { res.redirect(status, where); }, "");
    };
    for (const int status : {301, 302, 303, 307, 308}) {
        const auto answer = to(status, "/a?b=c%20d#e");
        EXPECT_EQ(answer.status(), status);
        EXPECT_EQ(answer.field("Location"), "/a?b=c%20d#e");
        EXPECT_EQ(answer.content(), "");
    }
    EXPECT_EQ(to(303, "/\r\nX: y").field("Location"), "/%0D%0AX:%20y");
    EXPECT_EQ(to(303, "/\xc3\xa9").field("Location"), "/%C3%A9");
    for (const int status : {200, 300, 304, 404}) EXPECT_EQ(to(status, "/a").status(), 500) << status;
}

TEST(cookies_set, are_checked) {
    const auto answer = asked(
        [](request&, response& res) {
            EXPECT_TRUE(res.set_cookie(http::set_cookie("a", "1").path("/").http_only()).has_value());
            EXPECT_FALSE(res.set_cookie(http::set_cookie("a b", "1")).has_value());
            EXPECT_FALSE(res.set_cookie(http::set_cookie("a", "1\r\nX: y")).has_value());
            EXPECT_FALSE(res.set_cookie(http::set_cookie("__Host-a", "1")).has_value());
            res.empty(204);
        },
        "");
    EXPECT_EQ(answer.field("Set-Cookie"), "a=1; Path=/; HttpOnly");
}

}  // namespace
}  // namespace martlet::server
