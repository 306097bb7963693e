// How many processors this process may use.
#pragma once

namespace martlet::inline v0 {

/// What the process's affinity allows; at least 1.
unsigned processors_usable() noexcept;

}  // namespace martlet::inline v0
