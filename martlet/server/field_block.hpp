// field_block: response fields in wire form, in one pooled block that grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <martlet/wire/http/field.hpp>
#include <martlet/wire/http/field_value.hpp>

namespace martlet::inline v0::server {

/// Checked field lines, each with its CRLF. Holds no memory before the first. Move-only.
class field_block {
public:
    field_block() noexcept = default;
    field_block(field_block&& other) noexcept
        : bytes_(std::exchange(other.bytes_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    field_block& operator=(field_block&&) = delete;
    ~field_block() {
        if (bytes_ != nullptr) release();
    }

    void swap(field_block& other) noexcept {
        std::swap(bytes_, other.bytes_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

    /// False when there is no memory or the block would exceed `bytes_max`.
    bool add(std::string_view name, http::field_value value) noexcept;
    /// Lines that were checked, each with its CRLF.
    bool add_lines(std::string_view lines) noexcept;
    bool empty() const noexcept { return size_ == 0; }
    std::string_view view() const noexcept { return {bytes_, size_}; }
    /// The value of the first line of that name, compared without case. Good until something is added or removed.
    std::optional<std::string_view> find(std::string_view name) const noexcept;
    /// How many lines of that name there were.
    std::size_t remove(std::string_view name) noexcept { return remove_before(name, size_); }
    /// The only line of that name afterwards. False: nothing has changed.
    bool replace(std::string_view name, http::field_value value) noexcept {
        const std::uint32_t before = size_;
        if (!add(name, value)) return false;
        remove_before(name, before);
        return true;
    }

    /// As much as a request's head may hold.
    static constexpr std::size_t bytes_max = 32 * 1024;

private:
    std::size_t remove_before(std::string_view name, std::uint32_t end) noexcept;
    void release() noexcept;
    bool grow(std::size_t wanted) noexcept;

    char* bytes_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = 0;
};

}  // namespace martlet::inline v0::server
