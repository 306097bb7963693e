#include <martlet/base/bytes.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace martlet::inline v0 {

struct bytes::string_owner : owner {
    string_owner(void (*destroy_it)(owner*) noexcept, std::string&& from) noexcept : owner{1, destroy_it}, text(std::move(from)) {}
    std::string text;
};

result<bytes> bytes::copy(std::string_view from) noexcept {
    if (from.empty()) return bytes();
    if (from.size() > static_cast<std::size_t>(PTRDIFF_MAX) - sizeof(owner)) return failure(error::system(ENOMEM));
    void* memory = std::malloc(sizeof(owner) + from.size());
    if (memory == nullptr) return failure(error::system(ENOMEM));
    owner* made = new (memory) owner{1, [](owner* last) noexcept { std::free(last); }};
    char* text = static_cast<char*>(memory) + sizeof(owner);
    std::memcpy(text, from.data(), from.size());
    return bytes(std::string_view(text, from.size()), made);
}

result<bytes> bytes::own(std::string&& from) noexcept {
    if (from.empty()) return bytes();
    auto* made = new (std::nothrow) string_owner([](owner* last) noexcept { delete static_cast<string_owner*>(last); }, std::move(from));
    if (made == nullptr) return failure(error::system(ENOMEM));
    return bytes(made->text, made);
}

bytes bytes::sub(std::size_t offset, std::size_t length) const noexcept {
    if (offset >= size()) return {};
    bytes part(view_.substr(offset, length), owner_);
    part.retain();
    return part;
}

void bytes::destroy(owner* last) noexcept { last->destroy(last); }

}  // namespace martlet::inline v0
