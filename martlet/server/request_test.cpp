#include <martlet/server/request.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <martlet/rt/sleep.hpp>
#include <martlet/server/router.hpp>
#include <martlet/server/test_client.hpp>

namespace martlet::server {
namespace {

template <class T>
std::string shown(const result<T>& of) {
    if (!of) return std::to_string(of.error().http_status()) + " " + std::string(of.error().text());
    if constexpr (std::is_same_v<T, std::string>) {
        return *of;
    } else {
        return std::to_string(*of);
    }
}

/// What a handler of `pattern` is given as `name` for `target`.
template <class T = std::string>
std::string param(std::string_view pattern, std::string_view target, std::string_view name) {
    router app;
    std::string got = "no handler";
    app.get(pattern, [&got, name](request& req, response& res) {
        got = shown(req.param<T>(name));
        res.empty(204);
    });
    test_client(app).get(target);
    return got;
}

TEST(request_params, are_decoded_once) {
    EXPECT_EQ(param("/users/:id", "/users/7", "id"), "7");
    EXPECT_EQ(param("/users/:id", "/users/a%2Fb", "id"), "a/b");
    EXPECT_EQ(param("/users/:id", "/users/%2e%2E", "id"), "..");
    EXPECT_EQ(param("/users/:id", "/users/a%252Fb", "id"), "a%2Fb");
    EXPECT_EQ(param("/users/:id", "/users/a+b", "id"), "a+b");
    EXPECT_EQ(param("/users/:id", "/users/%C3%A9%41", "id"),
              "\xc3\xa9"
              "A");
    EXPECT_EQ(param("/:a/:b", "/%61/x%62y?c=%63", "a"), "a");
    EXPECT_EQ(param("/:a/:b", "/%61/x%62y?c=%63", "b"), "xby");
}

TEST(request_params, with_a_bad_escape_are_refused) {
    for (const char* target : {"/u/%", "/u/%4", "/u/a%zz", "/u/%4g", "/u/ab%", "/u/%41%"})
        EXPECT_EQ(param("/u/:id", target, "id"), "400 path parameter \"id\" must have two hexadecimal digits after each '%'") << target;
    EXPECT_EQ(param<int>("/u/:id", "/u/%3", "id"), "400 path parameter \"id\" must have two hexadecimal digits after each '%'");
}

TEST(request_params, are_read_as_types_with_errors_that_say_what_is_right) {
    EXPECT_EQ(param<long>("/u/:id", "/u/-12", "id"), "-12");
    EXPECT_EQ(param<long>("/u/:id", "/u/%31%32", "id"), "12");
    EXPECT_EQ(param<std::uint8_t>("/u/:id", "/u/255", "id"), "255");
    EXPECT_EQ(param<std::uint8_t>("/u/:id", "/u/256", "id"), "400 path parameter \"id\" must be a whole number from 0 to 255");
    EXPECT_EQ(param<std::uint64_t>("/u/:id", "/u/18446744073709551615", "id"), "18446744073709551615");
    for (const char* target : {"/u/18446744073709551616", "/u/-1", "/u/+1", "/u/1.0", "/u/0x10", "/u/%201", "/u/x"}) {
        EXPECT_EQ(param<std::uint64_t>("/u/:id", target, "id"),
                  "400 path parameter \"id\" must be a whole number from 0 to 18446744073709551615")
            << target;
    }
    EXPECT_EQ(param<double>("/u/:id", "/u/2.5", "id"), "2.500000");
    for (const char* target : {"/u/nan", "/u/inf", "/u/1e999", "/u/2,5"})
        EXPECT_EQ(param<double>("/u/:id", target, "id"), "400 path parameter \"id\" must be a number") << target;
    EXPECT_EQ(param<bool>("/u/:id", "/u/true", "id"), "1");
    EXPECT_EQ(param<bool>("/u/:id", "/u/yes", "id"), "400 path parameter \"id\" must be true, false, 1 or 0");
}

TEST(request_params, of_another_name_are_the_programs_mistake) {
    EXPECT_EQ(param("/users/:id", "/users/7", "name"), "500 the route's pattern has no parameter of this name");
    EXPECT_EQ(param("/users/7", "/users/7", "id"), "500 the route's pattern has no parameter of this name");
}

TEST(request_params, the_rest_is_as_it_was_sent) {
    router app;
    app.get("/f/*path", [](request& req, response& res) { res.text(200, std::string(req.rest()) + " " + req.param("path").value()); });
    app.get("/p/:x", [](request& req, response& res) { res.text(200, "<" + std::string(req.rest()) + ">"); });
    app.get("/s", [](request& req, response& res) { res.text(200, "<" + std::string(req.rest()) + ">"); });
    test_client client(app);
    EXPECT_EQ(client.get("/f/a%2Fb/c?d").content(), "a%2Fb/c a%2Fb/c");
    EXPECT_EQ(client.get("/f/").content(), " ");
    EXPECT_EQ(client.get("/p/a").content(), "<>");
    EXPECT_EQ(client.get("/s").content(), "<>");
}

TEST(request_params, outlive_a_suspension) {
    router app;
    app.get("/u/:id/*rest", [](request& req, response& res) -> task<> {
        co_await yield();
        const auto id = req.param<int>("id");
        res.text(200, shown(id) + " " + std::string(req.rest()));
    });
    test_client client(app);
    EXPECT_EQ(client.get("/u/5/a/b").content(), "5 a/b");
}

/// What a handler makes of a request, as text.
template <class Ask>
std::string asked(const test_request& what, Ask ask) {
    router app;
    std::string got;
    app.add(what.method(), "/x", [&](request& req, response& res) {
        got = shown(ask(req));
        res.empty(204);
    });
    test_client(app).ask(what);
    return got;
}
template <class Ask>
std::string of_query(const std::string& query, Ask ask) {
    return asked(test_request(http::method::get, "/x" + query), ask);
}

TEST(request_query, values_are_decoded_and_read_as_types) {
    const auto text = [](const request& req) { return req.query_value("q"); };
    EXPECT_EQ(of_query("?q=a+b%2Bc", text), "a b+c");
    EXPECT_EQ(of_query("?a&q=1&q=2", text), "1");
    EXPECT_EQ(of_query("?%71=%C3%A9", text), "\xc3\xa9");
    EXPECT_EQ(of_query("?q", text), "");
    EXPECT_EQ(of_query("?q=a=b", text), "a=b");
    for (const char* none : {"", "?", "?Q=1", "?qq=1", "?a=q"})
        EXPECT_EQ(of_query(none, text), "400 query parameter \"q\" is missing") << none;
    for (const char* bad : {"?q=%", "?q=%4", "?q=a%zz"})
        EXPECT_EQ(of_query(bad, text), "400 query parameter \"q\" must have two hexadecimal digits after each '%'") << bad;
    const auto number = [](const request& req) { return req.query_value<std::int16_t>("q"); };
    EXPECT_EQ(of_query("?q=-7", number), "-7");
    EXPECT_EQ(of_query("?q=%37", number), "7");
    EXPECT_EQ(of_query("?q=32768", number), "400 query parameter \"q\" must be a whole number from -32768 to 32767");
    EXPECT_EQ(of_query("?q=", number), "400 query parameter \"q\" must be a whole number from -32768 to 32767");
}

TEST(request_query, a_value_that_may_be_missing_must_still_be_right) {
    const auto page = [](const request& req) { return req.query_value("page", 1); };
    EXPECT_EQ(of_query("", page), "1");
    EXPECT_EQ(of_query("?page=5", page), "5");
    EXPECT_EQ(of_query("?page=x", page), "400 query parameter \"page\" must be a whole number from -2147483648 to 2147483647");
    const auto maybe = [](const request& req) -> result<int> {
        const auto found = req.query_value<std::optional<int>>("page");
        if (!found) return failure(found.error());
        return *found ? **found : -1;
    };
    EXPECT_EQ(of_query("", maybe), "-1");
    EXPECT_EQ(of_query("?page=5", maybe), "5");
    EXPECT_EQ(of_query("?page=", maybe), "400 query parameter \"page\" must be a whole number from -2147483648 to 2147483647");
}

TEST(request_cookies, are_found_in_all_their_fields) {
    const auto cookie = [](std::string_view name) {
        const auto what = test_request(http::method::get, "/x").field("Cookie", "a=1; b=\"2\"; a=3").field("cookie", "c=4");
        return asked(what, [name](const request& req) { return result<std::string>(std::string(req.cookie(name).value_or("none"))); });
    };
    EXPECT_EQ(cookie("a"), "1");
    EXPECT_EQ(cookie("b"), "\"2\"");
    EXPECT_EQ(cookie("c"), "4");
    EXPECT_EQ(cookie("A"), "none");
    EXPECT_EQ(cookie("d"), "none");
    EXPECT_EQ(of_query("", [](const request& req) { return result<int>(req.cookie("a") ? 1 : 0); }), "0");
}

TEST(request_forms, are_read_when_they_are_forms) {
    const auto form = [](std::string_view type, std::string content, std::string_view name) {
        auto what = test_request(http::method::post, "/x").content(content);
        if (!type.empty()) what.field("Content-Type", type);
        return asked(what, [&](const request& req) -> result<int> {
            const auto data = req.form();
            if (!data) return failure(data.error());
            return data->value<int>(name);
        });
    };
    constexpr std::string_view type = "application/x-www-form-urlencoded";
    EXPECT_EQ(form(type, "n=5&n=6", "n"), "5");
    EXPECT_EQ(form("Application/X-WWW-Form-Urlencoded; charset=utf-8", "a=b&n=%35", "n"), "5");
    EXPECT_EQ(form(type, "n=x", "n"), "400 form field \"n\" must be a whole number from -2147483648 to 2147483647");
    EXPECT_EQ(form(type, "m=1", "n"), "400 form field \"n\" is missing");
    EXPECT_EQ(form(type, "", "n"), "400 form field \"n\" is missing");
    EXPECT_EQ(form(type, "n=%4", "n").substr(0, 4), "400 ");
    EXPECT_EQ(form("text/plain", "n=5", "n"), "415 field \"Content-Type\" must be application/x-www-form-urlencoded");
    EXPECT_EQ(form("", "n=5", "n"), "415 field \"Content-Type\" must be application/x-www-form-urlencoded");
    std::string many;
    for (int i = 0; i < 1001; ++i) many += "n=1&";
    EXPECT_EQ(form(type, many, "n").substr(0, 4), "413 ");
}

TEST(request_forms, keep_order_and_repeated_names) {
    const form_data data(uri::form::parse("a=1&b=x+y&a=2").value());
    ASSERT_EQ(data.size(), 3u);
    EXPECT_EQ(data.name_at(2), "a");
    EXPECT_EQ(data.value_at(2), "2");
    EXPECT_EQ(data.find("b"), "x y");
    EXPECT_EQ(data.value("a", 7).value(), 1);
    EXPECT_EQ(data.value("z", 7).value(), 7);
    EXPECT_EQ(data.value("b", 7).error().http_status(), 400);
    EXPECT_EQ(data.value("b").value(), "x y");
}

}  // namespace
}  // namespace martlet::server
