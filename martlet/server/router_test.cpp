#include <martlet/server/router.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

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
    for (const std::string_view path : {"/:id", "/a/:id/b", "/*"})
        EXPECT_NE(refusal(http::method::get, path, nothing).find("not supported"), std::string::npos);
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

}  // namespace
}  // namespace martlet::server
