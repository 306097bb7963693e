#include <martlet/base/page_source.hpp>

#include <cstdlib>

namespace martlet::inline v0 {

namespace {

class malloc_page_source final : public page_source {
public:
    void* allocate_pages(std::size_t bytes) noexcept override { return std::aligned_alloc(page_bytes, bytes); }
    void free_pages(void* pages, std::size_t) noexcept override { std::free(pages); }
};

constinit malloc_page_source source;

}  // namespace

page_source& malloc_pages() noexcept { return source; }

}  // namespace martlet::inline v0
