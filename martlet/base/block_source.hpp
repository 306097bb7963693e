// Where an outq takes its blocks from: two sizes, 4 KiB and 16 KiB.
#pragma once

#include <cstddef>
#include <new>

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

    /// A small block if one is at hand, null otherwise.
    char* take_at_hand() noexcept {
        at_hand* const taken = at_hand_;
        if (taken == nullptr) return nullptr;
        at_hand_ = taken->next;
        ++room_at_hand_;
        return reinterpret_cast<char*>(taken);
    }
    /// The same as allocate_block(small_block_bytes) and free_block, sooner where blocks are kept at hand.
    char* allocate_small() noexcept {
        char* const taken = take_at_hand();
        return taken != nullptr ? taken : allocate_block(small_block_bytes);
    }
    void free_small(char* block) noexcept {
        if (room_at_hand_ == 0) [[unlikely]]
            return free_block(block, small_block_bytes);
        --room_at_hand_;
        at_hand_ = new (block) at_hand{at_hand_};
    }

protected:
    explicit constexpr block_source(std::size_t at_hand_max = 0) noexcept : room_at_hand_(at_hand_max) {}
    ~block_source() = default;

    std::size_t room_at_hand() const noexcept { return room_at_hand_; }

private:
    struct at_hand {
        at_hand* next;
    };
    at_hand* at_hand_ = nullptr;
    std::size_t room_at_hand_;
};

/// Blocks from malloc, of any size. Any thread may call it at any time.
block_source& malloc_blocks() noexcept;

/// Blocks from pools over a page_source, for one thread at a time. It must outlive every outq that holds its blocks. Small ones that come back
/// stay at hand: with many connections in a turn each takes one and gives it back, and the way into a pool and out of it is a long one.
/// Where the library was built with a sanitizer, none stays.
class pooled_blocks final : public block_source {
public:
    static constexpr std::size_t at_hand_max = 256;

    explicit pooled_blocks(page_source& pages) noexcept;
    ~pooled_blocks() { trim(); }

    char* allocate_block(std::size_t bytes) noexcept override;
    void free_block(char* block, std::size_t bytes) noexcept override;

    /// Those given out and not come back.
    std::size_t blocks_used() const noexcept { return small_.blocks_used() + large_.blocks_used() - blocks_at_hand(); }
    std::size_t blocks_at_hand() const noexcept { return room_ - room_at_hand(); }
    std::size_t pages_held() const noexcept { return small_.pages_held() + large_.pages_held(); }
    /// Puts half of the blocks at hand back into their pool; all when they are few.
    void age() noexcept;
    /// Gives empty pages back, and all that is at hand before.
    void trim() noexcept;

private:
    void put_back(std::size_t blocks) noexcept;

    const std::size_t room_;
    block_pool small_;
    block_pool large_;
};

}  // namespace martlet::inline v0
