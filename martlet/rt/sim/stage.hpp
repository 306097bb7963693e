// The words in which scenarios are written: each acts on the kernel through the seam and notes what came of it.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <martlet/rt/kernel.hpp>

namespace martlet::inline v0::sim {

/// A descriptor and its name in the log.
struct end {
    explicit end(std::string name, int number = -1) : name(std::move(name)) {
        if (number >= 0) fd = descriptor(number);
    }
    std::string name;
    descriptor fd;
};

class stage {
public:
    stage() : epoll_(kernel::epoll_open()) {}

    std::string log;

    void say(std::string line) { log += std::move(line) + "\n"; }
    void say(std::string_view what, std::int64_t result) { say(std::string(what) + ": " + text(result)); }

    static std::string text(std::int64_t result) {
        if (result >= 0) return std::to_string(result);
        const char* code = ::strerrorname_np(static_cast<int>(-result));
        return code != nullptr ? code : "?";
    }

    // --- readiness ---

    static constexpr std::uint32_t all_edges = kernel::poll_in | kernel::poll_out | kernel::poll_read_hangup | kernel::poll_edge;

    void watch(end& of, std::uint32_t events = all_edges) {
        names_[&of] = of.name;
        const int added = kernel::epoll_add(epoll_, of.fd, events, &of);
        if (added < 0) say("watch " + of.name, added);
    }
    void change(end& of, std::uint32_t events) { say("change " + of.name, kernel::epoll_change(epoll_, of.fd, events, &of)); }
    void unwatch(end& of) { say("unwatch " + of.name, kernel::epoll_remove(epoll_, of.fd)); }

    /// What is reported until nothing more is, each descriptor's events together: the kernel may report them in one piece or two.
    void events() {
        std::map<std::string, std::uint32_t> seen;
        kernel::poll_event found[16];
        for (int round = 0; round < 50; ++round) {
            const int count = kernel::epoll_wait(epoll_, found, 16, 15);
            if (count <= 0) break;
            for (int i = 0; i < count; ++i) seen[names_[static_cast<void*>(found[i].tag)]] |= found[i].events;
        }
        note(seen);
    }
    /// What one wait reports.
    void one_wait() {
        std::map<std::string, std::uint32_t> seen;
        kernel::poll_event found[16];
        const int count = kernel::epoll_wait(epoll_, found, 16, 15);
        for (int i = 0; i < count; ++i) seen[names_[static_cast<void*>(found[i].tag)]] |= found[i].events;
        note(seen);
    }
    const descriptor& epoll() const { return epoll_; }

    // --- addresses ---

    static std::string ipv4(std::uint16_t port, const char* host = "127.0.0.1") {
        ::sockaddr_in out{};
        out.sin_family = AF_INET;
        out.sin_port = htons(port);
        ::inet_pton(AF_INET, host, &out.sin_addr);
        return std::string(reinterpret_cast<const char*>(&out), sizeof out);
    }
    static std::string ipv6(std::uint16_t port, const char* host = "::1") {
        ::sockaddr_in6 out{};
        out.sin6_family = AF_INET6;
        out.sin6_port = htons(port);
        ::inet_pton(AF_INET6, host, &out.sin6_addr);
        return std::string(reinterpret_cast<const char*>(&out), sizeof out);
    }
    static std::string local_name(std::string_view path) {
        ::sockaddr_un out{};
        out.sun_family = AF_UNIX;
        std::memcpy(out.sun_path, path.data(), path.size());
        return std::string(reinterpret_cast<const char*>(&out), offsetof(::sockaddr_un, sun_path) + path.size());
    }
    static std::uint16_t port_of(const end& of) {
        ::sockaddr_in6 name{};
        unsigned length = sizeof name;
        kernel::local_address(of.fd, &name, &length);
        return ntohs(name.sin6_port);
    }
    /// Hosts only: ports differ from play to play.
    static std::string host(const void* raw) {
        char out[INET6_ADDRSTRLEN] = "";
        ::sa_family_t family;
        std::memcpy(&family, raw, sizeof family);
        const std::size_t at = family == AF_INET ? offsetof(::sockaddr_in, sin_addr) : offsetof(::sockaddr_in6, sin6_addr);
        ::inet_ntop(family, static_cast<const char*>(raw) + at, out, sizeof out);
        return out;
    }

    // --- sockets ---

    end open(std::string name, int family = AF_INET, int type = SOCK_STREAM) {
        return end(std::move(name), kernel::socket_open(family, type, 0));
    }
    int bind(end& of, const std::string& address) { return kernel::bind(of.fd, address.data(), static_cast<unsigned>(address.size())); }
    int connect(end& of, const std::string& address) {
        return kernel::connect(of.fd, address.data(), static_cast<unsigned>(address.size()));
    }

