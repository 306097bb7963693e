// The operations that coroutines await on a stream, over sockets and over unruly streams.
#include <martlet/net/stream_operations.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include <martlet/net/connect.hpp>
#include <martlet/net/test_stream.hpp>
#include <martlet/net/testing_internal.hpp>
#include <martlet/rt/combine.hpp>
#include <martlet/rt/scope.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/within.hpp>

namespace martlet::net {
namespace {

using namespace std::chrono_literals;
using testing::connection;
using testing::test_file;

std::string pattern(std::size_t size) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>('a' + (i * i + (i >> 7)) % 26);
    return bytes;
}

task<> echo(byte_stream& on) {
    buffer in(32 * 1024);
    outq out;
    for (;;) {
        auto got = co_await read(on, in);
        EXPECT_TRUE(got.has_value()) << got.error().text();
        if (!got || *got == 0) break;
        const bool queued = out.append_copy(in.view());
        EXPECT_TRUE(queued);
        in.clear();
        auto sent = co_await write(on, out);
        EXPECT_TRUE(sent.has_value()) << sent.error().text();
        if (!sent) break;
    }
    on.shutdown_write();
}

task<> send_all(byte_stream& on, std::string_view bytes) {
    auto sent = co_await write(on, bytes);
    EXPECT_TRUE(sent.has_value()) << sent.error().text();
    on.shutdown_write();
}

task<std::string> receive_all(byte_stream& on) {
    std::string all;
    buffer in(16 * 1024);
    for (;;) {
        auto got = co_await read(on, in);
        EXPECT_TRUE(got.has_value()) << got.error().text();
        if (!got || *got == 0) break;
        all += in.view();
        in.clear();
    }
    co_return all;
}

/// Sends `bytes` from `a`, and gives what came back from the echo at `b`.
task<std::string> round_trip(byte_stream& a, byte_stream& b, std::string_view bytes) {
    auto ended = co_await all(send_all(a, bytes), echo(b), receive_all(a));
    co_return std::get<2>(ended);
}

TEST(stream_operations, echo_over_sockets) {
    for (const char* at : {"127.0.0.1:0", "[::1]:0", "unix:@martlet-net-test-echo"}) {
        loop on;
        const listener door = testing::listen_on(at);
        acceptor from;
        ASSERT_TRUE(from.open(on, door).has_value());
        const std::string bytes = pattern(1'000'000);
        const std::string back = on.run([&]() -> task<std::string> {
            auto pair = co_await both(from.accept(), connect(testing::where(door)));
            auto& came = std::get<0>(pair);
            auto& made = std::get<1>(pair);
            EXPECT_TRUE(came.has_value() && made.has_value());
            socket_stream server;
            auto opened = server.open(on, std::move(came->socket), came->peer);
            EXPECT_TRUE(opened.has_value());
            auto echoed = co_await round_trip(**made, server, bytes);
            co_return echoed;
        }());
        EXPECT_TRUE(back == bytes) << at << ' ' << back.size();
    }
}

TEST(stream_operations, echo_over_unruly_streams) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        loop on;
        auto [a, b] = test_pair(on, unruly_options(seed).capacity_bytes(1 + seed * 37));
        const std::string bytes = pattern(20'000);
        const std::string back = on.run(round_trip(*a, *b, bytes));
        EXPECT_TRUE(back == bytes) << "seed " << seed;
    }
}

TEST(stream_operations, read_gives_zero_at_the_end) {
    loop on;
    test_peer peer(on);
    auto stream = peer.stream();
    peer.finish();
    buffer in(100);
    const auto got = on.run([&]() -> task<result<std::size_t>> {
        auto read_now = co_await read(*stream, in);
        co_return read_now;
    }());
    EXPECT_EQ(got.value(), 0u);
}

