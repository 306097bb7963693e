#include <martlet/base/buffer.hpp>

#include <cstdlib>
#include <cstring>

namespace martlet::inline v0 {

constinit const char buffer::no_bytes_[padding_bytes] = {};

namespace {

constexpr std::size_t first_bytes = 512 - padding_bytes;

}  // namespace

buffer buffer::over(char* storage, std::size_t bytes) noexcept {
    MARTLET_ASSERT(bytes > padding_bytes && bytes - padding_bytes <= limit_bytes_max,
                   "buffer::over needs more than 64 bytes and less than 2 GiB");
    buffer made(bytes - padding_bytes);
    made.storage_ = storage;
    made.capacity_ = made.limit_;
    made.adopted_ = true;
    return made;
}

std::span<char> buffer::prepare_slowly(std::size_t n) noexcept {
    const std::size_t held = size();
    if (n > limit_ - held || limit_ == 0) return {};
    if (n <= capacity_ - held && storage_ != nullptr) {
        std::memmove(storage_, storage_ + begin_, held);
    } else {
        std::size_t wanted = std::size_t{capacity_} * 2;
        if (wanted < first_bytes) wanted = first_bytes;
        if (wanted < held + n) wanted = held + n;
        if (wanted > limit_) wanted = limit_;
        // Zeroed, because what follows the end is read, and compared, before anything was ever written there.
        char* grown = static_cast<char*>(std::calloc(1, wanted + padding_bytes));
        if (grown == nullptr) return {};
        if (held != 0) std::memcpy(grown, storage_ + begin_, held);
        std::free(storage_);
        storage_ = grown;
        capacity_ = static_cast<std::uint32_t>(wanted);
    }
    begin_ = 0;
    end_ = static_cast<std::uint32_t>(held);
    return {storage_ + end_, capacity_ - end_};
}

bool buffer::append(std::string_view bytes) noexcept {
    if (bytes.empty()) return true;
    const std::span<char> room = prepare(bytes.size());
    if (room.empty()) return false;
    std::memcpy(room.data(), bytes.data(), bytes.size());
    commit(bytes.size());
    return true;
}

void buffer::release() noexcept {
    clear();
    if (adopted_) return;
    std::free(storage_);
    storage_ = nullptr;
    capacity_ = 0;
}

void buffer::free_storage() noexcept {
    if (!adopted_) std::free(storage_);
}

}  // namespace martlet::inline v0
