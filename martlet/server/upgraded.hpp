// upgraded: what a handler has after the protocol was changed: the connection itself.
#pragma once

#include <string_view>

namespace martlet::inline v0::net {
class byte_stream;
}

namespace martlet::inline v0::server {

/// Given back by response::upgrade(). Good until the handler ends, and with it the connection, which is then closed.
///
/// The server reads and writes no more, and no timeout of a request holds. When it stops, the handler's context is cancelled with
/// `shutting_down`, and the connection is reset when the time to drain is over.
class upgraded {
public:
    upgraded(net::byte_stream& stream, std::string_view already_read) noexcept : stream_(&stream), already_read_(already_read) {}

    net::byte_stream& stream() const noexcept { return *stream_; }
    /// What the peer sent behind its request, which the stream does not give again.
    std::string_view already_read() const noexcept { return already_read_; }

private:
    net::byte_stream* stream_;
    std::string_view already_read_;
};

}  // namespace martlet::inline v0::server