TEST(stream_operations, read_at_least_reads_on_until_there_is_enough) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        loop on;
        test_peer peer(on, unruly_options(seed));
        auto stream = peer.stream();
        buffer in(100'000);
        on.run([&]() -> task<> {
            co_await in_scope([&](scope& jobs) -> task<> {
                jobs.spawn([&]() -> task<> {
                    for (int i = 0; i < 10; ++i) {
                        peer.send(pattern(1000));
                        co_await yield();
                    }
                    peer.finish();
                });
                auto got = co_await read_at_least(*stream, in, 5000);
                EXPECT_TRUE(got.has_value());
                EXPECT_GE(in.size(), 5000u);
                // There already: nothing is read.
                auto again = co_await read_at_least(*stream, in, 5000);
                EXPECT_EQ(again.value(), 0u);
                auto rest = co_await read_at_least(*stream, in, 10'001);
                EXPECT_EQ(rest.error(), make_error(net_error::ended_early));
                EXPECT_EQ(in.size(), 10'000u);
            });
        }());
    }
}

TEST(stream_operations, a_buffer_that_cannot_hold_more_is_a_local_error_and_leaves_the_stream_alone) {
    loop on;
    test_peer peer(on, unruly_options::tame());
    auto stream = peer.stream();
    peer.send("0123456789");
    on.run([&]() -> task<> {
        buffer in(4);
        auto got = co_await read(*stream, in);
        EXPECT_EQ(got.value(), 4u);
        auto more = co_await read(*stream, in);
        EXPECT_EQ(more.error(), make_error(net_error::buffer_full));
        auto too_much = co_await read_at_least(*stream, in, 5);
        EXPECT_EQ(too_much.error(), make_error(net_error::buffer_full));
        in.clear();
        auto rest = co_await read(*stream, in);
        EXPECT_EQ(rest.value(), 4u);
        EXPECT_EQ(in.view(), "4567");
    }());
}

TEST(stream_operations, a_reset_fails_what_waits) {
    loop on;
    connection c(on);
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& jobs) -> task<> {
            jobs.spawn([&]() -> task<> {
                static_cast<void>(co_await sleep_for(2ms));
                c.peer.reset();
            });
            buffer in(100);
            auto ended = co_await both(read(*c.stream, in), write(*c.stream, std::string(16 * 1024 * 1024, 'x')));
            EXPECT_TRUE(std::get<0>(ended).error().is_peer());
            EXPECT_TRUE(std::get<1>(ended).error().is_peer());
        });
    }());
}

enum class ending { close, abort, destruction };

/// What a read and a write that wait on `stream` get when it ends so, and in which order.
std::string ended_while_they_wait(loop& on, std::unique_ptr<byte_stream> stream, ending how) {
    std::string log;
    const auto note = [&log](const char* who, const error& why) {
        log += who + std::string(why == make_error(net_error::stream_closed) ? " closed, " : " ?, ");
    };
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& jobs) -> task<> {
            jobs.spawn([&]() -> task<> {
                buffer in(100);
                auto got = co_await within(5s, read(*stream, in));
                note("read", got.error());
            });
            jobs.spawn([&]() -> task<> {
                const std::string much(16 * 1024 * 1024, 'x');
                auto sent = co_await within(5s, write(*stream, much));
                note("write", sent.error());
            });
            // Until a socket's buffers are full.
            for (int i = 0; i < 20; ++i) static_cast<void>(co_await sleep_for(1ms));
            EXPECT_EQ(log, "");
            switch (how) {
            case ending::close: stream->close(); break;
            case ending::abort: stream->abort(); break;
            case ending::destruction: stream.reset(); break;
            }
            EXPECT_EQ(log, "") << "they run from the ready list";
        });
    }());
    return log;
}

TEST(stream_operations, what_waits_learns_of_the_end_of_its_stream) {
    for (const ending how : {ending::close, ending::abort, ending::destruction}) {
        loop on;
        connection c(on);
        EXPECT_EQ(ended_while_they_wait(on, std::move(c.stream), how), "read closed, write closed, ") << static_cast<int>(how);
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            test_peer peer(on, unruly_options(seed));
            EXPECT_EQ(ended_while_they_wait(on, peer.stream(), how), "read closed, write closed, ") << static_cast<int>(how) << ' ' << seed;
        }
    }
}

