// For streams that cannot send a file as it is: reads the bytes of a file range. Private to this folder.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include <martlet/base/slice.hpp>
#include <martlet/rt/descriptor.hpp>
#include <martlet/rt/kernel.hpp>

namespace martlet::inline v0::net::detail {

/// Lends a descriptor that somebody else owns to a call of the seam.
class borrowed_descriptor {
public:
    explicit borrowed_descriptor(int number) noexcept : lent_(number) {}
    borrowed_descriptor(const borrowed_descriptor&) = delete;
    borrowed_descriptor& operator=(const borrowed_descriptor&) = delete;
    ~borrowed_descriptor() { static_cast<void>(lent_.release()); }

    const descriptor& owner() const noexcept { return lent_; }

private:
    descriptor lent_;
};

/// Reads from the start of `from` into `out`. Bytes read, 0 where the file has ended, or a negated errno value.
inline std::ptrdiff_t read_file_front(const file_range& from, std::span<char> out) noexcept {
    const borrowed_descriptor file(from.descriptor());
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(from.length(), out.size()));
    for (;;) {
        const std::ptrdiff_t got = kernel::file_read_at(file.owner(), out.data(), size, static_cast<std::int64_t>(from.offset()));
        if (got != -EINTR) return got;
    }
}

}  // namespace martlet::inline v0::net::detail
