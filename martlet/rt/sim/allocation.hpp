// Counts what operator new, malloc and map_pages are asked for, and fails one of the requests. Stands in every program that links the
// simulation.
#pragma once

#include <cstdint>

namespace martlet::inline v0::sim {

/// The `n`-th request from now (1 is the next) on this thread fails once: operator new throws or, nothrow, gives null; malloc and map_pages
/// give null. 0: none does.
void fail_allocation(std::uint64_t n) noexcept;
/// Whether the request chosen by `fail_allocation` came.
bool allocation_failed() noexcept;
/// Requests on this thread so far, but for those of the simulated kernel and the harness.
std::uint64_t allocations() noexcept;

/// Requests made while one of these lives neither count nor fail.
class allocation_pause {
public:
    allocation_pause() noexcept;
    allocation_pause(const allocation_pause&) = delete;
    allocation_pause& operator=(const allocation_pause&) = delete;
    ~allocation_pause();
};

/// The opposite, for code under test that is called from inside the simulated kernel.
class allocation_resume {
public:
    allocation_resume() noexcept;
    allocation_resume(const allocation_resume&) = delete;
    allocation_resume& operator=(const allocation_resume&) = delete;
    ~allocation_resume();

private:
    int depth_;
};

/// Counts one request; true when it is to fail. For allocators that do not come to operator new.
bool allocation_fails_now() noexcept;

}  // namespace martlet::inline v0::sim
