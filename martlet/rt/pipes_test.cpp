#include <martlet/rt/pipes.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include <martlet/rt/run_internal.hpp>
#include <martlet/rt/within.hpp>

namespace {

using namespace martlet;
using namespace std::chrono_literals;
using trial::moment;

class pipe_pair {
public:
    explicit pipe_pair(loop& on) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) < 0) std::abort();
        const bool opened = reader.open(on, descriptor(ends[0])) && writer.open(on, descriptor(ends[1]));
        if (!opened) std::abort();
    }
    pipe_reader reader;
    pipe_writer writer;
};

TEST(Pipes, CarryBytesAndTheEnd) {
    loop on;
    pipe_pair p(on);
    on.run([&]() -> task<> {
        const auto written = co_await p.writer.write("hello");
        EXPECT_EQ(written, 5u);
        char bytes[16];
        const auto got = co_await p.reader.read(bytes);
        EXPECT_EQ(got, 5u);
        EXPECT_EQ(std::string(bytes, 5), "hello");
        p.writer.close();
        const auto end = co_await p.reader.read(bytes);
        EXPECT_EQ(end, 0u);
        const auto still = co_await p.reader.read(bytes);
        EXPECT_EQ(still, 0u);
    }());
}

TEST(Pipes, ThoseWhoWaitLearnOfAClose) {
    loop on;
    pipe_pair p(on);
    pipe_pair full(on);
    on.run([&]() -> task<> {
        const std::string much(1'000'000, 'x');
        const auto part = co_await within(1ms, full.writer.write(much));
        EXPECT_TRUE(part.has_value());
        char bytes[16];
        auto close = [&]() -> task<> {
            co_await yield();
            p.reader.close();
            full.writer.close();
        };
        auto [got, put, none] = co_await all(within(5s, p.reader.read(bytes)), within(5s, full.writer.write("x")), close());
        EXPECT_TRUE(!got && got.error().is_system(EBADF));
        EXPECT_TRUE(!put && put.error().is_system(EBADF));
    }());
}

TEST(Pipes, AMegabyteThroughAFullPipe) {
    loop on;
    pipe_pair p(on);
    std::string sent;
    for (int i = 0; sent.size() < 1'000'000; ++i) sent += std::to_string(i) + ' ';
    on.run([&]() -> task<> {
        auto [written, read] = co_await both(
            [](pipe_writer& to, const std::string& data) -> task<result<std::size_t>> {
                const auto count = co_await to.write(data);
                to.close();
                co_return count;
            }(p.writer, sent),
            p.reader.read_all(2'000'000));
        EXPECT_EQ(written, sent.size());
        EXPECT_TRUE(read);
        EXPECT_TRUE(*read == sent);
    }());
}

TEST(Pipes, ReadAllHoldsItsLimit) {
    for (const std::size_t size : {9u, 10u, 11u, 40'000u}) {
        loop on;
        pipe_pair p(on);
        const std::string sent(size, 'x');
        on.run([&]() -> task<> {
            const auto written = co_await p.writer.write(sent);
            EXPECT_EQ(written, size);
            p.writer.close();
            const auto all = co_await p.reader.read_all(10);
            if (size <= 10) {
                EXPECT_EQ(all, sent);
            } else {
                EXPECT_FALSE(all);
                EXPECT_TRUE(all.error().is_system(EFBIG));
            }
        }());
    }
}

TEST(Pipes, WritingToNobodyIsAnErrorAndNoSignal) {
    loop on;
    pipe_pair p(on);
    p.reader.close();
    on.run([&]() -> task<> {
        const auto written = co_await p.writer.write("x");
        EXPECT_FALSE(written);
        EXPECT_TRUE(written.error().is_system(EPIPE));
    }());
    // And outside of run(), where the loop does not block the signal.
    trial::background<result<std::size_t>> work(
        on, [](pipe_writer& to) -> task<result<std::size_t>> { co_return co_await to.write("x"); }(p.writer));
    EXPECT_TRUE(work.done());
    ::sigset_t pending;
    ::sigpending(&pending);
    EXPECT_FALSE(::sigismember(&pending, SIGPIPE));
}

TEST(Pipes, ReadCancelled) {
    for (const moment when : {moment::before, moment::waiting}) {
        loop on;
        pipe_pair p(on);
        char byte[1];
        const auto given = trial::cancelled_at(on, when, cancel_reason::peer_gone, [&] { return p.reader.read(byte); }, [] {});
        ASSERT_FALSE(given);
        EXPECT_EQ(given.error().reason(), cancel_reason::peer_gone);
        // Nothing is lost: what comes later is there for the next one.
        on.run([&]() -> task<> {
            static_cast<void>(co_await p.writer.write("y"));
            const auto got = co_await p.reader.read(byte);
            EXPECT_EQ(got, 1u);
            EXPECT_EQ(byte[0], 'y');
        }());
    }
}

TEST(Pipes, OneThatIsNotOpenIsAnError) {
    loop on;
    pipe_reader reader;
    pipe_writer writer;
    char byte[1];
    on.run([&]() -> task<> {
        const auto got = co_await reader.read(byte);
        EXPECT_FALSE(got);
        EXPECT_TRUE(got.error().is_system(EBADF));
        const auto written = co_await writer.write("x");
        EXPECT_FALSE(written);
        EXPECT_TRUE(written.error().is_system(EBADF));
    }());
}

TEST(Pipes, ReadTimesOut) {
    loop on;
    pipe_pair p(on);
    char byte[1];
    on.run([&]() -> task<> {
        const auto got = co_await within(1ms, p.reader.read(byte));
        EXPECT_FALSE(got);
        EXPECT_TRUE(got.error().is_timeout());
    }());
}

TEST(Pipes, AWriteThatIsCancelledAfterBytesMovedHasSucceeded) {
    loop on;
    pipe_pair p(on);
    const std::string sent(1'000'000, 'x');
    const auto given = trial::cancelled_at(on, moment::waiting, cancel_reason::cancelled, [&] { return p.writer.write(sent); }, [] {});
    ASSERT_TRUE(given);
    EXPECT_GT(*given, 0u);
    EXPECT_LT(*given, sent.size());
    on.run([&]() -> task<> {
        p.writer.close();
        const auto all = co_await p.reader.read_all(2'000'000);
        EXPECT_EQ(all.value_or("").size(), *given);
    }());
    loop other;
    pipe_pair q(other);
    const auto none = trial::cancelled_at(other, moment::before, cancel_reason::cancelled, [&] { return q.writer.write(sent); }, [] {});
    EXPECT_FALSE(none) << "nothing had moved";
}

}  // namespace
