// Connecting against the real system.
#include <martlet/net/connect.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include <martlet/net/error.hpp>
#include <martlet/net/stream_operations.hpp>
#include <martlet/net/testing_internal.hpp>
#include <martlet/rt/combine.hpp>
#include <martlet/rt/scope.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/within.hpp>

namespace martlet::net {
namespace {

using namespace std::chrono_literals;
using testing::listen_on;
using testing::plain_socket;
using testing::temporary_folder;
using testing::where;

using connected = result<std::unique_ptr<byte_stream>>;

connected connect_now(loop& on, const address& to, duration longest = 10s) {
    return on.run([&]() -> task<connected> {
        auto made = co_await within(longest, connect(to));
        co_return made;
    }());
}

TEST(connect, reaches_each_kind_of_address) {
    const temporary_folder folder;
    for (const std::string& at :
         {std::string("127.0.0.1:0"), std::string("[::1]:0"), "unix:" + folder.path("s"), std::string("unix:@martlet-net-test-connect")}) {
        loop on;
        const listener door = listen_on(at);
        auto made = connect_now(on, where(door));
        ASSERT_TRUE(made.has_value()) << at << ": " << made.error().text();
        EXPECT_EQ((*made)->info().peer().value(), where(door));
        EXPECT_EQ(&(*made)->owner(), &on);
    }
}

TEST(connect, to_all_of_this_machine_tells_where_it_came_to) {
    loop on;
    const listener door = listen_on("0.0.0.0:0");
    auto made = connect_now(on, where(door));
    ASSERT_TRUE(made.has_value());
    EXPECT_TRUE((*made)->info().peer()->is_loopback());
    EXPECT_EQ((*made)->info().peer()->port(), where(door).port());
}

TEST(connect, tells_a_refusal) {
    loop on;
    address nobody;
    {
        const listener door = listen_on("127.0.0.1:0");
        nobody = where(door);
    }
    const auto refused = connect_now(on, nobody);
    ASSERT_FALSE(refused.has_value());
    EXPECT_TRUE(refused.error().is_system(ECONNREFUSED)) << refused.error().text();
    EXPECT_TRUE(refused.error().is_peer());
    EXPECT_TRUE(connect_now(on, address::unix_path("/nonexistent/socket").value()).error().is_system(ENOENT));
    EXPECT_TRUE(connect_now(on, address::unix_abstract("martlet-net-test-nobody").value()).error().is_system(ECONNREFUSED));
    EXPECT_EQ(connect_now(on, address()).error(), make_error(net_error::address_unusable));
    EXPECT_EQ(on.descriptors_registered(), 0u);
}

/// A listener whose queue is full: who connects to it hears nothing.
class full_listener {
public:
    explicit full_listener(std::string_view at) : door(listen_on(at, listener_options().backlog(0))) { fill_.emplace_back(where(door)); }
    listener door;

private:
    std::vector<plain_socket> fill_;
};

TEST(connect, ends_with_its_deadline) {
    loop on;
    const full_listener silent("127.0.0.1:0");
    const auto late = connect_now(on, where(silent.door), 20ms);
    ASSERT_FALSE(late.has_value());
    EXPECT_TRUE(late.error().is_timeout());
    EXPECT_TRUE(connect_now(on, where(silent.door), -1ms).error().is_timeout());
    EXPECT_EQ(on.descriptors_registered(), 0u);
}

TEST(connect, waits_for_room_in_the_queue_of_a_unix_socket) {
    loop on;
    const full_listener silent("unix:@martlet-net-test-full");
    const auto late = connect_now(on, where(silent.door), 30ms);
    ASSERT_FALSE(late.has_value());
    EXPECT_TRUE(late.error().is_timeout());
    acceptor from;
    ASSERT_TRUE(from.open(on, silent.door).has_value());
    on.run([&]() -> task<> {
        auto make_room = [&]() -> task<> {
            static_cast<void>(co_await sleep_for(25ms));
            accepted came;
            EXPECT_EQ(from.try_accept(came), accept_state::accepted);
        };
        auto ended = co_await both(within(10s, connect(where(silent.door))), make_room());
        EXPECT_TRUE(std::get<0>(ended).has_value());
    }());
}

TEST(connect, can_be_cancelled_while_it_waits_and_after_it_completed) {
    loop on;
    const full_listener silent("127.0.0.1:0");
    const listener door = listen_on("127.0.0.1:0");
    on.run([&]() -> task<> {
        context& mine = co_await this_context();
        for (int pause = 0; pause < 4; ++pause) {
            for (const address& to : {where(silent.door), where(door)}) {
                context inner(mine);
                martlet::detail::await_in connecting(connect(to), inner);
                auto stop = [&]() -> task<> {
                    for (int i = 0; i < pause; ++i) co_await yield();
                    inner.cancel(cancel_reason::shutting_down);
                };
                auto ended = co_await both(std::move(connecting), stop());
                auto& made = std::get<0>(ended);
                if (!made.has_value()) {
                    EXPECT_EQ(made.error().reason(), cancel_reason::shutting_down);
                }
            }
        }
    }());
    EXPECT_EQ(on.descriptors_registered(), 0u);
}

TEST(connect, sets_options) {
    loop on;
    const listener door = listen_on("127.0.0.1:0");
    on.run([&]() -> task<> {
        auto made = co_await connect(where(door), stream_options().linger_zero(true));
        EXPECT_TRUE(made.has_value());
    }());
    acceptor from;
    ASSERT_TRUE(from.open(on, door).has_value());
    accepted came;
    ASSERT_EQ(from.try_accept(came), accept_state::accepted);
    socket_stream stream;
    ASSERT_TRUE(stream.open(on, std::move(came.socket), came.peer).has_value());
    ASSERT_TRUE(testing::turn_until(on, [&] { return stream.peer_failed(); })) << "with linger_zero a close is a reset";
}

}  // namespace
}  // namespace martlet::net
