// Datagrams over loopback.
#include <martlet/net/datagram.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include <martlet/net/error.hpp>
#include <martlet/rt/combine.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/scope.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/task.hpp>
#include <martlet/rt/within.hpp>

namespace martlet::net {
namespace {

using namespace std::chrono_literals;

class endpoint {
public:
    explicit endpoint(loop& on, std::string_view at = "127.0.0.1:0", const datagram_options& options = datagram_options()) {
        const auto opened = socket.open(on, address::parse(at).value(), options);
        EXPECT_TRUE(opened.has_value()) << opened.error().text();
    }
    address at() const { return socket.local_address().value(); }
    std::string_view view(const received& came) const { return {room, came.bytes}; }

    datagram_socket socket;
    char room[100];
};

TEST(datagram_socket, sends_and_receives) {
    for (const char* at : {"127.0.0.1:0", "[::1]:0"}) {
        loop on;
        endpoint a(on, at), b(on, at);
        on.run([&]() -> task<> {
            auto ended = co_await both(within(10s, b.socket.receive_from(b.room)), a.socket.send_to("question", b.at()));
            auto& came = std::get<0>(ended);
            EXPECT_TRUE(came.has_value() && std::get<1>(ended).has_value());
            EXPECT_EQ(b.view(*came), "question");
            EXPECT_EQ(came->from, a.at());
            EXPECT_FALSE(came->truncated);
            auto sent = co_await b.socket.send_to("", came->from);
            EXPECT_TRUE(sent.has_value());
            auto empty = co_await within(10s, a.socket.receive_from(a.room));
            EXPECT_EQ(empty->bytes, 0u);
            EXPECT_EQ(empty->from, b.at());
        }());
    }
}

TEST(datagram_socket, what_waits_learns_of_a_close) {
    loop on;
    endpoint a(on);
    on.run([&]() -> task<> {
        auto close = [&]() -> task<> {
            co_await yield();
            a.socket.close();
        };
        auto ended = co_await both(within(5s, a.socket.receive_from(a.room)), close());
        EXPECT_EQ(std::get<0>(ended).error(), make_error(net_error::stream_closed));
    }());
    EXPECT_EQ(a.socket.try_receive(a.room).error(), make_error(net_error::stream_closed));
    EXPECT_EQ(a.socket.try_send("x", address::ipv4_loopback(9)).error(), make_error(net_error::stream_closed));
}

TEST(datagram_socket, reports_truncation_and_keeps_boundaries) {
    loop on;
    endpoint a(on), b(on);
    on.run([&]() -> task<> {
        for (const std::size_t size : {std::size_t{101}, std::size_t{100}, std::size_t{3}}) {
            auto sent = co_await a.socket.send_to(std::string(size, 'x'), b.at());
            EXPECT_TRUE(sent.has_value());
        }
        auto longer = co_await within(10s, b.socket.receive_from(b.room));
        EXPECT_TRUE(longer->truncated);
        EXPECT_EQ(longer->bytes, 100u);
        auto exact = co_await within(10s, b.socket.receive_from(b.room));
        EXPECT_FALSE(exact->truncated);
        EXPECT_EQ(exact->bytes, 100u);
        auto small = co_await within(10s, b.socket.receive_from(b.room));
        EXPECT_EQ(small->bytes, 3u);
    }());
    EXPECT_TRUE(b.socket.try_receive(b.room).error().is_system(EAGAIN));
}

TEST(datagram_socket, connected_hears_its_peer_only) {
    loop on;
    endpoint a(on), b(on), stranger(on);
    ASSERT_TRUE(a.socket.connect(b.at()).has_value());
    on.run([&]() -> task<> {
        auto wrong = co_await stranger.socket.send_to("psst", a.at());
        EXPECT_TRUE(wrong.has_value());
        auto sent = co_await a.socket.send("ping");
        EXPECT_TRUE(sent.has_value());
        auto came = co_await within(10s, b.socket.receive_from(b.room));
        EXPECT_EQ(b.view(*came), "ping");
        auto back = co_await b.socket.send_to("pong", came->from);
        EXPECT_TRUE(back.has_value());
        auto answer = co_await within(10s, a.socket.receive_from(a.room));
        EXPECT_EQ(a.view(*answer), "pong");
    }());
    EXPECT_FALSE(stranger.socket.try_send("x", address()).has_value());
}

TEST(datagram_socket, survives_an_unreachable_peer_and_waits_on_without_spinning) {
    loop on;
    endpoint a(on);
    address gone;
    {
        endpoint b(on);
        gone = b.at();
    }
    ASSERT_TRUE(a.socket.connect(gone).has_value());
    on.run([&]() -> task<> {
        auto sent = co_await a.socket.send("anybody?");
        EXPECT_TRUE(sent.has_value());
        auto refused = co_await within(10s, a.socket.receive_from(a.room));
        EXPECT_TRUE(refused.error().is_system(ECONNREFUSED));
        const std::uint64_t before = on.turns();
        auto none = co_await within(50ms, a.socket.receive_from(a.room));
        EXPECT_TRUE(none.error().is_timeout());
        EXPECT_LT(on.turns() - before, 20u);
        // The same port is taken by somebody again.
        endpoint b(on, gone.text());
        auto again = co_await a.socket.send("now?");
        EXPECT_TRUE(again.has_value());
        auto came = co_await within(10s, b.socket.receive_from(b.room));
        EXPECT_EQ(b.view(*came), "now?");
    }());
}

TEST(datagram_socket, tells_what_cannot_be_sent) {
    loop on;
    endpoint a(on), b(on);
    on.run([&]() -> task<> {
        auto sent = co_await a.socket.send_to(std::string(70'000, 'x'), b.at());
        EXPECT_TRUE(sent.error().is_system(EMSGSIZE));
        auto after = co_await a.socket.send_to("fits", b.at());
        EXPECT_TRUE(after.has_value());
    }());
    datagram_socket other;
    EXPECT_EQ(other.open(on, address::unix_path("/x").value()).error(), make_error(net_error::address_unusable));
    EXPECT_TRUE(other.open(on, b.at()).error().is_system(EADDRINUSE));
    EXPECT_TRUE(other.open(on, address::ipv4_loopback(0)).has_value());
}

TEST(datagram_socket, is_dual_stack_unless_told_otherwise) {
    loop on;
    endpoint wide(on, "[::]:0"), v4(on);
    on.run([&]() -> task<> {
        auto sent = co_await v4.socket.send_to("v4", address::ipv4_loopback(wide.at().port()));
        EXPECT_TRUE(sent.has_value());
        auto came = co_await within(10s, wide.socket.receive_from(wide.room));
        EXPECT_EQ(came->from, v4.at());
        auto back = co_await wide.socket.send_to("back", came->from);
        EXPECT_TRUE(back.has_value());
        auto answer = co_await within(10s, v4.socket.receive_from(v4.room));
        EXPECT_EQ(v4.view(*answer), "back");
    }());
}

TEST(datagram_socket, shares_a_port_when_asked) {
    loop on;
    const datagram_options shared = datagram_options().reuse_port(true).receive_buffer_bytes(65'536).send_buffer_bytes(65'536);
    endpoint a(on, "127.0.0.1:0", shared);
    endpoint b(on, a.at().text(), shared);
    EXPECT_EQ(a.at(), b.at());
}

TEST(datagram_socket, operations_can_be_cancelled_at_each_point) {
    loop on;
    endpoint a(on), b(on);
    on.run([&]() -> task<> {
        auto late = co_await within(on.clock() - 1ms, b.socket.receive_from(b.room));
        EXPECT_TRUE(late.error().is_timeout());
        auto unsent = co_await within(on.clock() - 1ms, a.socket.send_to("x", b.at()));
        EXPECT_TRUE(unsent.error().is_timeout());
        EXPECT_TRUE(b.socket.try_receive(b.room).error().is_system(EAGAIN));
        auto slow = co_await within(2ms, b.socket.receive_from(b.room));
        EXPECT_TRUE(slow.error().is_timeout());
        context& mine = co_await this_context();
        for (int pause = 0; pause < 4; ++pause) {
            context inner(mine);
            martlet::detail::await_in receiving(b.socket.receive_from(b.room), inner);
            EXPECT_TRUE(a.socket.try_send("data", b.at()).has_value());
            auto stop = [&]() -> task<> {
                for (int i = 0; i < pause; ++i) co_await yield();
                inner.cancel(cancel_reason::cancelled);
            };
            auto ended = co_await both(std::move(receiving), stop());
            if (std::get<0>(ended).has_value()) continue;
            EXPECT_TRUE(std::get<0>(ended).error().is_cancelled());
            // A datagram that a cancelled receive did not take is still there.
            auto came = co_await within(10s, b.socket.receive_from(b.room));
            EXPECT_EQ(b.view(*came), "data");
        }
        b.socket.close();
        auto closed = co_await b.socket.receive_from(b.room);
        EXPECT_EQ(closed.error(), make_error(net_error::stream_closed));
    }());
}

}  // namespace
}  // namespace martlet::net
