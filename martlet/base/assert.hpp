// MARTLET_ASSERT: on in every build. For misuse that breaks memory safety, never for what a request's data can bring about.
#pragma once

namespace martlet::inline v0::detail {

/// Prints the broken rule and where it was broken to standard error, then aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* rule, const char* file, int line) noexcept;

}  // namespace martlet::inline v0::detail

/// Aborts, naming `rule`, unless `condition` holds. `rule` says what the caller must do, as a sentence.
#define MARTLET_ASSERT(condition, rule) \
    (__builtin_expect(static_cast<bool>(condition), true) ? static_cast<void>(0) \
                                                          : ::martlet::detail::assertion_failed(#condition, rule, __FILE__, __LINE__))
