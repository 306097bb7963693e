// The main() of every test program: GoogleTest, and after each test a count of descriptors, threads and living things.
// A test that leaves one behind fails; so does a program that ends with more than it started with.
#include <tests/support/leak_check.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include <dirent.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace martlet::inline v0::testing {

namespace {

struct live_count {
    const char* name;
    long (*now)();
};

constexpr std::size_t live_counts_max = 32;
constinit live_count live_counts[live_counts_max] = {};
constinit std::size_t live_count_used = 0;
constinit const char* leftovers_allowed = nullptr;

/// Open descriptors and what stands behind each.
std::map<int, std::string> descriptors_now() {
    std::map<int, std::string> found;
    DIR* directory = ::opendir("/proc/self/fd");
    if (directory == nullptr) return found;
    while (const dirent* entry = ::readdir(directory)) {
        if (entry->d_name[0] == '.') continue;
        const int number = std::atoi(entry->d_name);
        if (number == ::dirfd(directory)) continue;
        char target[256];
        const ssize_t length = ::readlinkat(::dirfd(directory), entry->d_name, target, sizeof target);
        found.emplace(number, length > 0 ? std::string(target, static_cast<std::size_t>(length)) : std::string("?"));
    }
    ::closedir(directory);
    return found;
}

std::size_t threads_now() {
    DIR* directory = ::opendir("/proc/self/task");
    if (directory == nullptr) return 0;
    std::size_t count = 0;
    while (const dirent* entry = ::readdir(directory)) count += entry->d_name[0] != '.';
    ::closedir(directory);
    return count;
}

/// A joined thread stays listed for a moment after the join.
std::size_t threads_settled(std::size_t expected) {
    std::size_t count = threads_now();
    for (int tries = 0; count > expected && tries < 400; ++tries) {
        const timespec moment{0, 5'000'000};
        ::nanosleep(&moment, nullptr);
        count = threads_now();
    }
    return count;
}

class state {
public:
    void take() {
        descriptors_ = descriptors_now();
        threads_ = threads_now();
        for (std::size_t i = 0; i < live_count_used; ++i) counts_[i] = live_counts[i].now();
        counted_ = live_count_used;
    }

    /// What there is now and was not then; empty when all is well.
    std::string left_behind() const {
        std::string text;
        for (const auto& [number, target] : descriptors_now()) {
            const auto before = descriptors_.find(number);
            if (before == descriptors_.end()) {
                text += "  descriptor " + std::to_string(number) + " (" + target + ") is still open\n";
            } else if (before->second != target) {
                text += "  descriptor " + std::to_string(number) + " was " + before->second + " and is " + target + "\n";
            }
        }
        if (const std::size_t now = threads_settled(threads_); now > threads_) {
            text += "  " + std::to_string(now - threads_) + " thread(s) still run\n";
        }
        for (std::size_t i = 0; i < counted_; ++i) {
            const long now = live_counts[i].now();
            if (now != counts_[i])
                text += std::string("  ") + live_counts[i].name + ": " + std::to_string(counts_[i]) + " before, " + std::to_string(now) +
                        " now\n";
        }
        return text;
    }

private:
    std::map<int, std::string> descriptors_;
    std::size_t threads_ = 0;
    long counts_[live_counts_max] = {};
    std::size_t counted_ = 0;
};

class leak_listener final : public ::testing::EmptyTestEventListener {
public:
    // A suite's shared fixture is there before its first test and not counted against it.
    void OnTestStart(const ::testing::TestInfo&) override {
        leftovers_allowed = nullptr;
        before_.take();
    }
    void OnTestEnd(const ::testing::TestInfo&) override {
        const std::string left = before_.left_behind();
        if (left.empty()) return;
        if (leftovers_allowed != nullptr) {
            std::printf("left behind, as allowed (%s):\n%s", leftovers_allowed, left.c_str());
            return;
        }
        ADD_FAILURE() << "the test left something behind:\n" << left;
    }

private:
    state before_;
};

/// ThreadSanitizer starts a thread of its own with the first one of the program; it is not to be held against a test.
void settle_sanitizer() {
#if defined(__SANITIZE_THREAD__)
#define MARTLET_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MARTLET_UNDER_TSAN 1
#endif
#endif
#ifdef MARTLET_UNDER_TSAN
    pthread_t first;
    if (::pthread_create(&first, nullptr, [](void*) -> void* { return nullptr; }, nullptr) == 0) ::pthread_join(first, nullptr);
#endif
}

}  // namespace

bool register_live_count(const char* name, long (*now)()) noexcept {
    if (live_count_used == live_counts_max) std::abort();
    live_counts[live_count_used++] = live_count{name, now};
    return true;
}

void allow_leftovers(const char* why) noexcept { leftovers_allowed = why; }

}  // namespace martlet::inline v0::testing

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    ::testing::UnitTest::GetInstance()->listeners().Append(new martlet::testing::leak_listener);
    martlet::testing::settle_sanitizer();
    martlet::testing::state at_start;
    at_start.take();
    const int outcome = RUN_ALL_TESTS();
    if (::testing::GTEST_FLAG(list_tests)) return outcome;
    const std::string left = at_start.left_behind();
    if (left.empty()) return outcome;
    std::printf("the program left something behind:\n%s", left.c_str());
    return 1;
}
