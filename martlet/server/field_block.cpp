#include <martlet/server/field_block.hpp>

#include <cstring>
#include <new>

#include <martlet/rt/loop.hpp>

namespace martlet::inline v0::server {

void field_block::release() noexcept { martlet::detail::free_frame(bytes_); }

bool field_block::grow(std::size_t wanted) noexcept {
    std::size_t capacity = capacity_ == 0 ? 448 : capacity_ * 2u;
    while (capacity < wanted) capacity *= 2;
    char* bytes;
    try {
        bytes = static_cast<char*>(martlet::detail::allocate_frame(capacity));
    } catch (const std::bad_alloc&) {
        return false;
    }
    if (bytes_ != nullptr) {
        std::memcpy(bytes, bytes_, size_);
        martlet::detail::free_frame(bytes_);
    }
    bytes_ = bytes;
    capacity_ = static_cast<std::uint32_t>(capacity);
    return true;
}

bool field_block::add(std::string_view name, http::field_value value) noexcept {
    const std::string_view text = value.text();
    const std::size_t wanted = size_ + name.size() + text.size() + 4;
    if (wanted > bytes_max) return false;
    if (wanted > capacity_ && !grow(wanted)) return false;
    char* at = bytes_ + size_;
    std::memcpy(at, name.data(), name.size());
    at += name.size();
    *at++ = ':';
    *at++ = ' ';
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    at += text.size();
    *at++ = '\r';
    *at++ = '\n';
    size_ = static_cast<std::uint32_t>(at - bytes_);
    return true;
}

}  // namespace martlet::inline v0::server
