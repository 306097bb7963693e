// error: what can be wrong with an event.
#pragma once

#include <cstdint>

#include <martlet/base/error.hpp>

namespace martlet::inline v0::sse {

enum class errc : std::uint8_t {
    bad_event = 1,   ///< local: an id or a name with a line end or a NUL
    no_memory,       ///< system: the buffer has no room for the event
    event_too_long,  ///< peer: more than `decoder_limits::event_bytes_max`
};

extern const error_category category;

error make_error(errc code) noexcept;

}  // namespace martlet::inline v0::sse
