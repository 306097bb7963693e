#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <martlet/server/router.hpp>
#include <martlet/server/test_client.hpp>

namespace martlet::server {
namespace {

void nothing(request&, response&) {}

handler saying(std::string text) {
    return [text = std::move(text)](request&, response& res) { res.text(200, text); };
}

/// A before that leaves a mark in `where`.
before_point marking(std::string& where, char mark) {
    return [&where, mark](request&, response&) { where += mark; };
}

/// The marks that the points around `method` and `path` leave.
std::string marks(const router& app, std::string& where, http::method method, std::string_view path) {
    path_params params;
    const routing to = app.resolve(method, path, params);
    where.clear();
    if (to.points() == nullptr) return "-";
    router asking;
    asking.get("/", [&to](request& req, response& res) {
        to.points()->before(req, res);
        if (!res.is_answered()) res.empty(204);
    });
    test_client(asking).get("/");
    return where;
}

template <class Do>
std::string refusal(Do what) {
    router app;
    app.get("/taken", nothing);
    try {
        what(app);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

TEST(options_of_a_route, are_kept_by_method) {
    using namespace std::chrono_literals;
    router app;
    app.get("/up", nothing)
        .post("/up", nothing, route_options().body_bytes_max(5).ignores_body().handler_timeout(5s).keeps_running_after_fin());
    const route& up = *app.find("/up");
    EXPECT_EQ(up.options(http::method::post).body_bytes_max(), 5u);
    EXPECT_TRUE(up.options(http::method::post).ignores_body());
    EXPECT_TRUE(up.options(http::method::post).keeps_running_after_fin());
    EXPECT_EQ(up.options(http::method::post).handler_timeout(), 5s);
    for (const http::method other : {http::method::get, http::method::head, http::method::put, http::method::other}) {
        EXPECT_EQ(up.options(other).body_bytes_max(), std::nullopt);
        EXPECT_FALSE(up.options(other).ignores_body());
        EXPECT_FALSE(up.options(other).keeps_running_after_fin());
        EXPECT_EQ(up.options(other).handler_timeout(), std::nullopt);
    }
    app.get("/head", nothing, route_options().body_bytes_max(7));
    EXPECT_EQ(app.find("/head")->options(http::method::head).body_bytes_max(), 7u);
}

TEST(route_groups, put_their_prefix_in_front) {
    router app;
    auto api = app.group("/api");
    api.get("", saying("root")).get("/", saying("slash")).get("/users/:id", saying("user"));
    auto v2 = api.group("/v2/:tenant");
    v2.get("/x", saying("x")).post("/x", saying("post"));
    test_client client(app);
    EXPECT_EQ(client.get("/api").content(), "root");
    EXPECT_EQ(client.get("/api/").content(), "slash");
    EXPECT_EQ(client.get("/api/users/5").content(), "user");
    EXPECT_EQ(client.get("/api/v2/me/x").content(), "x");
    EXPECT_EQ(client.get("/api/v2//x").status(), 404);
    EXPECT_EQ(app.find("/api/v2/me/x")->path(), "/api/v2/:tenant/x");
}

TEST(route_groups, refuse_prefixes_and_paths_that_would_mean_something_else) {
    EXPECT_EQ(refusal([](router& app) { app.group("/a/"); }), "route \"/a/\": the prefix of a group does not end with '/'");
    EXPECT_EQ(refusal([](router& app) { app.group("/"); }), "route \"/\": the prefix of a group does not end with '/'");
    EXPECT_EQ(refusal([](router& app) { app.group("a"); }), "route \"a\": a path begins with '/'");
    EXPECT_EQ(refusal([](router& app) { app.group("/*a"); }), "route \"/*a\": the prefix of a group has no \"*name\"");
    EXPECT_EQ(refusal([](router& app) { app.group("/a").get("b", nothing); }), "route \"b\": a path begins with '/', also in a group");
    EXPECT_EQ(refusal([](router& app) { app.group("/a").group("b"); }), "route \"b\": a path begins with '/', also in a group");
    EXPECT_EQ(refusal([](router& app) { app.group("").get("", nothing); }), "route \"\": a path begins with '/'");
    EXPECT_EQ(refusal([](router& app) { app.group("/taken").get("", nothing); }), "route \"/taken\": GET has a handler already");
    EXPECT_EQ(refusal([](router& app) { app.group("/:a").get("/:a", nothing); }), "route \"/:a/:a\": two parameters have the same name");
}

TEST(route_groups, what_runs_around_them_does_not_depend_on_the_order) {
    for (const bool points_first : {true, false}) {
        std::string where;
        router app;
        auto api = app.group("/api");
        auto inner = api.group("/inner");
        auto apart = app.group("");
        const auto add_points = [&] {
            inner.before(marking(where, 'i'));
            app.before(marking(where, 'a'));
            api.before(marking(where, 'b')).before(marking(where, 'c'));
            apart.before(marking(where, 'x'));
        };
        if (points_first) add_points();
        app.get("/", nothing);
        api.get("/r", nothing);
        inner.get("/r", nothing).post("/:p", nothing);
        apart.get("/apart", nothing);
        if (!points_first) add_points();
        const auto get = http::method::get;
        EXPECT_EQ(marks(app, where, get, "/"), "a");
        EXPECT_EQ(marks(app, where, get, "/api/r"), "abc");
        EXPECT_EQ(marks(app, where, get, "/api/inner/r"), "abci");
        EXPECT_EQ(marks(app, where, http::method::head, "/api/inner/r"), "abci");
        EXPECT_EQ(marks(app, where, get, "/apart"), "ax");
        // What has no handler.
        EXPECT_EQ(marks(app, where, http::method::put, "/api/inner/r"), "abci") << "405";
        EXPECT_EQ(marks(app, where, http::method::options, "/api/inner/z"), "abci") << "OPTIONS";
        EXPECT_EQ(marks(app, where, http::method::other, "/api/inner/z"), "abci") << "501";
        EXPECT_EQ(marks(app, where, get, "/api/inner/n/n"), "abci") << "404";
        EXPECT_EQ(marks(app, where, get, "/api/inner"), "abci") << "404";
        EXPECT_EQ(marks(app, where, get, "/api/inne"), "abc") << "404";
        EXPECT_EQ(marks(app, where, get, "/api/innerr"), "abc") << "404";
        EXPECT_EQ(marks(app, where, get, "/apis"), "a") << "404";
        EXPECT_EQ(marks(app, where, http::method::options, "*"), "a");
    }
}

TEST(route_groups, one_path_can_have_methods_of_two_groups) {
    std::string where;
    router app;
    auto open = app.group("");
    auto closed = app.group("").before(marking(where, 'c'));
    open.get("/x", nothing);
    closed.post("/x", nothing);
    EXPECT_EQ(marks(app, where, http::method::get, "/x"), "-");
    EXPECT_EQ(marks(app, where, http::method::post, "/x"), "c");
    EXPECT_NE(app.find("/x")->find_quick(http::method::get), nullptr);
    EXPECT_EQ(app.find("/x")->find_quick(http::method::post), nullptr) << "the short way would pass the before by";
}

TEST(route_groups, the_nearest_prefix_answers_for_a_missing_path) {
    std::string where;
    router app;
    app.group("/:tenant").before(marking(where, 't'));
    app.group("/admin").before(marking(where, 'a'));
    app.group("/:tenant/logs").before(marking(where, 'l'));
    EXPECT_EQ(marks(app, where, http::method::get, "/me"), "t");
    EXPECT_EQ(marks(app, where, http::method::get, "/admin"), "a");
    EXPECT_EQ(marks(app, where, http::method::get, "/admin/x"), "a");
    EXPECT_EQ(marks(app, where, http::method::get, "/admin/logs"), "l");
    EXPECT_EQ(marks(app, where, http::method::get, "/"), "-");
    EXPECT_EQ(marks(app, where, http::method::get, "//logs"), "-");
}

TEST(route_groups, without_points_cost_nothing) {
    router app;
    app.group("/a").group("/b").get("/c", nothing);
    EXPECT_EQ(app.find("/a/b/c")->points(http::method::get), nullptr);
    EXPECT_NE(app.find("/a/b/c")->find_quick(http::method::get), nullptr);
}

TEST(route_mounts, take_over_routes_groups_and_points) {
    std::string where;
    router app;
    app.before(marking(where, 'a'));
    auto below = app.group("/below").before(marking(where, 'b'));
    {
        router other;
        other.before(marking(where, 'o'));
        other.get("/", saying("root")).get("/:id", saying("id"), route_options().body_bytes_max(9)).post("/:id", saying("post"));
        other.group("/g").before(marking(where, 'g')).get("/*rest", saying("rest"));
        below.mount("/m", other);
        app.mount("/twice", other);
        other.get("/late", nothing);
    }
    test_client client(app);
    EXPECT_EQ(client.get("/below/m/").content(), "root");
    EXPECT_EQ(client.get("/below/m/7").content(), "id");
    EXPECT_EQ(client.get("/below/m/g/x/y").content(), "rest");
    EXPECT_EQ(client.get("/twice/7").content(), "id");
    EXPECT_EQ(client.get("/twice/late").content(), "id");
    EXPECT_EQ(client.get("/below/m").status(), 404);
    EXPECT_EQ(app.find("/twice/7")->path(), "/twice/:id");
    EXPECT_EQ(app.find("/twice/7")->options(http::method::get).body_bytes_max(), 9u);
    EXPECT_EQ(app.find("/twice/7")->allow(), "GET, HEAD, POST, OPTIONS");
    EXPECT_EQ(marks(app, where, http::method::get, "/below/m/7"), "abo");
    EXPECT_EQ(marks(app, where, http::method::get, "/below/m/g/x"), "abog");
    EXPECT_EQ(marks(app, where, http::method::get, "/below/m/n/n"), "abo");
    EXPECT_EQ(marks(app, where, http::method::get, "/twice/g/x"), "aog");
    EXPECT_EQ(marks(app, where, http::method::get, "/below/x"), "ab");
}

TEST(route_mounts, change_nothing_when_they_do_not_fit) {
    std::string where;
    router app;
    app.get("/m/:id", saying("mine"));
    router other;
    other.before(marking(where, 'o'));
    other.get("/first", nothing).get("/:name", nothing);
    try {
        app.mount("/m", other);
        ADD_FAILURE() << "mounted";
    } catch (const std::invalid_argument& e) {
        EXPECT_STREQ(e.what(), "route \"/m/:name\": \"/m/:id\" takes the same paths with other names");
    }
    EXPECT_EQ(app.size(), 1u);
    EXPECT_EQ(marks(app, where, http::method::get, "/m/a/b"), "-");
    EXPECT_EQ(refusal([](router& self) { self.mount("/m", self); }), "route \"/m\": a router cannot be mounted on itself");
}

}  // namespace
}  // namespace martlet::server
