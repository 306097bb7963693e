#include <martlet/base/block_source.hpp>

#include <algorithm>
#include <cstdlib>

#include <martlet/base/assert.hpp>

namespace martlet::inline v0 {

namespace {

class malloc_block_source final : public block_source {
public:
    char* allocate_block(std::size_t bytes) noexcept override { return static_cast<char*>(std::malloc(bytes)); }
    void free_block(char* block, std::size_t) noexcept override { std::free(block); }
};

constinit malloc_block_source source;

}  // namespace

block_source& malloc_blocks() noexcept { return source; }

pooled_blocks::pooled_blocks(page_source& pages) noexcept
    : block_source(block_pool::is_from_malloc ? 0 : at_hand_max),
      room_(room_at_hand()),
      small_(small_block_bytes, pages),
      large_(large_block_bytes, pages) {}

char* pooled_blocks::allocate_block(std::size_t bytes) noexcept {
    MARTLET_ASSERT(bytes == small_block_bytes || bytes == large_block_bytes, "a block_source gives blocks of two sizes");
    return static_cast<char*>((bytes == small_block_bytes ? small_ : large_).allocate());
}

void pooled_blocks::free_block(char* block, std::size_t bytes) noexcept { (bytes == small_block_bytes ? small_ : large_).free(block); }

void pooled_blocks::put_back(std::size_t blocks) noexcept {
    for (; blocks != 0; --blocks) small_.free(take_at_hand());
}

void pooled_blocks::age() noexcept {
    constexpr std::size_t few = 16;
    const std::size_t kept = blocks_at_hand();
    put_back(std::min(kept, std::max(kept / 2, few)));
}

void pooled_blocks::trim() noexcept {
    put_back(blocks_at_hand());
    small_.trim();
    large_.trim();
}

}  // namespace martlet::inline v0
