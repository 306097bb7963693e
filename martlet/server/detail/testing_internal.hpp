// For the tests of connections: a server's loop without sockets, whose peers the test plays itself.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include <martlet/net/test_stream.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/server/detail/shared.hpp>
#include <martlet/server/detail/worker.hpp>
#include <martlet/server/limits.hpp>
#include <martlet/server/router.hpp>
#include <martlet/server/testing_internal.hpp>

namespace martlet::server::testing {

/// One loop of a server. Routes and limits are set before the first connection.
class bench {
public:
    explicit bench(loop_options how = loop_options()) : on(how) {}
    bench(const bench&) = delete;
    bench& operator=(const bench&) = delete;
    ~bench() { stop(); }

    detail::worker& work() {
        if (work_ == nullptr) {
            common_ = std::make_unique<detail::shared>(app, bounds, watched ? &seen : nullptr);
            work_ = std::make_unique<detail::worker>(on, *common_);
        }
        return *work_;
    }
    std::size_t connections() { return work().connections(); }

    /// Resets what is left, and lets its handlers finish.
    void stop() {
        if (work_ == nullptr) return;
        work_->drain(on.clock(), [](void*) noexcept {}, nullptr);
        work_->force();
        for (int turn = 0; turn < 10'000 && work_->connections() != 0; ++turn) on.turn(std::chrono::milliseconds(1));
        EXPECT_EQ(work_->connections(), 0u) << "connections outlive the server";
        work_.reset();
        common_.reset();
        // What the handlers have left on the ready list.
        for (int turn = 0; turn < 100; ++turn) on.turn(duration::zero());
        EXPECT_EQ(on.frames_live(), 0u) << "frames outlive the server";
    }

    loop on;
    router app;
    limits bounds;
    recorder seen;
    bool watched = true;

private:
    std::unique_ptr<detail::shared> common_;
    std::unique_ptr<detail::worker> work_;
};

/// A peer with a connection to the bench's server.
class client : public net::test_peer {
public:
    explicit client(bench& of, const net::unruly_options& how = net::unruly_options()) : net::test_peer(of.on, how) {
        of.work().serve(stream());
    }

    /// Sends, and gives what has come once nothing more happens.
    std::string ask(std::string_view bytes) {
        send(bytes);
        return heard();
    }
    /// What has come once nothing more happens.
    std::string heard() {
        std::string all;
        for (;;) {
            EXPECT_TRUE(settle()) << "the loop does not come to rest";
            const std::string part = take();
            if (part.empty()) return all;
            all += part;
        }
    }
};

/// Turns the loop, which may wait, until `done` or five seconds have passed.
template <class Done>
bool turn_until(loop& on, Done done) {
    const time_point give_up = on.clock() + std::chrono::seconds(5);
    while (!done()) {
        on.turn(std::chrono::milliseconds(10));
        if (on.now() > give_up) return false;
    }
    return true;
}

}  // namespace martlet::server::testing
