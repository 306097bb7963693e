#include <martlet/rt/sim/socket.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>

#include <martlet/rt/sim/objects.hpp>
#include <martlet/rt/sim/world.hpp>

namespace martlet::inline v0::sim {

socket::socket(int family, int type, int protocol)
    : family_(family),
      is_stream_(type == SOCK_STREAM),
      protocol_(protocol),
      send_bytes_max_(here().with.send_buffer_bytes),
      receive_bytes_max_(here().with.receive_buffer_bytes) {
    local_.family = family;
    // The wildcard of its family.
    if (family == AF_INET) local_.ip[10] = local_.ip[11] = 0xff;
}

bool socket::option_is_on(int level, int name) const {
    const auto at = options_.find({level, name});
    return at != options_.end() && at->second.find_first_not_of('\0') != std::string::npos;
}

bool socket::shares_with(const socket& other) const {
    if (option_is_on(SOL_SOCKET, SO_REUSEPORT) && other.option_is_on(SOL_SOCKET, SO_REUSEPORT)) return true;
    return option_is_on(SOL_SOCKET, SO_REUSEADDR) && other.option_is_on(SOL_SOCKET, SO_REUSEADDR) && !other.listening_ && is_stream_;
}

// Whether something sent to `wanted` reaches this socket.
bool socket::accepts(const address& wanted) const {
    if (!bound_) return false;
    if (family_ == AF_UNIX || wanted.family == AF_UNIX) {
        if (family_ != wanted.family || local_.path != wanted.path) return false;
        const auto at = here().files.find(wanted.path);
        return file_ == nullptr || (at != here().files.end() && at->second == file_);
    }
    if (local_.port != wanted.port) return false;
    if (!local_.is_wildcard()) return local_.ip == wanted.ip;
    const bool takes_both = family_ == AF_INET6 && !option_is_on(IPPROTO_IPV6, IPV6_V6ONLY);
    return takes_both || wanted.is_ipv4() == (family_ == AF_INET);
}

int socket::bind(const void* raw, unsigned length) {
    address wanted;
    if (const int wrong = parse(raw, length, wanted); wrong < 0) return wrong;
    if (wanted.family != family_) return -EAFNOSUPPORT;
    return bound_ ? -EINVAL : bind_to(wanted);
}

int socket::bind_to(address wanted) {
    world& in = here();
    if (family_ == AF_UNIX) {
        if (wanted.path.empty()) {
            char name[8];
            std::snprintf(name, sizeof name, "%c%05x", '\0', static_cast<unsigned>(++in.next_port) & 0xfffff);
            wanted.path.assign(name, 6);
        }
        const bool is_path = wanted.path[0] != '\0';
        if (is_path && in.files.contains(wanted.path)) return -EADDRINUSE;
        for (const socket* other : in.bound) {
            if (!is_path && other->family_ == AF_UNIX && other->local_.path == wanted.path) return -EADDRINUSE;
        }
        if (is_path) {
            file_ = std::make_shared<file_node>();
            file_->inode = in.next_inode++;
            file_->is_socket = true;
            in.files.emplace(wanted.path, file_);
        }
    } else {
        if (wanted.port == 0) wanted.port = pick_port();
        for (const socket* other : in.bound) {
            if (other->is_stream_ != is_stream_ || other->family_ == AF_UNIX || other->local_.port != wanted.port) continue;
            address theirs = other->local_;
            const bool families_meet =
                wanted.is_ipv4() == theirs.is_ipv4() ||
                (family_ == AF_INET6 && !option_is_on(IPPROTO_IPV6, IPV6_V6ONLY) && wanted.is_wildcard()) ||
                (other->family_ == AF_INET6 && !other->option_is_on(IPPROTO_IPV6, IPV6_V6ONLY) && theirs.is_wildcard());
            const bool addresses_meet = wanted.is_wildcard() || theirs.is_wildcard() || wanted.ip == theirs.ip;
            if (families_meet && addresses_meet && !shares_with(*other)) return -EADDRINUSE;
        }
    }
    local_ = wanted;
    bound_ = true;
    in.bound.push_back(this);
    return 0;
}

int socket::bind_anywhere() {
    address any;
    any.family = family_;
    if (family_ == AF_INET) any.ip[10] = any.ip[11] = 0xff;
    return bind_to(any);
}

int socket::listen(int backlog) {
    if (!is_stream_) return -EOPNOTSUPP;
    if (link_ != nullptr || (!bound_ && family_ == AF_UNIX)) return -EINVAL;
    if (!bound_) {
        if (const int wrong = bind_anywhere(); wrong < 0) return wrong;
    }
    listening_ = true;
    backlog_ = std::clamp(backlog, 0, 4096);
    return 0;
}

void socket::take(std::shared_ptr<connection> arrived) {
    pending_.push_back(std::move(arrived));
    wake(kernel::poll_in);
}

std::shared_ptr<socket> socket::accept(int& error) {
    error = listening_ ? -EAGAIN : -EINVAL;
    if (pending_.empty()) return nullptr;
    auto made = std::make_shared<socket>(family_, SOCK_STREAM, protocol_);
    made->options_ = options_;
    made->local_ = local_;
    made->link_ = std::move(pending_.front());
    made->who_ = 1;
    made->connect_reported_ = true;
    made->link_->sides[1].owner = made.get();
    made->link_->sides[1].send_bytes_max = made->send_bytes_max_ = send_bytes_max_;
    made->link_->sides[1].receive_bytes_max = made->receive_bytes_max_ = receive_bytes_max_;
    pending_.pop_front();
    return made;
}

void socket::lose_pending() {
    if (pending_.empty()) return;
    const std::shared_ptr<connection> lost = std::move(pending_.front());
    pending_.pop_front();
    // A Unix client learns of it even when it had sent nothing.
    if (lost->is_unix) lost->reset(1);
    lost->close(1, true);
}

int socket::connect(const void* raw, unsigned length) {
    address to;
    if (const int wrong = parse(raw, length, to); wrong < 0) return wrong;
    if (to.family != family_) return -EAFNOSUPPORT;
    if (!is_stream_) return connect_datagram(to);
    if (listening_) return family_ == AF_UNIX ? -EINVAL : -EISCONN;
    if (link_ == nullptr) return family_ == AF_UNIX ? connect_unix(to) : connect_tcp(to);
    side& mine = link_->sides[who_];
    if (mine.state == phase::connecting) return -EALREADY;
    if (connect_reported_) return -EISCONN;
    connect_reported_ = true;
    return mine.error != 0 ? -link_->take_error(who_) : mine.state == phase::closed ? -ECONNABORTED : 0;
}

int socket::connect_unix(const address& to) {
    for (socket* other : here().bound) {
        if (!other->is_stream_ || !other->accepts(to)) continue;
        if (!other->listening_) return -ECONNREFUSED;
        if (!other->has_room()) return -EAGAIN;
        break;
    }
    auto begun = begin_connect(local_, to, family_, send_bytes_max_, receive_bytes_max_);
    if (begun->sides[0].state != phase::established) return to.path[0] != '\0' && !here().files.contains(to.path) ? -ENOENT : -ECONNREFUSED;
    link_ = std::move(begun);
    link_->sides[0].owner = this;
    connect_reported_ = true;
    return 0;
}

int socket::connect_tcp(const address& to) {
    if (!bound_) {
        local_.ip = to.is_wildcard() ? local_.ip : to.ip;
        local_.port = pick_port();
    } else if (local_.is_wildcard()) {
        local_.ip = to.ip;
    }
    // The owner is set before anything can happen to the connection, except in the call itself, which nobody watches yet.
    link_ = begin_connect(local_, to, family_, send_bytes_max_, receive_bytes_max_);
    link_->sides[0].owner = this;
    wake(0);
    return -EINPROGRESS;
}

int socket::connect_that_fails(int code) {
    link_ = std::make_shared<connection>(false, send_bytes_max_, receive_bytes_max_);
    link_->sides[0].owner = this;
    link_->sides[0].state = phase::connecting;
    link_->sides[1].is_dead = true;
    here().after(1'000 + here().latency(), [link = link_, code] {
        side& mine = link->sides[0];
        if (mine.state != phase::connecting) return;
        mine.error = code;
        mine.state = phase::closed;
        mine.read_shut = mine.write_shut = true;
        link->notify(0, kernel::poll_error);
        link->notify(0, 0);
    });
    return -EINPROGRESS;
}

