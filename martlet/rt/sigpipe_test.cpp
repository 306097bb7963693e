#include <martlet/rt/sigpipe.hpp>

#include <gtest/gtest.h>

#include <cerrno>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <martlet/rt/loop.hpp>

namespace {

using namespace martlet;

bool is_pending() {
    ::sigset_t waiting;
    ::sigpending(&waiting);
    return ::sigismember(&waiting, SIGPIPE) == 1;
}

/// SIGPIPE blocked by the program itself, and pending when it chose so.
class program {
public:
    explicit program(bool with_pending) {
        kernel::sigpipe_block(mask_);
        if (with_pending) ::raise(SIGPIPE);
    }
    ~program() {
        kernel::sigpipe_consume();
        kernel::signals_restore(mask_);
    }

private:
    alignas(8) unsigned char mask_[128];
};

void write_to_nobody() {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ::close(ends[0]);
    EXPECT_EQ(::write(ends[1], "x", 1), -1);
    EXPECT_EQ(errno, EPIPE);
    ::close(ends[1]);
}

TEST(Sigpipe, WhatAWriteRaisedIsTakenOffAndWhatWasThereBeforeStays) {
    for (const bool before : {false, true}) {
        const program self(before);
        {
            const sigpipe_guard blocked;
            write_to_nobody();
            EXPECT_TRUE(is_pending());
        }
        EXPECT_EQ(is_pending(), before);
    }
}

TEST(Sigpipe, TheSameOfALoopThatRuns) {
    for (const bool before : {false, true}) {
        const program self(before);
        loop on;
        ASSERT_TRUE(on.handle().post([&] {
            write_to_nobody();
            on.consume_sigpipe();
            EXPECT_EQ(is_pending(), before);
            on.stop();
        }));
        on.run();
        EXPECT_EQ(is_pending(), before);
    }
}

}  // namespace
