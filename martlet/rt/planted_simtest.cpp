// Shows that the simulation, at_every_step and the assertions find what they are there for: each of four mistakes is planted in an
// operation that
// works otherwise, and is found; without the mistake the same test passes.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <sys/socket.h>

#include <martlet/rt/kernel.hpp>
#include <martlet/rt/pollable.hpp>
#include <martlet/rt/polled_operation.hpp>
#include <martlet/rt/sim/peer.hpp>
#include <martlet/rt/sim/stage.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/stepping_internal.hpp>
#include <martlet/rt/within.hpp>

#include <gtest/gtest.h>

namespace {

using namespace martlet;
using namespace std::chrono_literals;
using sim::step_source;
using trial::run_stepped;

enum class mistake {
    none,
    lost_wake_up,            ///< it takes a full read for a drained socket, and waits for a report that came already
    use_after_cancellation,  ///< cancelled, it leaves its source a pointer into its frame
    descriptor_leak,         ///< cancelled, it forgets the descriptor it had opened
    double_completion,       ///< cancelled, it stays with its source, which completes it again
};

// --- a read of four bytes at most ---

class small_read final : public polled_operation {
public:
    small_read(pollable& of, mistake planted) noexcept
        : polled_operation(of, direction::reading, &small_read::attempt), planted_(planted) {}
    small_read(small_read&&) noexcept = default;
    std::string finish() const { return std::string(bytes_, static_cast<std::size_t>(std::max<std::ptrdiff_t>(got_, 0))); }

private:
    static bool attempt(polled_operation& base) noexcept {
        auto& self = static_cast<small_read&>(base);
        self.got_ = kernel::recv(self.polled().fd(), self.bytes_, sizeof self.bytes_);
        if (self.got_ < static_cast<std::ptrdiff_t>(sizeof self.bytes_) || self.planted_ == mistake::lost_wake_up) self.polled().drained();
        return self.got_ >= 0;
    }

    mistake planted_;
    char bytes_[4] = {};
    std::ptrdiff_t got_ = 0;
};

void read_by_fours(mistake planted, std::uint64_t seed) {
    sim::simulation world(sim::options::rough(seed));
    loop on;
    sim::end listener("listener", kernel::socket_open(AF_INET, SOCK_STREAM, 0));
    const std::string at = sim::stage::ipv4(80);
    kernel::bind(listener.fd, at.data(), static_cast<unsigned>(at.size()));
    kernel::listen(listener.fd, 4);
    sim::peer client("127.0.0.1:80");
    world.advance(1s);
    pollable served;
    ASSERT_EQ(served.open(on, descriptor(kernel::accept(listener.fd, nullptr, nullptr))), 0);
    client.send("a request of some length");
    const std::string got = on.run([&]() -> task<std::string> {
        std::string whole;
        while (whole.size() < 24) {
            small_read reading(served, planted);
            whole += co_await reading;
        }
        co_return whole;
    }());
    EXPECT_EQ(got, "a request of some length");
}

TEST(Planted, ReadsWithoutAMistakeComeToTheirEnd) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) read_by_fours(mistake::none, seed);
}

TEST(PlantedDeathTest, ALostWakeUpIsFound) {
    EXPECT_DEATH(read_by_fours(mistake::lost_wake_up, 1), "lost wake-up: the loop waits for ever and nothing can happen");
}

// --- waiting for a bell ---

/// Rings once, after a while, and then writes a word where the one who waits wants it.
class bell final : public timer_node {
public:
    class wait_operation;

    bell(loop& on, duration after) noexcept : timer_node(&bell::rang), on_(on) { on.arm(*this, on.clock() + after); }
    bell(const bell&) = delete;
    bell& operator=(const bell&) = delete;
    ~bell() { on_.disarm(*this); }

private:
    static void rang(timer_node& timer) noexcept;

    loop& on_;
    bool has_rung_ = false;
    wait_operation* waiting_ = nullptr;
    char* word_ = nullptr;
};

class bell::wait_operation final : public operation {
public:
    wait_operation(bell& of, mistake planted) noexcept : operation(&wait_operation::cancelled), of_(of), planted_(planted) {}

    bool start(context& in, std::coroutine_handle<> awaiter) noexcept {
        if (in.is_cancelled()) {
            result_ = failure(in.why());
            return false;
        }
        if (of_.has_rung_) return false;
        const int opened = kernel::eventfd_open();
        if (opened < 0) {
            result_ = failure(error::system(-opened));
            return false;
        }
        held_ = descriptor(opened);
        of_.waiting_ = this;
        of_.word_ = word_;
        suspend(in, awaiter);
        return true;
    }
    result<void> finish() const noexcept { return result_; }

