#include <martlet/rt/processors.hpp>

#include <martlet/rt/kernel.hpp>

namespace martlet::inline v0 {

unsigned processors_usable() noexcept {
    const int count = kernel::processors_allowed();
    return count > 0 ? static_cast<unsigned>(count) : 1;
}

}  // namespace martlet::inline v0
