#include <martlet/rt/pollable.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <martlet/rt/loop.hpp>

namespace {

using namespace martlet;
using namespace std::chrono_literals;

class note final : public ready_node {
public:
    note() noexcept : ready_node([](ready_node& base) noexcept { ++static_cast<note&>(base).count; }) {}
    int count = 0;
};

class Pollable : public ::testing::Test {
protected:
    void SetUp() override {
        int ends[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
        ASSERT_EQ(ours.open(on, descriptor(ends[0])), 0);
        theirs = descriptor(ends[1]);
    }
    void TearDown() override { ours.close(); }
    void send(const char* text) {
        ASSERT_EQ(::write(theirs.number(), text, std::string(text).size()), static_cast<ssize_t>(std::string(text).size()));
    }

    loop on;
    pollable ours;
    descriptor theirs;
    note readable;
    note writable;
};

TEST_F(Pollable, IsReadableOnlyAfterAReport) {
    EXPECT_FALSE(ours.maybe_readable());
    EXPECT_TRUE(ours.maybe_writable());
    ours.arm(direction::reading, &readable);
    on.turn(duration::zero());
    EXPECT_EQ(readable.count, 0);
    send("x");
    on.turn(1h);
    EXPECT_EQ(readable.count, 1);
    EXPECT_TRUE(ours.maybe_readable());
    EXPECT_FALSE(ours.is_armed(direction::reading)) << "queued once for each arming";
}

TEST_F(Pollable, ArmingWithANotedReportQueuesAtOnce) {
    send("x");
    on.turn(1h);
    ours.arm(direction::reading, &readable);
    EXPECT_EQ(readable.count, 0) << "never runs the node itself";
    on.turn(1h);
    EXPECT_EQ(readable.count, 1);
}

// Who arms again without having found the end has had a try already.
TEST_F(Pollable, ArmingWithANotedReportQueuesBehindOthers) {
    class asking final : public ready_node {
    public:
        explicit asking(loop& on) : ready_node([](ready_node& base) noexcept { static_cast<asking&>(base).look(); }), on_(on) {}
        int behind = 0;
        int in_front = 0;

    private:
        void look() { on_.is_in_background() ? ++behind : ++in_front; }
        loop& on_;
    };
    asking who(on);
    ours.arm(direction::reading, &who);
    send("x");
    on.turn(1h);
    EXPECT_EQ(who.in_front, 1) << "a report";
    ours.arm(direction::reading, &who);
    on.turn(1h);
    EXPECT_EQ(who.behind, 1) << "a report that is known";
    EXPECT_EQ(who.in_front, 1);
}

TEST_F(Pollable, ANewReportComesAfterItWasDrained) {
    send("x");
    on.turn(1h);
    char byte;
    ASSERT_EQ(::read(ours.fd().number(), &byte, 1), 1);
    ours.drained();
    EXPECT_FALSE(ours.maybe_readable());
    ours.arm(direction::reading, &readable);
    on.turn(duration::zero());
    EXPECT_EQ(readable.count, 0);
    send("y");
    on.turn(1h);
    EXPECT_EQ(readable.count, 1);
}

TEST_F(Pollable, AFinThatCameWithDataIsKept) {
    send("last");
    ASSERT_EQ(::shutdown(theirs.number(), SHUT_WR), 0);
    on.turn(1h);
    EXPECT_TRUE(ours.peer_closed());
    char bytes[16];
    ASSERT_EQ(::read(ours.fd().number(), bytes, sizeof bytes), 4);
    ours.drained();
    EXPECT_TRUE(ours.peer_closed());
    EXPECT_TRUE(ours.maybe_readable()) << "the end is still to be read, and is reported only once";
}

TEST_F(Pollable, BothDirectionsInOneTurn) {
    ours.filled();
    ours.arm(direction::reading, &readable);
    ours.arm(direction::writing, &writable);
    send("x");
    on.turn(1h);
    EXPECT_EQ(readable.count, 1);
    EXPECT_EQ(writable.count, 1) << "registering reports what is possible";
}

TEST_F(Pollable, AClosedPeerWakesBoth) {
    on.turn(duration::zero());
    ours.filled();
    ours.arm(direction::reading, &readable);
    ours.arm(direction::writing, &writable);
    theirs.close();
    on.turn(1h);
    EXPECT_EQ(readable.count, 1);
    EXPECT_EQ(writable.count, 1);
    EXPECT_TRUE(ours.failed());
}

TEST_F(Pollable, WaitingForTheCloseIsNotDisturbedByBytes) {
    ours.arm(direction::closing, &readable);
    send("unread");
    on.turn(1h);
    on.turn(duration::zero());
    EXPECT_EQ(readable.count, 0);
    ASSERT_EQ(::shutdown(theirs.number(), SHUT_WR), 0);
    on.turn(1h);
    EXPECT_EQ(readable.count, 1);
}

TEST_F(Pollable, MutedItNotesAndQueuesNobody) {
    ours.arm(direction::reading, &readable);
    ours.mute(true);
    send("x");
    on.turn(1h);
    EXPECT_EQ(readable.count, 0);
    ours.mute(false);
    on.turn(1h);
    EXPECT_EQ(readable.count, 1);
}

TEST_F(Pollable, DisarmedItQueuesNobody) {
    ours.arm(direction::reading, &readable);
    ours.arm(direction::reading, nullptr);
    send("x");
    on.turn(1h);
    EXPECT_EQ(readable.count, 0);
}

TEST_F(Pollable, ClosedWhileAReportIsOnItsWay) {
    // A process forked at this moment would keep the description open: the registration must go all the same.
    ours.arm(direction::reading, &readable);
    descriptor copy(::fcntl(ours.fd().number(), F_DUPFD_CLOEXEC, 0));
    send("x");
    ours.close();
    EXPECT_EQ(on.descriptors_registered(), 0u);
    on.turn(duration::zero());
    EXPECT_EQ(readable.count, 0);
}

TEST_F(Pollable, ReleaseGivesTheDescriptorAway) {
    const int number = ours.fd().number();
    descriptor given = ours.release();
    EXPECT_EQ(given.number(), number);
    EXPECT_FALSE(ours.is_open());
    EXPECT_EQ(on.descriptors_registered(), 0u);
    EXPECT_EQ(::fcntl(number, F_GETFD), FD_CLOEXEC);
}

TEST(PollableOpen, ClosesWhatItCannotRegister) {
    loop on;
    // epoll refuses regular files.
    const int file = ::open("/etc/passwd", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    pollable p;
    EXPECT_EQ(p.open(on, descriptor(file)), -EPERM);
    EXPECT_EQ(::fcntl(file, F_GETFD), -1);
    EXPECT_FALSE(p.is_open());
    EXPECT_EQ(on.descriptors_registered(), 0u);
}

TEST(Descriptor, OwnsItsNumber) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    {
        descriptor a(ends[0]);
        descriptor b(std::move(a));
        EXPECT_FALSE(a.is_open());  // NOLINT: what a moved-from descriptor is, is the question
        EXPECT_EQ(b.number(), ends[0]);
        descriptor c(ends[1]);
        c = std::move(b);
        EXPECT_EQ(::fcntl(ends[1], F_GETFD), -1) << "closed by the assignment";
        EXPECT_EQ(c.release(), ends[0]);
        EXPECT_FALSE(c.is_open());
    }
    EXPECT_EQ(::fcntl(ends[0], F_GETFD), FD_CLOEXEC) << "given up, so not closed";
    ::close(ends[0]);
}

}  // namespace
