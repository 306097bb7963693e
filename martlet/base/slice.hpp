// What an outq can hold besides copied bytes: slices that own or count their bytes, and ranges of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <martlet/base/bytes.hpp>

namespace martlet::inline v0 {

/// Bytes with an owner of any type, which is told when they are no longer needed. Move-only, 32 bytes.
class slice {
public:
    using release_function = void (*)(void* context) noexcept;

    /// No bytes, no owner.
    slice() noexcept = default;
    /// `release(context)` is called once, when the bytes are spent or dropped.
    slice(std::string_view from, release_function release, void* context) noexcept
        : data_(from.data()), size_(from.size()), release_(release), context_(context) {}
    /// Shares the owner of `from`; takes no memory.
    slice(bytes from) noexcept;
    /// Takes the string. When memory is out the slice has failed and the string is untouched.
    static slice own(std::string&& from) noexcept;
    /// Bytes that live as long as the program.
    static slice of_static(std::string_view from) noexcept { return slice(from, nullptr, nullptr); }

    slice(slice&& other) noexcept
        : data_(other.data_),
          size_(std::exchange(other.size_, 0)),
          release_(std::exchange(other.release_, nullptr)),
          context_(other.context_) {}
    slice& operator=(slice&& other) noexcept {
        if (this != &other) {
            if (release_ != nullptr) release_(context_);
            data_ = other.data_;
            size_ = std::exchange(other.size_, 0);
            release_ = std::exchange(other.release_, nullptr);
            context_ = other.context_;
        }
        return *this;
    }
    ~slice() {
        if (release_ != nullptr) release_(context_);
    }

    const char* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    std::string_view view() const noexcept { return {data_, size_}; }
    /// Memory was lacking to make it. An outq refuses it.
    bool failed() const noexcept { return size_ == failed_size; }

    /// Drops the first `n` bytes; at most `size()`.
    void consume(std::size_t n) noexcept {
        data_ += n;
        size_ -= n;
    }

private:
    static constexpr std::size_t failed_size = static_cast<std::size_t>(-1);

    const char* data_ = nullptr;
    std::size_t size_ = 0;
    release_function release_ = nullptr;
    void* context_ = nullptr;
};

static_assert(sizeof(slice) == 32);

/// A counted descriptor; the last copy releases it. The count is not atomic: one thread at a time.
class file_owner {
public:
    using release_function = void (*)(int descriptor, void* context) noexcept;

    /// No file.
    file_owner() noexcept = default;
    /// Takes `descriptor`: `release(descriptor, context)` is called once, when no copy is left. When memory is out, fails at once
    /// and does not release.
    static result<file_owner> adopt(int descriptor, release_function release, void* context = nullptr) noexcept;

    file_owner(const file_owner& other) noexcept : shared_(other.shared_) {
        if (shared_ != nullptr) ++shared_->count;
    }
    file_owner(file_owner&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
    file_owner& operator=(file_owner other) noexcept {
        std::swap(shared_, other.shared_);
        return *this;
    }
    ~file_owner() {
        if (shared_ != nullptr && --shared_->count == 0) destroy(shared_);
    }

    explicit operator bool() const noexcept { return shared_ != nullptr; }
    /// -1 when there is no file.
    int descriptor() const noexcept { return shared_ != nullptr ? shared_->descriptor : -1; }
    std::size_t use_count() const noexcept { return shared_ != nullptr ? shared_->count : 0; }

private:
    struct shared {
        std::size_t count;
        int descriptor;
        release_function release;
        void* context;
    };
    explicit file_owner(shared* first) noexcept : shared_(first) {}
    static void destroy(shared* last) noexcept;

    shared* shared_ = nullptr;
};

/// `length` bytes of a file from `offset`. The file may shrink meanwhile: who sends it must expect its end earlier.
class file_range {
public:
    file_range() noexcept = default;
    file_range(file_owner file, std::uint64_t offset, std::uint64_t length) noexcept
        : file_(std::move(file)), offset_(offset), length_(length) {}

    const file_owner& file() const noexcept { return file_; }
    int descriptor() const noexcept { return file_.descriptor(); }
    std::uint64_t offset() const noexcept { return offset_; }
    std::uint64_t length() const noexcept { return length_; }

    /// Drops the first `n` bytes; at most `length()`.
    void consume(std::uint64_t n) noexcept {
        offset_ += n;
        length_ -= n;
    }

private:
    file_owner file_;
    std::uint64_t offset_ = 0;
    std::uint64_t length_ = 0;
};

}  // namespace martlet::inline v0
