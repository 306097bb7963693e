#include <martlet/net/address.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <martlet/net/error.hpp>

namespace martlet::inline v0::net {

namespace {

constexpr std::size_t path_offset = offsetof(::sockaddr_un, sun_path);

static_assert(sizeof(::sockaddr_in6) <= address::storage_bytes && sizeof(::sockaddr_un) <= address::storage_bytes);
static_assert(sizeof(::sockaddr_un::sun_path) == address::path_bytes_max + 1);

std::unexpected<error> refuse(net_error why) noexcept { return failure(make_error(why)); }

template <class Number>
bool read_number(std::string_view text, Number& out) noexcept {
    // from_chars takes a minus sign for signed types only, and no plus sign.
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
    return code == std::errc() && end == text.data() + text.size();
}

// inet_pton wants a terminated string.
bool read_host(int family, std::string_view text, void* out) noexcept {
    char terminated[INET6_ADDRSTRLEN];
    if (text.size() >= sizeof terminated || text.find('\0') != text.npos) return false;
    text.copy(terminated, text.size());
    terminated[text.size()] = '\0';
    return ::inet_pton(family, terminated, out) == 1;
}

result<std::uint16_t> read_port(std::string_view text) noexcept {
    std::uint16_t port = 0;
    if (!read_number(text, port)) return refuse(net_error::port_invalid);
    return port;
}

result<address> read_bracketed(std::string_view text) noexcept {
    const std::size_t close = text.find(']');
    if (close == text.npos) return refuse(net_error::bracket_open);
    std::string_view host = text.substr(1, close - 1);
    const std::string_view rest = text.substr(close + 1);
    std::uint32_t scope = 0;
    if (const std::size_t percent = host.find('%'); percent != host.npos) {
        if (!read_number(host.substr(percent + 1), scope) || scope == 0) return refuse(net_error::scope_invalid);
        host = host.substr(0, percent);
    }
    std::uint8_t bytes[16];
    if (!read_host(AF_INET6, host, bytes)) return refuse(net_error::ipv6_invalid);
    if (rest.empty()) return refuse(net_error::port_missing);
    if (rest.front() != ':') return refuse(net_error::port_invalid);
    const result<std::uint16_t> port = read_port(rest.substr(1));
    if (!port) return failure(port.error());
    return address::ipv6(bytes, *port, scope);
}

}  // namespace

result<address> address::parse(std::string_view text) noexcept {
    if (text.empty()) return refuse(net_error::address_empty);
    if (text.starts_with("unix:")) {
        const std::string_view name = text.substr(5);
        return name.starts_with('@') ? unix_abstract(name.substr(1)) : unix_path(name);
    }
    if (text.front() == '[') return read_bracketed(text);
    const std::size_t colon = text.find(':');
    if (colon == text.npos) return refuse(net_error::port_missing);
    if (text.find(':', colon + 1) != text.npos) return refuse(net_error::ipv6_without_brackets);
    const std::string_view host = text.substr(0, colon);
    const result<std::uint16_t> port = read_port(text.substr(colon + 1));
    if (!port) return failure(port.error());
    if (host.empty()) return ipv6_any(*port);
    if (host == "localhost") return ipv4_loopback(*port);
    if (host.find_first_not_of("0123456789.") != host.npos) return refuse(net_error::host_invalid);
    std::uint8_t bytes[4];
    if (!read_host(AF_INET, host, bytes)) return refuse(net_error::ipv4_invalid);
    return ipv4(bytes[0], bytes[1], bytes[2], bytes[3], *port);
}

address address::ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, std::uint16_t port) noexcept {
    ::sockaddr_in raw{};
    raw.sin_family = AF_INET;
    raw.sin_port = htons(port);
    const std::uint8_t host[4] = {a, b, c, d};
    std::memcpy(&raw.sin_addr, host, sizeof host);
    return from_system(&raw, sizeof raw);
}

address address::ipv6(std::span<const std::uint8_t, 16> host, std::uint16_t port, std::uint32_t scope_id) noexcept {
    ::sockaddr_in6 raw{};
    raw.sin6_family = AF_INET6;
    raw.sin6_port = htons(port);
    raw.sin6_scope_id = scope_id;
    std::memcpy(&raw.sin6_addr, host.data(), host.size());
    return from_system(&raw, sizeof raw);
}

