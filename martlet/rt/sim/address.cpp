#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <martlet/rt/sim/socket.hpp>
#include <martlet/rt/sim/world.hpp>

namespace martlet::inline v0::sim {

namespace {

constexpr unsigned char mapped_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

template <class T>
std::string bytes_of(const T& what, std::size_t size = sizeof(T)) {
    return std::string(reinterpret_cast<const char*>(&what), size);
}

}  // namespace

bool address::is_ipv4() const noexcept { return std::memcmp(ip.data(), mapped_prefix, sizeof mapped_prefix) == 0; }

bool address::is_wildcard() const noexcept {
    const auto is_zero = [](unsigned char byte) { return byte == 0; };
    return std::all_of(is_ipv4() ? ip.begin() + 12 : ip.begin(), ip.end(), is_zero);
}

std::string address::raw(int as_family) const {
    if (as_family == AF_INET) {
        ::sockaddr_in out{};
        out.sin_family = AF_INET;
        out.sin_port = htons(port);
        std::memcpy(&out.sin_addr, ip.data() + 12, 4);
        return bytes_of(out);
    }
    if (as_family == AF_INET6) {
        ::sockaddr_in6 out{};
        out.sin6_family = AF_INET6;
        out.sin6_port = htons(port);
        std::memcpy(&out.sin6_addr, ip.data(), 16);
        return bytes_of(out);
    }
    ::sockaddr_un out{};
    out.sun_family = AF_UNIX;
    std::memcpy(out.sun_path, path.data(), std::min(path.size(), sizeof out.sun_path));
    // A path is returned with its final zero, an abstract name by its length alone.
    const bool is_path = !path.empty() && path[0] != '\0';
    return bytes_of(out, offsetof(::sockaddr_un, sun_path) + path.size() + (is_path ? 1 : 0));
}

int parse(const void* raw, unsigned length, address& out) {
    if (length < sizeof(::sa_family_t)) return -EINVAL;
    ::sa_family_t family;
    std::memcpy(&family, raw, sizeof family);
    out = address();
    out.family = family;
    if (family == AF_INET) {
        ::sockaddr_in in;
        if (length < sizeof in) return -EINVAL;
        std::memcpy(&in, raw, sizeof in);
        std::memcpy(out.ip.data(), mapped_prefix, sizeof mapped_prefix);
        std::memcpy(out.ip.data() + 12, &in.sin_addr, 4);
        out.port = ntohs(in.sin_port);
        return 0;
    }
    if (family == AF_INET6) {
        ::sockaddr_in6 in;
        if (length < sizeof in) return -EINVAL;
        std::memcpy(&in, raw, sizeof in);
        std::memcpy(out.ip.data(), &in.sin6_addr, 16);
        out.port = ntohs(in.sin6_port);
        return 0;
    }
    if (family == AF_UNIX) {
        if (length > sizeof(::sockaddr_un)) return -EINVAL;
        const char* path = static_cast<const char*>(raw) + offsetof(::sockaddr_un, sun_path);
        const std::size_t size = length - offsetof(::sockaddr_un, sun_path);
        out.path.assign(path, size > 0 && path[0] != '\0' ? ::strnlen(path, size) : size);
        return 0;
    }
    return -EAFNOSUPPORT;
}

address parse_text(std::string_view text) {
    address out;
    if (text.starts_with("unix:")) {
        out.family = AF_UNIX;
        out.path = text.substr(5);
        if (out.path.starts_with('@')) out.path[0] = '\0';
        return out;
    }
    const std::size_t colon = text.rfind(':');
    if (colon != std::string_view::npos) {
        std::string host(text.substr(0, colon));
        out.port = static_cast<std::uint16_t>(std::strtoul(std::string(text.substr(colon + 1)).c_str(), nullptr, 10));
        if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
            out.family = AF_INET6;
            if (::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), out.ip.data()) == 1) return out;
        } else {
            out.family = AF_INET;
            std::memcpy(out.ip.data(), mapped_prefix, sizeof mapped_prefix);
            if (::inet_pton(AF_INET, host.c_str(), out.ip.data() + 12) == 1) return out;
        }
    }
    here().broken("a test writes addresses as 127.0.0.1:80, [::1]:80, unix:/path or unix:@name");
}

}  // namespace martlet::inline v0::sim
