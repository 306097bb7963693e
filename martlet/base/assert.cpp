#include <martlet/base/assert.hpp>

#include <cstdio>
#include <cstdlib>

namespace martlet::inline v0::detail {

void assertion_failed(const char* condition, const char* rule, const char* file, int line) noexcept {
    std::fprintf(stderr, "martlet: %s\n  (%s is false, %s:%d)\n", rule, condition, file, line);
    std::fflush(stderr);
    std::abort();
}

}  // namespace martlet::inline v0::detail