int socket::shutdown(int how) {
    if (link_ != nullptr) return link_->shutdown(who_, how);
    if (how < 0 || how > 2) return -EINVAL;
    read_shut_ |= how != 1;
    write_shut_ |= how != 0;
    if (listening_) {
        if (how != 1) {
            while (!pending_.empty()) lose_pending();
            listening_ = false;
            wake(0);
        }
        return 0;
    }
    wake(0);
    return is_stream_ || !has_remote_ ? -ENOTCONN : 0;
}

std::uint32_t socket::poll() {
    if (link_ != nullptr) return link_->poll(who_);
    if (listening_) return pending_.empty() ? 0 : kernel::poll_in;
    if (is_stream_) {
        const std::uint32_t shut = read_shut_ ? kernel::poll_in | kernel::poll_read_hangup : 0;
        return kernel::poll_hangup | kernel::poll_out | shut | (error_ != 0 ? kernel::poll_error : 0);
    }
    std::uint32_t events = kernel::poll_out;
    if (!datagrams_.empty() || read_shut_) events |= kernel::poll_in;
    if (read_shut_) events |= kernel::poll_read_hangup;
    if (read_shut_ && write_shut_) events |= kernel::poll_hangup;
    if (error_ != 0) events |= kernel::poll_error;
    return events;
}

void socket::released() {
    while (!pending_.empty()) lose_pending();
    if (bound_) std::erase(here().bound, this);
    bound_ = false;
    if (link_ == nullptr) return;
    bool reset = false;
    if (const auto linger = options_.find({SOL_SOCKET, SO_LINGER}); linger != options_.end() && linger->second.size() >= sizeof(::linger)) {
        ::linger chosen;
        std::memcpy(&chosen, linger->second.data(), sizeof chosen);
        reset = chosen.l_onoff != 0 && chosen.l_linger == 0;
    }
    link_->close(who_, reset);
    link_.reset();
}

