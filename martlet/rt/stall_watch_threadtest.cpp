// The thread of the stall watch: a loop is really held, and goes on once that has been noticed.
#include <martlet/rt/stall_watch.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <semaphore>
#include <string>
#include <vector>

#include <martlet/base/log.hpp>
#include <martlet/rt/loop.hpp>

namespace {

using namespace martlet;
using namespace std::chrono_literals;

class noted {
public:
    static void stalled(const stall_report& stall, void* data) noexcept {
        auto& self = *static_cast<noted*>(data);
        {
            const std::lock_guard hold(self.mutex);
            self.activities.emplace_back(stall.activity());
            self.lasting = stall.lasting();
        }
        self.came.release();
    }
    std::mutex mutex;
    std::vector<std::string> activities;
    duration lasting{};
    std::counting_semaphore<> came{0};
};

class held_lines final : public log::sink {
public:
    void write(const log::record& what) noexcept override {
        char line[256];
        const std::size_t length = log::format_line(what, line);
        const std::lock_guard hold(mutex);
        text.append(line, length).append("\n");
    }
    std::mutex mutex;
    std::string text;
};

TEST(StallWatch, NamesWhatHoldsTheLoopWhileItDoes) {
    held_lines lines;
    log::sink* const before = log::set_sink(&lines);
    {
        noted stalls;
        loop on;
        loop other;
        stall_watch watch(10ms, &noted::stalled, &stalls);
        watch.add(on);
        watch.add(other);
        // Held for as long as it takes to be noticed: no time of the test's own.
        on.handle().post([&] {
            on.note_activity("GET /slow");
            stalls.came.acquire();
            on.stop();
        });
        on.run();
        watch.remove(on);
        const std::lock_guard hold(stalls.mutex);
        ASSERT_FALSE(stalls.activities.empty());
        EXPECT_EQ(stalls.activities.front(), "GET /slow");
        EXPECT_GE(stalls.lasting, 10ms);
    }
    log::set_sink(before);
    EXPECT_NE(lines.text.find("activity=\"GET /slow\""), std::string::npos) << lines.text;
    EXPECT_NE(lines.text.find("level=warn"), std::string::npos) << lines.text;
}

TEST(StallWatch, ALoopThatWaitsOrIsNotTurnedIsNoStall) {
    // Another loop's stall tells that the watch has looked at all of them long enough.
    noted stalls;
    loop idle;
    loop untouched;
    loop held;
    idle.note_activity("idle");
    untouched.note_activity("untouched");
    idle.turn(duration::zero());
    stall_watch watch(5ms, &noted::stalled, &stalls);
    watch.add(idle);
    watch.add(untouched);
    watch.add(held);
    held.handle().post([&] {
        held.note_activity("held");
        for (int i = 0; i < 3; ++i) stalls.came.acquire();
        held.stop();
    });
    held.run();
    const std::lock_guard hold(stalls.mutex);
    for (const std::string& activity : stalls.activities) EXPECT_EQ(activity, "held");
}

TEST(StallWatch, EndsAtOnceHoweverLongItsThreshold) {
    loop on;
    stall_watch watch(1h);
    watch.add(on);
}

}  // namespace