TEST(stream_operations, an_armed_node_is_forgotten_by_a_close) {
    class never_run final : public ready_node {
    public:
        never_run() : ready_node([](ready_node&) noexcept { ADD_FAILURE() << "queued by a close"; }) {}
    };
    loop on;
    for (const bool is_socket : {true, false}) {
        connection c(on);
        test_peer peer(on, unruly_options::tame());
        std::unique_ptr<byte_stream> stream = is_socket ? std::move(c.stream) : peer.stream();
        never_run reader;
        stream->arm(direction::reading, &reader);
        stream->close();
        on.turn(duration::zero());
    }
}

TEST(stream_operations, a_second_of_a_kind_is_refused_and_the_first_goes_on) {
    loop on;
    for (const bool is_socket : {true, false}) {
        connection c(on);
        test_peer peer(on);
        std::unique_ptr<byte_stream> stream = is_socket ? std::move(c.stream) : peer.stream();
        on.run([&]() -> task<> {
            buffer in(100), other(100);
            auto second = [&]() -> task<> {
                co_await yield();
                auto refused = co_await within(5s, read(*stream, other));
                EXPECT_EQ(refused.error(), make_error(net_error::stream_busy));
                if (is_socket) {
                    c.peer.send("for the first");
                } else {
                    peer.send("for the first");
                }
            };
            auto ended = co_await both(within(5s, read_at_least(*stream, in, 13)), second());
            EXPECT_TRUE(std::get<0>(ended).has_value());
            EXPECT_EQ(in.view(), "for the first");
        }());
    }
}

// The first was queued by a report, so the place where it waited is another's by then.
TEST(stream_operations, a_cancelled_read_leaves_the_next_one_waiting) {
    loop on;
    test_peer peer(on, unruly_options::tame());
    auto stream = peer.stream();
    on.run([&]() -> task<> {
        buffer in(100), other(100);
        context& mine = co_await this_context();
        context inner(mine);
        martlet::detail::await_in first(read(*stream, in), inner);
        auto rest = [&]() -> task<> {
            co_await yield();
            peer.send("a");
            auto taken = co_await read(*stream, other);
            EXPECT_EQ(taken.value(), 1u);
            co_await in_scope([&](scope& jobs) -> task<> {
                jobs.spawn([&]() -> task<> {
                    auto got = co_await within(5s, read(*stream, other));
                    EXPECT_TRUE(got.has_value()) << got.error().text();
                });
                inner.cancel(cancel_reason::cancelled);
                peer.send("b");
                co_return;
            });
        };
        auto ended = co_await both(std::move(first), rest());
        EXPECT_TRUE(std::get<0>(ended).error().is_cancelled());
        EXPECT_EQ(other.view(), "ab");
    }());
}

/// Cancelled before the start, while it waits, and after it completed; and by a deadline.
template <class Make, class Ready>
void cancel_at_each_point(loop& on, Make make, Ready make_ready) {
    on.run([&]() -> task<> {
        {
            auto late = co_await within(on.clock() - 1ms, make());
            EXPECT_FALSE(late.has_value());
            EXPECT_TRUE(late.error().is_timeout()) << late.error().text();
        }
        {
            auto slow = co_await within(5ms, make());
            EXPECT_FALSE(slow.has_value());
            EXPECT_TRUE(slow.error().is_timeout()) << slow.error().text();
        }
        {
            context& mine = co_await this_context();
            context inner(mine);
            martlet::detail::await_in operation(make(), inner);
            auto stop = [&]() -> task<> {
                co_await yield();
                inner.cancel(cancel_reason::peer_gone);
            };
            auto ended = co_await both(std::move(operation), stop());
            EXPECT_EQ(std::get<0>(ended).error().reason(), cancel_reason::peer_gone);
        }
        {
            // Completed and cancelled in the same pass of the ready list: the completion stands.
            context& mine = co_await this_context();
            context inner(mine);
            martlet::detail::await_in operation(make(), inner);
            auto finish_and_stop = [&]() -> task<> {
                co_await yield();
                make_ready();
                for (int i = 0; i < 100 && on.next_deadline() > on.now(); ++i) static_cast<void>(co_await sleep_for(1ms));
                inner.cancel(cancel_reason::cancelled);
            };
            auto ended = co_await both(std::move(operation), finish_and_stop());
            if (!std::get<0>(ended).has_value()) {
                EXPECT_TRUE(std::get<0>(ended).error().is_cancelled());
            }
        }
    }());
}