    void ring() noexcept {
        held_.close();
        complete();
    }

private:
    static void cancelled(operation& base, error why) noexcept {
        auto& self = static_cast<wait_operation&>(base);
        if (self.planted_ != mistake::double_completion) self.of_.waiting_ = nullptr;
        if (self.planted_ != mistake::use_after_cancellation) self.of_.word_ = nullptr;
        if (self.planted_ == mistake::descriptor_leak) static_cast<void>(self.held_.release());
        self.held_.close();
        self.result_ = failure(why);
        self.complete();
    }

    bell& of_;
    mistake planted_;
    descriptor held_;
    char word_[8] = {};
    result<void> result_;
};

void bell::rang(timer_node& timer) noexcept {
    auto& self = static_cast<bell&>(timer);
    self.has_rung_ = true;
    if (char* word = std::exchange(self.word_, nullptr)) std::memcpy(word, "ringing", 8);
    if (wait_operation* waiting = std::exchange(self.waiting_, nullptr)) waiting->ring();
}

void wait_for_bell(mistake planted) {
    sim::at_every_step("bell", [planted](step_source& steps) {
        loop on;
        bell one(on, 5ms);
        const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
            bell::wait_operation waiting(one, planted);
            auto waited = co_await waiting;
            // What comes too late still comes.
            if (!waited && planted == mistake::double_completion) (void)co_await shield(sleep_for(10ms));
            co_return waited;
        });
        if (steps.is_faultless()) {
            EXPECT_TRUE(ended);
        }
        on.run([]() -> task<> {
            auto slept = co_await sleep_for(20ms);
            EXPECT_TRUE(slept);
        }());
    });
}

TEST(Planted, WaitsWithoutAMistakePass) { wait_for_bell(mistake::none); }

TEST(PlantedDeathTest, ADescriptorLeakIsFound) {
    EXPECT_DEATH(
        wait_for_bell(mistake::descriptor_leak),
        "every descriptor is closed before the simulation ends: 1 left open(.*\n)*.*at_every_step\\(bell\\) with cancellation at step 2");
}

TEST(PlantedDeathTest, ADoubleCompletionIsFound) {
    EXPECT_DEATH(wait_for_bell(mistake::double_completion), "an operation must complete once");
}

#if defined(__SANITIZE_ADDRESS__)
#define MARTLET_UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MARTLET_UNDER_ASAN 1
#endif
#endif

#ifdef MARTLET_UNDER_ASAN
TEST(PlantedDeathTest, AUseAfterCancellationIsFound) {
    EXPECT_DEATH(wait_for_bell(mistake::use_after_cancellation), "heap-use-after-free");
}
#endif

/// The more frequent form: it stays in a list of its source, and there no sanitizer is needed.
class alarm_left_armed final : public operation {
public:
    explicit alarm_left_armed(mistake planted) noexcept : operation(&alarm_left_armed::cancelled), timer_(*this), planted_(planted) {}
    bool start(context& in, std::coroutine_handle<> awaiter) noexcept {
        suspend(in, awaiter);
        in.owner().arm(timer_, in.owner().clock() + 5ms);
        return true;
    }
    void finish() const noexcept {}

private:
    class alarm final : public timer_node {
    public:
        explicit alarm(alarm_left_armed& of) noexcept
            : timer_node([](timer_node& node) noexcept { static_cast<alarm&>(node).of_.complete(); }), of_(of) {}

    private:
        alarm_left_armed& of_;
    };
    static void cancelled(operation& base, error) noexcept {
        auto& self = static_cast<alarm_left_armed&>(base);
        if (self.planted_ != mistake::use_after_cancellation) self.owner().disarm(self.timer_);
        self.complete();
    }

    alarm timer_;
    mistake planted_;
};

void wait_for_alarm(mistake planted) {
    sim::at_every_step("alarm", [planted](step_source& steps) {
        loop on;
        const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
            alarm_left_armed waiting(planted);
            co_await waiting;
            co_return result<void>();
        });
        EXPECT_TRUE(ended);
    });
}

TEST(Planted, AlarmsWithoutAMistakePass) { wait_for_alarm(mistake::none); }

TEST(PlantedDeathTest, AnAlarmLeftArmedIsFound) {
    EXPECT_DEATH(wait_for_alarm(mistake::use_after_cancellation),
                 "an object must leave its list before it is destroyed(.*\n)*.*at_every_step\\(alarm\\) with cancellation at step 2");
}

}  // namespace
