// date: HTTP dates (RFC 9110 section 5.6.7). No clock: the time is an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace martlet::inline v0::http {

/// The size of an IMF-fixdate: "Sun, 06 Nov 1994 08:49:37 GMT".
inline constexpr std::size_t date_bytes = 29;

/// The seconds since 1970 of the first and last second that an IMF-fixdate can name: years 0000 to 9999.
inline constexpr std::int64_t date_seconds_min = -62167219200;
inline constexpr std::int64_t date_seconds_max = 253402300799;

/// Writes `date_bytes` bytes to `out` and returns the byte behind them. `unix_seconds` counts from 1970 in UTC; out of range is clamped.
char* write_date(char* out, std::int64_t unix_seconds) noexcept;

/// Reads an IMF-fixdate, an RFC 850 date or an asctime date; nothing when `text` is none or names no day of the calendar. A two-digit
/// year is the one within 50 years after `now_seconds` or in the past. The day's name must be a day's name but is not compared with the
/// date. A leap second counts as the second before it.
std::optional<std::int64_t> parse_date(std::string_view text, std::int64_t now_seconds) noexcept;

}  // namespace martlet::inline v0::http
