#include <martlet/base/buffer.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace martlet {
namespace {

static_assert(!std::is_copy_constructible_v<buffer> && std::is_nothrow_move_constructible_v<buffer>);
static_assert(!std::is_constructible_v<padded_view, const char*, std::size_t>);
static_assert(!std::is_constructible_v<padded_view, std::string_view>);
static_assert(!std::is_default_constructible_v<padded_view>);

/// Reads the 64 bytes behind `text`; a sanitizer objects when they may not be read.
unsigned padding_sum(padded_view text) {
    unsigned sum = 0;
    for (std::size_t i = 0; i < padding_bytes; ++i) sum += static_cast<unsigned char>(text.data()[text.size() + i]);
    return sum;
}

TEST(buffer, default_holds_nothing_and_takes_nothing) {
    buffer b;
    EXPECT_TRUE(b.empty());
    EXPECT_EQ(b.capacity(), 0u);
    EXPECT_TRUE(b.prepare(1).empty());
    EXPECT_TRUE(b.prepare(0).empty());
    EXPECT_FALSE(b.append("x"));
    EXPECT_TRUE(b.append(""));
    EXPECT_EQ(b.view(), "");
    EXPECT_EQ(padding_sum(b.padded()), 0u);
}

TEST(buffer, takes_memory_with_the_first_byte) {
    buffer b(1000);
    EXPECT_EQ(b.capacity(), 0u);
    EXPECT_EQ(padding_sum(b.padded()), 0u);
    ASSERT_TRUE(b.append("hello"));
    EXPECT_GE(b.capacity(), 5u);
    EXPECT_EQ(b.view(), "hello");
    EXPECT_EQ(padding_sum(b.padded()), 0u) << "fresh padding is zero";
}

TEST(buffer, grows_to_its_limit_and_no_further) {
    buffer b(10'000);
    std::string all;
    while (b.append("0123456789")) all += "0123456789";
    EXPECT_EQ(b.size(), 10'000u);
    EXPECT_EQ(b.capacity(), 10'000u);
    EXPECT_TRUE(b.full());
    EXPECT_EQ(b.view(), all);
    EXPECT_TRUE(b.prepare(1).empty());
    padding_sum(b.padded());
    b.consume(1);
    EXPECT_FALSE(b.full());
    EXPECT_EQ(b.prepare(1).size(), 1u);
    EXPECT_TRUE(b.prepare(2).empty());
    EXPECT_EQ(b.view(), std::string_view(all).substr(1));
}

TEST(buffer, prepare_gives_all_that_is_free) {
    buffer b(4096);
    const auto first = b.prepare(1);
    EXPECT_EQ(first.size(), b.capacity());
    std::memset(first.data(), 'a', first.size());
    b.commit(3);
    EXPECT_EQ(b.view(), "aaa");
    EXPECT_EQ(b.prepare(0).size(), b.capacity() - 3);
    EXPECT_EQ(static_cast<const void*>(b.prepare(0).data()), b.data() + 3);
}

TEST(buffer, consuming_all_starts_again_at_the_front) {
    buffer b(4096);
    ASSERT_TRUE(b.append("hello"));
    const char* start = b.data();
    b.consume(2);
    EXPECT_EQ(b.data(), start + 2);
    EXPECT_EQ(b.view(), "llo");
    b.consume(3);
    EXPECT_TRUE(b.empty());
    EXPECT_EQ(b.prepare(1).data(), start);
}

TEST(buffer, makes_room_by_moving_before_it_grows) {
    buffer b(100'000);
    const std::size_t room = b.prepare(1).size();
    ASSERT_TRUE(b.append(std::string(room, 'x')));
    b.consume(room - 4);
    ASSERT_TRUE(b.append("12345678"));
    EXPECT_EQ(b.capacity(), room);
    EXPECT_EQ(b.view(), "xxxx12345678");
}

TEST(buffer, moving_leaves_an_empty_one_with_the_same_limit) {
    buffer a(500);
    ASSERT_TRUE(a.append("abc"));
    buffer b(std::move(a));
    EXPECT_EQ(b.view(), "abc");
    EXPECT_TRUE(a.empty());
    EXPECT_EQ(a.capacity(), 0u);
    EXPECT_EQ(a.limit_bytes(), 500u);
    ASSERT_TRUE(a.append("new"));
    a = std::move(b);
    EXPECT_EQ(a.view(), "abc");
    buffer& self = a;
    a = std::move(self);
    EXPECT_EQ(a.view(), "abc");
}

TEST(buffer, release_gives_memory_back) {
    buffer b(500);
    ASSERT_TRUE(b.append("abc"));
    b.clear();
    EXPECT_TRUE(b.empty());
    EXPECT_NE(b.capacity(), 0u);
    b.release();
    EXPECT_EQ(b.capacity(), 0u);
    ASSERT_TRUE(b.append("def"));
    EXPECT_EQ(b.view(), "def");
}

TEST(buffer, large_storage_goes_back_to_the_system) {
#if defined(MARTLET_SANITIZED)
    GTEST_SKIP() << "a sanitizer's malloc holds everything, to watch it";
#else
    constexpr std::size_t large_bytes = 1024 * 1024;
    std::vector<std::unique_ptr<char[]>> between;
    std::vector<const char*> freed;
    std::vector<buffer> all;
    // Freeing the first teaches malloc to keep such blocks, and what lies between keeps it from giving back the end of its heap.
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 8; ++i) {
            freed.push_back(all.emplace_back(large_bytes).prepare(large_bytes).data());
            ASSERT_NE(freed.back(), nullptr);
            between.push_back(std::make_unique<char[]>(large_bytes / 16));
        }
        all.clear();
    }
    const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    for (const char* each : freed) {
        const std::uintptr_t page = (reinterpret_cast<std::uintptr_t>(each) + large_bytes / 2) / page_bytes * page_bytes;
        unsigned char resident = 0;
        EXPECT_EQ(::mincore(reinterpret_cast<void*>(page), page_bytes, &resident), -1) << "still mapped";
    }
#endif
}

TEST(buffer, keeps_its_bytes_while_it_grows_large) {
    constexpr std::size_t step = 10'000;
    constexpr std::size_t steps = 200;
    buffer b(step * steps);
    std::string all;
    for (std::size_t i = 0; i < steps; ++i) {
        const std::string piece(step, static_cast<char>('a' + i % 26));
        ASSERT_TRUE(b.append(piece));
        all += piece;
        // So that there is room at the front, which growing has to close.
        b.consume(7);
        all.erase(0, 7);
        static_cast<void>(padding_sum(b.padded()));
    }
    EXPECT_EQ(b.view(), all);
    EXPECT_TRUE(b.prepare(step * steps).empty());
}

TEST(buffer, over_adopted_storage) {
    std::vector<char> storage(200, '\0');
    {
        buffer b = buffer::over(storage.data(), storage.size());
        EXPECT_EQ(b.capacity(), 200 - padding_bytes);
        const auto room = b.prepare(1);
        EXPECT_EQ(room.data(), storage.data());
        EXPECT_EQ(room.size(), 200 - padding_bytes);
        EXPECT_FALSE(b.append(std::string(200, 'x'))) << "it does not grow";
        ASSERT_TRUE(b.append(std::string(200 - padding_bytes, 'x')));
        padding_sum(b.padded());
        b.consume(100);
        ASSERT_TRUE(b.append(std::string(100, 'y')));
        EXPECT_EQ(b.view(), std::string(36, 'x') + std::string(100, 'y'));
        buffer other(std::move(b));
        EXPECT_TRUE(b.prepare(1).empty()) << "only one may use the storage";
        other.release();
        EXPECT_EQ(other.prepare(1).data(), storage.data());
    }
    EXPECT_EQ(storage[0], 'x') << "it is not freed";
}

TEST(buffer, padded_view_from_an_offset) {
    buffer b(1000);
    ASSERT_TRUE(b.append("GET / HTTP/1.1"));
    const padded_view all = b.padded();
    EXPECT_EQ(all.from(4).view(), "/ HTTP/1.1");
    EXPECT_EQ(all.from(14).size(), 0u);
    EXPECT_EQ(padding_sum(all.from(14)), 0u);
}

TEST(buffer_death_test, misuse_is_named) {
    buffer b(100);
    ASSERT_TRUE(b.append("abc"));
    EXPECT_DEATH(b.consume(4), "at most what the buffer holds");
    EXPECT_DEATH(b.commit(98), "at most what prepare gave");
    EXPECT_DEATH(b.padded().from(4), "an offset inside the view");
}

TEST(buffer, behaves_as_a_string) {
    std::minstd_rand random(3);
    for (int run = 0; run < 50; ++run) {
        const std::size_t limit = 1 + random() % 5000;
        buffer b(limit);
        std::string model;
        for (int step = 0; step < 300; ++step) {
            const std::size_t n = random() % 700;
            switch (random() % 4) {
            case 0:
            case 1: {
                const std::string piece(n, static_cast<char>('a' + step % 26));
                const bool fits = model.size() + n <= limit;
                ASSERT_EQ(b.append(piece), fits);
                if (fits) model += piece;
                break;
            }
            case 2: {
                const std::size_t gone = std::min(n, model.size());
                b.consume(gone);
                model.erase(0, gone);
                break;
            }
            default:
                if (random() % 20 == 0) {
                    b.release();
                    model.clear();
                }
            }
            ASSERT_EQ(b.view(), model);
            padding_sum(b.padded());
        }
    }
}

}  // namespace
}  // namespace martlet
