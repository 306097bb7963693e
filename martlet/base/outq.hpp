// outq: what is to be written to a stream, in order: copied bytes, slices, file ranges.
//
// It is a chain of blocks. In a block copied bytes grow upwards behind the header; records of slices and file ranges grow downwards from
// the end. A record says before which copied byte it stands. So one block of answers is one piece of memory, and nothing else allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <martlet/base/assert.hpp>
#include <martlet/base/block_source.hpp>
#include <martlet/base/slice.hpp>

namespace martlet::inline v0 {

/// A piece of memory to write, laid out as the kernel's iovec.
struct const_buffer {
    const void* data;
    std::size_t size;
};

/// A queue of bytes to write. 40 bytes; holds no memory once everything is consumed. Move-only; one thread at a time.
/// Release functions of what it holds are called inside its calls and must not use it.
class outq {
public:
    static constexpr std::size_t no_limit = static_cast<std::size_t>(-1);
    /// Slices of up to this size are copied where the block in use has room: a piece of its own would cost more.
    static constexpr std::size_t copied_slice_bytes_max = 256;

    outq() noexcept : outq(malloc_blocks()) {}
    /// Takes blocks from `source`, which must outlive those blocks; refuses what would bring `size()` above `limit_bytes`.
    explicit outq(block_source& source, std::size_t limit_bytes = no_limit) noexcept : source_(&source), limit_(limit_bytes) {}
    outq(outq&& other) noexcept;
    outq& operator=(outq&& other) noexcept;
    ~outq() { clear(); }

    /// Blocks come from `source` from now on. Those held go back to where they came from.
    void use(block_source& source) noexcept { source_ = &source; }

    /// Takes a block ahead of what comes, if the queue has none and its source has one at hand. An empty queue that keeps it is cleared.
    void open() noexcept {
        if (last_ != nullptr) return;
        if (char* const memory = source_->take_at_hand(); memory != nullptr) [[likely]]
            first_ = last_ = new (memory) block(source_, block_source::small_block_bytes);
    }
    /// `n` contiguous writable bytes at the end; null when the limit or the memory forbids it. They are part of the queue once
    /// committed, and good until the next call that is not `commit`.
    char* cork(std::size_t n) noexcept {
        block* last = last_;
        if (last != nullptr && n <= last->room() && size_ + n <= limit_) [[likely]]
            return last->end();
        return cork_slowly(n);
    }
    /// The same if it takes no more than a look at the block in use; null otherwise, with nothing changed.
    char* try_cork(std::size_t n) noexcept {
        block* last = last_;
        return last != nullptr && n <= last->room() && size_ + n <= limit_ ? last->end() : nullptr;
    }
    /// The first `n` bytes, at least one, of what try_cork or cork has just given are part of the queue.
    void commit_corked(std::size_t n) noexcept {
        block* last = last_;
        const std::size_t end_at = last->end_at + n;
        MARTLET_ASSERT(end_at <= last->records_at, "outq::commit_corked takes at most what cork gave");
        last->end_at = static_cast<std::uint32_t>(end_at);
        size_ += n;
    }
    /// The first `n` bytes of what `cork` gave are now part of the queue. May follow one `cork` several times, with what it has left.
    /// `commit(0)` to an empty queue gives the memory back.
    void commit(std::size_t n) noexcept {
        if (n == 0) [[unlikely]]
            return commit_nothing();
        MARTLET_ASSERT(last_ != nullptr && n <= last_->room(), "outq::commit takes at most what cork gave");
        last_->end_at += static_cast<std::uint32_t>(n);
        size_ += n;
    }

    /// Copies `from` to the end. false, with nothing changed, when the limit or the memory forbids it.
    [[nodiscard]] bool append_copy(std::string_view from) noexcept;
    /// Adds the bytes of `from`. false, with `from` dropped, when the limit or the memory forbids it.
    [[nodiscard]] bool append(slice from) noexcept;
    /// Adds a part of a file, alike.
    [[nodiscard]] bool append(file_range from) noexcept;
    /// Moves all of `other` behind what is here, whatever the limit. O(1).
    void splice(outq& other) noexcept;

    /// Bytes queued, those of files among them.
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    std::size_t limit_bytes() const noexcept { return limit_; }
    bool full() const noexcept { return size_ >= limit_; }

    /// Fills `out` with pieces of memory from the front, up to the first file range, and returns how many it filled.
    std::size_t gather(std::span<const_buffer> out) const noexcept;
    /// All that is queued, where it stands in one piece of memory in one block; otherwise no bytes.
    const_buffer whole() const noexcept {
        block* only = first_;
        if (only == nullptr || only != last_ || only->has_records()) return {nullptr, 0};
        return {only->start() + only->begin_at, only->end_at - std::size_t{only->begin_at}};
    }
    /// The file range at the very front, or null when memory stands there.
    const file_range* front_file() const noexcept;
    /// Drops the first `n` bytes; at most `size()`. Blocks and owners are released as soon as they are spent.
    void consume(std::size_t n) noexcept;
    /// Drops everything and releases all memory.
    void clear() noexcept {
        block* const only = first_;
        if (only == nullptr || only != last_ || only->has_records() || only->block_bytes != block_source::small_block_bytes) [[unlikely]]
            return clear_slowly();
        first_ = last_ = nullptr;
        size_ = 0;
        only->source->free_small(only->start());
    }

    /// Memory held in blocks, their headers and unused room included; what slices own is not counted.
    std::size_t block_bytes_held() const noexcept;
    /// All memory that is held: blocks, and what slices own. Looks at every piece.
    std::size_t memory_bytes_held() const noexcept;

private:
    struct record;
    struct block {
        block* next = nullptr;
        block_source* source;
        std::uint32_t block_bytes;
        std::uint32_t begin_at = sizeof(block);  // offsets from the block's start: first copied byte not consumed,
        std::uint32_t end_at = sizeof(block);    // behind the last copied byte,
        std::uint32_t records_at;                // the newest record,
        std::uint32_t front_at;                  // behind the oldest record not consumed

        block(block_source* from, std::size_t bytes) noexcept
            : source(from), block_bytes(static_cast<std::uint32_t>(bytes)), records_at(block_bytes), front_at(block_bytes) {}
        std::size_t room() const noexcept { return records_at - end_at; }
        char* start() noexcept { return reinterpret_cast<char*>(this); }
        char* end() noexcept { return start() + end_at; }
        bool has_records() const noexcept { return front_at != records_at; }
        record* front_record() noexcept;
    };

    char* cork_slowly(std::size_t n) noexcept;
    void commit_nothing() noexcept;
    void clear_slowly() noexcept;
    block* add_block(std::size_t payload) noexcept;
    block* make_block(std::size_t payload, bool first) noexcept;
    static void free_block(block* gone) noexcept;
    record* add_record() noexcept;
    void pop_record(block& from) noexcept;
    void pop_block() noexcept;
    static std::size_t copied_before_record(block& b) noexcept;

    block* first_ = nullptr;
    block* last_ = nullptr;
    std::size_t size_ = 0;
    block_source* source_;
    std::size_t limit_;
};

static_assert(sizeof(outq) == 40);

}  // namespace martlet::inline v0
