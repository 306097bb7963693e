#include <martlet/server/local_table.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

#include <martlet/rt/loop.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/server/detail/testing_internal.hpp>
#include <martlet/server/router.hpp>
#include <martlet/server/test_client.hpp>
#include <martlet/server/testing_internal.hpp>

namespace martlet::server {
namespace {

using testing::bench;
using testing::client;
using testing::get;
using testing::summary;

/// Writes down when it begins and ends. Not to be moved.
template <char Mark>
class noted {
public:
    explicit noted(std::string& where) : where_(where) { where_ += Mark; }
    noted(const noted&) = delete;
    noted& operator=(const noted&) = delete;
    ~noted() {
        where_ += '~';
        where_ += Mark;
    }
    int number = 0;

protected:
    std::string& where_;
};

/// Ends after a while.
class slow : public noted<'s'> {
public:
    using noted<'s'>::noted;
    task<> close() {
        where_ += "<";
        const auto slept = co_await sleep_for(std::chrono::milliseconds(1));
        where_ += slept ? ">" : "!";
    }
};

/// Ends when it is told to.
class stuck : public noted<'k'> {
public:
    using noted<'k'>::noted;
    task<> close() {
        const auto slept = co_await sleep_for(std::chrono::hours(1));
        where_ += slept ? ">" : "!";
    }
};

template <class T>
void add(router& app, std::string& where) {
    app.local<T>([&where] { return T(where); });
}

TEST(local_table, is_made_in_order_and_ended_in_reverse) {
    std::string where;
    router app;
    add<noted<'a'>>(app, where);
    add<slow>(app, where);
    add<noted<'b'>>(app, where);
    {
        test_client client(app);
        EXPECT_EQ(where, "asb");
    }
    EXPECT_EQ(where, "asb~b<>~s~a");
    where.clear();
    {
        loop on;
        local_table table(on, app.locals());
    }
    EXPECT_EQ(where, "asb~b~s~a") << "not closed, but destroyed";
}

TEST(local_table, a_factory_that_throws_leaves_nothing) {
    std::string where;
    router app;
    add<noted<'a'>>(app, where);
    add<noted<'b'>>(app, where);
    app.local<int>([]() -> int { throw std::runtime_error("no database"); });
    EXPECT_THROW(test_client{app}, std::runtime_error);
    EXPECT_EQ(where, "ab~b~a");
}

TEST(local_table, a_type_has_one_factory) {
    router app;
    app.local<int>([] { return 1; });
    EXPECT_THROW(app.local<int>([] { return 2; }), std::invalid_argument);
    app.local<long>([](loop&) { return 3L; });
    router other;
    other.local<int>([] { return 4; }).local<char>([] { return 'c'; });
    app.mount("/other", other);
    app.get("/", [](request& req, response& res) {
        res.text(200, std::to_string(req.local<int>()) + std::to_string(req.local<long>()) + req.local<char>());
    });
    EXPECT_EQ(test_client(app).get("/").content(), "13c");
}

TEST(local_table, is_the_same_for_all_requests_of_a_loop) {
    std::string where;
    router app;
    add<noted<'a'>>(app, where);
    app.get("/plain", [](request& req, response& res) { res.text(200, std::to_string(++req.local<noted<'a'>>().number)); });
    app.get("/task", [](request& req, response& res) -> task<> {
        co_await yield();
        res.text(200, std::to_string(++req.local<noted<'a'>>().number));
    });
    bench server;
    server.app.mount("", app);
    client one(server);
    client two(server);
    EXPECT_EQ(summary(one.ask(get("/plain") + get("/task") + get("/plain"))), "200 1, 200 2, 200 3");
    EXPECT_EQ(summary(two.ask(get("/task"))), "200 4");
    server.stop();
    EXPECT_EQ(where, "a~a");
}

TEST(local_table, a_type_without_factory_is_a_500) {
    testing::kept_log log;
    router app;
    app.get("/", [](request& req, response& res) { res.text(200, std::to_string(req.local<double>())); });
    bench server;
    server.app.mount("", app);
    client peer(server);
    EXPECT_EQ(summary(peer.ask(get("/"))), "500 Internal Server Error");
    EXPECT_EQ(log.count("no local of this type"), 1u) << log.text();
    EXPECT_EQ(test_client(app).get("/").status(), 500);
}

TEST(local_table, closes_when_the_last_handler_has_ended) {
    std::string where;
    bench server;
    add<slow>(server.app, where);
    server.app.get("/", [&where](request& req, response& res) -> task<> {
        const auto slept = co_await sleep_for(std::chrono::hours(1));
        where += slept ? "?" : "h";
        req.local<slow>().number = 1;
        res.text(200, "x");
    });
    {
        client peer(server);
        peer.ask(get("/"));
        bool drained = false;
        server.work().drain(
            server.on.clock() + std::chrono::milliseconds(5), [](void* d) noexcept { *static_cast<bool*>(d) = true; }, &drained);
        EXPECT_EQ(where, "s");
        EXPECT_TRUE(testing::turn_until(server.on, [&] { return drained; }));
    }
    EXPECT_EQ(where.substr(0, 3), "sh<");
    EXPECT_EQ(where.substr(4), "~s");
}

TEST(local_table, closing_has_no_more_time_than_the_drain) {
    std::string where;
    bench server;
    add<stuck>(server.app, where);
    bool drained = false;
    server.work().drain(
        server.on.clock() + std::chrono::milliseconds(5), [](void* d) noexcept { *static_cast<bool*>(d) = true; }, &drained);
    EXPECT_EQ(where, "k");
    EXPECT_FALSE(drained);
    EXPECT_TRUE(testing::turn_until(server.on, [&] { return drained; }));
    EXPECT_EQ(where, "k!~k");
}

}  // namespace
}  // namespace martlet::server
