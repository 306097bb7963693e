// address: where a socket is: IPv4, IPv6, a Unix path or a Unix abstract name. No names to look up.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <martlet/base/result.hpp>

namespace martlet::inline v0::net {

enum class address_family : std::uint8_t {
    none,  ///< no address
    ipv4,
    ipv6,
    unix_path,      ///< a socket in the file system
    unix_abstract,  ///< a name that lives as long as its socket
    unix_unnamed,   ///< a Unix socket that was bound to nothing, as most clients are
};

/// A socket's address, by value: 116 bytes, trivially copyable, takes no memory elsewhere.
class address {
public:
    /// A Unix path has at most this many bytes, an abstract name one less.
    static constexpr std::size_t path_bytes_max = 107;
    static constexpr std::size_t storage_bytes = 112;

    /// No address.
    address() noexcept = default;

    /// Reads `127.0.0.1:80`, `[::1]:80`, `[fe80::1%2]:80`, `localhost:80` (127.0.0.1), `:80` (all of this machine: `[::]:80`),
    /// `unix:/path` or `unix:@name`. Looks nothing up: any other name is an error.
    static result<address> parse(std::string_view text) noexcept;

    static address ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, std::uint16_t port) noexcept;
    /// `host` in network order. `scope_id` is the number of the interface, for link-local addresses.
    static address ipv6(std::span<const std::uint8_t, 16> host, std::uint16_t port, std::uint32_t scope_id = 0) noexcept;
    static address ipv4_loopback(std::uint16_t port) noexcept { return ipv4(127, 0, 0, 1, port); }
    static address ipv4_any(std::uint16_t port) noexcept { return ipv4(0, 0, 0, 0, port); }
    static address ipv6_loopback(std::uint16_t port) noexcept;
    static address ipv6_any(std::uint16_t port) noexcept;
    static result<address> unix_path(std::string_view path) noexcept;
    /// `name` without the '@'; may hold any bytes.
    static result<address> unix_abstract(std::string_view name) noexcept;
    /// From what the system wrote. What it does not know becomes `none`.
    static address from_system(const void* bytes, unsigned length) noexcept;

    address_family family() const noexcept { return family_; }
    bool is_ip() const noexcept { return family_ == address_family::ipv4 || family_ == address_family::ipv6; }
    bool is_unix() const noexcept { return family_ >= address_family::unix_path; }
    explicit operator bool() const noexcept { return family_ != address_family::none; }

    /// 0 for Unix sockets.
    std::uint16_t port() const noexcept;
    address with_port(std::uint16_t port) const noexcept;
    /// IPv4 where this is IPv4 written as IPv6 (`::ffff:1.2.3.4`), as a dual-stack socket reports its peers; else the same.
    address unmapped() const noexcept;
    std::uint32_t scope_id() const noexcept;
    /// 4 or 16 bytes in network order; none for Unix sockets. IPv4 in IPv6 (`::ffff:1.2.3.4`) stays IPv6 here.
    std::span<const std::uint8_t> host() const noexcept;
    /// The path or the abstract name, without '@'; empty for others.
    std::string_view name() const noexcept;
    bool is_loopback() const noexcept;
    /// Stands for all addresses of this machine.
    bool is_any() const noexcept;

    /// In the form that `parse` reads; an unnamed Unix socket is `unix:`, no address is empty.
    std::string text() const;

    /// For the seam: laid out as the system's socket address.
    const void* data() const noexcept { return bytes_; }
    unsigned size() const noexcept { return size_; }
    /// The system's number for the family.
    int system_family() const noexcept;

    friend bool operator==(const address& a, const address& b) noexcept { return (a <=> b) == 0; }
    /// By family, then host, port and scope, or name.
    friend std::strong_ordering operator<=>(const address& a, const address& b) noexcept;

private:
    alignas(4) unsigned char bytes_[storage_bytes] = {};
    std::uint16_t size_ = 0;
    address_family family_ = address_family::none;
};

}  // namespace martlet::inline v0::net
