// bytes: immutable bytes with a shared owner. Copying one copies no byte. The count is not atomic: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <martlet/base/result.hpp>

namespace martlet::inline v0 {

/// A counted slice of bytes that never change. 24 bytes; empty, or over static bytes, it owns nothing.
class bytes {
public:
    bytes() noexcept = default;

    /// A copy of `from`. Fails when memory is out.
    static result<bytes> copy(std::string_view from) noexcept;
    /// Takes the string. Fails, with the string untouched, when memory is out.
    static result<bytes> own(std::string&& from) noexcept;
    /// Bytes that live as long as the program.
    static bytes of_static(std::string_view from) noexcept { return bytes(from, nullptr); }

    bytes(const bytes& other) noexcept : view_(other.view_), owner_(other.owner_) { retain(); }
    bytes(bytes&& other) noexcept : view_(std::exchange(other.view_, {})), owner_(std::exchange(other.owner_, nullptr)) {}
    bytes& operator=(bytes other) noexcept {
        std::swap(view_, other.view_);
        std::swap(owner_, other.owner_);
        return *this;
    }
    ~bytes() {
        if (owner_ != nullptr && --owner_->count == 0) destroy(owner_);
    }

    const char* data() const noexcept { return view_.data(); }
    std::size_t size() const noexcept { return view_.size(); }
    bool empty() const noexcept { return view_.empty(); }
    std::string_view view() const noexcept { return view_; }
    operator std::string_view() const noexcept { return view_; }

    /// Up to `length` bytes from `offset`, with the same owner. An offset behind the end gives no bytes.
    bytes sub(std::size_t offset, std::size_t length = std::string_view::npos) const noexcept;

    /// How many share the owner; 0 when there is none.
    std::size_t use_count() const noexcept { return owner_ != nullptr ? owner_->count : 0; }

private:
    friend class slice;
    struct owner {
        std::size_t count;
        void (*destroy)(owner*) noexcept;
    };
    struct string_owner;

    bytes(std::string_view view, owner* shared) noexcept : view_(view), owner_(shared) {}
    void retain() const noexcept {
        if (owner_ != nullptr) ++owner_->count;
    }
    static void destroy(owner* last) noexcept;

    std::string_view view_;
    owner* owner_ = nullptr;
};

static_assert(sizeof(bytes) == 24);

}  // namespace martlet::inline v0