    end listener(int backlog = 16) {
        end made = open("listener");
        bind(made, ipv4(0));
        kernel::listen(made.fd, backlog);
        return made;
    }
    end accept(end& from, std::string name) {
        const int number = kernel::accept(from.fd, nullptr, nullptr);
        if (number < 0) say("accept", number);
        return end(std::move(name), number);
    }
    /// A connected pair, the client first.
    std::pair<end, end> pair() {
        end from = listener();
        end client = open("client");
        connect(client, ipv4(port_of(from)));
        settle(client);
        end server = accept(from, "server");
        return {std::move(client), std::move(server)};
    }
    std::pair<end, end> unix_pair() {
        end from = open("listener", AF_UNIX);
        const std::string name = local_name(std::string_view("\0martlet-scenario", 17));
        bind(from, name);
        kernel::listen(from.fd, 4);
        end client = open("client", AF_UNIX);
        connect(client, name);
        end server = accept(from, "server");
        return {std::move(client), std::move(server)};
    }
    /// Waits until a connect is decided.
    void settle(end& client) {
        const descriptor waiting(kernel::epoll_open());
        kernel::epoll_add(waiting, client.fd, kernel::poll_out, nullptr);
        kernel::poll_event found;
        kernel::epoll_wait(waiting, &found, 1, 1000);
    }

    void send(end& from, std::string_view bytes) { say(from.name + " sends", kernel::send(from.fd, bytes.data(), bytes.size())); }
    void recv(end& to, std::size_t size = 100) {
        std::string bytes(size, '\0');
        const std::ptrdiff_t got = kernel::recv(to.fd, bytes.data(), size);
        say(to.name + " receives: " + (got > 0 ? "'" + bytes.substr(0, static_cast<std::size_t>(got)) + "'" : text(got)));
    }
    void shutdown(end& of, int how) { say(of.name + " shuts " + std::to_string(how), kernel::shutdown(of.fd, how)); }
    void close(end& of) {
        say(of.name + " closes");
        of.fd.close();
    }
    /// Closes with a reset.
    void reset(end& of) {
        const ::linger none{1, 0};
        kernel::set_option(of.fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
        say(of.name + " resets");
        of.fd.close();
    }
    void error_of(end& of) {
        int code = 0;
        unsigned length = sizeof code;
        kernel::option(of.fd, SOL_SOCKET, SO_ERROR, &code, &length);
        say(of.name + " has error", -code);
    }
    void set_flag(end& of, int level, int name) {
        const int on = 1;
        kernel::set_option(of.fd, level, name, &on, sizeof on);
    }
    void set_number(end& of, int level, int name, int value) { kernel::set_option(of.fd, level, name, &value, sizeof value); }
    /// Sends until nothing more is taken; the bytes taken.
    std::size_t fill(end& from) {
        const std::string block(10'000, 'x');
        std::size_t sent = 0;
        for (int i = 0; i < 100'000; ++i) {
            const std::ptrdiff_t taken = kernel::send(from.fd, block.data(), block.size());
            if (taken < 0) {
                say(from.name + " is full", taken);
                break;
            }
            sent += static_cast<std::size_t>(taken);
        }
        return sent;
    }
    /// Receives until nothing more is there; the bytes received.
    std::size_t drain(end& to) {
        std::string block(50'000, '\0');
        std::size_t received = 0;
        for (std::ptrdiff_t got; (got = kernel::recv(to.fd, block.data(), block.size())) > 0;) received += static_cast<std::size_t>(got);
        return received;
    }

private:
    void note(const std::map<std::string, std::uint32_t>& seen) {
        std::string line = "events:";
        if (seen.empty()) line += " none";
        for (const auto& [name, events] : seen) {
            line += " " + name;
            constexpr std::pair<std::uint32_t, const char*> parts[] = {{kernel::poll_in, "in"},
                                                                       {kernel::poll_out, "out"},
                                                                       {kernel::poll_error, "error"},
                                                                       {kernel::poll_hangup, "hangup"},
                                                                       {kernel::poll_read_hangup, "read_hangup"}};
            char mark = '=';
            for (const auto& [bit, word] : parts) {
                if ((events & bit) == 0) continue;
                line += std::exchange(mark, '|');
                line += word;
            }
        }
        say(line);
    }

    descriptor epoll_;
    std::map<const void*, std::string> names_;
};

}  // namespace martlet::inline v0::sim
