// What a loop keeps in memory: pools for frames and objects, blocks for output, the buffer that reads start in. Private to the runtime.
#pragma once

#include <martlet/base/block_source.hpp>
#include <martlet/base/buffer.hpp>
#include <martlet/base/page_source.hpp>
#include <martlet/base/pool.hpp>
#include <martlet/base/time.hpp>

namespace martlet::inline v0::detail {

/// Pages from the kernel seam. Those given back are kept for a while: what one turn gives back the next one takes again.
class kernel_pages final : public page_source {
public:
    static constexpr std::size_t spare_pages_max = 64;

    kernel_pages() noexcept = default;
    ~kernel_pages() { release(); }

    void* allocate_pages(std::size_t bytes) noexcept override;
    void free_pages(void* pages, std::size_t bytes) noexcept override;

    bool has_spare() const noexcept { return spare_count_ != 0; }
    /// Gives the spare pages back if none was needed since the last call.
    void age() noexcept;
    void release() noexcept;

private:
    // Linked through their first bytes.
    void* spare_ = nullptr;
    std::size_t spare_count_ = 0;
    bool used_ = false;
};

class loop_memory {
public:
    /// Bytes of one read: what arrives while a batch is answered fits, and it stays in a core's cache.
    static constexpr std::size_t read_bytes = 64 * 1024;
    /// How long what is kept for the next turns may lie unused.
    static constexpr duration spare_time = std::chrono::milliseconds(100);

    loop_memory() noexcept : objects(pages), blocks(pages) {}
    loop_memory(const loop_memory&) = delete;
    loop_memory& operator=(const loop_memory&) = delete;
    ~loop_memory();

    /// The buffer, made at its first use; one that cannot grow. Empty capacity when there is no memory.
    buffer& reading() noexcept;
    /// The memory behind the buffer, for a call that may have to keep it; null while there is none.
    void* read_storage() const noexcept { return read_storage_; }
    /// Forgets the present buffer: the call that was left behind frees it.
    void abandon_reading() noexcept {
        read_storage_ = nullptr;
        read_ = buffer();
    }
    static void free_read_storage(void* storage) noexcept;

    /// Something is kept for the next turns that leaves the process when it is not needed.
    bool has_spare() const noexcept { return pages.has_spare() || blocks.blocks_at_hand() != 0; }
    /// Gives some of that back if `now` is `spare_time` later than when this was last done.
    void age(time_point now) noexcept;

    kernel_pages pages;
    size_class_pool objects;
    pooled_blocks blocks;

private:
    time_point aged_{};
    char* read_storage_ = nullptr;
    buffer read_;
};

}  // namespace martlet::inline v0::detail
