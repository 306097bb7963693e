// What every test program checks after each test: that nothing is left of it.
#pragma once

namespace martlet::inline v0::testing {

/// Adds a count of living things (frames, timers, loops). A test that ends with another count than it began with fails.
/// `name` has static lifetime. Usable from a static initialiser: `const bool counted = register_live_count("loops", &loops_now);`
bool register_live_count(const char* name, long (*now)()) noexcept;

/// This test may leave descriptors or threads behind, because a library outside does so. Until the test's end.
void allow_leftovers(const char* why) noexcept;

}  // namespace martlet::inline v0::testing
