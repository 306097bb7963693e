// A log sink that writes lines to standard error.
#pragma once

#include <martlet/base/log.hpp>

namespace martlet::inline v0::log {

/// Each record is one line, `level=warn msg="..." name=value`, written whole by one call. Lives as long as the program.
sink& stderr_sink() noexcept;

}  // namespace martlet::inline v0::log
