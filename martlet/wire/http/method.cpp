#include <martlet/wire/http/method.hpp>

namespace martlet::inline v0::http {

namespace {

constexpr std::string_view names[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", ""};

}  // namespace

std::string_view text(method m) noexcept { return names[static_cast<std::uint8_t>(m)]; }

method method_of(std::string_view token) noexcept {
    for (std::uint8_t i = 0; i < static_cast<std::uint8_t>(method::other); ++i) {
        if (names[i] == token) return static_cast<method>(i);
    }
    return method::other;
}

}  // namespace martlet::inline v0::http