address address::ipv6_loopback(std::uint16_t port) noexcept {
    constexpr std::uint8_t host[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    return ipv6(host, port);
}

address address::ipv6_any(std::uint16_t port) noexcept {
    constexpr std::uint8_t host[16] = {};
    return ipv6(host, port);
}

result<address> address::unix_path(std::string_view path) noexcept {
    if (path.empty()) return refuse(net_error::unix_name_empty);
    if (path.size() > path_bytes_max) return refuse(net_error::unix_name_long);
    if (path.find('\0') != path.npos) return refuse(net_error::unix_path_nul);
    ::sockaddr_un raw{};
    raw.sun_family = AF_UNIX;
    path.copy(raw.sun_path, path.size());
    return from_system(&raw, static_cast<unsigned>(path_offset + path.size() + 1));
}

result<address> address::unix_abstract(std::string_view name) noexcept {
    if (name.empty()) return refuse(net_error::unix_name_empty);
    if (name.size() > path_bytes_max - 1) return refuse(net_error::unix_name_long);
    ::sockaddr_un raw{};
    raw.sun_family = AF_UNIX;
    name.copy(raw.sun_path + 1, name.size());
    return from_system(&raw, static_cast<unsigned>(path_offset + 1 + name.size()));
}

address address::from_system(const void* bytes, unsigned length) noexcept {
    address made;
    ::sa_family_t family = AF_UNSPEC;
    if (length < sizeof family) return made;
    std::memcpy(&family, bytes, sizeof family);
    unsigned kept = 0;
    if (family == AF_INET && length >= sizeof(::sockaddr_in)) {
        made.family_ = address_family::ipv4;
        kept = sizeof(::sockaddr_in);
    } else if (family == AF_INET6 && length >= sizeof(::sockaddr_in6)) {
        made.family_ = address_family::ipv6;
        kept = sizeof(::sockaddr_in6);
    } else if (family == AF_UNIX) {
        kept = std::min<unsigned>(length, sizeof(::sockaddr_un));
        const auto* path = static_cast<const char*>(bytes) + path_offset;
        if (kept <= path_offset) {
            made.family_ = address_family::unix_unnamed;
        } else if (path[0] == '\0') {
            made.family_ = address_family::unix_abstract;
        } else {
            // One form for each path, whether or not the system counted the zero behind it.
            kept = static_cast<unsigned>(path_offset + ::strnlen(path, kept - path_offset) + 1);
            if (kept > sizeof(::sockaddr_un)) kept = sizeof(::sockaddr_un);
            made.family_ = address_family::unix_path;
            std::memcpy(made.bytes_, bytes, kept - 1);
            made.size_ = static_cast<std::uint16_t>(kept);
            return made;
        }
    }
    std::memcpy(made.bytes_, bytes, kept);
    made.size_ = static_cast<std::uint16_t>(kept);
    return made;
}

std::uint16_t address::port() const noexcept {
    if (!is_ip()) return 0;
    // The port stands at the same place in both.
    static_assert(offsetof(::sockaddr_in, sin_port) == offsetof(::sockaddr_in6, sin6_port));
    std::uint16_t port;
    std::memcpy(&port, bytes_ + offsetof(::sockaddr_in, sin_port), sizeof port);
    return ntohs(port);
}

address address::with_port(std::uint16_t port) const noexcept {
    address made = *this;
    if (is_ip()) {
        const std::uint16_t raw = htons(port);
        std::memcpy(made.bytes_ + offsetof(::sockaddr_in, sin_port), &raw, sizeof raw);
    }
    return made;
}

address address::unmapped() const noexcept {
    constexpr std::uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    const std::span<const std::uint8_t> from = host();
    if (from.size() != 16 || !std::ranges::equal(from.first(12), prefix)) return *this;
    return ipv4(from[12], from[13], from[14], from[15], port());
}

std::uint32_t address::scope_id() const noexcept {
    if (family_ != address_family::ipv6) return 0;
    std::uint32_t scope;
    std::memcpy(&scope, bytes_ + offsetof(::sockaddr_in6, sin6_scope_id), sizeof scope);
    return scope;
}

std::span<const std::uint8_t> address::host() const noexcept {
    if (family_ == address_family::ipv4) return {bytes_ + offsetof(::sockaddr_in, sin_addr), 4};
    if (family_ == address_family::ipv6) return {bytes_ + offsetof(::sockaddr_in6, sin6_addr), 16};
    return {};
}

std::string_view address::name() const noexcept {
    const char* at = reinterpret_cast<const char*>(bytes_) + path_offset;
    if (family_ == address_family::unix_path) return {at, size_ - path_offset - 1};
    if (family_ == address_family::unix_abstract) return {at + 1, size_ - path_offset - 1};
    return {};
}

bool address::is_loopback() const noexcept {
    const address plain = unmapped();
    if (plain.family_ == address_family::ipv4) return plain.host()[0] == 127;
    return family_ == address_family::ipv6 && std::ranges::equal(host(), ipv6_loopback(0).host());
}

bool address::is_any() const noexcept {
    return is_ip() && std::ranges::all_of(host(), [](std::uint8_t byte) { return byte == 0; });
}

int address::system_family() const noexcept {
    switch (family_) {
    case address_family::none: break;
    case address_family::ipv4: return AF_INET;
    case address_family::ipv6: return AF_INET6;
    case address_family::unix_path:
    case address_family::unix_abstract:
    case address_family::unix_unnamed: return AF_UNIX;
    }
    return AF_UNSPEC;
}

std::string address::text() const {
    std::string out;
    if (is_unix()) {
        out = family_ == address_family::unix_abstract ? "unix:@" : "unix:";
        out += name();
    } else if (is_ip()) {
        char host_text[INET6_ADDRSTRLEN] = {};
        ::inet_ntop(system_family(), host().data(), host_text, sizeof host_text);
        const bool is_v6 = family_ == address_family::ipv6;
        if (is_v6) out += '[';
        out += host_text;
        if (scope_id() != 0) out += '%' + std::to_string(scope_id());
        if (is_v6) out += ']';
        out += ':' + std::to_string(port());
    }
    return out;
}

std::strong_ordering operator<=>(const address& a, const address& b) noexcept {
    if (const auto order = a.family_ <=> b.family_; order != 0) return order;
    if (a.is_unix()) return a.name() <=> b.name();
    const auto x = a.host();
    const auto y = b.host();
    if (const auto order = std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end()); order != 0) return order;
    if (const auto order = a.port() <=> b.port(); order != 0) return order;
    return a.scope_id() <=> b.scope_id();
}

}  // namespace martlet::inline v0::net
