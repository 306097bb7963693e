#include <martlet/base/pool.hpp>

#include <array>
#include <cstdlib>
#include <new>

#include <martlet/base/assert.hpp>

// A pool hides use after free and double free from a sanitizer. So under one each block comes from malloc, and the pages are taken only to
// keep the figures, the limits and the failures of the source as they are without it.
#if !defined(MARTLET_SANITIZED)
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MARTLET_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define MARTLET_SANITIZED 1
#endif
#endif
#endif

namespace martlet::inline v0 {

#if defined(MARTLET_SANITIZED)
const bool block_pool::is_from_malloc = true;
#else
const bool block_pool::is_from_malloc = false;
#endif

struct block_pool::free_block {
    free_block* next;
};

/// Stands at the start of each page; blocks follow it.
struct alignas(64) block_pool::page {
    page* next;
    page* prev;
    block_pool* owner;
    free_block* free;
    std::uint32_t used;
    std::uint32_t carved;
    bool listed;
};

namespace {

constexpr std::size_t page_header_bytes = 64;

constexpr std::size_t round_up(std::size_t bytes, std::size_t step) { return (bytes + step - 1) / step * step; }

}  // namespace

block_pool::block_pool(std::size_t block_bytes, page_source& source) noexcept
    : source_(&source),
      block_bytes_(static_cast<std::uint32_t>(round_up(block_bytes, 16))),
      blocks_per_page_(block_bytes_ == 0 ? 0 : static_cast<std::uint32_t>((page_bytes - page_header_bytes) / block_bytes_)) {
    static_assert(sizeof(page) == page_header_bytes);
    MARTLET_ASSERT(block_bytes >= 16 && block_bytes <= 32'704, "a block_pool takes blocks of 16 to 32,704 bytes");
}

block_pool::~block_pool() {
    MARTLET_ASSERT(used_ == 0, "every block must come back before its block_pool is destroyed");
    trim();
}

/// A fresh page, in no list.
block_pool::page* block_pool::take_page() noexcept {
    void* memory = source_->allocate_pages(page_bytes);
    if (memory == nullptr) return nullptr;
    ++pages_;
    return new (memory) page{nullptr, nullptr, this, nullptr, 0, 0, false};
}

void block_pool::return_page(page* gone) noexcept {
    gone->owner = nullptr;
    --pages_;
    source_->free_pages(gone, page_bytes);
}

/// Makes `added` the page from which blocks are taken.
void block_pool::link(page* added) noexcept {
    if (current_ == nullptr) {
        added->next = added->prev = added;
    } else {
        added->next = current_;
        added->prev = current_->prev;
        added->prev->next = added;
        current_->prev = added;
    }
    added->listed = true;
    current_ = added;
}

void block_pool::unlink(page* gone) noexcept {
    if (gone->next == gone) {
        current_ = nullptr;
    } else {
        gone->next->prev = gone->prev;
        gone->prev->next = gone->next;
        if (current_ == gone) current_ = gone->next;
    }
    gone->listed = false;
}

#if defined(MARTLET_SANITIZED)

void* block_pool::allocate() noexcept {
    if (used_ == pages_ * blocks_per_page_) {
        page* taken = take_page();
        if (taken == nullptr) return nullptr;
        link(taken);
    }
    void* block = std::malloc(block_bytes_);
    if (block != nullptr) ++used_;
    return block;
}

void block_pool::free(void* block) noexcept {
    MARTLET_ASSERT(used_ != 0, "a block goes back to the pool it came from, once");
    std::free(block);
    --used_;
    while (pages_ > (used_ + blocks_per_page_ - 1) / blocks_per_page_ + 1) {
        page* gone = current_;
        unlink(gone);
        return_page(gone);
    }
}

void block_pool::trim() noexcept {
    while (pages_ > (used_ + blocks_per_page_ - 1) / blocks_per_page_) {
        page* gone = current_;
        unlink(gone);
        return_page(gone);
    }
}

#else

void* block_pool::allocate() noexcept {
    page* from = current_;
    if (from == nullptr || from->free == nullptr) [[unlikely]]
        return allocate_slowly();
    free_block* block = from->free;
    from->free = block->next;
    ++from->used;
    ++used_;
    return block;
}

void* block_pool::allocate_slowly() noexcept {
    while (current_ != nullptr) {
        if (current_->free != nullptr || carve(*current_)) return allocate();
        unlink(current_);
    }
    page* fresh = take_page();
    if (fresh == nullptr) return nullptr;
    link(fresh);
    carve(*fresh);
    return allocate();
}

constexpr std::size_t carve_bytes = 4096;  // how much of a fresh page is touched at a time

/// Puts blocks never used before on the free list of `from`, the lowest first; false when there are none.
bool block_pool::carve(page& from) noexcept {
    std::uint32_t count = static_cast<std::uint32_t>(carve_bytes / block_bytes_);
    if (count == 0) count = 1;
    if (count > blocks_per_page_ - from.carved) count = blocks_per_page_ - from.carved;
    if (count == 0) return false;
    char* first = reinterpret_cast<char*>(&from) + page_header_bytes + std::size_t{from.carved} * block_bytes_;
    for (std::uint32_t i = count; i-- != 0;) from.free = new (first + std::size_t{i} * block_bytes_) free_block{from.free};
    from.carved += count;
    return true;
}

void block_pool::free(void* block) noexcept {
    page* from = reinterpret_cast<page*>(reinterpret_cast<std::uintptr_t>(block) & ~std::uintptr_t{page_bytes - 1});
    MARTLET_ASSERT(from->owner == this, "a block goes back to the pool it came from");
    from->free = new (block) free_block{from->free};
    --used_;
    if (--from->used == 0) [[unlikely]]
        return emptied(from);
    if (!from->listed) [[unlikely]]
        freed_from_full(from);
}

void block_pool::freed_from_full(page* from) noexcept { link(from); }

/// spare_ is the only page that may be empty. It stays in the list, at its end, so that a pool used for one block at a time stays fast.
void block_pool::emptied(page* gone) noexcept {
    if (spare_ != nullptr && spare_ != gone && spare_->used == 0) {
        if (gone->listed) unlink(gone);
        return return_page(gone);
    }
    spare_ = gone;
    if (!gone->listed) link(gone);
    if (current_ == gone) {
        current_ = gone->next;
    } else {
        unlink(gone);
        page* first = current_;
        link(gone);
        current_ = first;
    }
}

void block_pool::trim() noexcept {
    if (spare_ != nullptr && spare_->used == 0) {
        unlink(spare_);
        return_page(spare_);
        spare_ = nullptr;
    }
}

#endif

namespace {

constexpr std::array<std::uint16_t, size_class_pool::class_count> class_bytes = {64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096};

/// By size in steps of 64 bytes, rounded up.
constexpr auto class_by_step = [] {
    std::array<std::uint8_t, size_class_pool::pooled_bytes_max / 64 + 1> table{};
    std::uint8_t found = 0;
    for (std::size_t step = 0; step < table.size(); ++step) {
        while (class_bytes[found] < step * 64) ++found;
        table[step] = found;
    }
    return table;
}();

}  // namespace

size_class_pool::size_class_pool(page_source& source) noexcept
    : pools_{{class_bytes[0], source}, {class_bytes[1], source}, {class_bytes[2], source}, {class_bytes[3], source},
             {class_bytes[4], source}, {class_bytes[5], source}, {class_bytes[6], source}, {class_bytes[7], source},
             {class_bytes[8], source}, {class_bytes[9], source}, {class_bytes[10], source}} {}

void* size_class_pool::allocate(std::size_t bytes) noexcept {
    if (bytes > pooled_bytes_max) [[unlikely]] {
        void* block = std::malloc(bytes);
        if (block != nullptr) ++large_used_;
        return block;
    }
    return pools_[class_by_step[(bytes + 63) / 64]].allocate();
}

void size_class_pool::free(void* block, std::size_t bytes) noexcept {
    if (block == nullptr) return;
    if (bytes > pooled_bytes_max) [[unlikely]] {
        std::free(block);
        --large_used_;
        return;
    }
    pools_[class_by_step[(bytes + 63) / 64]].free(block);
}

void size_class_pool::trim() noexcept {
    for (block_pool& pool : pools_) pool.trim();
}

std::size_t size_class_pool::blocks_used() const noexcept {
    std::size_t used = large_used_;
    for (const block_pool& pool : pools_) used += pool.blocks_used();
    return used;
}

std::size_t size_class_pool::pages_held() const noexcept {
    std::size_t held = 0;
    for (const block_pool& pool : pools_) held += pool.pages_held();
    return held;
}

}  // namespace martlet::inline v0
