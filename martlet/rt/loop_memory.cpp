#include <martlet/rt/loop_memory.hpp>

#include <cstring>
#include <utility>

#include <martlet/rt/kernel.hpp>

namespace martlet::inline v0::detail {

namespace {

// The pages for a read buffer: its bytes and the padding, in whole pages of the source.
constexpr std::size_t read_storage_bytes = 2 * page_bytes;
static_assert(loop_memory::read_bytes + padding_bytes <= read_storage_bytes);

}  // namespace

void* kernel_pages::allocate_pages(std::size_t bytes) noexcept {
    if (bytes != page_bytes || spare_ == nullptr) return kernel::map_pages(bytes);
    void* const page = spare_;
    std::memcpy(&spare_, page, sizeof spare_);
    --spare_count_;
    used_ = true;
    return page;
}

void kernel_pages::free_pages(void* pages, std::size_t bytes) noexcept {
    if (bytes != page_bytes || spare_count_ == spare_pages_max) {
        kernel::unmap_pages(pages, bytes);
        return;
    }
    std::memcpy(pages, &spare_, sizeof spare_);
    spare_ = pages;
    ++spare_count_;
}

void kernel_pages::age() noexcept {
    if (!std::exchange(used_, false)) release();
}

void kernel_pages::release() noexcept {
    while (spare_ != nullptr) {
        void* const page = spare_;
        std::memcpy(&spare_, page, sizeof spare_);
        kernel::unmap_pages(page, page_bytes);
    }
    spare_count_ = 0;
}

void loop_memory::age(time_point now) noexcept {
    if (now - aged_ < spare_time) return;
    aged_ = now;
    pages.age();
    blocks.age();
}

loop_memory::~loop_memory() { free_read_storage(read_storage_); }

void loop_memory::free_read_storage(void* storage) noexcept {
    if (storage != nullptr) kernel::unmap_pages(storage, read_storage_bytes);
}

buffer& loop_memory::reading() noexcept {
    if (read_storage_ == nullptr) {
        read_storage_ = static_cast<char*>(kernel::map_pages(read_storage_bytes));
        if (read_storage_ != nullptr) read_ = buffer::over(read_storage_, read_bytes + padding_bytes);
    }
    return read_;
}

}  // namespace martlet::inline v0::detail
