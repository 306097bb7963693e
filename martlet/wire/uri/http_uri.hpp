// http_uri: an absolute http or https URI (RFC 9110 section 4.2): where to connect, what to ask for, and its normal form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <martlet/base/result.hpp>
#include <martlet/wire/http/authority.hpp>

namespace martlet::inline v0::uri {

/// Whether a URI may carry a user's name: in what a program was configured with it may, in what a peer sent it is a trap.
enum class userinfo : bool { refused, accepted };

/// A checked http or https URI. Borrows the bytes it was parsed from.
class http_uri {
public:
    /// Beside what `reference::parse` refuses: `bad_scheme` for other schemes, `bad_authority` for an empty host, `has_userinfo`, and
    /// `bad_host` for a host with escapes or one that ends in a number and is no IPv4 address in plain form ("0x7f.1", "192.168.257").
    static result<http_uri> parse(std::string_view text, userinfo user = userinfo::refused) noexcept;

    bool is_https() const noexcept { return https_; }
    /// Case as received; an IPv6 address keeps its brackets.
    std::string_view host() const noexcept { return authority_.host(); }
    /// The port given, or the scheme's.
    std::uint16_t port() const noexcept { return authority_.port_or(default_port()); }
    std::uint16_t default_port() const noexcept { return https_ ? 443 : 80; }
    /// "name" or "name:password", undecoded.
    std::optional<std::string_view> userinfo_text() const noexcept { return userinfo_; }
    /// As received; may be empty, which means "/".
    std::string_view path() const noexcept { return path_; }
    std::optional<std::string_view> query() const noexcept { return query_; }
    std::optional<std::string_view> fragment() const noexcept { return fragment_; }

    /// What a request for it says as its target (RFC 9112 section 3.2.1): path and query.
    std::string target() const;
    /// The value of Host: the host in lower case, and the port unless it is the scheme's.
    std::string host_field() const;
    /// The normal form (RFC 3986 section 6.2.2, RFC 9110 section 4.2.3): lower case, no default port, no empty name or password, no dot
    /// segments, unreserved bytes not escaped, escapes in upper case, "/" for an empty path. Two URIs with one normal form are one.
    std::string normal() const;

    /// Scheme, host and port are the same (RFC 9110 section 4.3.1).
    bool is_same_origin(const http_uri& other) const noexcept;

private:
    explicit http_uri(http::authority at) noexcept : authority_(at) {}

    http::authority authority_;
    bool https_ = false;
    std::optional<std::string_view> userinfo_;
    std::string_view path_;
    std::optional<std::string_view> query_;
    std::optional<std::string_view> fragment_;
};

}  // namespace martlet::inline v0::uri
