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

}  // namespace
}  // namespace martlet::server
