#include <martlet/rt/process.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <martlet/rt/run_internal.hpp>
#include <martlet/rt/within.hpp>

namespace {

using namespace martlet;
using namespace std::chrono_literals;
using trial::moment;

process_options shell(std::string script) { return process_options("/bin/sh").argument("-c").argument(std::move(script)); }

/// After each test no child of this process is left, running or not.
class Process : public ::testing::Test {
protected:
    void TearDown() override {
        EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
        EXPECT_EQ(errno, ECHILD) << "a child is left";
    }

    process started(const process_options& with) {
        auto made = process::start(on, with);
        if (!made) {
            ADD_FAILURE() << made.error().text();
            std::abort();
        }
        return std::move(*made);
    }

    loop on;
};

TEST_F(Process, TellsTheCodeItEndedWith) {
    for (const int code : {0, 1, 7, 255}) {
        auto child = started(shell("exit " + std::to_string(code)));
        EXPECT_GT(child.pid(), 0);
        on.run([&]() -> task<> {
            const auto how = co_await child.wait();
            EXPECT_TRUE(how);
            EXPECT_EQ(how->code(), code);
            EXPECT_EQ(how->signal(), 0);
            EXPECT_EQ(how->is_success(), code == 0);
            EXPECT_TRUE(child.has_ended());
            const auto again = co_await child.wait();
            EXPECT_EQ(again->code(), code) << "asked again it says the same";
        }());
    }
}

TEST_F(Process, TellsTheSignalThatEndedIt) {
    auto child = started(process_options("/bin/sleep").argument("1000"));
    on.run([&]() -> task<> {
        EXPECT_TRUE(child.signal(SIGKILL));
        const auto how = co_await child.wait();
        EXPECT_EQ(how->signal(), SIGKILL);
        EXPECT_EQ(how->code(), -1);
        EXPECT_FALSE(how->is_success());
        const auto late = child.signal(SIGTERM);
        EXPECT_FALSE(late);
        EXPECT_TRUE(late.error().is_system(ESRCH));
    }());
}

TEST_F(Process, AFailedStartSaysWhy) {
    const auto missing = process::start(on, process_options("/no/such/program"));
    ASSERT_FALSE(missing);
    EXPECT_TRUE(missing.error().is_system(ENOENT));
    const auto no_program = process::start(on, process_options("/etc/passwd"));
    ASSERT_FALSE(no_program);
    EXPECT_TRUE(no_program.error().is_system(EACCES));
    const auto nowhere = process::start(on, process_options("/bin/true").directory("/no/such/directory"));
    ASSERT_FALSE(nowhere);
    EXPECT_TRUE(nowhere.error().is_system(ENOENT));
    EXPECT_EQ(on.descriptors_registered(), 0u);
}

TEST_F(Process, PassesArgumentsAsTheyAre) {
    auto child = started(process_options("/bin/echo").argument("a b").argument("").argument("$HOME *").output(process_stream::pipe));
    on.run([&]() -> task<> {
        const auto text = co_await child.output().read_all(1000);
        EXPECT_EQ(text, "a b  $HOME *\n");
        static_cast<void>(co_await child.wait());
    }());
}

TEST_F(Process, EnvironmentAndDirectory) {
    ::setenv("MARTLET_INHERITED", "yes", 1);
    const std::string script = "echo \"$MARTLET_INHERITED|$MARTLET_SET|$(pwd)\"";
    auto child = started(shell(script).variable("MARTLET_SET", "a=b").directory("/usr").output(process_stream::pipe));
    auto replaced =
        started(shell(script).variable("MARTLET_INHERITED", "no").variable("MARTLET_INHERITED", "never").output(process_stream::pipe));
    auto bare = started(process_options("/usr/bin/env").empty_environment().variable("ONLY", "this").output(process_stream::pipe));
    on.run([&]() -> task<> {
        const auto text = co_await child.output().read_all(1000);
        EXPECT_EQ(text, "yes|a=b|/usr\n");
        const auto other = co_await replaced.output().read_all(1000);
        EXPECT_TRUE(other.value_or("").starts_with("never||"));
        const auto only = co_await bare.output().read_all(1000);
        EXPECT_EQ(only, "ONLY=this\n");
    }());
    ::unsetenv("MARTLET_INHERITED");
}

TEST_F(Process, AMegabyteThroughItsPipes) {
    auto child = started(process_options("/bin/cat").input(process_stream::pipe).output(process_stream::pipe));
    const std::string sent(1'000'000, 'm');
    on.run([&]() -> task<> {
        auto [written, read] = co_await both(
            [](pipe_writer& to, const std::string& data) -> task<result<std::size_t>> {
                const auto count = co_await to.write(data);
                to.close();
                co_return count;
            }(child.input(), sent),
            child.output().read_all(2'000'000));
        EXPECT_EQ(written, sent.size());
        EXPECT_TRUE(read.value_or("") == sent);
        const auto how = co_await child.wait();
        EXPECT_TRUE(how->is_success());
    }());
}

TEST_F(Process, ErrorOutputIsApart) {
    auto child = started(shell("echo out; echo err >&2").output(process_stream::pipe).error_output(process_stream::pipe));
    on.run([&]() -> task<> {
        auto [out, err] = co_await both(child.output().read_all(100), child.error_output().read_all(100));
        EXPECT_EQ(out, "out\n");
        EXPECT_EQ(err, "err\n");
    }());
}

TEST_F(Process, StreamsThatAreNotAskedForAreClosedOrNull) {
    // 0, 1, 2, the directory that ls reads, and what this program was itself started with: nothing of the library leaks into a child.
    int expected = 4;
    for (int number = 3; number < 1024; ++number) expected += ::fcntl(number, F_GETFD) == 0;
    auto child = started(shell("read line; echo \"[$line]$?\"; echo lost >&2; ls /proc/self/fd | wc -l")
                             .output(process_stream::pipe)
                             .error_output(process_stream::null));
    EXPECT_FALSE(child.input().is_open());
    EXPECT_TRUE(child.output().is_open());
    EXPECT_FALSE(child.error_output().is_open());
    on.run([&]() -> task<> {
        const auto text = co_await child.output().read_all(1000);
        EXPECT_EQ(text.value_or("failed"), "[]1\n" + std::to_string(expected) + "\n");
    }());
}

TEST_F(Process, StartsWithSignalsAsTheyShouldBe) {
    // What this thread blocks, the loop's own SIGPIPE among it, does not reach the child. Asked without a shell, which may clear its mask itself.
    on.run([&]() -> task<> {
        co_await yield();
        EXPECT_TRUE(on.blocks_sigpipe());
        auto child = started(process_options("/bin/grep")
                                 .argument("-E")
                                 .argument("^Sig(Blk|Ign)")
                                 .argument("/proc/self/status")
                                 .output(process_stream::pipe));
        const auto text = co_await child.output().read_all(1000);
        EXPECT_EQ(text, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
        static_cast<void>(co_await child.wait());
    }());
}

TEST_F(Process, DestroyedWhileItRunsItIsKilledAndReaped) {
    int pid = 0;
    {
        auto child = started(shell("trap '' TERM INT HUP; while :; do sleep 1; done"));
        pid = child.pid();
        EXPECT_EQ(::kill(pid, 0), 0);
    }
    EXPECT_EQ(::kill(pid, 0), -1);
    EXPECT_EQ(errno, ESRCH) << "neither running nor a zombie";
    EXPECT_EQ(on.descriptors_registered(), 0u);
}

TEST_F(Process, MovedAndReplacedItIsStillOne) {
    auto child = started(process_options("/bin/sleep").argument("1000"));
    process moved = std::move(child);
    auto other = started(process_options("/bin/sleep").argument("1000"));
    const int pid = moved.pid();
    moved = std::move(other);
    other = started(process_options("/bin/true"));
    EXPECT_EQ(::kill(pid, 0), -1) << "the one that was replaced has gone";
}

TEST_F(Process, WaitCancelledTheProcessGoesOn) {
    for (const moment when : {moment::before, moment::waiting}) {
        auto child = started(process_options("/bin/sleep").argument("1000"));
        const auto given = trial::cancelled_at(on, when, cancel_reason::peer_gone, [&] { return child.wait(); }, [] {});
        ASSERT_FALSE(given);
        EXPECT_EQ(given.error().reason(), cancel_reason::peer_gone);
        EXPECT_EQ(::kill(child.pid(), 0), 0);
        EXPECT_FALSE(child.has_ended());
        on.run([&]() -> task<> {
            EXPECT_TRUE(child.signal(SIGTERM));
            const auto how = co_await child.wait();
            EXPECT_EQ(how->signal(), SIGTERM);
        }());
    }
}

TEST_F(Process, AnEndThatWasSeenIsNotReportedAsCancelled) {
    auto child = started(process_options("/bin/true"));
    on.run([&]() -> task<> { static_cast<void>(co_await child.wait()); }());
    const auto given = trial::cancelled_at(on, moment::before, cancel_reason::cancelled, [&] { return child.wait(); }, [] {});
    ASSERT_TRUE(given);
    EXPECT_TRUE(given->is_success());
}

TEST_F(Process, WaitTimesOut) {
    auto child = started(process_options("/bin/sleep").argument("1000"));
    on.run([&]() -> task<> {
        const auto how = co_await within(1ms, child.wait());
        EXPECT_FALSE(how);
        EXPECT_TRUE(how.error().is_timeout());
    }());
}

TEST_F(Process, StopAsksFirstAndKillsThen) {
    // Each says that its trap is set before it is stopped.
    auto polite = started(shell("trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done").output(process_stream::pipe));
    auto stubborn = started(shell("trap '' TERM; echo ready; while :; do sleep 0.01; done").output(process_stream::pipe));
    on.run([&]() -> task<> {
        char bytes[16];
        static_cast<void>(co_await polite.output().read(bytes));
        static_cast<void>(co_await stubborn.output().read(bytes));
        const auto asked = co_await polite.stop(30s);
        EXPECT_EQ(asked->code(), 3);
        const auto killed = co_await stubborn.stop(20ms);
        EXPECT_EQ(killed->signal(), SIGKILL);
        const auto again = co_await polite.stop(1s);
        EXPECT_EQ(again->code(), 3);
    }());
}

TEST_F(Process, ManyInARowLeaveNothing) {
    for (int i = 0; i < 50; ++i) {
        auto child = started(process_options("/bin/true"));
        if (i % 2 == 0) continue;
        on.run([&]() -> task<> {
            const auto how = co_await child.wait();
            EXPECT_TRUE(how->is_success());
        }());
    }
}

}  // namespace
