#include <martlet/base/buffer.hpp>

#include <cstdlib>
#include <cstring>

#include <sys/mman.h>

namespace martlet::inline v0 {

constinit const char buffer::no_bytes_[padding_bytes] = {};

namespace {

constexpr std::size_t first_bytes = 512 - padding_bytes;

// From this capacity on storage is a mapping of its own: it grows without a copy, and goes back to the system when it is freed, where malloc
// would keep what peers once made a server hold. A sanitizer sees more of malloc's.
[[maybe_unused]] constexpr std::size_t mapped_bytes_min = 128 * 1024;

bool is_mapped([[maybe_unused]] std::size_t capacity) noexcept {
#if defined(MARTLET_SANITIZED)
    return false;
#else
    return capacity >= mapped_bytes_min;
#endif
}

// Zeroed, because what follows the end is read, and compared, before anything was ever written there.
char* take_storage(std::size_t capacity) noexcept {
    const std::size_t bytes = capacity + padding_bytes;
    if (!is_mapped(capacity)) return static_cast<char*>(std::calloc(1, bytes));
    void* const made = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return made == MAP_FAILED ? nullptr : static_cast<char*>(made);
}

void give_storage(char* storage, std::size_t capacity) noexcept {
    if (is_mapped(capacity)) {
        ::munmap(storage, capacity + padding_bytes);
    } else {
        std::free(storage);
    }
}

// The `held` bytes from `begin` on come to the front; null, with nothing changed, without memory for it.
char* grow_storage(char* storage, std::size_t capacity, std::size_t begin, std::size_t held, std::size_t wanted) noexcept {
    if (storage != nullptr && begin == 0 && is_mapped(capacity)) {
        void* const grown = ::mremap(storage, capacity + padding_bytes, wanted + padding_bytes, MREMAP_MAYMOVE);
        return grown == MAP_FAILED ? nullptr : static_cast<char*>(grown);
    }
    char* const grown = take_storage(wanted);
    if (grown == nullptr) return nullptr;
    if (held != 0) std::memcpy(grown, storage + begin, held);
    if (storage != nullptr) give_storage(storage, capacity);
    return grown;
}

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
        char* const grown = grow_storage(storage_, capacity_, begin_, held, wanted);
        if (grown == nullptr) return {};
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
    free_storage();
    storage_ = nullptr;
    capacity_ = 0;
}

void buffer::free_storage() noexcept {
    if (!adopted_ && storage_ != nullptr) give_storage(storage_, capacity_);
}

}  // namespace martlet::inline v0
