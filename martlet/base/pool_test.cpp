#include <martlet/base/pool.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <martlet/base/block_source.hpp>

namespace martlet {
namespace {

/// Counts pages, and fails when it has given `pages_max`.
class counting_source final : public page_source {
public:
    explicit counting_source(std::size_t pages_max = 1000) : pages_max_(pages_max) {}
    ~counting_source() { EXPECT_EQ(pages_.size(), 0u) << "pages were not given back"; }

    void* allocate_pages(std::size_t bytes) noexcept override {
        EXPECT_EQ(bytes % page_bytes, 0u);
        if (pages_.size() == pages_max_) return nullptr;
        void* page = malloc_pages().allocate_pages(bytes);
        pages_.insert(page);
        ++given_;
        return page;
    }
    void free_pages(void* page, std::size_t bytes) noexcept override {
        EXPECT_EQ(pages_.erase(page), 1u) << "a page that was not given, or was given back before";
        malloc_pages().free_pages(page, bytes);
    }

    std::size_t held() const { return pages_.size(); }
    std::size_t given() const { return given_; }

private:
    std::size_t pages_max_;
    std::size_t given_ = 0;
    std::set<void*> pages_;
};

TEST(malloc_pages, gives_aligned_pages) {
    void* page = malloc_pages().allocate_pages(2 * page_bytes);
    ASSERT_NE(page, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(page) % page_bytes, 0u);
    std::memset(page, 1, 2 * page_bytes);
    malloc_pages().free_pages(page, 2 * page_bytes);
}

TEST(block_pool, takes_no_page_before_the_first_block) {
    counting_source source;
    block_pool pool(64, source);
    EXPECT_EQ(pool.pages_held(), 0u);
    EXPECT_EQ(source.given(), 0u);
}

TEST(block_pool, gives_distinct_aligned_blocks) {
    for (const std::size_t size : {16u, 24u, 64u, 100u, 4096u, 16384u, 32704u}) {
        counting_source source;
        block_pool pool(size, source);
        EXPECT_EQ(pool.block_bytes(), (size + 15) / 16 * 16);
        const std::size_t count = pool.blocks_per_page() * 2 + 1;
        std::vector<char*> blocks;
        for (std::size_t i = 0; i < count; ++i) {
            auto* block = static_cast<char*>(pool.allocate());
            ASSERT_NE(block, nullptr);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 16, 0u);
            std::memset(block, static_cast<int>(i & 0xff), size);
            blocks.push_back(block);
        }
        EXPECT_EQ(pool.blocks_used(), count);
        EXPECT_EQ(pool.pages_held(), 3u);
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_TRUE(std::all_of(blocks[i], blocks[i] + size, [&](char c) { return c == static_cast<char>(i & 0xff); }))
                << size << " " << i;
            pool.free(blocks[i]);
        }
        EXPECT_EQ(pool.blocks_used(), 0u);
    }
}

TEST(block_pool, keeps_one_empty_page_and_trim_returns_it) {
    counting_source source;
    block_pool pool(4096, source);
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < pool.blocks_per_page() * 4; ++i) blocks.push_back(pool.allocate());
    EXPECT_EQ(source.held(), 4u);
    for (void* block : blocks) pool.free(block);
    EXPECT_EQ(source.held(), 1u);
    pool.trim();
    EXPECT_EQ(source.held(), 0u);
    EXPECT_EQ(pool.pages_held(), 0u);
    pool.trim();
    void* again = pool.allocate();
    ASSERT_NE(again, nullptr);
    pool.free(again);
}

TEST(block_pool, one_block_taken_and_returned_again_and_again_takes_one_page) {
    counting_source source;
    block_pool pool(512, source);
    for (int i = 0; i < 1000; ++i) pool.free(pool.allocate());
    EXPECT_EQ(source.given(), 1u);
    // The same at the edge of a page.
    std::vector<void*> full;
    for (std::size_t i = 0; i < pool.blocks_per_page(); ++i) full.push_back(pool.allocate());
    for (int i = 0; i < 1000; ++i) pool.free(pool.allocate());
    EXPECT_EQ(source.given(), 2u);
    for (void* block : full) pool.free(block);
}

TEST(block_pool, null_when_the_source_is_out_and_goes_on_after_a_return) {
    counting_source source(2);
    block_pool pool(1024, source);
    std::vector<void*> blocks;
    while (void* block = pool.allocate()) blocks.push_back(block);
    EXPECT_EQ(blocks.size(), pool.blocks_per_page() * 2);
    EXPECT_EQ(pool.allocate(), nullptr);
    pool.free(blocks.back());
    blocks.back() = pool.allocate();
    EXPECT_NE(blocks.back(), nullptr);
    EXPECT_EQ(pool.allocate(), nullptr);
    for (void* block : blocks) pool.free(block);
}

TEST(block_pool, random_use_keeps_blocks_apart_and_pages_few) {
    counting_source source;
    block_pool pool(192, source);
    std::minstd_rand random(7);
    std::vector<std::uint64_t*> held;
    std::uint64_t stamp = 0;
    for (int round = 0; round < 200'000; ++round) {
        const bool growing = round / 5000 % 2 == 0;
        if (held.empty() || random() % 100 < (growing ? 60u : 40u)) {
            auto* block = static_cast<std::uint64_t*>(pool.allocate());
            ASSERT_NE(block, nullptr);
            block[0] = ++stamp;
            block[23] = ~stamp;
            held.push_back(block);
        } else {
            std::swap(held[random() % held.size()], held.back());
            ASSERT_EQ(held.back()[0], ~held.back()[23]);
            pool.free(held.back());
            held.pop_back();
        }
        ASSERT_EQ(pool.blocks_used(), held.size());
        ASSERT_EQ(pool.pages_held(), source.held());
    }
    for (auto* block : held) pool.free(block);
    EXPECT_LE(source.held(), 1u);
}

