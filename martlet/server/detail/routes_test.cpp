// Routes as a connection uses them: by the short way and by the other, in handlers of each form.
#include <gtest/gtest.h>

#include <string>

#include <martlet/rt/sleep.hpp>
#include <martlet/server/detail/testing_internal.hpp>

namespace martlet::server {
namespace {

using testing::bench;
using testing::client;
using testing::get;
using testing::request_text;
using testing::summary;

void add_routes(router& app) {
    app.get("/s", [](request& req, response& res) { res.text(200, "s<" + std::string(req.rest()) + ">"); });
    app.get("/u/:id", [](request& req, response& res) { res.text(200, "u" + std::to_string(req.param<int>("id").value())); });
    app.get("/f/*path", [](request& req, response& res) { res.text(200, "f" + std::string(req.rest())); });
    app.get("/c/:id/*path", [](request& req, response& res) -> task<> {
        co_await yield();
        res.text(200, "c" + req.param("id").value() + std::string(req.rest()));
    });
}

constexpr const char* expected =
    "200 u1, 200 s<>, 200 fa/b, 200 s<>, 200 cx/yz, 200 u2, 400 Bad Request\npath parameter \"id\" must be , 404 Not Found, 405 Method Not "
    "Allowed, 501 Not Implemented";

std::string requests() {
    return get("/u/1") + get("/s") + get("/f/a/b") + get("/s") + get("/c/x%2Fy/z") + get("/u/%32") + get("/u/x") + get("/u/") +
           request_text("POST", "/u/1") + request_text("BREW", "/u/1");
}

TEST(routes, mean_the_same_by_the_short_way_and_by_the_other) {
    for (const bool watched : {false, true}) {
        for (const bool hand_over : {false, true}) {
            bench server(loop_options().hand_over(hand_over));
            server.watched = watched;
            add_routes(server.app);
            client peer(server);
            EXPECT_EQ(summary(peer.ask(requests())), expected) << watched << hand_over;
        }
    }
}

TEST(routes, a_long_path_of_slashes_is_answered) {
    bench server;
    add_routes(server.app);
    client peer(server);
    const std::string slashes(8000, '/');
    EXPECT_EQ(summary(peer.ask(get(slashes) + get("/f" + slashes) + get("/s"))),
              "404 Not Found, 200 f" + slashes.substr(0, 39) + ", 200 s<>");
}

}  // namespace
}  // namespace martlet::server