TEST(stream_operations, reads_can_be_cancelled_at_each_point) {
    {
        loop on;
        connection c(on);
        buffer in(100);
        cancel_at_each_point(on, [&] { return read(*c.stream, in); }, [&] { c.peer.send("x"); });
        cancel_at_each_point(on, [&] { return read_at_least(*c.stream, in, in.size() + 10); }, [&] { c.peer.send("0123456789"); });
    }
    {
        loop on;
        connection c(on);
        cancel_at_each_point(on, [&] { return wait_readable(*c.stream); }, [&] { c.peer.send("x"); });
    }
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        loop on;
        test_peer peer(on, unruly_options(seed));
        auto stream = peer.stream();
        buffer in(100);
        cancel_at_each_point(on, [&] { return read(*stream, in); }, [&] { peer.send("x"); });
    }
}

TEST(stream_operations, writes_can_be_cancelled_at_each_point) {
    loop on;
    connection c(on);
    outq out;
    ASSERT_TRUE(out.append_copy(std::string(32 * 1024 * 1024, 'x')));
    const std::size_t all = out.size();
    cancel_at_each_point(on, [&] { return write(*c.stream, out); }, [&] { c.peer.receive(); });
    // What was not written is still there.
    EXPECT_GT(out.size(), 0u);
    EXPECT_LT(out.size(), all);
}

TEST(stream_operations, a_read_that_completed_is_not_reported_as_cancelled) {
    loop on;
    test_peer peer(on, unruly_options::tame());
    auto stream = peer.stream();
    buffer in(100);
    on.run([&]() -> task<> {
        context& mine = co_await this_context();
        context inner(mine);
        martlet::detail::await_in reading(read(*stream, in), inner);
        auto act = [&]() -> task<> {
            peer.send("moved");
            co_await yield();  // the read has its bytes now, and its awaiter is queued behind us
            inner.cancel(cancel_reason::cancelled);
        };
        auto ended = co_await both(std::move(reading), act());
        EXPECT_EQ(std::get<0>(ended).value(), 5u);
        EXPECT_EQ(in.view(), "moved");
    }());
}

TEST(stream_operations, a_cancelled_read_loses_no_bytes) {
    loop on;
    test_peer peer(on, unruly_options::tame());
    auto stream = peer.stream();
    buffer in(100);
    on.run([&]() -> task<> {
        context& mine = co_await this_context();
        context inner(mine);
        martlet::detail::await_in reading(read(*stream, in), inner);
        auto act = [&]() -> task<> {
            co_await yield();
            peer.send("kept");  // wakes the read, which has not run when it is cancelled
            inner.cancel(cancel_reason::cancelled);
            co_return;
        };
        auto ended = co_await both(std::move(reading), act());
        EXPECT_TRUE(std::get<0>(ended).error().is_cancelled());
        EXPECT_TRUE(in.empty());
        auto again = co_await read(*stream, in);
        EXPECT_EQ(again.value(), 4u);
    }());
}

