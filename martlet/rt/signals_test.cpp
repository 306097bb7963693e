#include <martlet/rt/signals.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <system_error>
#include <vector>

#include <martlet/rt/run_internal.hpp>
#include <martlet/rt/within.hpp>

namespace {

using namespace martlet;
using namespace std::chrono_literals;
using trial::moment;

bool is_blocked(int number) {
    ::sigset_t now;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
    return ::sigismember(&now, number) == 1;
}

TEST(Signals, AreGivenOutOneByOne) {
    loop on;
    signal_set signals(on, SIGUSR1, SIGUSR2);
    std::vector<int> seen;
    ::raise(SIGUSR1);
    on.run([&]() -> task<> {
        const auto early = co_await signals.next();
        seen.push_back(early.value_or(0));
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> {
                co_await yield();
                ::raise(SIGUSR2);
                static_cast<void>(co_await sleep_for(1ms));
                ::raise(SIGUSR1);
            });
            for (int i = 0; i < 2; ++i) {
                const auto number = co_await signals.next();
                seen.push_back(number.value_or(0));
            }
        });
    }());
    EXPECT_EQ(seen, (std::vector<int>{SIGUSR1, SIGUSR2, SIGUSR1}));
}

TEST(Signals, SeveralAtOnceAreAllSeen) {
    loop on;
    signal_set signals(on, SIGUSR1, SIGUSR2, SIGHUP);
    ::raise(SIGUSR1);
    ::raise(SIGUSR2);
    ::raise(SIGHUP);
    int seen = 0;
    on.run([&]() -> task<> {
        for (int i = 0; i < 3; ++i) {
            const auto number = co_await within(10s, signals.next());
            seen += number.value_or(0);
        }
    }());
    EXPECT_EQ(seen, SIGUSR1 + SIGUSR2 + SIGHUP);
}

TEST(Signals, TheMaskIsPutBackAndLateOnesAreDropped) {
    ASSERT_FALSE(is_blocked(SIGUSR1));
    {
        loop on;
        signal_set signals(on, SIGUSR1);
        EXPECT_TRUE(is_blocked(SIGUSR1));
        EXPECT_FALSE(is_blocked(SIGUSR2));
        // Would end this program if it were still pending when the mask is put back.
        ::raise(SIGUSR1);
    }
    EXPECT_FALSE(is_blocked(SIGUSR1));
}

TEST(Signals, NextCancelled) {
    for (const moment when : {moment::before, moment::waiting}) {
        loop on;
        signal_set signals(on, SIGUSR1);
        const auto given = trial::cancelled_at(on, when, cancel_reason::shutting_down, [&] { return signals.next(); }, [] {});
        ASSERT_FALSE(given);
        EXPECT_EQ(given.error().reason(), cancel_reason::shutting_down);
        // The signal that comes afterwards is not lost with the one who gave up.
        ::raise(SIGUSR1);
        on.run([&]() -> task<> {
            const auto number = co_await signals.next();
            EXPECT_EQ(number, SIGUSR1);
        }());
    }
}

TEST(Signals, OneThatWasTakenIsNotReportedAsCancelled) {
    // The operation has read the signal when the task beside it cancels both, before the awaiter has run.
    loop on;
    signal_set signals(on, SIGUSR1);
    result<int> seen = 0;
    on.run([&]() -> task<> {
        co_await in_scope([&](scope& s) -> task<> {
            s.spawn([&]() -> task<> {
                const auto number = co_await signals.next();
                seen = number;
            });
            ::raise(SIGUSR1);
            // One turn notes the report and runs its node, which reads and completes; the cancellation is queued right behind it.
            while (!on.handle().post([] {})) co_return;
            co_await yield();
            int rest = 0;
            while (rest++ < 100 && seen == 0) {
                ::sigset_t pending;
                ::sigpending(&pending);
                if (::sigismember(&pending, SIGUSR1) == 0) break;
                co_await yield();
            }
            s.cancel();
        });
    }());
    EXPECT_EQ(seen, SIGUSR1);
}

TEST(Signals, ANumberThatIsNoneIsRefused) {
    loop on;
    EXPECT_THROW(signal_set(on, 1000), std::system_error);
    EXPECT_EQ(on.descriptors_registered(), 0u);
}

}  // namespace
