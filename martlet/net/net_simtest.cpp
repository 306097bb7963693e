// The operations of this folder over the simulated kernel: each cancelled at each step, with each call and each allocation failing in turn.
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include <sys/socket.h>

#include <martlet/net/connect.hpp>
#include <martlet/net/datagram.hpp>
#include <martlet/net/error.hpp>
#include <martlet/net/listener.hpp>
#include <martlet/net/stream_operations.hpp>
#include <martlet/net/tcp_stream.hpp>
#include <martlet/net/test_stream.hpp>
#include <martlet/rt/combine.hpp>
#include <martlet/rt/kernel.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/scope.hpp>
#include <martlet/rt/sim/at_every_step.hpp>
#include <martlet/rt/sim/peer.hpp>
#include <martlet/rt/sim/simulation.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/task.hpp>
#include <martlet/rt/within.hpp>

namespace martlet::net {
namespace {

using namespace std::chrono_literals;
using sim::call_kind;
using sim::step_source;

constexpr std::uint16_t port = 8080;

/// Runs `main` on `on`; it is cancelled where the play says so.
template <class T>
T run_cancellable(step_source& steps, loop& on, task<T> main) {
    steps.on_cancel([&] { on.root().cancel(cancel_reason::cancelled); });
    struct forget {
        ~forget() { steps.on_cancel(nullptr); }
        step_source& steps;
    } forgotten{steps};
    return on.run(std::move(main));
}

/// Everything takes a while, so that there is something to cancel.
sim::step_options slow_network() { return sim::step_options(sim::options(3).with_latency(1ms, 2ms).with_send_buffer_bytes(20'000)); }

result<listener> open_listener() { return listener::open(address::ipv4_any(port)); }

/// In a play without a fault everything succeeds; in the others whatever fails must be no more than that fault's doing.
void judge(step_source& steps, const result<void>& outcome) {
    if (steps.is_faultless()) {
        EXPECT_TRUE(outcome.has_value()) << outcome.error().text();
    } else if (!outcome && steps.kind() == sim::fault::cancellation) {
        EXPECT_TRUE(outcome.error().is_cancelled()) << outcome.error().text();
    }
}

/// Takes one connection and answers what it hears until its end.
task<result<void>> serve(loop& on, acceptor& from) {
    auto came = co_await from.accept();
    if (!came) co_return failure(came.error());
    socket_stream stream;
    auto opened = stream.open(on, std::move(came->socket), came->peer);
    if (!opened) co_return failure(opened.error());
    buffer in(4096);
    outq out;
    for (;;) {
        auto got = co_await read(stream, in);
        if (!got) co_return failure(got.error());
        if (*got == 0) break;
        if (!out.append_copy(in.view())) co_return failure(error::system(ENOMEM));
        in.clear();
        auto sent = co_await write(stream, out);
        if (!sent) co_return failure(sent.error());
    }
    stream.shutdown_write();
    co_return result<void>();
}

task<result<void>> ask(address at, std::string_view text) {
    auto stream = co_await connect(at);
    if (!stream) co_return failure(stream.error());
    auto sent = co_await write(**stream, text);
    if (!sent) co_return failure(sent.error());
    buffer in(4096);
    auto got = co_await read_at_least(**stream, in, text.size());
    if (!got) co_return failure(got.error());
    EXPECT_EQ(in.view(), text);
    co_await lingering_close(std::move(*stream));
    co_return result<void>();
}

task<result<void>> talk(loop& on, acceptor& from, const address& at, std::string_view text) {
    auto ended = co_await in_scope([&](scope& jobs) -> task<result<void>> {
        jobs.spawn([&] { return serve(on, from); });
        auto asked = co_await ask(at, text);
        co_return asked;
    });
    co_return ended;
}

void echo_at(step_source& steps, const address& listening, const address& at) {
    auto door = listener::open(listening);
    if (!door) return judge(steps, failure(door.error()));
    loop on;
    acceptor from;
    const auto opened = from.open(on, *door);
    if (!opened) return judge(steps, opened);
    auto main = [&]() -> task<result<void>> {
        auto ended = co_await within(60s, talk(on, from, at, "hello"));
        co_return ended;
    };
    judge(steps, run_cancellable(steps, on, main()));
}

void echo(step_source& steps) { echo_at(steps, address::ipv4_any(port), address::ipv4_loopback(port)); }

TEST(net_at_every_step, accept_connect_read_write_close) { sim::at_every_step("echo", echo, slow_network()); }

TEST(net_at_every_step, the_same_in_a_rough_network) { sim::at_every_step("echo, rough", echo, sim::step_options(sim::options::rough(7))); }

TEST(net_at_every_step, the_same_over_a_unix_socket) {
    sim::at_every_step("echo, unix", [](step_source& steps) {
        echo_at(steps, address::unix_abstract("door").value(), address::unix_abstract("door").value());
    });
}

/// The name that an earlier listener left behind is taken over, and gone when this one closes.
TEST(net_at_every_step, listening_at_a_path) {
    const address at = address::unix_path("/run/door").value();
    sim::at_every_step(
        "path",
        [&](step_source& steps) {
            {
                const descriptor earlier(kernel::socket_open(at.system_family(), SOCK_STREAM, 0));
                if (earlier.is_open() && kernel::bind(earlier, at.data(), at.size()) == 0 && steps.is_faultless()) {
                    EXPECT_TRUE(steps.world().has_file("/run/door"));
                }
            }
            auto door = listener::open(at, listener_options().unix_mode(0600));
            if (!door) return judge(steps, failure(door.error()));
            kernel::file_facts facts{};
            const int looked = kernel::path_stat("/run/door", &facts);
            if (looked == 0) {
                EXPECT_EQ(facts.mode, 0600u);
            }
            door->close();
            if (steps.is_faultless()) {
                EXPECT_EQ(looked, 0);
                EXPECT_FALSE(steps.world().has_file("/run/door"));
            }
        },
        sim::step_options().without_cancellation().without_allocations());
}

/// A file to a client inside the simulation.
TEST(net_at_every_step, sending_a_file) {
    sim::at_every_step(
        "file",
        [](step_source& steps) {
            auto door = open_listener();
            if (!door) return judge(steps, failure(door.error()));
            steps.world().add_file("/data", std::string(200'000, 'f'));
            loop on;
            acceptor from;
            const auto opened = from.open(on, *door);
            if (!opened) return judge(steps, opened);
            sim::peer client("127.0.0.1:8080");
            auto main = [&]() -> task<result<void>> {
                auto came = co_await within(60s, from.accept());
                if (!came) co_return failure(came.error());
                socket_stream stream;
                auto ready = stream.open(on, std::move(came->socket), came->peer);
                if (!ready) co_return failure(ready.error());
                const int file = kernel::file_open("/data", kernel::open_mode::read);
                if (file < 0) co_return failure(error::system(-file));
                auto owner = file_owner::adopt(file, [](int number, void*) noexcept { kernel::close(number); });
                if (!owner) {
                    kernel::close(file);
                    co_return failure(owner.error());
                }
                outq out;
                const bool queued = out.append_copy("head") && out.append(file_range(std::move(*owner), 0, 200'000));
                if (!queued) co_return failure(error::system(ENOMEM));
                auto sent = co_await within(60s, write(stream, out));
                co_return sent;
            };
            const result<void> ended = run_cancellable(steps, on, main());
            judge(steps, ended);
            if (ended) steps.world().advance(1s);
            if (ended) {
                EXPECT_EQ(client.received().size(), 200'004u);
            }
        },
        slow_network());
}

TEST(net_at_every_step, datagrams) {
    sim::at_every_step(
        "datagrams",
        [](step_source& steps) {
            loop on;
            datagram_socket a, b;
            for (auto* socket : {&a, &b}) {
                const auto opened = socket->open(on, address::ipv4_loopback(0));
                if (!opened) return judge(steps, opened);
            }
            const auto to = b.local_address();
            if (!to) return judge(steps, failure(to.error()));
            char room[100];
            auto main = [&]() -> task<result<void>> {
                auto sent = co_await within(1s, a.send_to("ping", *to));
                if (!sent) co_return failure(sent.error());
                auto came = co_await within(1s, b.receive_from(room));
                if (!came) co_return failure(came.error());
                EXPECT_EQ(came->bytes, 4u);
                auto back = co_await within(1s, b.send_to("pong", came->from));
                if (!back) co_return failure(back.error());
                auto answer = co_await within(1s, a.receive_from(room));
                if (!answer) co_return failure(answer.error());
                co_return result<void>();
            };
            judge(steps, run_cancellable(steps, on, main()));
        },
        slow_network());
}

TEST(net_at_every_step, a_connect_that_is_refused_or_unanswered) {
    sim::at_every_step(
        "refused",
        [](step_source& steps) {
            loop on;
            auto main = [&]() -> task<result<void>> {
                auto refused = co_await within(1s, connect(address::ipv4_loopback(9)));
                EXPECT_FALSE(refused.has_value());
                if (steps.is_faultless()) {
                    EXPECT_TRUE(refused.error().is_system(ECONNREFUSED)) << refused.error().text();
                }
                co_return result<void>();
            };
            judge(steps, run_cancellable(steps, on, main()));
        },
        slow_network());
}

/// Counts calls by kind from the moment it is asked to.
class call_counter {
public:
    explicit call_counter(sim::simulation& world) : world_(world) {
        world.on_call([this](const sim::call_facts& facts) { ++counts_[facts.kind]; });
    }
    call_counter(const call_counter&) = delete;
    call_counter& operator=(const call_counter&) = delete;
    ~call_counter() { world_.on_call(nullptr); }
    void clear() { counts_.clear(); }
    int operator[](call_kind kind) { return counts_[kind]; }

private:
    sim::simulation& world_;
    std::map<call_kind, int> counts_;
};

TEST(net_costs, a_request_costs_one_read_and_one_write_and_nothing_else) {
    sim::simulation world;
    auto door = open_listener();
    ASSERT_TRUE(door.has_value());
    loop on;
    acceptor from;
    ASSERT_TRUE(from.open(on, *door).has_value());
    sim::peer client("127.0.0.1:8080");
    constexpr int requests = 100;
    int answered = 0;
    client.on_change([&](sim::peer& self) {
        if (self.receive().empty() || ++answered == requests) return;
        self.send("request");
    });
    call_counter calls(world);
    on.run([&]() -> task<> {
        auto came = co_await from.accept();
        EXPECT_TRUE(came.has_value());
        socket_stream stream;
        auto opened = stream.open(on, std::move(came->socket), came->peer);
        EXPECT_TRUE(opened.has_value());
        client.send("request");
        calls.clear();
        buffer in(4096);
        for (int i = 0; i < requests; ++i) {
            auto got = co_await read(stream, in);
            EXPECT_TRUE(got.has_value());
            in.clear();
            outq out;
            const bool queued = out.append_copy("answer");
            EXPECT_TRUE(queued);
            auto sent = co_await write(stream, out);
            EXPECT_TRUE(sent.has_value());
        }
        EXPECT_EQ(calls[call_kind::recv], requests);
        EXPECT_EQ(calls[call_kind::send], requests);
        EXPECT_EQ(calls[call_kind::epoll_add] + calls[call_kind::epoll_change] + calls[call_kind::epoll_remove], 0);
        // The FIN costs the read that finds it, and no other.
        client.shutdown_write();
        calls.clear();
        auto end = co_await read(stream, in);
        EXPECT_EQ(end.value(), 0u);
        EXPECT_EQ(calls[call_kind::recv], 1);
    }());
}

TEST(net_costs, a_connect_asks_once_for_its_outcome) {
    sim::simulation world(sim::options().with_latency(1ms, 1ms));
    sim::peer_listener other("127.0.0.1:8080", [](sim::peer) {});
    loop on;
    call_counter calls(world);
    on.run([&]() -> task<> {
        auto made = co_await connect(address::ipv4_loopback(port));
        EXPECT_TRUE(made.has_value());
    }());
    EXPECT_EQ(calls[call_kind::connect], 1);
    EXPECT_EQ(calls[call_kind::option], 1);
    EXPECT_EQ(calls[call_kind::peer_address], 1);
    EXPECT_EQ(calls[call_kind::set_option], 1);
}

TEST(net_costs, a_write_that_takes_less_than_it_was_offered_is_not_tried_again) {
    sim::simulation world(sim::options().with_send_buffer_bytes(20'000).with_receive_buffer_bytes(5000));
    auto door = open_listener();
    ASSERT_TRUE(door.has_value());
    loop on;
    acceptor from;
    ASSERT_TRUE(from.open(on, *door).has_value());
    sim::peer client("127.0.0.1:8080");
    client.pause_reading();
    on.turn(duration::zero());
    accepted came;
    ASSERT_EQ(from.try_accept(came), accept_state::accepted);
    socket_stream stream;
    ASSERT_TRUE(stream.open(on, std::move(came.socket), came.peer).has_value());
    outq out;
    for (const std::size_t size : {1000u, 60'000u, 300u}) ASSERT_TRUE(out.append(slice::own(std::string(size, 'x'))));
    call_counter calls(world);
    EXPECT_EQ(stream.try_write(out), io::blocked);
    EXPECT_EQ(calls[call_kind::send_pieces], 1);
    EXPECT_EQ(calls[call_kind::send], 0);
    // Nothing was reported since: a try costs no call.
    EXPECT_EQ(stream.try_write(out), io::blocked);
    EXPECT_EQ(calls[call_kind::send_pieces] + calls[call_kind::send], 1);
}

TEST(net_costs, a_write_that_is_asked_to_look_again_costs_one_call_and_sees_a_reader_that_takes_a_little) {
    sim::simulation world(sim::options().with_send_buffer_bytes(30'000).with_receive_buffer_bytes(5000));
    auto door = open_listener();
    ASSERT_TRUE(door.has_value());
    loop on;
    acceptor from;
    ASSERT_TRUE(from.open(on, *door).has_value());
    sim::peer client("127.0.0.1:8080");
    client.pause_reading();
    on.turn(duration::zero());
    accepted came;
    ASSERT_EQ(from.try_accept(came), accept_state::accepted);
    socket_stream stream;
    ASSERT_TRUE(stream.open(on, std::move(came.socket), came.peer).has_value());
    outq out;
    ASSERT_TRUE(out.append(slice::own(std::string(100'000, 'x'))));
    ASSERT_EQ(stream.try_write(out), io::blocked);
    for (int i = 0; i < 3; ++i) {
        on.turn(duration::zero());
        stream.recheck_write();
        ASSERT_EQ(stream.try_write(out), io::blocked);
    }
    call_counter calls(world);
    const std::uint64_t left = out.size();
    // Nobody reads: looking again finds that.
    stream.recheck_write();
    EXPECT_EQ(stream.try_write(out), io::blocked);
    EXPECT_EQ(out.size(), left);
    EXPECT_EQ(calls[call_kind::send], 1);
    // A little room: nothing reports it.
    client.read_some(1000);
    on.turn(duration::zero());
    EXPECT_EQ(stream.try_write(out), io::blocked);
    EXPECT_EQ(calls[call_kind::send], 1);
    stream.recheck_write();
    EXPECT_EQ(stream.try_write(out), io::blocked);
    EXPECT_EQ(calls[call_kind::send], 2);
    EXPECT_EQ(out.size(), left - 1000);
    // A third of the buffer: now it is reported.
    client.read_some(10'000);
    client.read_some(10'000);
    on.turn(duration::zero());
    EXPECT_EQ(stream.try_write(out), io::blocked);
    EXPECT_EQ(calls[call_kind::send], 3);
}

TEST(net_costs, a_lack_of_descriptors_costs_one_accept_a_pause) {
    for (const int code : {EMFILE, ENFILE, ENOMEM, ENOBUFS}) {
        sim::simulation world(sim::options().with_error_chance(call_kind::accept, 0));
        auto door = open_listener();
        ASSERT_TRUE(door.has_value());
        loop on;
        acceptor from;
        ASSERT_TRUE(from.open(on, *door).has_value());
        sim::peer client("127.0.0.1:8080");
        int accepts = 0, waits = 0;
        world.on_call([&](const sim::call_facts& facts) {
            waits += facts.kind == call_kind::epoll_wait;
            if (facts.kind == call_kind::accept && ++accepts <= 10) world.fail_call(1, code);
        });
        const time_point start = world.now();
        on.run([&]() -> task<> {
            auto came = co_await from.accept();
            EXPECT_TRUE(came.has_value());
        }());
        world.on_call(nullptr);
        EXPECT_EQ(accepts, 11) << code;
        EXPECT_LE(waits, 30) << code;
        EXPECT_GE(world.now() - start, 10 * acceptor::pause);
        EXPECT_LE(world.now() - start, 11 * acceptor::pause);
    }
}

TEST(net_faults, connections_that_died_in_the_queue_are_skipped) {
    for (const int code : {ECONNABORTED, EINTR, EPERM, EPROTO}) {
        sim::simulation world;
        auto door = open_listener();
        ASSERT_TRUE(door.has_value());
        loop on;
        acceptor from;
        ASSERT_TRUE(from.open(on, *door).has_value());
        // The system has dropped those for which accept failed.
        std::vector<sim::peer> peers;
        for (int i = 0; i < 4; ++i) peers.emplace_back("127.0.0.1:8080");
        int accepts = 0;
        world.on_call([&](const sim::call_facts& facts) {
            if (facts.kind == call_kind::accept && ++accepts <= 3) world.fail_call(1, code);
        });
        on.run([&]() -> task<> {
            auto came = co_await within(1s, from.accept());
            EXPECT_TRUE(came.has_value()) << code;
        }());
        world.on_call(nullptr);
        EXPECT_EQ(accepts, 4);
    }
}

TEST(net_faults, an_accept_that_never_succeeds_does_not_hold_the_loop) {
    sim::simulation world;
    auto door = open_listener();
    ASSERT_TRUE(door.has_value());
    loop on;
    acceptor from;
    ASSERT_TRUE(from.open(on, *door).has_value());
    sim::peer client("127.0.0.1:8080");
    int accepts = 0;
    world.on_call([&](const sim::call_facts& facts) {
        if (facts.kind == call_kind::accept && ++accepts < 1000) world.fail_call(1, ECONNABORTED);
    });
    accepted came;
    EXPECT_EQ(from.try_accept(came), accept_state::blocked);
    EXPECT_LE(accepts, 100);
    world.on_call(nullptr);
}

TEST(net_faults, a_connect_without_an_answer_ends_with_its_deadline) {
    sim::simulation world;
    sim::peer_listener silent("127.0.0.1:8080", [](sim::peer) {});
    silent.accept_nothing(true);
    loop on;
    const time_point start = world.now();
    on.run([&]() -> task<> {
        auto late = co_await within(3s, connect(address::ipv4_loopback(port)));
        EXPECT_TRUE(late.error().is_timeout());
    }());
    EXPECT_EQ(world.now() - start, 3s);
}

TEST(net_faults, a_lingering_close_ends_with_its_time) {
    sim::simulation world;
    auto door = open_listener();
    ASSERT_TRUE(door.has_value());
    loop on;
    acceptor from;
    ASSERT_TRUE(from.open(on, *door).has_value());
    sim::peer client("127.0.0.1:8080");
    const time_point start = world.now();
    on.run([&]() -> task<> {
        auto came = co_await from.accept();
        EXPECT_TRUE(came.has_value());
        auto stream = std::make_unique<socket_stream>();
        auto opened = stream->open(on, std::move(came->socket), came->peer);
        EXPECT_TRUE(opened.has_value());
        co_await lingering_close(std::move(stream));
    }());
    EXPECT_EQ(world.now() - start, linger_limits().time_max());
}

TEST(net_seeds, a_reset_at_any_moment_of_a_file_fails_the_write_alone) {
    int failed = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        sim::simulation world(sim::options(seed).with_latency(0ms, 2ms).with_short_write_chance(0.1).with_send_buffer_bytes(9000));
        world.add_file("/data", std::string(100'000, 'f'));
        auto door = open_listener();
        ASSERT_TRUE(door.has_value());
        loop on;
        acceptor from;
        ASSERT_TRUE(from.open(on, *door).has_value());
        sim::peer client("127.0.0.1:8080");
        if (seed % 3 == 0) client.shutdown_write();
        client.after(std::chrono::microseconds(seed * 50), [](sim::peer& self) { self.reset(); });
        on.run([&]() -> task<> {
            auto came = co_await within(1s, from.accept());
            if (!came) co_return;  // it reset before it was connected
            socket_stream stream;
            auto ready = stream.open(on, std::move(came->socket), came->peer);
            EXPECT_TRUE(ready.has_value());
            const int file = kernel::file_open("/data", kernel::open_mode::read);
            auto owner = file_owner::adopt(file, [](int number, void*) noexcept { kernel::close(number); });
            outq out;
            const bool queued = out.append(file_range(std::move(*owner), 0, 100'000));
            EXPECT_TRUE(queued);
            auto sent = co_await within(60s, write(stream, out));
            if (sent) co_return;
            EXPECT_TRUE(sent.error().is_peer()) << "seed " << seed << ": " << sent.error().text();
            ++failed;
        }());
    }
    EXPECT_GT(failed, 50);
}

TEST(net_seeds, an_echo_comes_whole_through_a_rough_network) {
    std::string text;
    for (int i = 0; i < 4000; ++i) text += static_cast<char>('a' + i % 26);
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        sim::simulation world(sim::options::rough(seed).with_send_buffer_bytes(1500).with_receive_buffer_bytes(1000));
        auto door = open_listener();
        ASSERT_TRUE(door.has_value());
        loop on;
        acceptor from;
        ASSERT_TRUE(from.open(on, *door).has_value());
        auto main = [&]() -> task<result<void>> {
            auto ended = co_await within(600s, talk(on, from, address::ipv4_loopback(port), text));
            co_return ended;
        };
        const result<void> ended = on.run(main());
        EXPECT_TRUE(ended.has_value()) << "seed " << seed << ": " << ended.error().text();
    }
}

TEST(net_time, a_lingering_close_ends_with_its_time) {
    sim::simulation world;
    loop on;
    test_peer peer(on, unruly_options::tame());
    const time_point begin = on.clock();
    on.run(lingering_close(peer.stream(), linger_limits().time_max(2s)));
    const duration took = on.clock() - begin;
    EXPECT_TRUE(peer.is_closed());
    EXPECT_GE(took, 2s);
    EXPECT_LE(took, 2s + 5ms);
}

}  // namespace
}  // namespace martlet::net
