// Where pools take their pages from. An interface, so that whoever owns a loop decides how memory is mapped.
#pragma once

#include <cstddef>

namespace martlet::inline v0 {

/// The size and the alignment of a page of a page_source.
inline constexpr std::size_t page_bytes = 64 * 1024;

/// Gives and takes memory in pages of 64 KiB.
class page_source {
public:
    /// `bytes`, a multiple of 64 KiB, aligned to 64 KiB; null when memory is out. The contents are unspecified.
    virtual void* allocate_pages(std::size_t bytes) noexcept = 0;
    /// Takes back what allocate_pages gave, with the same `bytes`.
    virtual void free_pages(void* pages, std::size_t bytes) noexcept = 0;

protected:
    ~page_source() = default;
};

/// Pages from malloc, for use without a loop. Any thread may call it at any time.
page_source& malloc_pages() noexcept;

}  // namespace martlet::inline v0
