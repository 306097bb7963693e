#include <martlet/base/error.hpp>

#include <cerrno>
#include <cstring>

namespace martlet::inline v0 {

namespace {

std::string_view system_text(int code) noexcept {
    const char* text = ::strerrordesc_np(code);
    return text != nullptr ? std::string_view(text) : std::string_view("unknown system error");
}

std::string_view cancel_text(int code) noexcept {
    switch (static_cast<cancel_reason>(code)) {
    case cancel_reason::none: break;
    case cancel_reason::timed_out: return "timed out";
    case cancel_reason::cancelled: return "cancelled";
    case cancel_reason::peer_gone: return "the peer has gone";
    case cancel_reason::shutting_down: return "shutting down";
    }
    return "not cancelled";
}

blame blame_for(cancel_reason why) noexcept {
    switch (why) {
    case cancel_reason::timed_out:
    case cancel_reason::shutting_down: return blame::system;
    case cancel_reason::peer_gone: return blame::peer;
    case cancel_reason::none:
    case cancel_reason::cancelled: break;
    }
    return blame::local;
}

std::uint16_t status_for(cancel_reason why) noexcept {
    switch (why) {
    case cancel_reason::timed_out: return 504;
    case cancel_reason::shutting_down: return 503;
    case cancel_reason::none:
    case cancel_reason::cancelled:
    case cancel_reason::peer_gone: break;
    }
    return 500;
}

bool peer_did_it(int code) noexcept {
    return code == ECONNRESET || code == EPIPE || code == ECONNREFUSED || code == ECONNABORTED || code == ENOTCONN;
}

bool may_pass(int code) noexcept {
    switch (code) {
    case EAGAIN:
    case EINTR:
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case ECONNREFUSED:
    case ECONNRESET:
    case ETIMEDOUT:
    case ENETUNREACH:
    case EHOSTUNREACH: return true;
    default: return false;
    }
}

}  // namespace

constinit const error_category system_category("system", system_text);
constinit const error_category cancel_category("cancel", cancel_text);

error::error(cancel_reason why) noexcept
    : error(cancel_category, static_cast<int>(why), blame_for(why), status_for(why), why == cancel_reason::timed_out) {}

error error::system(int code) noexcept {
    const bool full = code == ENOMEM || code == ENOBUFS || code == EMFILE || code == ENFILE;
    return error(system_category, code, peer_did_it(code) ? blame::peer : blame::system, full ? 503 : 0, may_pass(code));
}

}  // namespace martlet::inline v0
