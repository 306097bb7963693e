#include <martlet/server/router.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/server/testing_patterns_internal.hpp>

namespace martlet::server {
namespace {

void nothing(request&, response&) {}

TEST(router, finds_the_route_of_a_path_and_nothing_for_others) {
    router app;
    app.get("/", nothing)
        .get("/a", nothing)
        .get("/a/b", nothing)
        .get("/plaintext", nothing)
        .get("/a/longer/path/than/sixteen/bytes", nothing);
    EXPECT_EQ(app.size(), 5u);
    for (const char* path : {"/", "/a", "/a/b", "/plaintext", "/a/longer/path/than/sixteen/bytes"}) {
        const route* found = app.find(path);
        ASSERT_NE(found, nullptr) << path;
        EXPECT_EQ(found->path(), path);
    }
    for (const char* path : {"", "a", "/A", "/a/", "//", "/b", "/a/longer/path/than/sixteen/bytez", "/b/longer/path/than/sixteen/bytes",
                             "/a/longer/path/THAN/sixteen/bytes", "/plaintex", "/plaintextt", "/plainXext", "*"}) {
        EXPECT_EQ(app.find(path), nullptr) << path;
    }
}

TEST(router, finds_nothing_when_it_is_empty) {
    const router app;
    EXPECT_EQ(app.find("/"), nullptr);
    EXPECT_EQ(app.find(""), nullptr);
    EXPECT_EQ(app.size(), 0u);
}

TEST(router, keeps_thousands_of_routes_apart) {
    router app;
    std::vector<std::string> paths;
    // Of every length, many alike at both ends.
    for (int i = 0; i < 3000; ++i) {
        const std::string number = std::to_string(i);
        paths.push_back(i % 3 == 0   ? "/" + number
                        : i % 3 == 1 ? "/items/" + number + "/details"
                                     : "/a/very/long/beginning/" + number + "/and/a/very/long/end");
    }
    for (const std::string& path : paths) app.get(path, nothing);
    for (const std::string& path : paths) {
        const route* found = app.find(path);
        ASSERT_NE(found, nullptr) << path;
        EXPECT_EQ(found->path(), path);
        EXPECT_EQ(app.find(path + "x"), nullptr);
        EXPECT_EQ(app.find("/x" + path), nullptr);
    }
}

TEST(router, a_path_with_zero_bytes_is_not_taken_for_a_shorter_one) {
    router app;
    app.get("/a", nothing);
    EXPECT_EQ(app.find(std::string_view("/a\0", 3)), nullptr);
    EXPECT_EQ(app.find(std::string_view("\0/a", 3)), nullptr);
}

TEST(router, a_route_has_its_handlers_by_method) {
    router app;
    app.get("/", nothing).post("/", nothing).put("/only", nothing).patch("/only", nothing).del("/only", nothing);
    const route* root = app.find("/");
    ASSERT_NE(root, nullptr);
    EXPECT_NE(root->find(http::method::get), nullptr);
    EXPECT_NE(root->find(http::method::post), nullptr);
    EXPECT_EQ(root->find(http::method::head), root->find(http::method::get));
    EXPECT_NE(root->find(http::method::post), root->find(http::method::get));
    EXPECT_EQ(root->find(http::method::put), nullptr);
    EXPECT_EQ(root->find(http::method::options), nullptr);
    EXPECT_EQ(root->find(http::method::other), nullptr);
    EXPECT_EQ(root->find_quick(http::method::get), root->find(http::method::get));
    EXPECT_EQ(root->find_quick(http::method::other), nullptr);
    EXPECT_EQ(root->allow(), "GET, HEAD, POST, OPTIONS");
    const route* only = app.find("/only");
    ASSERT_NE(only, nullptr);
    EXPECT_EQ(only->find(http::method::head), nullptr);
    EXPECT_EQ(only->allow(), "PUT, DELETE, OPTIONS, PATCH");
}

TEST(router, head_may_have_a_handler_of_its_own_in_either_order) {
    for (const bool head_first : {true, false}) {
        router app;
        if (head_first) app.add(http::method::head, "/", nothing);
        app.get("/", nothing);
        if (!head_first) app.add(http::method::head, "/", nothing);
        const route* root = app.find("/");
        EXPECT_NE(root->find(http::method::head), root->find(http::method::get));
        EXPECT_EQ(root->allow(), "GET, HEAD, OPTIONS");
    }
}

/// What is said of a route that cannot be.
std::string refusal(http::method method, std::string_view path, handler h) {
    router app;
    app.get("/taken", nothing);
    try {
        app.add(method, path, std::move(h));
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

TEST(router, refuses_what_no_request_could_meet_and_says_why) {
    for (const std::string_view path : {"", "a", "a/b", "*"}) {
        EXPECT_EQ(refusal(http::method::get, path, nothing), "route \"" + std::string(path) + "\": a path begins with '/'");
    }
    for (const std::string_view path : {"/a?b", "/a#b"})
        EXPECT_NE(refusal(http::method::get, path, nothing).find("no query"), std::string::npos);
    for (const std::string_view path : {"/a b", "/\t", "/\xc3\xa9", "/\x7f"}) {
        EXPECT_NE(refusal(http::method::get, path, nothing).find("percent-encoded"), std::string::npos) << path;
    }
    for (const std::string_view path : {"/a%", "/a%4", "/%zz", "/a%00b"})
        EXPECT_NE(refusal(http::method::get, path, nothing).find("two hexadecimal digits"), std::string::npos) << path;
    for (const std::string_view path : {"/{id}", "/<id>"})
        EXPECT_NE(refusal(http::method::get, path, nothing).find("written as \":name\""), std::string::npos) << path;
    for (const std::string_view path : {"/:", "/*", "/a/:/b", "/:1a", "/:a-b", "/:a:b", "/*a.b"})
        EXPECT_NE(refusal(http::method::get, path, nothing).find("the name of a parameter"), std::string::npos) << path;
    for (const std::string_view path : {"/*a/b", "/*a/", "/*a/*b"})
        EXPECT_NE(refusal(http::method::get, path, nothing).find("only the last segment"), std::string::npos) << path;
    for (const std::string_view path : {"/:a/:a", "/:a/b/*a"})
        EXPECT_NE(refusal(http::method::get, path, nothing).find("the same name"), std::string::npos) << path;
    EXPECT_NE(refusal(http::method::get, "/:a/:b/:c/:d/:e/:f/:g/:h/*i", nothing).find("params_max"), std::string::npos);
    EXPECT_EQ(refusal(http::method::get, "/:a/:b/:c/:d/:e/:f/:g/*h", nothing), "");
    std::string deep;
    for (std::size_t i = 1; i < router::pattern_segments_max; ++i) deep += "/a";
    EXPECT_EQ(refusal(http::method::get, deep + "/:a", nothing), "");
    EXPECT_NE(refusal(http::method::get, deep + "/b/:a", nothing).find("pattern_segments_max"), std::string::npos);
    EXPECT_EQ(refusal(http::method::get, deep + deep, nothing), "");
    EXPECT_EQ(refusal(http::method::get, "/taken", nothing), "route \"/taken\": GET has a handler already");
    EXPECT_NE(refusal(http::method::other, "/x", nothing).find("method"), std::string::npos);
    EXPECT_NE(refusal(http::method::get, "/x", handler()).find("empty"), std::string::npos);
    EXPECT_EQ(refusal(http::method::post, "/taken", nothing), "");
}

TEST(router, a_refused_route_changes_nothing) {
    router app;
    app.get("/a", nothing);
    EXPECT_THROW(app.get("/a", nothing), std::invalid_argument);
    EXPECT_THROW(app.get("b", nothing), std::invalid_argument);
    EXPECT_THROW(app.get("/b", handler()), std::invalid_argument);
    EXPECT_EQ(app.size(), 1u);
    EXPECT_EQ(app.find("/b"), nullptr);
    EXPECT_EQ(app.find("/a")->allow(), "GET, HEAD, OPTIONS");
}

/// "PATTERN name=part name=part" of the route that takes `path`, or "none".
std::string taken(const router& app, std::string_view path) {
    path_params params;
    const route* found = app.find(path, params);
    if (found == nullptr) return "none";
    std::string all = found->path();
    EXPECT_EQ(params.size(), found->param_names().size());
    for (std::size_t i = 0; i < params.size(); ++i) all += " " + found->param_names()[i] + "=" + std::string(params.at(i, path));
    return all;
}

TEST(router_params, take_one_segment_that_is_not_empty) {
    router app;
    app.get("/users/:id", nothing).get("/users/:id/posts/:post", nothing);
    EXPECT_EQ(taken(app, "/users/5"), "/users/:id id=5");
    EXPECT_EQ(taken(app, "/users/a%2Fb"), "/users/:id id=a%2Fb");
    EXPECT_EQ(taken(app, "/users/me/posts/77"), "/users/:id/posts/:post id=me post=77");
    for (const char* path : {"/users", "/users/", "/users/5/", "/users//posts/7", "/users/5/posts/", "/users/5/posts", "/users/5/posts/7/",
                             "//", "/users/5/posts/7/8", "users/5", "", "*", "/USERS/5"}) {
        EXPECT_EQ(taken(app, path), "none") << path;
    }
}

TEST(router_params, a_rest_takes_all_that_is_left_and_may_be_empty) {
    router app;
    app.get("/files/*path", nothing).get("/:a/*b", nothing);
    EXPECT_EQ(taken(app, "/files/"), "/files/*path path=");
    EXPECT_EQ(taken(app, "/files//"), "/files/*path path=/");
    EXPECT_EQ(taken(app, "/files/a/b/../c"), "/files/*path path=a/b/../c");
    EXPECT_EQ(taken(app, "/files"), "none");
    EXPECT_EQ(taken(app, "/x/"), "/:a/*b a=x b=");
    EXPECT_EQ(taken(app, "//x"), "none");
    router everything;
    everything.get("/*all", nothing).get("/", nothing);
    EXPECT_EQ(taken(everything, "/"), "/");
    EXPECT_EQ(taken(everything, "/a"), "/*all all=a");
    EXPECT_EQ(taken(everything, "//"), "/*all all=/");
    EXPECT_EQ(taken(everything, "*"), "none");
}

TEST(router_params, the_more_specific_goes_first_in_any_order) {
    std::vector<std::string> patterns = {"/a/b/c", "/a/b/:x", "/a/:x/c", "/:x/b/c", "/a/*r", "/:x/:y/*r", "/*r"};
    std::sort(patterns.begin(), patterns.end());
    int orders = 0;
    do {
        router app;
        for (const std::string& each : patterns) app.get(each, nothing);
        ASSERT_EQ(taken(app, "/a/b/c"), "/a/b/c");
        ASSERT_EQ(taken(app, "/a/b/z"), "/a/b/:x x=z");
        ASSERT_EQ(taken(app, "/a/z/c"), "/a/:x/c x=z");
        ASSERT_EQ(taken(app, "/z/b/c"), "/:x/b/c x=z");
        ASSERT_EQ(taken(app, "/a/z/z"), "/a/*r r=z/z");
        ASSERT_EQ(taken(app, "/z/b/z"), "/:x/:y/*r x=z y=b r=z");
        ASSERT_EQ(taken(app, "/z"), "/*r r=z");
        ++orders;
    } while (std::next_permutation(patterns.begin(), patterns.end()));
    EXPECT_EQ(orders, 5040);
}

TEST(router_params, names_belong_to_the_route_and_not_to_the_segment) {
    router app;
    app.get("/:a/x", nothing).get("/:b/y", nothing);
    EXPECT_EQ(taken(app, "/1/x"), "/:a/x a=1");
    EXPECT_EQ(taken(app, "/1/y"), "/:b/y b=1");
}

TEST(router_params, a_pattern_with_other_names_for_the_same_paths_is_refused_naming_both) {
    const auto second = [](const char* one, const char* other) {
        router app;
        app.get(one, nothing);
        try {
            app.post(other, nothing);
        } catch (const std::invalid_argument& e) {
            EXPECT_EQ(app.size(), 1u);
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_EQ(second("/users/:id", "/users/:name"), "route \"/users/:name\": \"/users/:id\" takes the same paths with other names");
    EXPECT_EQ(second("/*a", "/*b"), "route \"/*b\": \"/*a\" takes the same paths with other names");
    EXPECT_EQ(second("/x/:a/*b", "/x/:b/*a"), "route \"/x/:b/*a\": \"/x/:a/*b\" takes the same paths with other names");
    EXPECT_EQ(second("/users/:id", "/users/:id"), "");
    EXPECT_EQ(second("/users/:id", "/users/*id"), "");
    EXPECT_EQ(second("/users/:id", "/users/id"), "");
}

TEST(router_params, methods_belong_to_the_pattern) {
    router app;
    app.get("/users/:id", nothing).del("/users/:id", nothing).post("/users/me", nothing);
    EXPECT_EQ(app.size(), 2u);
    path_params params;
    EXPECT_NE(app.resolve(http::method::delete_, "/users/5", params).run(), nullptr);
    EXPECT_NE(app.resolve(http::method::head, "/users/5", params).run(), nullptr);
    const routing put = app.resolve(http::method::put, "/users/5", params);
    EXPECT_EQ(put.status(), 405);
    EXPECT_EQ(put.allow(), "GET, HEAD, DELETE, OPTIONS");
    const routing options = app.resolve(http::method::options, "/users/5", params);
    EXPECT_EQ(options.status(), 204);
    EXPECT_EQ(options.allow(), "GET, HEAD, DELETE, OPTIONS");
    // The path alone decides on the route.
    const routing me = app.resolve(http::method::get, "/users/me", params);
    EXPECT_EQ(me.status(), 405);
    EXPECT_EQ(me.allow(), "POST, OPTIONS");
    EXPECT_EQ(params.size(), 0u);
    EXPECT_EQ(app.resolve(http::method::get, "/nobody", params).status(), 404);
    EXPECT_EQ(app.resolve(http::method::other, "/users/5", params).status(), 501);
    EXPECT_EQ(app.resolve(http::method::other, "/nobody", params).status(), 501);
    EXPECT_EQ(app.resolve(http::method::options, "*", params).status(), 204);
    EXPECT_EQ(app.resolve(http::method::get, "*", params).status(), 404);
    EXPECT_EQ(app.resolve(http::method::get, "", params).status(), 404);
}

TEST(router_params, long_paths_are_harmless) {
    router app;
    app.get("/:a/:b/:c", nothing).get("/a/:b/*c", nothing).get("/a/a/a/a/a/:f", nothing);
    const std::string slashes(8192, '/');
    EXPECT_EQ(taken(app, slashes), "none");
    EXPECT_EQ(taken(app, "/a/b" + slashes), "/a/:b/*c b=b c=" + slashes.substr(1));
    const std::string letters(8192, 'a');
    EXPECT_EQ(taken(app, "/a/" + letters + "/"), "/a/:b/*c b=" + letters + " c=");
    EXPECT_EQ(taken(app, "/" + letters), "none");
    // Offsets are of 16 bits.
    EXPECT_EQ(taken(app, "/a/b/" + std::string(path_params::path_bytes_max - 5, 'c')).size(), path_params::path_bytes_max - 5 + 15);
    EXPECT_EQ(taken(app, "/a/b/" + std::string(path_params::path_bytes_max - 4, 'c')), "none");
}

TEST(router_params, thousands_of_patterns_are_kept_apart) {
    router app;
    std::vector<std::string> patterns;
    for (int i = 0; i < 2000; ++i) {
        const std::string number = std::to_string(i);
        patterns.push_back(i % 2 == 0 ? "/items/" + number + "/:x" : "/a/long/beginning/" + number + "/and/:x/end");
    }
    for (const std::string& each : patterns) app.get(each, nothing);
    for (const std::string& each : patterns) {
        std::string path = each;
        path.replace(path.find(":x"), 2, "7");
        EXPECT_EQ(taken(app, path), each + " x=7");
    }
}

// Every pattern of a small alphabet against every path of it, compared with one that looks at all routes and sorts.
TEST(router_params, agree_with_a_slow_router_on_random_patterns) {
    testing::sequence numbers(1);
    for (int round = 0; round < 300; ++round) {
        router app;
        testing::slow_router slow;
        for (unsigned left = 1 + numbers.below(12); left != 0; --left) {
            const std::string each = testing::random_pattern(numbers);
            try {
                app.get(each, nothing);
            } catch (const std::invalid_argument&) {
                continue;
            }
            slow.add(each);
        }
        for (int each = 0; each < 200; ++each) {
            const std::string path = testing::random_path(numbers);
            ASSERT_EQ(taken(app, path), slow.taken(path)) << path << " among " << slow.text();
        }
    }
}

}  // namespace
}  // namespace martlet::server