TEST(stream_operations, a_copied_write_needs_its_bytes_no_longer) {
    loop on;
    test_peer peer(on, unruly_options(3));
    auto stream = peer.stream();
    std::string all;
    on.run([&]() -> task<> {
        auto bytes = std::make_unique<std::string>(pattern(200'000));
        write_operation writing = write(*stream, *bytes);
        bytes.reset();
        write_operation moved = std::move(writing);
        auto take = [&]() -> task<> {
            while (all.size() < 200'000) {
                all += peer.take();
                co_await yield();
            }
        };
        auto ended = co_await both(std::move(moved), take());
        EXPECT_TRUE(std::get<0>(ended).has_value());
    }());
    EXPECT_TRUE(all == pattern(200'000));
}

TEST(stream_operations, files_go_through_streams_without_sendfile) {
    loop on;
    test_peer peer(on, unruly_options(9));
    auto stream = peer.stream();
    const test_file file(300'000);
    std::string all;
    on.run([&]() -> task<> {
        outq out;
        const bool queued = out.append_copy("head") && out.append(file.range(1000, 299'000));
        EXPECT_TRUE(queued);
        auto take = [&]() -> task<> {
            while (all.size() < 299'004) {
                all += peer.take(10'000);
                co_await yield();
            }
        };
        auto ended = co_await both(write(*stream, out), take());
        EXPECT_TRUE(std::get<0>(ended).has_value());
    }());
    EXPECT_TRUE(all == "head" + file.content().substr(1000));
}

TEST(lingering_close, delivers_an_answer_to_a_peer_that_still_sends) {
    loop on;
    const auto answer_with = [&](bool lingering) {
        connection c(on);
        c.peer.send(std::string(20'000, 'u'));
        outq out;
        EXPECT_TRUE(out.append_copy("413"));
        buffer in(10);
        EXPECT_TRUE(testing::turn_until(on, [&] { return c.stream->try_read(in) == io::moved; }));
        EXPECT_EQ(c.stream->try_write(out), io::moved);
        if (lingering) {
            c.peer.finish();
            on.run(lingering_close(std::move(c.stream)));
        } else {
            c.stream->close();
        }
        return c.peer.receive_all();
    };
    EXPECT_EQ(answer_with(true), "413");
    // Which is what it is for: a plain close resets. (The answer may have been read before the reset.)
    EXPECT_NE(answer_with(false), "413");
}

TEST(lingering_close, reads_no_more_than_its_limit) {
    loop on;
    test_peer peer(on, unruly_options::tame());
    peer.send(std::string(1'000'000, 'x'));
    on.run(lingering_close(peer.stream()));
    EXPECT_TRUE(peer.is_closed());
    EXPECT_TRUE(peer.saw_reset());
    test_peer other(on, unruly_options::tame());
    other.send(std::string(60'000, 'x'));
    other.finish();
    on.run(lingering_close(other.stream()));
    EXPECT_TRUE(other.saw_end());
    EXPECT_FALSE(other.saw_reset());
}

TEST(lingering_close, ends_with_the_byte_of_its_limit) {
    loop on;
    test_peer peer(on, unruly_options::tame());
    peer.send(std::string(99, 'x'));
    const auto watch = [](test_peer& of) -> task<> {
        for (int i = 0; i < 10; ++i) co_await yield();
        EXPECT_FALSE(of.is_closed());
        of.send("x");
        for (int i = 0; i < 10; ++i) co_await yield();
        EXPECT_TRUE(of.is_closed());
        of.finish();
    };
    on.run([&]() -> task<> { co_await both(lingering_close(peer.stream(), linger_limits().bytes_max(100).time_max(1h)), watch(peer)); }());
    EXPECT_FALSE(peer.saw_reset());
}

TEST(lingering_close, ends_with_its_time) {
    loop on;
    test_peer peer(on);
    on.run(lingering_close(peer.stream(), linger_limits().time_max(5ms)));
    EXPECT_TRUE(peer.is_closed());
    EXPECT_TRUE(peer.saw_end());
}

TEST(lingering_close, cancelled_closes_at_once) {
    loop on;
    test_peer peer(on);
    on.run([&]() -> task<> { co_await within(5ms, lingering_close(peer.stream(), linger_limits().time_max(1h))); }());
    EXPECT_TRUE(peer.is_closed());
}

}  // namespace
}  // namespace martlet::net
