// buffer: contiguous bytes that grow to a limit, with 64 readable bytes behind the last, so that a wide scan needs no bounds check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <martlet/base/assert.hpp>

namespace martlet::inline v0 {

/// How many bytes behind the end of a buffer or padded_view may be read. They are initialised and mean nothing.
inline constexpr std::size_t padding_bytes = 64;

/// Bytes with `padding_bytes` readable ones behind them. Only a buffer makes one; it is good until the buffer changes.
class padded_view {
public:
    const char* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    std::string_view view() const noexcept { return {data_, size_}; }
    operator std::string_view() const noexcept { return view(); }

    /// What begins at `offset`, which is at most `size()`. There is no part that ends early: the padding belongs to the end.
    padded_view from(std::size_t offset) const noexcept {
        MARTLET_ASSERT(offset <= size_, "padded_view::from needs an offset inside the view");
        return padded_view(data_ + offset, size_ - offset);
    }

private:
    friend class buffer;
    padded_view(const char* data, std::size_t size) noexcept : data_(data), size_(size) {}

    const char* data_;
    std::size_t size_;
};

/// Bytes are added at the end (`prepare`, `commit`) and taken from the start (`consume`). Move-only, 24 bytes; empty it may hold nothing.
/// One moved from is empty and keeps its limit, unless its storage was adopted.
/// Spans and views of it are good until the next `prepare`, `clear` or `release`.
class buffer {
public:
    /// The largest limit: just under 2 GiB.
    static constexpr std::size_t limit_bytes_max = 0x7fff'ff00;

    /// Holds nothing and has room for nothing: a place to move a buffer to.
    buffer() noexcept = default;
    /// Grows to hold at most `limit_bytes`; takes no memory yet. More than `limit_bytes_max` means `limit_bytes_max`.
    explicit buffer(std::size_t limit_bytes) noexcept
        : limit_((limit_bytes < limit_bytes_max ? limit_bytes : limit_bytes_max) & 0x7fff'ffff) {}
    /// Uses `bytes` at `storage`, the last 64 of them as padding; does not free them and does not grow. They must be initialised
    /// and outlive the buffer. `bytes` is more than 64.
    static buffer over(char* storage, std::size_t bytes) noexcept;

    buffer(buffer&& other) noexcept { take(other); }
    buffer& operator=(buffer&& other) noexcept {
        if (this != &other) {
            free_storage();
            take(other);
        }
        return *this;
    }
    ~buffer() { free_storage(); }

    /// All writable bytes behind the end, at least `n` of them; an empty span when the limit or the memory forbids that.
    /// May move the bytes held.
    std::span<char> prepare(std::size_t n) noexcept {
        if (n <= capacity_ - end_ && storage_ != nullptr) return {storage_ + end_, capacity_ - end_};
        return prepare_slowly(n);
    }
    /// The first `n` bytes of what `prepare` gave are now part of the buffer.
    void commit(std::size_t n) noexcept {
        MARTLET_ASSERT(n <= capacity_ - end_, "buffer::commit takes at most what prepare gave");
        end_ += static_cast<std::uint32_t>(n);
    }
    /// Drops the first `n` bytes. O(1); moves nothing.
    void consume(std::size_t n) noexcept {
        MARTLET_ASSERT(n <= size(), "buffer::consume takes at most what the buffer holds");
        begin_ += static_cast<std::uint32_t>(n);
        if (begin_ == end_) begin_ = end_ = 0;
    }
    /// Copies `bytes` to the end; false, with nothing changed, when the limit or the memory forbids it.
    bool append(std::string_view bytes) noexcept;

    /// Drops all bytes and keeps the memory.
    void clear() noexcept { begin_ = end_ = 0; }
    /// Drops all bytes and gives the memory back; the limit stays. Adopted storage stays too.
    void release() noexcept;

    const char* data() const noexcept { return begin_or_padding(); }
    char* data() noexcept { return storage_ + begin_; }
    std::size_t size() const noexcept { return end_ - begin_; }
    bool empty() const noexcept { return begin_ == end_; }
    /// How many bytes the memory now held has room for.
    std::size_t capacity() const noexcept { return capacity_; }
    /// How many bytes it can hold at most.
    std::size_t limit_bytes() const noexcept { return limit_; }
    /// Whether no more bytes can be added before some are consumed.
    bool full() const noexcept { return size() >= limit_; }

    std::string_view view() const noexcept { return {begin_or_padding(), size()}; }
    padded_view padded() const noexcept { return padded_view(begin_or_padding(), size()); }

private:
    std::span<char> prepare_slowly(std::size_t n) noexcept;
    void free_storage() noexcept;
    void take(buffer& other) noexcept {
        storage_ = other.storage_;
        begin_ = other.begin_;
        end_ = other.end_;
        capacity_ = other.capacity_;
        limit_ = other.limit_;
        adopted_ = other.adopted_;
        other.storage_ = nullptr;
        other.begin_ = other.end_ = other.capacity_ = 0;
        if (other.adopted_) other.limit_ = 0;
        other.adopted_ = false;
    }
    const char* begin_or_padding() const noexcept { return storage_ != nullptr ? storage_ + begin_ : no_bytes_; }

    static const char no_bytes_[padding_bytes];

    char* storage_ = nullptr;
    std::uint32_t begin_ = 0;
    std::uint32_t end_ = 0;
    std::uint32_t capacity_ = 0;
    std::uint32_t limit_ : 31 = 0;
    std::uint32_t adopted_ : 1 = false;
};

static_assert(sizeof(buffer) == 24);

}  // namespace martlet::inline v0
