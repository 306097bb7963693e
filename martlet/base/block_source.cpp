#include <martlet/base/block_source.hpp>

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

pooled_blocks::pooled_blocks(page_source& pages) noexcept : small_(small_block_bytes, pages), large_(large_block_bytes, pages) {}

char* pooled_blocks::allocate_block(std::size_t bytes) noexcept {
    MARTLET_ASSERT(bytes == small_block_bytes || bytes == large_block_bytes, "a block_source gives blocks of two sizes");
    return static_cast<char*>((bytes == small_block_bytes ? small_ : large_).allocate());
}

void pooled_blocks::free_block(char* block, std::size_t bytes) noexcept { (bytes == small_block_bytes ? small_ : large_).free(block); }

void pooled_blocks::trim() noexcept {
    small_.trim();
    large_.trim();
}

}  // namespace martlet::inline v0