using block_pool_death_test = ::testing::Test;

TEST(block_pool_death_test, a_block_not_returned) {
    EXPECT_DEATH(
        {
            block_pool pool(64, malloc_pages());
            static_cast<void>(pool.allocate());
        },
        "every block must come back");
}

TEST(size_class_pool, serves_every_size) {
    counting_source source;
    size_class_pool pool(source);
    std::vector<std::pair<unsigned char*, std::size_t>> blocks;
    for (std::size_t size = 0; size <= 5000; size += size < 300 ? 1 : 61) {
        auto* block = static_cast<unsigned char*>(pool.allocate(size));
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 16, 0u);
        std::memset(block, static_cast<int>(size % 251), size);
        blocks.emplace_back(block, size);
    }
    EXPECT_EQ(pool.blocks_used(), blocks.size());
    for (auto [block, size] : blocks) {
        EXPECT_TRUE(std::all_of(block, block + size, [&](unsigned char c) { return c == size % 251; })) << size;
        pool.free(block, size);
    }
    EXPECT_EQ(pool.blocks_used(), 0u);
    pool.free(nullptr, 100);
    pool.trim();
    EXPECT_EQ(source.held(), 0u);
}

TEST(size_class_pool, equal_classes_share_blocks) {
    size_class_pool pool(malloc_pages());
    void* a = pool.allocate(65);
    void* b = pool.allocate(128);
    EXPECT_EQ(pool.pages_held(), 1u);
    void* c = pool.allocate(129);
    EXPECT_EQ(pool.pages_held(), 2u);
    pool.free(a, 65);
    pool.free(b, 128);
    pool.free(c, 129);
}

TEST(pooled_blocks, gives_both_sizes) {
    counting_source source;
    {
        pooled_blocks blocks(source);
        char* small = blocks.allocate_block(block_source::small_block_bytes);
        char* large = blocks.allocate_block(block_source::large_block_bytes);
        std::memset(small, 1, block_source::small_block_bytes);
        std::memset(large, 2, block_source::large_block_bytes);
        EXPECT_EQ(blocks.blocks_used(), 2u);
        EXPECT_EQ(blocks.pages_held(), 2u);
        blocks.free_block(small, block_source::small_block_bytes);
        blocks.free_block(large, block_source::large_block_bytes);
        blocks.trim();
        EXPECT_EQ(blocks.pages_held(), 0u);
    }
}

// Under a sanitizer none is kept.
std::size_t kept_of(std::size_t blocks) { return block_pool::is_from_malloc ? 0 : blocks; }

TEST(pooled_blocks, keeps_small_ones_at_hand_and_gives_the_last_first) {
    counting_source source;
    pooled_blocks blocks(source);
    EXPECT_EQ(blocks.take_at_hand(), nullptr);
    char* first = blocks.allocate_small();
    char* second = blocks.allocate_small();
    EXPECT_EQ(blocks.blocks_used(), 2u);
    blocks.free_small(first);
    blocks.free_small(second);
    EXPECT_EQ(blocks.blocks_at_hand(), kept_of(2));
    EXPECT_EQ(blocks.blocks_used(), 0u);
    if (!block_pool::is_from_malloc) {
        EXPECT_EQ(blocks.take_at_hand(), second);
        EXPECT_EQ(blocks.allocate_small(), first);
        EXPECT_EQ(blocks.blocks_used(), 2u);
        blocks.free_small(second);
        blocks.free_small(first);
    }
    EXPECT_EQ(blocks.blocks_used(), 0u);
}

TEST(pooled_blocks, keeps_no_more_at_hand_than_its_limit) {
    counting_source source;
    pooled_blocks blocks(source);
    std::vector<char*> taken;
    for (std::size_t i = 0; i < pooled_blocks::at_hand_max + 3; ++i) taken.push_back(blocks.allocate_small());
    for (std::size_t i = 0; i < taken.size(); ++i) {
        blocks.free_small(taken[i]);
        EXPECT_EQ(blocks.blocks_at_hand(), kept_of(std::min(i + 1, pooled_blocks::at_hand_max)));
        EXPECT_EQ(blocks.blocks_used(), taken.size() - i - 1);
    }
    blocks.trim();
    EXPECT_EQ(blocks.blocks_at_hand(), 0u);
    EXPECT_EQ(blocks.pages_held(), 0u);
}

TEST(pooled_blocks, age_puts_half_back_until_few_are_left) {
    counting_source source;
    pooled_blocks blocks(source);
    std::vector<char*> taken;
    for (std::size_t i = 0; i < 100; ++i) taken.push_back(blocks.allocate_small());
    for (char* block : taken) blocks.free_small(block);
    for (const std::size_t left : {50u, 25u, 9u, 0u, 0u}) {
        blocks.age();
        EXPECT_EQ(blocks.blocks_at_hand(), kept_of(left));
    }
    EXPECT_LE(blocks.pages_held(), 1u);
}

TEST(malloc_blocks, keeps_nothing_at_hand) {
    char* block = malloc_blocks().allocate_small();
    malloc_blocks().free_small(block);
    EXPECT_EQ(malloc_blocks().take_at_hand(), nullptr);
}

}  // namespace
}  // namespace martlet
