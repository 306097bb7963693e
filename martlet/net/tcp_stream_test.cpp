// socket_stream against real sockets: order, ends, resets, files.
#include <martlet/net/tcp_stream.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <string>

#include <martlet/net/testing_internal.hpp>

namespace martlet::net {
namespace {

using testing::connection;
using testing::plain_socket;
using testing::test_file;
using testing::turn_until;

/// Counts how often it was queued.
class counting_waiter final : public ready_node {
public:
    counting_waiter() : ready_node([](ready_node& node) noexcept { ++static_cast<counting_waiter&>(node).count; }) {}
    int count = 0;
};

void queue(outq& on, std::string_view bytes) { ASSERT_TRUE(on.append_copy(bytes)); }

/// Reads until the stream is blocked, has ended or failed.
io read_all(socket_stream& from, buffer& into) {
    io last;
    while ((last = from.try_read(into)) == io::moved) {
    }
    return last;
}

TEST(socket_stream, reads_and_writes) {
    for (const char* at : {"127.0.0.1:0", "[::1]:0", "unix:@martlet-net-test-stream"}) {
        loop on;
        connection c(on, at);
        buffer in(1000);
        EXPECT_EQ(c.stream->try_read(in), io::blocked);
        c.peer.send("hello");
        ASSERT_TRUE(turn_until(on, [&] { return c.stream->try_read(in) == io::moved; }));
        EXPECT_EQ(in.view(), "hello");
        EXPECT_EQ(c.stream->try_read(in), io::blocked);
        outq out;
        queue(out, "world");
        EXPECT_EQ(c.stream->try_write(out), io::moved);
        EXPECT_EQ(c.peer.receive(), "world");
    }
}

TEST(socket_stream, a_waiter_is_queued_once_and_when_there_is_something) {
    loop on;
    connection c(on);
    counting_waiter waiter;
    c.stream->arm(direction::reading, &waiter);
    on.turn(duration::zero());
    EXPECT_EQ(waiter.count, 0);
    c.peer.send("a");
    c.peer.send("b");
    ASSERT_TRUE(turn_until(on, [&] { return waiter.count != 0; }));
    on.turn(duration::zero());
    EXPECT_EQ(waiter.count, 1);
    // What was reported and not read is still worth a try.
    c.stream->arm(direction::reading, &waiter);
    on.turn(duration::zero());
    EXPECT_EQ(waiter.count, 2);
    buffer in(100);
    EXPECT_EQ(read_all(*c.stream, in), io::blocked);
    c.stream->arm(direction::reading, &waiter);
    on.turn(duration::zero());
    EXPECT_EQ(waiter.count, 2);
    c.stream->arm(direction::reading, nullptr);
    c.peer.send("c");
    for (int i = 0; i < 3; ++i) on.turn(std::chrono::milliseconds(1));
    EXPECT_EQ(waiter.count, 2);
}

TEST(socket_stream, muted_it_queues_nobody_and_forgets_nothing) {
    loop on;
    connection c(on);
    counting_waiter waiter;
    c.stream->arm(direction::reading, &waiter);
    c.stream->mute(true);
    c.peer.send("a");
    ASSERT_TRUE(turn_until(on, [&] {
        buffer in(10);
        return c.stream->try_read(in) == io::moved;
    }));
    EXPECT_EQ(waiter.count, 0);
    c.peer.finish();
    ASSERT_TRUE(turn_until(on, [&] { return c.stream->peer_closed(); }));
    EXPECT_EQ(waiter.count, 0);
    c.stream->mute(false);
    on.turn(duration::zero());
    EXPECT_EQ(waiter.count, 1);
}

TEST(socket_stream, a_fin_that_comes_with_data_is_not_lost) {
    for (const char* at : {"127.0.0.1:0", "unix:@martlet-net-test-fin"}) {
        loop on;
        connection c(on, at);
        counting_waiter waiter;
        c.peer.send("all of it");
        c.peer.finish();
        c.stream->arm(direction::reading, &waiter);
        ASSERT_TRUE(turn_until(on, [&] { return c.stream->peer_closed(); }));
        EXPECT_EQ(waiter.count, 1);
        buffer in(1000);
        EXPECT_EQ(c.stream->try_read(in), io::moved);
        EXPECT_EQ(in.view(), "all of it");
        // No further report comes: waiting must not be needed to learn of the end.
        c.stream->arm(direction::reading, &waiter);
        on.turn(duration::zero());
        EXPECT_EQ(waiter.count, 2);
        EXPECT_EQ(c.stream->try_read(in), io::ended);
        EXPECT_EQ(c.stream->try_read(in), io::ended);
        EXPECT_FALSE(c.stream->peer_failed());
    }
}

TEST(socket_stream, can_be_closed_in_one_direction) {
    loop on;
    connection c(on);
    // The peer's end leaves writing to it open.
    c.peer.send("question");
    c.peer.finish();
    buffer in(1000);
    ASSERT_TRUE(turn_until(on, [&] { return read_all(*c.stream, in) == io::ended; }));
    EXPECT_EQ(in.view(), "question");
    outq out;
    queue(out, "answer");
    EXPECT_EQ(c.stream->try_write(out), io::moved);
    c.stream->shutdown_write();
    EXPECT_EQ(c.peer.receive_all(), "answer");
    // Both directions are closed, which the kernel reports as it does a failure.
    for (int i = 0; i < 3; ++i) on.turn(std::chrono::milliseconds(1));
    EXPECT_FALSE(c.stream->peer_failed());
    EXPECT_EQ(c.stream->try_read(in), io::ended);
}

TEST(socket_stream, reads_on_after_its_own_end) {
    loop on;
    connection c(on);
    c.stream->shutdown_write();
    c.stream->shutdown_write();
    EXPECT_EQ(c.peer.receive(), "<end>");
    c.peer.send("still here");
    buffer in(1000);
    ASSERT_TRUE(turn_until(on, [&] { return c.stream->try_read(in) == io::moved; }));
    EXPECT_EQ(in.view(), "still here");
    outq out;
    queue(out, "too late");
    EXPECT_EQ(c.stream->try_write(out), io::failed);
    EXPECT_TRUE(c.stream->failure().is_system(EPIPE));
}

TEST(socket_stream, a_reset_is_known_without_reading_and_fails_both_directions) {
    loop on;
    connection c(on);
    counting_waiter reader, writer;
    outq out;
    queue(out, std::string(8 * 1024 * 1024, 'x'));
    while (c.stream->try_write(out) == io::moved ||
           (c.stream->arm(direction::writing, &writer), on.turn(duration::zero()), writer.count != 0))
        writer.count = 0;
    c.stream->arm(direction::reading, &reader);
    c.stream->arm(direction::writing, &writer);
    c.peer.reset();
    ASSERT_TRUE(turn_until(on, [&] { return c.stream->peer_failed(); }));
    EXPECT_EQ(reader.count, 1);
    EXPECT_EQ(writer.count, 1);
    EXPECT_EQ(c.stream->try_write(out), io::failed);
    EXPECT_TRUE(c.stream->failure().is_peer()) << c.stream->failure().text();
    buffer in(10);
    EXPECT_EQ(c.stream->try_read(in), io::failed);
    EXPECT_EQ(c.stream->failure().code(), ECONNRESET);
}

TEST(socket_stream, bytes_before_a_close_with_unread_bytes_come_first) {
    loop on;
    connection c(on);
    c.peer.send("last words");
    outq out;
    queue(out, "unread");
    EXPECT_EQ(c.stream->try_write(out), io::moved);
    c.peer.close();  // a reset, for its unread bytes
    buffer in(1000);
    ASSERT_TRUE(turn_until(on, [&] { return c.stream->peer_failed(); }));
    EXPECT_EQ(c.stream->try_read(in), io::moved);
    EXPECT_EQ(in.view(), "last words");
    EXPECT_EQ(c.stream->try_read(in), io::failed);
    EXPECT_TRUE(c.stream->failure().is_system(ECONNRESET));
}

TEST(socket_stream, abort_resets_and_close_ends) {
    loop on;
    {
        connection c(on);
        c.stream->abort();
        EXPECT_EQ(c.peer.receive(), "<error " + std::to_string(ECONNRESET) + ">");
        buffer in(10);
        outq out;
        queue(out, "x");
        EXPECT_EQ(c.stream->try_read(in), io::failed);
        EXPECT_EQ(c.stream->try_write(out), io::failed);
        EXPECT_EQ(c.stream->failure(), make_error(net_error::stream_closed));
        EXPECT_TRUE(c.stream->peer_failed());
        c.stream->close();
        c.stream->abort();
        c.stream->shutdown_write();
        EXPECT_EQ(c.stream->info().peer()->family(), address_family::ipv4);
        EXPECT_FALSE(c.stream->info().local());
        // A waiter is not left waiting.
        counting_waiter waiter;
        c.stream->arm(direction::reading, &waiter);
        on.turn(duration::zero());
        EXPECT_EQ(waiter.count, 1);
    }
    connection c(on);
    outq out;
    queue(out, "bye");
    EXPECT_EQ(c.stream->try_write(out), io::moved);
    c.stream->close();
    EXPECT_EQ(c.peer.receive_all(), "bye");
}

TEST(socket_stream, knows_both_addresses) {
    loop on;
    const auto check = [&](std::string_view at, std::string_view to) {
        const listener door = testing::listen_on(at);
        plain_socket peer(address::parse(to)->with_port(testing::where(door).port()));
        acceptor from;
        ASSERT_TRUE(from.open(on, door).has_value());
        accepted came;
        ASSERT_EQ(from.try_accept(came), accept_state::accepted);
        socket_stream stream;
        ASSERT_TRUE(stream.open(on, std::move(came.socket), came.peer).has_value());
        unsigned char raw[128];
        socklen_t length = sizeof raw;
        ASSERT_EQ(::getsockname(peer.fd(), reinterpret_cast<sockaddr*>(raw), &length), 0);
        EXPECT_EQ(stream.info().peer().value(), address::from_system(raw, length).unmapped());
        length = sizeof raw;
        ASSERT_EQ(::getpeername(peer.fd(), reinterpret_cast<sockaddr*>(raw), &length), 0);
        EXPECT_EQ(stream.info().local().value(), address::from_system(raw, length).unmapped());
        EXPECT_FALSE(stream.info().is_tls());
        EXPECT_EQ(stream.info().alpn(), "");
    };
    check("127.0.0.1:0", "127.0.0.1:0");
    check("[::1]:0", "[::1]:0");
    check("[::]:0", "127.0.0.1:0");
    check("unix:@martlet-net-test-info", "unix:@martlet-net-test-info");
}

TEST(socket_stream, gathers_many_pieces) {
    loop on;
    connection c(on);
    outq out;
    std::string expected;
    for (int i = 0; i < 1000; ++i) {
        const std::string part = "<" + std::to_string(i) + std::string(static_cast<std::size_t>(i % 300), 'p') + ">";
        expected += part;
        if (i % 3 == 0) {
            queue(out, part);
        } else {
            ASSERT_TRUE(out.append(slice::own(std::string(part) + std::string(300, 's'))));
            expected += std::string(300, 's');
        }
    }
    std::string got;
    while (c.stream->try_write(out) != io::moved) {
        got += c.peer.receive();
        on.turn(duration::zero());
    }
    c.stream->shutdown_write();
    got += c.peer.receive_all();
    EXPECT_EQ(got.size(), expected.size());
    EXPECT_TRUE(got == expected);
}

TEST(socket_stream, sends_a_large_file_between_pieces_to_a_slow_reader) {
    for (const char* at : {"127.0.0.1:0", "unix:@martlet-net-test-file"}) {
        loop on;
        connection c(on, at, 4096);
        const test_file file(6 * 1024 * 1024 + 123);
        const std::string content = file.content();
        outq out;
        queue(out, "head");
        ASSERT_TRUE(out.append(file.range(100, content.size() - 100)));
        queue(out, "tail");
        ASSERT_TRUE(out.append(file.range(0, 10)));
        std::string got;
        int blocked = 0;
        for (io last = c.stream->try_write(out); last != io::moved; last = c.stream->try_write(out)) {
            ASSERT_EQ(last, io::blocked);
            ++blocked;
            got += c.peer.receive(50'000);
            on.turn(duration::zero());
        }
        c.stream->shutdown_write();
        got += c.peer.receive_all();
        EXPECT_GT(blocked, 5);
        EXPECT_TRUE(got == "head" + content.substr(100) + "tail" + content.substr(0, 10));
    }
}

/// Writes until the peer's window and the send buffer are full and stay so.
void fill_up(loop& on, socket_stream& stream, outq& out) {
    for (int quiet = 0; quiet < 20; ++quiet) {
        const std::uint64_t before = out.size();
        stream.recheck_write();
        ASSERT_EQ(stream.try_write(out), io::blocked);
        if (out.size() < before) quiet = 0;
        on.turn(std::chrono::milliseconds(1));
    }
}

TEST(socket_stream, a_reader_that_takes_a_little_shows_when_it_is_asked_to_look_again) {
    loop on;
    connection c(on);
    const int send_buffer_bytes = 256 * 1024;
    ASSERT_EQ(::setsockopt(c.stream->fd().number(), SOL_SOCKET, SO_SNDBUF, &send_buffer_bytes, sizeof send_buffer_bytes), 0);
    outq out;
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(out.append(slice::own(std::string(64 * 1024, 'x'))));
    fill_up(on, *c.stream, out);
    counting_waiter waiter;
    c.stream->arm(direction::writing, &waiter);
    on.turn(duration::zero());
    ASSERT_EQ(waiter.count, 0);
    const std::uint64_t left = out.size();
    std::size_t taken = 0;
    while (out.size() == left && taken < 300'000) {
        taken += c.peer.receive(1000).size();
        on.turn(duration::zero());
        // Without being asked it makes no call, and what the peer took stays unseen.
        ASSERT_EQ(c.stream->try_write(out), io::blocked);
        ASSERT_EQ(out.size(), left);
        c.stream->recheck_write();
        ASSERT_EQ(c.stream->try_write(out), io::blocked);
    }
    EXPECT_LT(out.size(), left);
    // Linux has not reported anything: this much is far from a third of the buffer.
    EXPECT_EQ(waiter.count, 0) << taken;
    // And the waiter is still there for what it will report.
    ASSERT_TRUE(turn_until(on, [&] {
        c.peer.receive();
        return waiter.count == 1;
    }));
}

TEST(socket_stream, a_file_that_shrank_is_an_error_and_no_endless_loop) {
    loop on;
    connection c(on);
    const test_file file(10'000);
    outq out;
    ASSERT_TRUE(out.append(file.range(0, 10'000)));
    file.truncate(5000);
    EXPECT_EQ(c.stream->try_write(out), io::failed);
    EXPECT_EQ(c.stream->failure(), make_error(net_error::file_shrank));
    EXPECT_EQ(c.stream->failure().who(), blame::local);
    EXPECT_EQ(out.size(), 5000u);
    EXPECT_EQ(c.stream->try_write(out), io::failed);
}

TEST(socket_stream, a_range_of_no_file_is_an_error) {
    loop on;
    connection c(on);
    outq out;
    ASSERT_TRUE(out.append(file_range(file_owner(), 0, 10)));
    EXPECT_EQ(c.stream->try_write(out), io::failed);
    EXPECT_EQ(c.stream->failure(), make_error(net_error::file_unreadable));
}

TEST(socket_stream, sends_files_that_sendfile_refuses) {
    loop on;
    connection c(on);
    const int file = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    outq out;
    ASSERT_TRUE(out.append(file_range(file_owner::adopt(file, [](int fd, void*) noexcept { ::close(fd); }).value(), 0, 4)));
    EXPECT_EQ(c.stream->try_write(out), io::moved);
    EXPECT_EQ(c.peer.receive().size(), 4u);
}

TEST(socket_stream, a_full_buffer_is_a_local_error) {
    loop on;
    connection c(on);
    c.peer.send("12345678");
    buffer in(4);
    ASSERT_TRUE(turn_until(on, [&] { return c.stream->try_read(in) == io::moved; }));
    EXPECT_EQ(in.view(), "1234");
    EXPECT_EQ(c.stream->try_read(in), io::failed);
    EXPECT_EQ(c.stream->failure(), make_error(net_error::buffer_full));
}

/// Sends a file to peers that reset at some point of it. Half of them end their direction first, which makes the kernel raise SIGPIPE.
template <class Drive>
void survive_resets(loop& on, int peers, Drive drive) {
    const listener door = testing::listen_on("127.0.0.1:0");
    const test_file file(4 * 1024 * 1024);
    int failed = 0;
    for (int i = 0; i < peers; ++i) {
        connection c(on, door, 4096);
        outq out;
        ASSERT_TRUE(out.append(file.range(0, 4 * 1024 * 1024)));
        ASSERT_EQ(c.stream->try_write(out), io::blocked);
        if (i % 4 >= 2) c.peer.receive(static_cast<std::size_t>(1 + i * 7));
        if (i % 2 == 0) c.peer.finish();
        c.peer.reset();
        // Tried at any moment: before the loop has heard of the reset, and after.
        if (i % 3 != 0) drive();
        io last;
        while ((last = c.stream->try_write(out)) == io::blocked) drive();
        EXPECT_EQ(last, io::failed);
        failed += c.stream->failure().is_peer();
        EXPECT_EQ(c.stream->try_write(out), io::failed);
    }
    EXPECT_EQ(failed, peers);
}

bool sigpipe_is_default() {
    struct ::sigaction now;
    ::sigaction(SIGPIPE, nullptr, &now);
    return now.sa_handler == SIG_DFL;
}

TEST(socket_stream, survives_1000_resets_in_the_middle_of_a_file_when_turned_from_outside) {
    ASSERT_TRUE(sigpipe_is_default());
    loop on;
    survive_resets(on, 1000, [&] { on.turn(std::chrono::milliseconds(1)); });
    EXPECT_TRUE(sigpipe_is_default());
    ::sigset_t pending;
    ::sigpending(&pending);
    EXPECT_FALSE(::sigismember(&pending, SIGPIPE));
}

TEST(socket_stream, survives_resets_while_the_loop_runs) {
    loop on;
    const listener door = testing::listen_on("127.0.0.1:0");
    const test_file file(4 * 1024 * 1024);

    class round final : public ready_node {
    public:
        round(loop& on, const listener& door, const test_file& file)
            : ready_node([](ready_node& node) noexcept { static_cast<round&>(node).run_once(); }), on_(on), door_(door), file_(file) {}
        void run_once() noexcept {
            if (!c_) {
                if (rounds == 200) return on_.stop();
                EXPECT_TRUE(on_.blocks_sigpipe());
                c_ = std::make_unique<connection>(on_, door_, 4096);
                EXPECT_TRUE(out_.append(file_.range(0, 4 * 1024 * 1024)));
                EXPECT_EQ(c_->stream->try_write(out_), io::blocked);
                if (rounds % 2 == 0) c_->peer.finish();
                c_->peer.reset();
            }
            const io last = c_->stream->try_write(out_);
            if (last == io::blocked) return c_->stream->arm(direction::writing, this);
            EXPECT_EQ(last, io::failed);
            EXPECT_TRUE(c_->stream->failure().is_peer());
            out_.clear();
            c_.reset();
            ++rounds;
            on_.ready(*this);
        }
        int rounds = 0;

    private:
        loop& on_;
        const listener& door_;
        const test_file& file_;
        std::unique_ptr<connection> c_;
        outq out_;
    };
    round rounds(on, door, file);
    on.ready(rounds);
    EXPECT_EQ(on.run(), loop_state::stopped);
    EXPECT_EQ(rounds.rounds, 200);
}

}  // namespace
}  // namespace martlet::net
