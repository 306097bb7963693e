#include <martlet/base/outq.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace martlet::inline v0 {

/// A slice or a file range, standing before the copied byte at `at`. Never one of no bytes.
struct outq::record {
    std::uint32_t at;
    bool is_file;
    union {
        slice memory;
        file_range file;
    };

    record(std::uint32_t before, slice&& from) noexcept : at(before), is_file(false), memory(std::move(from)) {}
    record(std::uint32_t before, file_range&& from) noexcept : at(before), is_file(true), file(std::move(from)) {}
    record(const record&) = delete;
    record& operator=(const record&) = delete;
    ~record() {
        if (is_file) {
            file.~file_range();
        } else {
            memory.~slice();
        }
    }

    std::size_t size() const noexcept { return is_file ? file.length() : memory.size(); }
    void consume(std::size_t n) noexcept {
        if (is_file) {
            file.consume(n);
        } else {
            memory.consume(n);
        }
    }
};

namespace {

constexpr std::uint32_t record_bytes = 40;

}  // namespace

outq::record* outq::block::front_record() noexcept { return reinterpret_cast<record*>(start() + front_at - record_bytes); }

outq::outq(outq&& other) noexcept
    : first_(std::exchange(other.first_, nullptr)),
      last_(std::exchange(other.last_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      source_(other.source_),
      limit_(other.limit_) {}

outq& outq::operator=(outq&& other) noexcept {
    if (this != &other) {
        clear();
        first_ = std::exchange(other.first_, nullptr);
        last_ = std::exchange(other.last_, nullptr);
        size_ = std::exchange(other.size_, 0);
        source_ = other.source_;
        limit_ = other.limit_;
    }
    return *this;
}

/// A block with room for `payload` bytes, in no queue; small only when it is the `first`. Null when memory is out.
outq::block* outq::make_block(std::size_t payload, bool first) noexcept {
    if (payload > (std::size_t{1} << 31)) return nullptr;
    const std::size_t needed = sizeof(block) + payload;
    block_source* source = source_;
    std::size_t bytes = block_source::large_block_bytes;
    if (first && needed <= block_source::small_block_bytes) {
        bytes = block_source::small_block_bytes;
    } else if (needed > bytes) {
        bytes = (needed + 15) & ~std::size_t{15};
        source = &malloc_blocks();
    }
    char* memory = bytes == block_source::small_block_bytes ? source->allocate_small() : source->allocate_block(bytes);
    return memory != nullptr ? new (memory) block(source, bytes) : nullptr;
}

void outq::free_block(block* gone) noexcept {
    if (gone->block_bytes == block_source::small_block_bytes) return gone->source->free_small(gone->start());
    gone->source->free_block(gone->start(), gone->block_bytes);
}

outq::block* outq::add_block(std::size_t payload) noexcept {
    block* added = make_block(payload, last_ == nullptr);
    if (added == nullptr) return nullptr;
    (last_ != nullptr ? last_->next : first_) = added;
    last_ = added;
    return added;
}

char* outq::cork_slowly(std::size_t n) noexcept {
    if (size_ > limit_ || n > limit_ - size_) return nullptr;
    if (last_ != nullptr && n <= last_->room()) return last_->end();
    block* added = add_block(n);
    return added != nullptr ? added->end() : nullptr;
}

void outq::commit_nothing() noexcept {
    if (size_ == 0) clear();
}

bool outq::append_copy(std::string_view from) noexcept {
    if (from.empty()) return true;
    if (size_ > limit_ || from.size() > limit_ - size_) return false;
    block* to = last_;
    const std::size_t fits = to != nullptr ? std::min(to->room(), from.size()) : 0;

    // All blocks are taken before a byte is copied, so that a lack of memory changes nothing.
    block* fresh = nullptr;
    block* fresh_last = nullptr;
    for (std::size_t rest = from.size() - fits; rest != 0;) {
        const std::size_t part = std::min(rest, block_source::large_block_bytes - sizeof(block));
        block* added = make_block(part, to == nullptr && fresh == nullptr);
        if (added == nullptr) {
            while (fresh != nullptr) free_block(std::exchange(fresh, fresh->next));
            return false;
        }
        (fresh_last != nullptr ? fresh_last->next : fresh) = added;
        fresh_last = added;
        rest -= part;
    }
    if (fresh != nullptr) {
        (to != nullptr ? to->next : first_) = fresh;
        if (to == nullptr) to = fresh;
        last_ = fresh_last;
    }
    size_ += from.size();
    for (; !from.empty(); to = to->next) {
        const std::size_t part = std::min(to->room(), from.size());
        std::memcpy(to->end(), from.data(), part);
        to->end_at += static_cast<std::uint32_t>(part);
        from.remove_prefix(part);
    }
    return true;
}

/// Room for a record at the end, raw; null when memory is out.
outq::record* outq::add_record() noexcept {
    static_assert(sizeof(record) == record_bytes);
    if ((last_ == nullptr || last_->room() < record_bytes) && add_block(record_bytes) == nullptr) return nullptr;
    last_->records_at -= record_bytes;
    return reinterpret_cast<record*>(last_->start() + last_->records_at);
}

bool outq::append(slice from) noexcept {
    if (from.failed()) return false;
    if (from.size() <= copied_slice_bytes_max) return append_copy(from.view());
    if (size_ > limit_ || from.size() > limit_ - size_) return false;
    record* place = add_record();
    if (place == nullptr) return false;
    size_ += from.size();
    new (place) record(last_->end_at, std::move(from));
    return true;
}

bool outq::append(file_range from) noexcept {
    if (from.length() == 0) return true;
    if (size_ > limit_ || from.length() > limit_ - size_) return false;
    record* place = add_record();
    if (place == nullptr) return false;
    size_ += from.length();
    new (place) record(last_->end_at, std::move(from));
    return true;
}

void outq::splice(outq& other) noexcept {
    if (this == &other) return;
    if (other.empty()) return other.clear();
    if (empty()) clear();
    (last_ != nullptr ? last_->next : first_) = other.first_;
    last_ = other.last_;
    size_ += other.size_;
    other.first_ = other.last_ = nullptr;
    other.size_ = 0;
}

/// Copied bytes of `b` that come before its front record.
std::size_t outq::copied_before_record(block& b) noexcept { return (b.has_records() ? b.front_record()->at : b.end_at) - b.begin_at; }

void outq::pop_record(block& from) noexcept {
    from.front_record()->~record();
    from.front_at -= record_bytes;
}

void outq::pop_block() noexcept {
    block* spent = first_;
    first_ = spent->next;
    if (first_ == nullptr) last_ = nullptr;
    free_block(spent);
}

std::size_t outq::gather(std::span<const_buffer> out) const noexcept {
    std::size_t filled = 0;
    const auto add = [&](const void* data, std::size_t size) {
        if (filled == out.size()) return false;
        out[filled++] = {data, size};
        return true;
    };
    for (block* b = first_; b != nullptr; b = b->next) {
        std::uint32_t at = b->begin_at;
        for (std::uint32_t top = b->front_at; top != b->records_at; top -= record_bytes) {
            const auto* next = reinterpret_cast<const record*>(b->start() + top - record_bytes);
            if (next->at != at && !add(b->start() + at, next->at - at)) return filled;
            at = next->at;
            if (next->is_file || !add(next->memory.data(), next->memory.size())) return filled;
        }
        if (b->end_at != at && !add(b->start() + at, b->end_at - at)) return filled;
    }
    return filled;
}

const file_range* outq::front_file() const noexcept {
    for (block* b = first_; b != nullptr; b = b->next) {
        if (copied_before_record(*b) != 0) return nullptr;
        if (b->has_records()) return b->front_record()->is_file ? &b->front_record()->file : nullptr;
    }
    return nullptr;
}

void outq::consume(std::size_t n) noexcept {
    MARTLET_ASSERT(n <= size_, "outq::consume takes at most what the queue holds");
    size_ -= n;
    while (n != 0) {
        block& front = *first_;
        const std::size_t copied = std::min(n, copied_before_record(front));
        front.begin_at += static_cast<std::uint32_t>(copied);
        n -= copied;
        if (n != 0 && front.has_records()) {
            record& next = *front.front_record();
            const std::size_t part = std::min(n, next.size());
            next.consume(part);
            n -= part;
            if (next.size() == 0) pop_record(front);
        }
        if (front.begin_at == front.end_at && !front.has_records()) pop_block();
    }
    if (size_ == 0 && first_ != nullptr) clear();
}

void outq::clear_slowly() noexcept {
    size_ = 0;
    while (first_ != nullptr) {
        while (first_->has_records()) pop_record(*first_);
        pop_block();
    }
}

std::size_t outq::block_bytes_held() const noexcept {
    std::size_t held = 0;
    for (const block* b = first_; b != nullptr; b = b->next) held += b->block_bytes;
    return held;
}

std::size_t outq::memory_bytes_held() const noexcept {
    std::size_t held = 0;
    for (block* b = first_; b != nullptr; b = b->next) {
        held += b->block_bytes;
        for (std::uint32_t at = b->records_at; at != b->front_at; at += record_bytes) {
            const auto* each = reinterpret_cast<const record*>(b->start() + at);
            if (!each->is_file) held += each->memory.size();
        }
    }
    return held;
}

}  // namespace martlet::inline v0
