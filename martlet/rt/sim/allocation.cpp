// The replaced operator new, and malloc as the code under test reaches it: programs are linked with --wrap=malloc. Under both lies the real
// malloc, so that the sanitizers see every block.
#include <martlet/rt/sim/allocation.hpp>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace martlet::inline v0::sim {

namespace {

struct counters {
    std::uint64_t made = 0;
    std::uint64_t until_failure = 0;
    int paused = 0;
    bool failed = false;
};

constinit thread_local counters here;

}  // namespace

void fail_allocation(std::uint64_t n) noexcept {
    here.until_failure = n;
    here.failed = false;
}

bool allocation_failed() noexcept { return here.failed; }
std::uint64_t allocations() noexcept { return here.made; }

allocation_pause::allocation_pause() noexcept { ++here.paused; }
allocation_pause::~allocation_pause() { --here.paused; }

allocation_resume::allocation_resume() noexcept : depth_(here.paused) { here.paused = 0; }
allocation_resume::~allocation_resume() { here.paused = depth_; }

bool allocation_fails_now() noexcept {
    if (here.paused > 0) return false;
    ++here.made;
    if (here.until_failure == 0 || --here.until_failure > 0) return false;
    here.failed = true;
    return true;
}

}  // namespace martlet::inline v0::sim

// What the linker makes of malloc. Weak: without --wrap=malloc only operator new and pages are counted.
extern "C" __attribute__((weak)) void* __real_malloc(std::size_t size);
extern "C" void* __wrap_malloc(std::size_t size);

void* __wrap_malloc(std::size_t size) { return martlet::sim::allocation_fails_now() ? nullptr : __real_malloc(size); }

namespace {

void* malloc_uncounted(std::size_t size) noexcept { return __real_malloc != nullptr ? __real_malloc(size) : std::malloc(size); }

void* allocate(std::size_t size, std::size_t alignment) noexcept {
    if (martlet::sim::allocation_fails_now()) return nullptr;
    if (size == 0) size = 1;
    if (alignment <= alignof(std::max_align_t)) return malloc_uncounted(size);
    return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
    void* block = allocate(size, alignment);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}

}  // namespace

void* operator new(std::size_t size) { return allocate_or_throw(size, 1); }
void* operator new[](std::size_t size) { return allocate_or_throw(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) { return allocate_or_throw(size, static_cast<std::size_t>(alignment)); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return allocate_or_throw(size, static_cast<std::size_t>(alignment)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, 1); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { std::free(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept { std::free(block); }
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept { std::free(block); }
