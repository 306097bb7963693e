// stream_info: what is known of a connection: both addresses, and what TLS agreed on.
#pragma once

#include <optional>
#include <string_view>

#include <martlet/net/address.hpp>

namespace martlet::inline v0::net {

/// By value. Setters chain; a transport fills in what it knows.
class stream_info {
public:
    stream_info() noexcept {}

    stream_info& peer(const address& at) noexcept {
        peer_ = at;
        return *this;
    }
    stream_info& local(const address& at) noexcept {
        local_ = at;
        return *this;
    }
    /// `protocol` is not copied: it lives as long as the stream.
    stream_info& alpn(std::string_view protocol) noexcept {
        alpn_ = protocol;
        return *this;
    }
    stream_info& tls(bool on) noexcept {
        tls_ = on;
        return *this;
    }

    const std::optional<address>& peer() const noexcept { return peer_; }
    const std::optional<address>& local() const noexcept { return local_; }
    /// What ALPN agreed on (RFC 7301); empty when nothing. Good as long as the stream.
    std::string_view alpn() const noexcept { return alpn_; }
    bool is_tls() const noexcept { return tls_; }

private:
    std::optional<address> peer_;
    std::optional<address> local_;
    std::string_view alpn_;
    bool tls_ = false;
};

}  // namespace martlet::inline v0::net
