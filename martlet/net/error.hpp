// What goes wrong in this folder beyond what a system call reports. Each text says what is wrong and what would be right.
#pragma once

#include <cstdint>

#include <martlet/base/error.hpp>

namespace martlet::inline v0::net {

enum class net_error : std::uint8_t {
    address_empty = 1,
    port_missing,
    port_invalid,
    host_invalid,
    ipv4_invalid,
    ipv6_invalid,
    ipv6_without_brackets,
    bracket_open,
    scope_invalid,
    unix_name_empty,
    unix_name_long,
    unix_path_nul,
    address_unusable,  ///< no address, or of a kind that this socket cannot use
    not_listening,     ///< an inherited descriptor that is no listening stream socket
    path_taken,        ///< something that is no socket stands at the path of a Unix socket
    listener_closed,
    stream_closed,    ///< closed or aborted on this side
    ended_early,      ///< the peer sent its FIN before all that was waited for
    buffer_full,      ///< asked to read into a buffer that may not grow
    file_shrank,      ///< a file ended before the range that was to be sent
    file_unreadable,  ///< a range of no open file
    stream_busy,      ///< another operation waits for the same: one a direction at a time
};

extern const error_category net_category;

/// An error of this folder, with who is to blame for it.
error make_error(net_error code) noexcept;

}  // namespace martlet::inline v0::net