void socket::fail_with(int code) {
    error_ = code;
    wake(kernel::poll_error);
}

void socket::follow_error(int code) {
    if (link_ != nullptr) {
        if (code == ECONNRESET || code == ETIMEDOUT || code == EPIPE) link_->fail(who_);
        if (code == EAGAIN) link_->squeeze(who_);
    } else if (!is_stream_ && code == EAGAIN && !datagrams_.empty()) {
        // Its checksum was wrong: it woke the reader, and is gone.
        datagram_bytes_ -= datagrams_.front().bytes.size();
        datagrams_.pop_front();
    }
}

std::ptrdiff_t socket::send(const kernel::piece* pieces, std::size_t count) {
    if (link_ != nullptr) return link_->send(who_, pieces, count);
    if (is_stream_) return family_ == AF_UNIX ? -ENOTCONN : -EPIPE;
    std::string whole;
    for (std::size_t i = 0; i < count; ++i) whole.append(static_cast<const char*>(pieces[i].data), pieces[i].size);
    return send_to(whole.data(), whole.size(), nullptr, 0);
}

std::ptrdiff_t socket::receive(void* out, std::size_t size, bool keep) {
    if (link_ != nullptr) return link_->receive(who_, out, size, keep);
    if (is_stream_) return family_ == AF_UNIX ? -EINVAL : -ENOTCONN;
    unsigned length = 0;
    bool truncated;
    return receive_from(out, size, nullptr, &length, &truncated, keep);
}

std::ptrdiff_t socket::read(void* out, std::size_t size) { return receive(out, size, false); }

std::ptrdiff_t socket::write(const void* data, std::size_t size) {
    const kernel::piece all{data, size};
    const std::ptrdiff_t sent = send(&all, 1);
    if (sent == -EPIPE) here().sigpipe();
    return sent;
}

int socket::local(std::string& out) const {
    out = link_ != nullptr && !link_->sides[who_].local.empty() ? link_->sides[who_].local : local_.raw(family_);
    return 0;
}

int socket::remote(std::string& out) const {
    if (link_ == nullptr) {
        if (!has_remote_) return -ENOTCONN;
        out = remote_.raw(family_);
        return 0;
    }
    const side& mine = link_->sides[who_];
    if (mine.state != phase::established && family_ != AF_UNIX) return -ENOTCONN;
    out = mine.remote;
    return 0;
}

int socket::set_option(int level, int name, const void* value, unsigned length) {
    if (value == nullptr && length > 0) return -EFAULT;
    options_[{level, name}] = std::string(static_cast<const char*>(value), length);
    if (level != SOL_SOCKET || (name != SO_SNDBUF && name != SO_RCVBUF)) return 0;
    int bytes;
    if (length < sizeof bytes) return -EINVAL;
    std::memcpy(&bytes, value, sizeof bytes);
    const auto wanted = static_cast<std::size_t>(std::clamp(bytes, 2304, 4 * 1024 * 1024));
    (name == SO_SNDBUF ? send_bytes_max_ : receive_bytes_max_) = wanted;
    if (link_ != nullptr) (name == SO_SNDBUF ? link_->sides[who_].send_bytes_max : link_->sides[who_].receive_bytes_max) = wanted;
    return 0;
}

int socket::option(int level, int name, void* value, unsigned* length) {
    int number = 0;
    std::string bytes;
    if (level == SOL_SOCKET && name == SO_ERROR) {
        number = link_ != nullptr ? link_->take_error(who_) : std::exchange(error_, 0);
    } else if (level == SOL_SOCKET && name == SO_TYPE) {
        number = is_stream_ ? SOCK_STREAM : SOCK_DGRAM;
    } else if (level == SOL_SOCKET && name == SO_DOMAIN) {
        number = family_;
    } else if (level == SOL_SOCKET && name == SO_PROTOCOL) {
        number = family_ == AF_UNIX ? 0 : is_stream_ ? IPPROTO_TCP : IPPROTO_UDP;
    } else if (level == SOL_SOCKET && name == SO_ACCEPTCONN) {
        number = listening_;
    } else if (level == SOL_SOCKET && (name == SO_SNDBUF || name == SO_RCVBUF)) {
        // Linux doubles what was asked for, to leave room for its own records.
        number = static_cast<int>((name == SO_SNDBUF ? send_bytes_max_ : receive_bytes_max_) * 2);
    } else if (const auto at = options_.find({level, name}); at != options_.end()) {
        bytes = at->second;
    }
    if (bytes.empty()) bytes.assign(reinterpret_cast<const char*>(&number), sizeof number);
    *length = std::min(*length, static_cast<unsigned>(bytes.size()));
    std::memcpy(value, bytes.data(), *length);
    return 0;
}

}  // namespace martlet::inline v0::sim
