// Pools of equal blocks, and a set of them by size class: frames, connections and exchanges live here.
// One thread at a time; blocks lately freed are given out first.
#pragma once

#include <cstddef>
#include <cstdint>

#include <martlet/base/page_source.hpp>

namespace martlet::inline v0 {

/// Blocks of one size, carved from pages. Where the library was built with a sanitizer, every block comes from malloc.
class block_pool {
public:
    /// Every block comes from malloc, because the library was built with a sanitizer.
    static const bool is_from_malloc;

    /// `block_bytes` is at least 16 and at most 32,704; it is rounded up to a multiple of 16. `source` must outlive the pool.
    block_pool(std::size_t block_bytes, page_source& source) noexcept;
    block_pool(const block_pool&) = delete;
    block_pool& operator=(const block_pool&) = delete;
    /// Every block must have come back.
    ~block_pool();

    /// A block aligned to 16 bytes, or null when memory is out.
    void* allocate() noexcept;
    /// Takes back a block of this pool. A page that becomes empty goes back to the source, but for one that is kept.
    void free(void* block) noexcept;
    /// Gives the kept empty page back.
    void trim() noexcept;

    std::size_t block_bytes() const noexcept { return block_bytes_; }
    std::size_t blocks_per_page() const noexcept { return blocks_per_page_; }
    std::size_t blocks_used() const noexcept { return used_; }
    std::size_t pages_held() const noexcept { return pages_; }

private:
    struct page;
    struct free_block;

    void* allocate_slowly() noexcept;
    bool carve(page& from) noexcept;
    page* take_page() noexcept;
    void return_page(page* gone) noexcept;
    void link(page* added) noexcept;
    void unlink(page* gone) noexcept;
    void freed_from_full(page* from) noexcept;
    void emptied(page* gone) noexcept;

    page* current_ = nullptr;  // first of those with a free block
    page* spare_ = nullptr;    // empty, and the only empty one that may stay
    page_source* source_;
    std::size_t used_ = 0;
    std::size_t pages_ = 0;
    std::uint32_t block_bytes_;
    std::uint32_t blocks_per_page_;
};

/// Memory by size class up to 4,096 bytes, from malloc beyond.
class size_class_pool {
public:
    static constexpr std::size_t class_count = 11;
    static constexpr std::size_t pooled_bytes_max = 4096;

    /// `source` must outlive the pool.
    explicit size_class_pool(page_source& source) noexcept;

    /// At least `bytes` aligned to 16, or null when memory is out.
    void* allocate(std::size_t bytes) noexcept;
    /// Takes back what allocate gave, with the same `bytes`. Null is ignored.
    void free(void* block, std::size_t bytes) noexcept;
    /// Gives empty pages back.
    void trim() noexcept;

    /// Blocks given out and not come back, those from malloc among them.
    std::size_t blocks_used() const noexcept;
    std::size_t pages_held() const noexcept;

private:
    block_pool pools_[class_count];
    std::size_t large_used_ = 0;
};

}  // namespace martlet::inline v0
