// authority: a host and an optional port, as in Host, in an absolute target and in CONNECT.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <martlet/base/result.hpp>

namespace martlet::inline v0::http {

/// A checked `uri-host [ ":" port ]` (RFC 9110 section 7.2) without userinfo. Borrows the bytes it was parsed from.
class authority {
public:
    /// `bad_authority` when `text` is none: an empty host, a byte that no host has, a comma, an IPv6 literal that is no address, a port
    /// that is no number up to 65535. An empty port is grammatical and counts as none.
    static result<authority> parse(std::string_view text) noexcept;

    /// The host; an IP literal keeps its brackets. Case as received.
    std::string_view host() const noexcept { return host_; }
    /// The port, if there is one.
    std::optional<std::uint16_t> port() const noexcept {
        if (!has_port_) return std::nullopt;
        return port_;
    }
    std::uint16_t port_or(std::uint16_t otherwise) const noexcept { return has_port_ ? port_ : otherwise; }

private:
    authority(std::string_view host, bool has_port, std::uint16_t port) noexcept : host_(host), port_(port), has_port_(has_port) {}

    std::string_view host_;
    std::uint16_t port_;
    bool has_port_;
};

/// `text` is an IPv6 address (RFC 3986 section 3.2.2), without brackets and zone.
bool is_ipv6_address(std::string_view text) noexcept;

}  // namespace martlet::inline v0::http
