// Listening and accepting against the real system.
#include <martlet/net/listener.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include <netinet/tcp.h>
#include <sys/resource.h>

#include <martlet/net/error.hpp>
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
using testing::turn_until;
using testing::where;

accepted accept_one(loop& on, acceptor& from) {
    accepted came;
    EXPECT_TRUE(turn_until(on, [&] { return from.try_accept(came) == accept_state::accepted; }));
    return came;
}

int option_of(int fd, int level, int name) {
    int value = -1;
    socklen_t length = sizeof value;
    EXPECT_EQ(::getsockopt(fd, level, name, &value, &length), 0);
    return value;
}

TEST(listener, tells_the_port_that_it_took) {
    for (const char* at : {"127.0.0.1:0", "[::1]:0", ":0"}) {
        const listener door = listen_on(at);
        EXPECT_NE(where(door).port(), 0);
        EXPECT_EQ(where(door).with_port(0), address::parse(at).value());
        const auto second = listener::open(where(door));
        ASSERT_FALSE(second.has_value());
        EXPECT_TRUE(second.error().is_system(EADDRINUSE));
    }
}

TEST(listener, refuses_what_is_no_address) {
    EXPECT_EQ(listener::open(address()).error(), make_error(net_error::address_unusable));
    EXPECT_EQ(listener().local_address().error(), make_error(net_error::listener_closed));
    loop on;
    acceptor from;
    EXPECT_EQ(from.open(on, listener()).error(), make_error(net_error::listener_closed));
    EXPECT_TRUE(listener::open(address::parse("192.0.2.1:0").value()).error().is_system(EADDRNOTAVAIL));
}

TEST(listener, is_dual_stack_unless_told_otherwise) {
    loop on;
    const listener door = listen_on("[::]:0");
    acceptor from;
    ASSERT_TRUE(from.open(on, door).has_value());
    plain_socket v4(address::ipv4_loopback(where(door).port()));
    EXPECT_TRUE(v4.is_connected());
    EXPECT_EQ(accept_one(on, from).peer.family(), address_family::ipv4);
    plain_socket v6(address::ipv6_loopback(where(door).port()));
    EXPECT_TRUE(v6.is_connected());
    EXPECT_EQ(accept_one(on, from).peer.family(), address_family::ipv6);

    const listener only = listen_on("[::]:0", listener_options().ipv6_only(true));
    EXPECT_FALSE(plain_socket(address::ipv4_loopback(where(only).port())).is_connected());
}

