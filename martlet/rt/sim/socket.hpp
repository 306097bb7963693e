// A simulated socket: what it is bound to, the connections that wait to be accepted, its datagrams. Streams live in connection.hpp.
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <martlet/rt/sim/connection.hpp>
#include <martlet/rt/sim/object.hpp>

namespace martlet::inline v0::sim {

/// A socket address taken apart. IPv4 stands as an IPv4-mapped IPv6 address.
struct address {
    int family = 0;
    std::array<unsigned char, 16> ip{};
    std::uint16_t port = 0;
    std::string path;  ///< Unix; an abstract name starts with a zero byte

    bool is_wildcard() const noexcept;
    bool is_ipv4() const noexcept;
    /// As the kernel would write it for a socket of `as_family`.
    std::string raw(int as_family) const;
};

/// 0 or a negated errno value.
int parse(const void* raw, unsigned length, address& out);
/// "127.0.0.1:80", "[::1]:80", "unix:/path", "unix:@name". Aborts on anything else: it stands in a test.
address parse_text(std::string_view text);

/// What becomes of a connection that arrives at a bound address.
class acceptor {
public:
    virtual bool has_room() const = 0;
    virtual void take(std::shared_ptr<connection> arrived) = 0;

protected:
    ~acceptor() = default;
};

struct file_node;

struct datagram {
    std::string bytes;
    std::string from;
};

class socket final : public object, public side_owner, public acceptor {
public:
    socket(int family, int type, int protocol);

    int bind(const void* raw, unsigned length);
    int listen(int backlog);
    /// Null and a negated errno value, or the accepted socket.
    std::shared_ptr<socket> accept(int& error);
    int connect(const void* raw, unsigned length);
    int shutdown(int how);
    std::ptrdiff_t send(const kernel::piece* pieces, std::size_t count);
    std::ptrdiff_t receive(void* out, std::size_t size, bool keep);
    std::ptrdiff_t receive_from(void* out, std::size_t size, void* from, unsigned* length, bool* truncated, bool keep);
    std::ptrdiff_t send_to(const void* data, std::size_t size, const void* to, unsigned length);
    int local(std::string& out) const;
    int remote(std::string& out) const;
    /// Whom it was accepted from, also when that connection is gone already.
    const std::string& accepted_from() const noexcept { return link_->sides[who_].remote; }
    int set_option(int level, int name, const void* value, unsigned length);
    int option(int level, int name, void* value, unsigned* length);

    /// An error was injected into the call that runs: the socket's state follows it.
    void follow_error(int code);
    /// A connect begun now will fail with `code`.
    int connect_that_fails(int code);
    /// A connection that waits to be accepted is lost.
    void lose_pending();
    void datagram_arrived(datagram arrived);
    void refuse() { fail_with(ECONNREFUSED); }

    std::uint32_t poll() override;
    void released() override;
    std::ptrdiff_t read(void* out, std::size_t size) override;
    std::ptrdiff_t write(const void* data, std::size_t size) override;
    void side_changed(std::uint32_t key) override { wake(key); }
    bool has_room() const override { return pending_.size() <= static_cast<std::size_t>(backlog_); }
    void take(std::shared_ptr<connection> arrived) override;

    bool is_stream() const noexcept { return is_stream_; }
    bool is_listening() const noexcept { return listening_; }
    bool accepts(const address& wanted) const;
    bool is_bound() const noexcept { return bound_; }
    const address& where() const noexcept { return local_; }
    bool shares_with(const socket& other) const;
    int family() const noexcept { return family_; }

private:
    int bind_to(address wanted);
    int bind_anywhere();
    bool option_is_on(int level, int name) const;
    void fail_with(int code);
    int connect_datagram(const address& to);
    int connect_unix(const address& to);
    int connect_tcp(const address& to);
    std::ptrdiff_t deliver_datagram(const address& to, const void* data, std::size_t size);

    int family_;
    bool is_stream_;
    int protocol_;
    bool bound_ = false;
    bool listening_ = false;
    int backlog_ = 0;
    address local_;
    std::shared_ptr<file_node> file_;  // of a Unix socket with a path: the name may come to stand for another
    address remote_;
    bool has_remote_ = false;
    bool connect_reported_ = false;
    std::shared_ptr<connection> link_;
    int who_ = 0;
    std::deque<std::shared_ptr<connection>> pending_;
    std::deque<datagram> datagrams_;
    std::size_t datagram_bytes_ = 0;
    bool read_shut_ = false;
    bool write_shut_ = false;
    int error_ = 0;  // of a socket without a connection
    std::size_t send_bytes_max_;
    std::size_t receive_bytes_max_;
    std::map<std::pair<int, int>, std::string> options_;
};

/// Begins a connection to `to` for whoever holds side 0 of the result: it is `connecting`, and becomes established, refused or timed out.
std::shared_ptr<connection> begin_connect(const address& from, const address& to, int as_family, std::size_t send_bytes_max,
                                          std::size_t receive_bytes_max);
/// A test's own listener; `at` must be free.
void add_acceptor(const address& at, acceptor& which);
void remove_acceptor(acceptor& which);
/// A free local port.
std::uint16_t pick_port();

}  // namespace martlet::inline v0::sim
