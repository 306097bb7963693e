#include <martlet/base/slice.hpp>

#include <cerrno>
#include <new>

namespace martlet::inline v0 {

slice::slice(bytes from) noexcept : data_(from.data()), size_(from.size()) {
    if (from.owner_ == nullptr) return;
    context_ = std::exchange(from.owner_, nullptr);
    release_ = [](void* context) noexcept {
        auto* shared = static_cast<bytes::owner*>(context);
        if (--shared->count == 0) bytes::destroy(shared);
    };
}

slice slice::own(std::string&& from) noexcept {
    if (result<bytes> owned = bytes::own(std::move(from))) return slice(std::move(*owned));
    slice none;
    none.size_ = failed_size;
    return none;
}

result<file_owner> file_owner::adopt(int descriptor, release_function release, void* context) noexcept {
    auto* made = new (std::nothrow) shared{1, descriptor, release, context};
    if (made == nullptr) return failure(error::system(ENOMEM));
    return file_owner(made);
}

void file_owner::destroy(shared* last) noexcept {
    if (last->release != nullptr) last->release(last->descriptor, last->context);
    delete last;
}

}  // namespace martlet::inline v0
