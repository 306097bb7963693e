// What the tests of this folder share: plain blocking sockets to play the peer with, a temporary folder, pairs of connected streams.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <martlet/base/outq.hpp>
#include <martlet/net/address.hpp>
#include <martlet/net/listener.hpp>
#include <martlet/net/tcp_stream.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/task.hpp>

namespace martlet::net::testing {

/// A blocking socket that gives up after ten seconds.
class plain_socket {
public:
    explicit plain_socket(const address& to, int receive_buffer_bytes = 0)
        : fd_(::socket(to.system_family(), SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const ::timeval limit{10, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        if (receive_buffer_bytes != 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
        connected_ = ::connect(fd_, static_cast<const ::sockaddr*>(to.data()), to.size()) == 0;
    }
    plain_socket(plain_socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_) {}
    plain_socket& operator=(plain_socket&&) = delete;
    ~plain_socket() { close(); }

    bool is_connected() const { return connected_; }
    int fd() const { return fd_; }
    void send(std::string_view bytes) const {
        EXPECT_EQ(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    }
    void finish() const { ::shutdown(fd_, SHUT_WR); }
    void reset() {
        const ::linger at_once{1, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close();
    }
    void close() {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }
    /// What one recv gives: the bytes, "<end>" or "<error NUMBER>".
    std::string receive(std::size_t bytes_max = 65536) const {
        std::string out(bytes_max, '\0');
        const ssize_t got = ::recv(fd_, out.data(), out.size(), 0);
        if (got == 0) return "<end>";
        if (got < 0) return "<error " + std::to_string(errno) + ">";
        out.resize(static_cast<std::size_t>(got));
        return out;
    }
    /// Everything up to the end.
    std::string receive_all() const {
        std::string out;
        for (;;) {
            std::string part = receive();
            if (part == "<end>") return out;
            if (part.starts_with("<error")) return out + part;
            out += part;
        }
    }

private:
    int fd_;
    bool connected_ = false;
};

/// A folder that goes with the test.
class temporary_folder {
public:
    temporary_folder() {
        char made[] = "/tmp/martlet-net-XXXXXX";
        path_ = ::mkdtemp(made);
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    ~temporary_folder() {
        const std::string command = "rm -rf '" + path_ + "'";
        [[maybe_unused]] const int code = std::system(command.c_str());
    }
    std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }

private:
    std::string path_;
};

inline bool exists(const std::string& path) {
    struct ::stat facts;
    return ::lstat(path.c_str(), &facts) == 0;
}

/// A listener on a free port, or a failed test.
inline listener listen_on(std::string_view at, const listener_options& options = listener_options()) {
    auto opened = listener::open(address::parse(at).value(), options);
    EXPECT_TRUE(opened.has_value()) << at << ": " << opened.error().text();
    return std::move(opened).value();
}

inline address where(const listener& of) { return of.local_address().value(); }

/// Turns the loop until `done` or ten seconds have passed.
template <class Done>
bool turn_until(loop& on, Done done) {
    const time_point give_up = on.clock() + std::chrono::seconds(10);
    while (!done()) {
        on.turn(std::chrono::milliseconds(10));
        if (on.now() > give_up) return false;
    }
    return true;
}

/// A peer in the test's hand and a stream on the loop that are connected with each other.
struct connection {
    explicit connection(loop& on, std::string_view at = "127.0.0.1:0", int peer_buffer_bytes = 0)
        : connection(on, listen_on(at), peer_buffer_bytes) {}
    connection(loop& on, const listener& from, int peer_buffer_bytes = 0)
        : peer(where(from), peer_buffer_bytes), stream(std::make_unique<socket_stream>()) {
        acceptor door;
        EXPECT_TRUE(door.open(on, from).has_value());
        accepted came;
        EXPECT_EQ(door.try_accept(came), accept_state::accepted);
        const auto opened = stream->open(on, std::move(came.socket), came.peer);
        EXPECT_TRUE(opened.has_value());
    }

    plain_socket peer;
    std::unique_ptr<socket_stream> stream;
};

/// A file of `size` bytes that tell their place.
class test_file {
public:
    explicit test_file(std::size_t size) : file_(std::tmpfile()), size_(size) {
        const std::string bytes = content();
        EXPECT_EQ(std::fwrite(bytes.data(), 1, size, file_), size);
        std::fflush(file_);
    }
    test_file(const test_file&) = delete;
    test_file& operator=(const test_file&) = delete;
    ~test_file() { std::fclose(file_); }

    int fd() const { return ::fileno(file_); }
    std::string content() const {
        std::string bytes(size_, '\0');
        for (std::size_t i = 0; i < size_; ++i) bytes[i] = static_cast<char>((i * 7 + (i >> 8) * 13 + (i >> 16)) & 0xff);
        return bytes;
    }
    /// A range that does not close the file.
    file_range range(std::uint64_t offset, std::uint64_t length) const {
        return file_range(file_owner::adopt(fd(), [](int, void*) noexcept {}).value(), offset, length);
    }
    void truncate(std::size_t size) const { ASSERT_EQ(::ftruncate(fd(), static_cast<off_t>(size)), 0); }

private:
    std::FILE* file_;
    std::size_t size_;
};

}  // namespace martlet::net::testing
