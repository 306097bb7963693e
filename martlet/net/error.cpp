#include <martlet/net/error.hpp>

namespace martlet::inline v0::net {

namespace {

std::string_view net_text(int code) noexcept {
    switch (static_cast<net_error>(code)) {
    case net_error::address_empty: return "the address is empty: write 127.0.0.1:8080, [::1]:8080, :8080, unix:/path or unix:@name";
    case net_error::port_missing: return "the address has no port: write it behind a colon, as in 127.0.0.1:8080 or :8080";
    case net_error::port_invalid: return "the port is no number from 0 to 65535";
    case net_error::host_invalid: return "the host is no IP address, and names are not looked up here: write 127.0.0.1, [::1] or localhost";
    case net_error::ipv4_invalid: return "the IPv4 address is not four numbers from 0 to 255 with dots between them and no leading zeros";
    case net_error::ipv6_invalid: return "what stands in the brackets is no IPv6 address";
    case net_error::ipv6_without_brackets: return "an IPv6 address stands in brackets, to tell it from its port: [::1]:8080";
    case net_error::bracket_open: return "the bracket before the IPv6 address is not closed: write [::1]:8080";
    case net_error::scope_invalid:
        return "the scope of an IPv6 address is the number of an interface, from 1 to 4294967295: [fe80::1%2]:8080";
    case net_error::unix_name_empty: return "the Unix socket has no name: write unix:/path or unix:@name";
    case net_error::unix_name_long: return "the name of a Unix socket is too long: a path has at most 107 bytes, an abstract name 106";
    case net_error::unix_path_nul: return "the path of a Unix socket has a zero byte in it";
    case net_error::address_unusable: return "this kind of socket cannot use this kind of address";
    case net_error::not_listening: return "the inherited descriptor is no stream socket that listens";
    case net_error::path_taken: return "a file that is no socket stands at the path: choose another or remove it";
    case net_error::listener_closed: return "the listener is closed";
    case net_error::stream_closed: return "the stream was closed or aborted on this side";
    case net_error::ended_early: return "the peer ended the stream before all that was expected had come";
    case net_error::buffer_full: return "the buffer to read into is full and may not grow";
    case net_error::file_shrank: return "the file ended before the range that was to be sent: it was truncated meanwhile";
    case net_error::file_unreadable: return "the file range to send belongs to no open file";
    case net_error::stream_busy: return "another operation waits in the same direction: only one at a time can";
    }
    return "unknown network error";
}

}  // namespace

constinit const error_category net_category("net", net_text);

error make_error(net_error code) noexcept {
    const blame who = code == net_error::ended_early ? blame::peer : blame::local;
    return error(net_category, static_cast<int>(code), who);
}

}  // namespace martlet::inline v0::net
