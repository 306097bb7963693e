// route_options: what one handler says about its requests when it is added to a router.
#pragma once

#include <cstdint>
#include <optional>

#include <martlet/base/time.hpp>

namespace martlet::inline v0::server {

/// Setters chain: app.post("/up", h, route_options().body_bytes_max(10 << 20).handler_timeout(5s)).
class route_options {
public:
    constexpr route_options() noexcept = default;

    /// Content of one request; beyond it 413. Without it limits::body_bytes_max holds.
    constexpr route_options& body_bytes_max(std::uint64_t bytes) noexcept {
        body_bytes_max_ = bytes;
        return *this;
    }
    /// The handler never looks at content: it runs at the head, and what was sent is dropped.
    constexpr route_options& ignores_body(bool on = true) noexcept {
        ignores_body_ = on;
        return *this;
    }
    /// From a request's head to the end of a handler that may wait, which is cancelled then; 0 is no limit. Without it
    /// limits::handler_timeout holds.
    constexpr route_options& handler_timeout(duration time) noexcept {
        handler_timeout_ = time;
        return *this;
    }
    /// A FIN of the peer does not cancel the handler.
    constexpr route_options& keeps_running_after_fin(bool on = true) noexcept {
        keeps_running_after_fin_ = on;
        return *this;
    }

    constexpr std::optional<std::uint64_t> body_bytes_max() const noexcept { return body_bytes_max_; }
    constexpr bool ignores_body() const noexcept { return ignores_body_; }
    constexpr std::optional<duration> handler_timeout() const noexcept { return handler_timeout_; }
    constexpr bool keeps_running_after_fin() const noexcept { return keeps_running_after_fin_; }

private:
    std::optional<std::uint64_t> body_bytes_max_ = std::nullopt;
    std::optional<duration> handler_timeout_ = std::nullopt;
    bool ignores_body_ = false;
    bool keeps_running_after_fin_ = false;
};

}  // namespace martlet::inline v0::server
