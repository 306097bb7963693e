// The socket loop under the floors and bench-render: one thread, edge-triggered epoll, one recv and one send per batch.
// It calls the kernel directly and keeps no limit, deadline or check on purpose: it is the cost a server cannot go below.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr std::size_t read_bytes_max = 64 * 1024;
inline constexpr std::size_t padding_bytes = 64;  // a wide scanner may read this far behind the data

inline constexpr std::string_view status_line = "HTTP/1.1 200 OK\r\n";
inline constexpr std::string_view server_field = "Server: martlet\r\n";
inline constexpr std::string_view date_name = "Date: ";
inline constexpr std::size_t date_bytes = 29;
inline constexpr std::string_view type_field = "Content-Type: text/plain; charset=utf-8\r\n";
inline constexpr std::string_view length_name = "Content-Length: ";
inline constexpr std::string_view body = "Hello, World!";

struct options {
    std::uint16_t port = 0;
    std::size_t request_bytes = 0;  // 0: learnt from the first request
    std::string answer_file;        // empty: a hello world
};

/// Writes the Date of `second` (RFC 9110, 5.6.7) to the 29 bytes at `out`.
inline void write_date(char* out, std::time_t second) {
    std::tm utc{};
    ::gmtime_r(&second, &utc);
    char text[date_bytes + 1];
    std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc);
    std::memcpy(out, text, date_bytes);
}

[[noreturn]] inline void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

/// Reads `--port N`, `--help` and, for a floor, `--request-bytes N` and `--answer FILE`; exits on `--help` (0) and misuse (2).
inline options parse_options(int argc, char** argv, const char* about, bool is_floor) {
    options parsed;
    auto usage = [&](std::FILE* out) {
        std::fprintf(out, "usage: %s --port N%s\n%s\n", argv[0], is_floor ? " [--request-bytes N] [--answer FILE]" : "", about);
    };
    auto number = [&](const char* text, std::size_t largest) -> std::size_t {
        std::size_t value = 0;
        const char* end = text + std::strlen(text);
        auto [stop, code] = std::from_chars(text, end, value);
        if (code != std::errc{} || stop != end || value > largest) {
            usage(stderr);
            std::exit(2);
        }
        return value;
    };
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--help") {
            usage(stdout);
            std::exit(0);
        }
        if (name == "--port" && i + 1 < argc) {
            parsed.port = static_cast<std::uint16_t>(number(argv[++i], 65535));
        } else if (is_floor && name == "--request-bytes" && i + 1 < argc) {
            parsed.request_bytes = number(argv[++i], read_bytes_max);
        } else if (is_floor && name == "--answer" && i + 1 < argc) {
            parsed.answer_file = argv[++i];
        } else {
            usage(stderr);
            std::exit(2);
        }
    }
    return parsed;
}

/// What a program hands its answers to: one send now, and what the socket did not take is kept for later.
class sender {
public:
    explicit sender(int fd) : fd_(fd) {}

    /// Sends `bytes` bytes; after a short send they are copied, so the caller may change its buffer.
    void send(const char* data, std::size_t bytes) {
        if (!blocked_.empty() || broken_) {
            if (!broken_) blocked_.append(data, bytes);
            return;
        }
        const ssize_t sent = ::send(fd_, data, bytes, MSG_NOSIGNAL);
        if (sent == static_cast<ssize_t>(bytes)) [[likely]]
            return;
        keep(data, bytes, sent);
    }

    bool broken() const { return broken_; }
    std::string& blocked() { return blocked_; }

private:
    [[gnu::cold, gnu::noinline]] void keep(const char* data, std::size_t bytes, ssize_t sent) {
        if (sent < 0 && errno != EAGAIN) {
            broken_ = true;
            return;
        }
        const std::size_t taken = sent < 0 ? 0 : static_cast<std::size_t>(sent);
        blocked_.assign(data + taken, bytes - taken);
    }

    int fd_;
    bool broken_ = false;
    std::string blocked_;
};

/// Serves `Program` until SIGTERM or SIGINT.
///
/// A program has `struct state` (what it keeps per connection), `void tick(std::time_t)` (a new second began) and
/// `std::size_t serve(state&, const char* data, std::size_t bytes, sender&)`, which says how many bytes it is done with; the rest
/// comes again, in front of what is received next.
template <class Program>
class socket_loop {
public:
    socket_loop(Program& program, const options& chosen)
        : program_(program), buffer_(std::make_unique<char[]>(read_bytes_max + padding_bytes)) {
        block_signals();
        listen(chosen.port);
    }

    int run() {
        epoll_event events[events_max];
        for (;;) {
            const int ready = ::epoll_wait(epoll_, events, events_max, -1);
            if (ready < 0 && errno != EINTR) fail("epoll_wait");
            const std::time_t now = ::time(nullptr);
            if (now != second_) {
                second_ = now;
                program_.tick(now);
            }
            for (int i = 0; i < ready; ++i) {
                const int fd = events[i].data.fd;
                if (fd == signals_) return 0;
                if (fd == listener_) {
                    accept_all();
                } else {
                    handle(fd, events[i].events);
                }
            }
        }
    }

private:
    static constexpr int events_max = 256;
    static constexpr std::uint32_t gone = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

