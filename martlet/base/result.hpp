// result<T>: a value, or the error that kept it from being made.
#pragma once

#include <expected>
#include <type_traits>
#include <utility>

#include <martlet/base/error.hpp>

namespace martlet::inline v0 {

/// What can fail returns this. `.value()` throws `std::bad_expected_access<error>` when there is none.
template <class T>
using result = std::expected<T, error>;

/// The failing result: `return failure(error::system(EPIPE));`
inline std::unexpected<error> failure(error e) noexcept { return std::unexpected<error>(e); }

template <class T>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<std::expected<T, error>> = true;

}  // namespace martlet::inline v0
