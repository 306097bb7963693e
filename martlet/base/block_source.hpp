// Where an outq takes its blocks from: two sizes, 4 KiB and 16 KiB.
#pragma once

#include <cstddef>

#include <martlet/base/pool.hpp>

namespace martlet::inline v0 {

/// Gives and takes blocks of `small_block_bytes` or `large_block_bytes`.
class block_source {
public:
    static constexpr std::size_t small_block_bytes = 4 * 1024;
    static constexpr std::size_t large_block_bytes = 16 * 1024;

    /// A block of `bytes` aligned to 16; null when memory is out.
    virtual char* allocate_block(std::size_t bytes) noexcept = 0;
    /// Takes back what allocate_block gave, with the same `bytes`.
    virtual void free_block(char* block, std::size_t bytes) noexcept = 0;

protected:
    ~block_source() = default;
};

/// Blocks from malloc, of any size. Any thread may call it at any time.
block_source& malloc_blocks() noexcept;

/// Blocks from pools over a page_source, for one thread at a time. It must outlive every outq that holds its blocks.
class pooled_blocks final : public block_source {
public:
    explicit pooled_blocks(page_source& pages) noexcept;

    char* allocate_block(std::size_t bytes) noexcept override;
    void free_block(char* block, std::size_t bytes) noexcept override;

    std::size_t blocks_used() const noexcept { return small_.blocks_used() + large_.blocks_used(); }
    std::size_t pages_held() const noexcept { return small_.pages_held() + large_.pages_held(); }
    /// Gives empty pages back.
    void trim() noexcept;

private:
    block_pool small_;
    block_pool large_;
};

}  // namespace martlet::inline v0
