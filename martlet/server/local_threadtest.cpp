// What each loop has of its own, with several loops on threads.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>

#include <martlet/rt/sleep.hpp>
#include <martlet/server/http_server.hpp>
#include <martlet/server/router.hpp>

namespace martlet::server {
namespace {

std::atomic<int> made{0};
std::atomic<int> closed{0};
std::atomic<int> destroyed{0};
std::atomic<int> closed_elsewhere{0};

/// Belongs to one loop, and says so when it is closed by another.
class per_loop {
public:
    explicit per_loop(loop& on) : on_(&on) { ++made; }
    per_loop(const per_loop&) = delete;
    per_loop& operator=(const per_loop&) = delete;
    ~per_loop() { ++destroyed; }
    task<> close() {
        co_await yield();
        if (loop::current() != on_) ++closed_elsewhere;
        ++closed;
    }

private:
    loop* on_;
};

TEST(locals_of_threads, are_made_for_each_loop_and_closed_on_it) {
    made = closed = destroyed = closed_elsewhere = 0;
    router app;
    app.local<per_loop>([](loop& on) { return per_loop(on); });
    {
        http_server serving(app, options("127.0.0.1:0").threads(3));
        ASSERT_TRUE(serving.start().has_value()) << serving.what();
        EXPECT_EQ(made, 3);
        EXPECT_EQ(closed, 0);
        serving.stop();
        serving.wait();
        EXPECT_EQ(closed, 3);
    }
    EXPECT_EQ(destroyed, 3);
    EXPECT_EQ(closed_elsewhere, 0);
}

TEST(locals_of_threads, that_cannot_be_made_keep_the_server_from_starting) {
    made = destroyed = 0;
    router app;
    app.local<per_loop>([](loop& on) { return per_loop(on); });
    app.local<int>([]() -> int {
        if (made == 2) throw std::runtime_error("no database");
        return 1;
    });
    http_server serving(app, options("127.0.0.1:0").threads(3));
    EXPECT_FALSE(serving.start().has_value());
    EXPECT_NE(serving.what().find("no database"), std::string::npos) << serving.what();
    EXPECT_FALSE(serving.is_running());
    EXPECT_EQ(made, 2);
    EXPECT_EQ(destroyed, 2);
}

}  // namespace
}  // namespace martlet::server
