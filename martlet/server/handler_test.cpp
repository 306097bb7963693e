#include <martlet/server/handler.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <martlet/rt/sleep.hpp>
#include <martlet/server/router.hpp>
#include <martlet/server/test_client.hpp>

namespace martlet::server {
namespace {

// What can be a handler is said by a static_assert with a sentence; the same questions, asked without it.
template <class F>
constexpr bool is_callable_as_const = std::is_invocable_v<const std::remove_cvref_t<F>&, request&, response&>;

constexpr auto plain = [](request&, response&) {};
constexpr auto changing = [n = 0](request&, response& res) mutable { res.empty(200 + ++n); };
static_assert(is_callable_as_const<decltype(plain)>);
static_assert(!is_callable_as_const<decltype(changing)>, "a mutable lambda is no handler");
static_assert(!is_callable_as_const<decltype([](request&) {})>);
static_assert(!std::is_copy_constructible_v<handler>);
static_assert(std::is_nothrow_move_constructible_v<handler>);

class counted {
public:
    explicit counted(int& alive) : alive_(&alive) { ++*alive_; }
    counted(const counted& other) : alive_(other.alive_) { ++*alive_; }
    counted(counted&& other) noexcept : alive_(other.alive_) { ++*alive_; }
    counted& operator=(const counted&) = delete;
    ~counted() { --*alive_; }
    void operator()(request&, response& res) const { res.empty(204); }

private:
    int* alive_;
};

/// A whole object as a handler, with state that only its owner changes.
class greeter {
public:
    explicit greeter(std::string name) : name_(std::move(name)) {}
    task<> operator()(request&, response& res) const {
        co_await yield();
        res.text(200, "hello " + name_);
    }

private:
    std::string name_;
};

void function(request&, response& res) { res.text(200, "a function"); }

TEST(handler, takes_lambdas_functions_and_objects) {
    router app;
    app.get("/lambda", [](request&, response& res) { res.text(200, "a lambda"); });
    app.get("/function", function);
    app.get("/pointer", &function);
    app.get("/object", greeter("you"));
    app.get("/std", std::function<void(request&, response&)>(function));
    app.get("/owner", [owned = std::make_unique<std::string>("owned")](request&, response& res) { res.text(200, *owned); });
    app.get("/generic", [](auto&, auto& res) { res.text(200, "generic"); });
    test_client client(app);
    EXPECT_EQ(client.get("/lambda").content(), "a lambda");
    EXPECT_EQ(client.get("/function").content(), "a function");
    EXPECT_EQ(client.get("/pointer").content(), "a function");
    EXPECT_EQ(client.get("/object").content(), "hello you");
    EXPECT_EQ(client.get("/std").content(), "a function");
    EXPECT_EQ(client.get("/owner").content(), "owned");
    EXPECT_EQ(client.get("/generic").content(), "generic");
}

TEST(handler, knows_its_form) {
    EXPECT_TRUE(handler(function).is_plain());
    EXPECT_FALSE(handler(greeter("you")).is_plain());
    EXPECT_TRUE(static_cast<bool>(handler(function)));
    EXPECT_FALSE(static_cast<bool>(handler()));
    EXPECT_FALSE(handler().is_plain());
}

TEST(handler, owns_its_callable_once) {
    int alive = 0;
    {
        handler first{counted(alive)};
        EXPECT_EQ(alive, 1);
        handler second(std::move(first));
        EXPECT_FALSE(static_cast<bool>(first));
        EXPECT_FALSE(first.is_plain());
        EXPECT_TRUE(second.is_plain());
        EXPECT_EQ(alive, 1);
        handler third{counted(alive)};
        EXPECT_EQ(alive, 2);
        third = std::move(second);
        EXPECT_TRUE(static_cast<bool>(third));
        handler& itself = third;
        third = std::move(itself);
        EXPECT_TRUE(third.is_plain());
    }
    EXPECT_EQ(alive, 0);
}

TEST(handler, keeps_a_reference_to_what_it_was_given_by_reference) {
    int calls = 0;
    router app;
    app.get("/", [&calls](request&, response& res) {
        ++calls;
        res.empty(204);
    });
    test_client client(app);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(client.get("/").status(), 204);
    EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace martlet::server
