// observer: what happens in a server, told to one object. Without one it costs a branch.
#pragma once

#include <cstdint>
#include <string_view>

#include <martlet/base/error.hpp>
#include <martlet/base/time.hpp>

namespace martlet::inline v0::server {

class exchange;

/// Why a connection ended.
enum class close_reason : std::uint8_t {
    finished,       ///< an answer said `Connection: close`, and it was delivered
    peer_closed,    ///< the peer sent its FIN between requests
    peer_vanished,  ///< the peer reset the connection, or closed it inside a request
    refused,        ///< a request broke a rule or a limit; the answer says which
    timed_out,      ///< a timeout of server::limits
    over_limit,     ///< connections_max or buffered_bytes_max
    moved,          ///< it goes on on another loop, under another id
    shutting_down,  ///< the server stopped
    failed,         ///< memory or the system failed
};

std::string_view text(close_reason why) noexcept;

/// Called on the loop's thread, in the middle of serving: it must be quick, must not block and must not throw. It outlives the server, and
/// with several threads it is called from all of them.
class observer {
public:
    /// Names a connection as long as it is open.
    using connection_id = std::uint64_t;

    virtual ~observer() = default;
    virtual void accepted(connection_id) noexcept {}
    /// A head was parsed; nothing was answered yet.
    virtual void head(connection_id, const exchange&) noexcept {}
    /// The head of an answer was queued.
    virtual void response_head(connection_id, const exchange&, int /*status*/) noexcept {}
    /// An exchange is over: `status` 0 when it was never answered.
    virtual void end(connection_id, const exchange&, int /*status*/, std::uint64_t /*response_bytes*/) noexcept {}
    /// A head was refused; the error names the rule or limit, and its hint is the status that was answered.
    virtual void refused(connection_id, error) noexcept {}
    /// A timeout or a limit of server::limits, by its name there.
    virtual void limit_hit(connection_id, std::string_view /*name*/) noexcept {}
    /// With the id 0 for one that was refused by connections_max, of which nothing else was told.
    virtual void closed(connection_id, close_reason) noexcept {}
    /// A loop is held by `activity`, a route's path, for `lasting` so far. Called on the watching thread of options::report_stalls.
    virtual void stalled(std::string_view /*activity*/, duration /*lasting*/) noexcept {}
};

}  // namespace martlet::inline v0::server
