#include <martlet/server/observer.hpp>

namespace martlet::inline v0::server {

std::string_view text(close_reason why) noexcept {
    switch (why) {
    case close_reason::finished: return "finished";
    case close_reason::peer_closed: return "peer closed";
    case close_reason::peer_vanished: return "peer vanished";
    case close_reason::refused: return "refused";
    case close_reason::timed_out: return "timed out";
    case close_reason::over_limit: return "over limit";
    case close_reason::moved: return "moved";
    case close_reason::shutting_down: return "shutting down";
    case close_reason::failed: return "failed";
    }
    return "unknown";
}

}  // namespace martlet::inline v0::server
