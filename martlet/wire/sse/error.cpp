#include <martlet/wire/sse/error.hpp>

namespace martlet::inline v0::sse {

namespace {

std::string_view text_of(int code) noexcept {
    switch (static_cast<errc>(code)) {
    case errc::bad_event: return "an event whose id or name has a line end or a NUL";
    case errc::no_memory: return "no room for an event";
    case errc::event_too_long: return "an event longer than event_bytes_max allows";
    }
    return "unknown event error";
}

}  // namespace

const error_category category("sse", &text_of);

error make_error(errc code) noexcept {
    switch (code) {
    case errc::event_too_long: return {category, static_cast<int>(code), blame::peer, 502};
    case errc::no_memory: return {category, static_cast<int>(code), blame::system, 503};
    case errc::bad_event: break;
    }
    return {category, static_cast<int>(code), blame::local, 500};
}

}  // namespace martlet::inline v0::sse