TEST(listener, gives_its_stream_options_to_what_is_accepted) {
    loop on;
    const auto streams =
        stream_options().keepalive(30s, 5s, 3).user_timeout(1500ms).linger_zero(true).receive_buffer_bytes(16'384).unsent_bytes_max(50'000);
    const listener door = listen_on("127.0.0.1:0", listener_options().streams(streams));
    acceptor from;
    ASSERT_TRUE(from.open(on, door).has_value());
    plain_socket peer(where(door));
    const accepted came = accept_one(on, from);
    const int fd = came.socket.number();
    EXPECT_EQ(option_of(fd, IPPROTO_TCP, TCP_NODELAY), 1);
    EXPECT_EQ(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), 30);
    EXPECT_EQ(option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL), 5);
    EXPECT_EQ(option_of(fd, IPPROTO_TCP, TCP_KEEPCNT), 3);
    EXPECT_EQ(option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 1500);
    EXPECT_EQ(option_of(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT), 50'000);
    EXPECT_EQ(option_of(fd, SOL_SOCKET, SO_LINGER), 1);
    EXPECT_EQ(option_of(fd, SOL_SOCKET, SO_RCVBUF), 32'768);
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
}

TEST(listener, sets_its_own_options) {
    const listener door = listen_on(
        "127.0.0.1:0", listener_options().reuse_port(true).defer_accept(1s).fast_open(16).streams(stream_options().no_delay(false)));
    const int fd = door.fd().number();
    EXPECT_EQ(option_of(fd, SOL_SOCKET, SO_REUSEADDR), 1);
    EXPECT_EQ(option_of(fd, SOL_SOCKET, SO_REUSEPORT), 1);
    EXPECT_GE(option_of(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT), 1);
    EXPECT_EQ(option_of(fd, IPPROTO_TCP, TCP_FASTOPEN), 16);
    EXPECT_EQ(option_of(fd, IPPROTO_TCP, TCP_NODELAY), 0);
    EXPECT_EQ(option_of(listen_on("127.0.0.1:0", listener_options().reuse_address(false)).fd().number(), SOL_SOCKET, SO_REUSEADDR), 0);
}

TEST(listener, removes_the_file_of_its_unix_socket) {
    const temporary_folder folder;
    const std::string path = folder.path("s");
    {
        const listener door = listen_on("unix:" + path, listener_options().unix_mode(0640));
        struct ::stat facts;
        ASSERT_EQ(::lstat(path.c_str(), &facts), 0);
        EXPECT_EQ(facts.st_mode & 07777, 0640u);
        EXPECT_EQ(where(door).text(), "unix:" + path);
        EXPECT_TRUE(plain_socket(where(door)).is_connected());
    }
    EXPECT_FALSE(testing::exists(path));
    {
        listener door = listen_on("unix:" + path);
        door.keep_file();
    }
    EXPECT_TRUE(testing::exists(path));
}

TEST(listener, replaces_the_file_of_a_dead_socket_only) {
    const temporary_folder folder;
    const std::string path = folder.path("s");
    listener first = listen_on("unix:" + path);
    const auto second = listener::open(address::unix_path(path).value());
    ASSERT_FALSE(second.has_value());
    EXPECT_TRUE(second.error().is_system(EADDRINUSE));
    EXPECT_TRUE(plain_socket(where(first)).is_connected());
    first.keep_file();
    first.close();
    ASSERT_TRUE(testing::exists(path));
    const listener third = listen_on("unix:" + path);
    EXPECT_TRUE(plain_socket(where(third)).is_connected());

    const std::string plain = folder.path("f");
    std::ofstream(plain) << "precious";
    EXPECT_EQ(listener::open(address::unix_path(plain).value()).error(), make_error(net_error::path_taken));
    EXPECT_TRUE(testing::exists(plain));
    EXPECT_TRUE(listener::open(address::unix_path(folder.path("no/such/folder")).value()).error().is_system(ENOENT));
}

TEST(listener, leaves_a_file_that_is_no_longer_its_own) {
    const temporary_folder folder;
    const std::string path = folder.path("s");
    listener first = listen_on("unix:" + path);
    ASSERT_EQ(::unlink(path.c_str()), 0);
    const listener second = listen_on("unix:" + path);
    first.close();
    EXPECT_TRUE(testing::exists(path));
    EXPECT_TRUE(plain_socket(where(second)).is_connected());
}

TEST(listener, moves) {
    const temporary_folder folder;
    const std::string path = folder.path("s");
    listener first = listen_on("unix:" + path);
    listener second = std::move(first);
    EXPECT_FALSE(first.is_open());
    first.close();
    EXPECT_TRUE(testing::exists(path));
    first = std::move(second);
    EXPECT_TRUE(first.is_open());
    first = listener();
    EXPECT_FALSE(testing::exists(path));
}

TEST(listener, takes_abstract_names) {
    loop on;
    const std::string name = "unix:@martlet-net-test-" + std::to_string(::getpid());
    {
        const listener door = listen_on(name);
        EXPECT_EQ(where(door).text(), name);
        EXPECT_FALSE(listener::open(where(door)).has_value());
        plain_socket peer(where(door));
        acceptor from;
        ASSERT_TRUE(from.open(on, door).has_value());
        EXPECT_EQ(accept_one(on, from).peer.family(), address_family::unix_unnamed);
    }
    EXPECT_FALSE(plain_socket(address::parse(name).value()).is_connected());
}

TEST(listener, inherits_a_listening_descriptor) {
    loop on;
    // As a service manager passes it: blocking, and open across exec.
    const int raw = ::socket(AF_INET, SOCK_STREAM, 0);
    const address any = address::ipv4_loopback(0);
    ASSERT_EQ(::bind(raw, static_cast<const sockaddr*>(any.data()), any.size()), 0);
    EXPECT_EQ(listener::inherit(raw).error(), make_error(net_error::not_listening));
    EXPECT_NE(::fcntl(raw, F_GETFD), -1) << "what it refused must stay open";
    ASSERT_EQ(::listen(raw, 8), 0);
    auto door = listener::inherit(raw);
    ASSERT_TRUE(door.has_value());
    EXPECT_NE(::fcntl(door->fd().number(), F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_NE(::fcntl(door->fd().number(), F_GETFL) & O_NONBLOCK, 0);
    plain_socket peer(where(*door));
    acceptor from;
    ASSERT_TRUE(from.open(on, *door).has_value());
    EXPECT_EQ(accept_one(on, from).peer.family(), address_family::ipv4);

    EXPECT_EQ(listener::inherit(0).error(), make_error(net_error::not_listening));
    const int datagrams = ::socket(AF_INET, SOCK_DGRAM, 0);
    EXPECT_EQ(listener::inherit(datagrams).error(), make_error(net_error::not_listening));
    ::close(datagrams);
}

TEST(acceptor, outlives_its_listener_and_keeps_the_queue) {
    loop on;
    listener door = listen_on("127.0.0.1:0");
    acceptor from;
    ASSERT_TRUE(from.open(on, door).has_value());
    plain_socket peer(where(door));
    door.close();
    accept_one(on, from);
    from.close();
    from.close();
    accepted came;
    EXPECT_EQ(from.try_accept(came), accept_state::failed);
    EXPECT_EQ(from.failure(), make_error(net_error::listener_closed));
}

TEST(acceptor, shares_a_listener_with_other_loops) {
    loop one, two;
    const listener door = listen_on("127.0.0.1:0");
    acceptor first, second;
    ASSERT_TRUE(first.open(one, door).has_value());
    ASSERT_TRUE(second.open(two, door).has_value());
    int taken = 0;
    for (int i = 0; i < 50; ++i) {
        plain_socket peer(where(door));
        bool done = false;
        for (int turn = 0; turn < 1000 && !done; ++turn) {
            accepted came;
            one.turn(duration::zero());
            done = first.try_accept(came) == accept_state::accepted;
            if (done) break;
            two.turn(1ms);
            done = second.try_accept(came) == accept_state::accepted;
        }
        taken += done;
    }
    EXPECT_EQ(taken, 50);
}

TEST(acceptor, takes_connections_that_were_reset_in_the_queue) {
    loop on;
    const listener door = listen_on("127.0.0.1:0");
    acceptor from;
    ASSERT_TRUE(from.open(on, door).has_value());
    for (int i = 0; i < 10; ++i) plain_socket(where(door)).reset();
    plain_socket alive(where(door));
    alive.send("here");
    bool found = false;
    for (int i = 0; i < 11 && !found; ++i) {
        accepted came = accept_one(on, from);
        socket_stream stream;
        ASSERT_TRUE(stream.open(on, std::move(came.socket), came.peer).has_value());
        buffer in(10);
        io last = io::blocked;
        ASSERT_TRUE(turn_until(on, [&] { return (last = stream.try_read(in)) != io::blocked; }));
        found = last == io::moved;
    }
    EXPECT_TRUE(found);
}

/// Allows no further descriptor while it lives.
class no_more_descriptors {
public:
    no_more_descriptors() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        ::rlimit now = before_;
        now.rlim_cur = 0;
        ::setrlimit(RLIMIT_NOFILE, &now);
    }
    ~no_more_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

private:
    ::rlimit before_;
};

TEST(acceptor, what_waits_learns_of_a_close) {
    for (const bool paused : {false, true}) {
        loop on;
        const listener door = listen_on("127.0.0.1:0");
        acceptor from;
        ASSERT_TRUE(from.open(on, door).has_value());
        on.run([&]() -> task<> {
            if (paused) {
                const plain_socket peer(where(door));
                const no_more_descriptors poor;
                auto none = co_await within(5ms, from.accept());
                EXPECT_TRUE(none.error().is_timeout() && from.is_paused());
            }
            auto close = [&]() -> task<> {
                co_await yield();
                auto second = co_await within(5s, from.accept());
                EXPECT_EQ(second.error(), make_error(net_error::stream_busy)) << paused;
                from.close();
            };
            auto ended = co_await both(within(5s, from.accept()), close());
            EXPECT_EQ(std::get<0>(ended).error(), make_error(net_error::listener_closed)) << paused;
        }());
    }
}

TEST(acceptor, waits_out_a_lack_of_descriptors_without_spinning) {
    loop on;
    const listener door = listen_on("127.0.0.1:0");
    acceptor from;
    ASSERT_TRUE(from.open(on, door).has_value());
    std::vector<plain_socket> peers;
    for (int i = 0; i < 5; ++i) peers.emplace_back(where(door));
    on.run([&]() -> task<> {
        {
            const no_more_descriptors poor;
            const std::uint64_t before = on.turns();
            auto none = co_await within(350ms, from.accept());
            EXPECT_FALSE(none.has_value());
            EXPECT_TRUE(none.error().is_timeout());
            EXPECT_TRUE(from.is_paused());
            EXPECT_TRUE(from.failure().is_system(EMFILE));
            EXPECT_LT(on.turns() - before, 30u);
        }
        for (int i = 0; i < 5; ++i) {
            auto came = co_await within(10s, from.accept());
            EXPECT_TRUE(came.has_value());
        }
        auto none = co_await within(5ms, from.accept());
        EXPECT_TRUE(none.error().is_timeout());
    }());
}

TEST(acceptor, tells_a_lack_of_descriptors_once_a_pause) {
    loop on;
    const listener door = listen_on("127.0.0.1:0");
    acceptor from;
    ASSERT_TRUE(from.open(on, door).has_value());
    plain_socket peer(where(door));
    accepted came;
    {
        const no_more_descriptors poor;
        EXPECT_EQ(from.try_accept(came), accept_state::starved);
        EXPECT_EQ(from.try_accept(came), accept_state::blocked);
    }
    EXPECT_EQ(from.try_accept(came), accept_state::blocked);
    class waiter final : public ready_node {
    public:
        waiter() : ready_node([](ready_node& node) noexcept { ++static_cast<waiter&>(node).count; }) {}
        int count = 0;
    } woken;
    from.arm(&woken);
    from.arm(nullptr);
    from.arm(&woken);
    ASSERT_TRUE(turn_until(on, [&] { return woken.count != 0; }));
    EXPECT_FALSE(from.is_paused());
    EXPECT_EQ(from.try_accept(came), accept_state::accepted);
}

TEST(acceptor, can_be_cancelled_at_each_point) {
    loop on;
    const listener door = listen_on("127.0.0.1:0");
    acceptor from;
    ASSERT_TRUE(from.open(on, door).has_value());
    on.run([&]() -> task<> {
        auto late = co_await within(on.clock() - 1ms, from.accept());
        EXPECT_TRUE(late.error().is_timeout());
        auto slow = co_await within(3ms, from.accept());
        EXPECT_TRUE(slow.error().is_timeout());
        // Completed, and then cancelled before its awaiter ran.
        context& mine = co_await this_context();
        context inner(mine);
        martlet::detail::await_in accepting(from.accept(), inner);
        plain_socket peer(where(door));
        auto stop = [&]() -> task<> {
            for (int i = 0; i < 3; ++i) co_await yield();
            inner.cancel(cancel_reason::cancelled);
        };
        auto ended = co_await both(std::move(accepting), stop());
        auto& came = std::get<0>(ended);
        if (came.has_value()) co_return;
        EXPECT_TRUE(came.error().is_cancelled());
        auto again = co_await within(10s, from.accept());
        EXPECT_TRUE(again.has_value()) << "a cancelled accept must leave the connection in the queue";
    }());
}

}  // namespace
}  // namespace martlet::net