    // What only few connections have: bytes of an unfinished request, output the socket did not take.
    struct leftover {
        std::string input;
        std::string output;
    };

    struct connection {
        typename Program::state state{};
        std::unique_ptr<leftover> rest;
    };

    void block_signals() {
        sigset_t set;
        ::sigemptyset(&set);
        ::sigaddset(&set, SIGTERM);
        ::sigaddset(&set, SIGINT);
        ::sigprocmask(SIG_BLOCK, &set, nullptr);
        signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
        if (signals_ < 0 || epoll_ < 0) fail("signalfd or epoll_create1");
        watch(signals_, EPOLLIN);
    }

    void listen(std::uint16_t port) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (listener_ < 0) fail("socket");
        const int on = 1;
        ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fail("bind");
        if (::listen(listener_, 4096) != 0) fail("listen");
        socklen_t length = sizeof address;
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
        watch(listener_, EPOLLIN);
        std::printf("listening on 127.0.0.1:%u\n", static_cast<unsigned>(ntohs(address.sin_port)));
        std::fflush(stdout);
    }

    bool watch(int fd, std::uint32_t interest) {
        epoll_event event{};
        event.events = interest;
        event.data.fd = fd;
        return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
    }

    [[gnu::cold]] void accept_all() {
        for (;;) {
            const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (fd < 0) {
                if (errno == EINTR || errno == ECONNABORTED) continue;
                return;
            }
            const int on = 1;
            ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            if (static_cast<std::size_t>(fd) >= connections_.size()) connections_.resize(static_cast<std::size_t>(fd) + 64);
            connections_[static_cast<std::size_t>(fd)] = connection{};
            if (!watch(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)) ::close(fd);
        }
    }

    void handle(int fd, std::uint32_t events) {
        connection& peer = connections_[static_cast<std::size_t>(fd)];
        bool until_empty = (events & gone) != 0;
        if (peer.rest && !peer.rest->output.empty()) [[unlikely]] {
            if (!flush(fd, peer)) return;
            until_empty = true;  // the edge that announced input may have passed while output waited
        } else if ((events & (EPOLLIN | gone)) == 0) {
            return;
        }
        // A read that fills the buffer, or a FIN told along with data, has no further edge: read on.
        while (receive(fd, peer) && until_empty) {
        }
    }

    // One recv, one serve; true if reading on makes sense.
    bool receive(int fd, connection& peer) {
        bool full = true;
        while (full) {
            std::size_t carried = 0;
            if (peer.rest) [[unlikely]] {
                carried = peer.rest->input.size();
                std::memcpy(buffer_.get(), peer.rest->input.data(), carried);
            }
            const std::size_t room = read_bytes_max - carried;
            const ssize_t got = ::recv(fd, buffer_.get() + carried, room, 0);
            if (got <= 0) [[unlikely]] {
                if (got < 0 && errno == EAGAIN) return false;
                return drop(fd, peer);
            }
            full = static_cast<std::size_t>(got) == room;
            const std::size_t bytes = carried + static_cast<std::size_t>(got);
            sender out(fd);
            const std::size_t used = program_.serve(peer.state, buffer_.get(), bytes, out);
            if (used != bytes || carried != 0 || !out.blocked().empty() || out.broken()) [[unlikely]] {
                if (!keep(fd, peer, used, bytes, out)) return false;
            }
        }
        return true;
    }

    // Keeps what is unfinished in either direction; false if the connection is gone or must not be read for now.
    [[gnu::cold, gnu::noinline]] bool keep(int fd, connection& peer, std::size_t used, std::size_t bytes, sender& out) {
        if (out.broken() || bytes - used == read_bytes_max) return drop(fd, peer);
        if (!peer.rest) peer.rest = std::make_unique<leftover>();
        peer.rest->input.assign(buffer_.get() + used, bytes - used);
        peer.rest->output = std::move(out.blocked());
        const bool reads = peer.rest->output.empty();
        if (reads && peer.rest->input.empty()) peer.rest.reset();
        return reads;
    }

    // True once nothing waits to be sent.
    [[gnu::cold, gnu::noinline]] bool flush(int fd, connection& peer) {
        std::string& waiting = peer.rest->output;
        const ssize_t sent = ::send(fd, waiting.data(), waiting.size(), MSG_NOSIGNAL);
        if (sent < 0) return errno == EAGAIN ? false : drop(fd, peer);
        waiting.erase(0, static_cast<std::size_t>(sent));
        if (!waiting.empty()) return false;
        if (peer.rest->input.empty()) peer.rest.reset();
        return true;
    }

    [[gnu::cold, gnu::noinline]] bool drop(int fd, connection& peer) {
        peer = connection{};
        ::close(fd);
        return false;
    }

    Program& program_;
    std::unique_ptr<char[]> buffer_;
    std::vector<connection> connections_;
    std::time_t second_ = 0;
    int epoll_ = -1;
    int signals_ = -1;
    int listener_ = -1;
};

}  // namespace bench
