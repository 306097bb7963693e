// What the tests in simulated time share: a whole server on one loop, and clients that live in the simulation.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string_view>

#include <martlet/rt/loop.hpp>
#include <martlet/rt/sim/allocation.hpp>
#include <martlet/rt/sim/peer.hpp>
#include <martlet/rt/sim/simulation.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/task.hpp>
#include <martlet/server/http_server.hpp>
#include <martlet/server/testing_internal.hpp>

namespace martlet::server::testing {

inline constexpr std::string_view sim_address = "127.0.0.1:8080";

/// Turns the loop for `length` of simulated time.
inline void pass(loop& on, duration length) {
    const time_point until = on.clock() + length;
    while (on.clock() < until) on.turn(until - on.clock());
    // What became ready at the very end.
    for (int turn = 0; turn < 20; ++turn) on.turn(duration::zero());
}

/// A server with its loop, in the simulation of the test.
class sim_server {
public:
    sim_server() = default;
    sim_server(const sim_server&) = delete;
    sim_server& operator=(const sim_server&) = delete;
    ~sim_server() { stop(); }

    /// Routes and limits are set before.
    void start() {
        options how(sim_address);
        how.bounds(bounds);
        if (watched) how.watch(seen);
        serving_ = std::make_unique<http_server>(app, how);
        const auto started = serving_->start_on(on);
        ASSERT_TRUE(started.has_value()) << serving_->what();
    }
    http_server& serving() { return *serving_; }
    void stop() {
        if (serving_ == nullptr) return;
        // The first drains, the second forces.
        for (int i = 0; i < 100 && serving_->is_running(); ++i) {
            serving_->stop();
            pass(on, std::chrono::milliseconds(10));
        }
        EXPECT_FALSE(serving_->is_running()) << "the server does not stop";
        serving_.reset();
        EXPECT_EQ(on.frames_live(), 0u) << "frames outlive the server";
    }

    loop on;
    router app;
    limits bounds;
    recorder seen;
    bool watched = true;

private:
    std::unique_ptr<http_server> serving_;
};

}  // namespace martlet::server::testing
