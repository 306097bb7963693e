// Between sockets: how a connection comes to be, and datagrams.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>

#include <martlet/rt/sim/socket.hpp>
#include <martlet/rt/sim/world.hpp>

namespace martlet::inline v0::sim {

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr int tries_max = 6;

/// One attempt to reach a listener: repeated while its queue is full, as a client's kernel repeats a SYN that was dropped.
void arrive(const std::shared_ptr<connection>& link, const address& to, int tries);

void refuse(const std::shared_ptr<connection>& link, int code) {
    side& mine = link->sides[0];
    if (mine.state != phase::connecting) return;
    mine.error = code;
    mine.state = phase::closed;
    mine.read_shut = mine.write_shut = true;
    link->sides[1].is_dead = true;
    link->notify(0, kernel::poll_error);
    link->notify(0, 0);
}

acceptor* listener_for(const address& to) {
    world& in = here();
    for (const auto& [at, which] : in.acceptors) {
        if (at.port == to.port && at.path == to.path && (at.family == AF_UNIX) == (to.family == AF_UNIX) &&
            (at.is_wildcard() || at.ip == to.ip))
            return which;
    }
    // The more exact address wins; among equals with SO_REUSEPORT, chance does.
    std::vector<socket*> exact;
    std::vector<socket*> wide;
    for (socket* one : in.bound) {
        if (!one->is_stream() || !one->is_listening() || !one->accepts(to)) continue;
        (one->family() != AF_UNIX && one->where().is_wildcard() ? wide : exact).push_back(one);
    }
    const std::vector<socket*>& found = exact.empty() ? wide : exact;
    return found.empty() ? nullptr : found.size() == 1 ? found[0] : found[in.order.below(found.size())];
}

/// The third packet of the handshake: the connection joins the listener's queue. The other side holds itself for connected already.
void join_queue(const std::shared_ptr<connection>& link, const address& to) {
    acceptor* taker = listener_for(to);
    if (taker == nullptr) return link->reset(1);
    if (!taker->has_room()) return here().after(second, [link, to] { join_queue(link, to); });
    taker->take(link);
}

void arrive(const std::shared_ptr<connection>& link, const address& to, int tries) {
    side& mine = link->sides[0];
    if (mine.state != phase::connecting) return;
    acceptor* taker = listener_for(to);
    if (taker == nullptr) return link->send_along(1, [link] { refuse(link, ECONNREFUSED); });
    if (!taker->has_room()) {
        if (tries == tries_max) return refuse(link, ETIMEDOUT);
        return here().after(second << tries, [link, to, tries] { arrive(link, to, tries + 1); });
    }
    link->send_along(1, [link, to] {
        side& connected = link->sides[0];
        if (connected.state != phase::connecting) return;
        connected.state = phase::established;
        link->notify(0, 0);
        link->send_along(0, [link, to] { join_queue(link, to); });
    });
}

}  // namespace

std::uint16_t pick_port() {
    world& in = here();
    for (;;) {
        in.next_port = in.next_port >= 60999 ? 32768 : in.next_port + 1;
        const bool taken =
            std::any_of(in.bound.begin(), in.bound.end(), [&](const socket* one) { return one->where().port == in.next_port; });
        if (!taken) return static_cast<std::uint16_t>(in.next_port);
    }
}

std::shared_ptr<connection> begin_connect(const address& from, const address& to, int as_family, std::size_t send_bytes_max,
                                          std::size_t receive_bytes_max) {
    const bool is_unix = as_family == AF_UNIX;
    auto link = std::make_shared<connection>(is_unix, send_bytes_max, receive_bytes_max);
    side& mine = link->sides[0];
    side& theirs = link->sides[1];
    mine.state = phase::connecting;
    address real_to = to;
    if (!is_unix && to.is_wildcard()) {
        real_to.ip = {};
        if (to.is_ipv4()) {
            real_to.ip[10] = real_to.ip[11] = 0xff;
            real_to.ip[12] = 127;
        }
        real_to.ip[15] = 1;
    }
    // Each side sees addresses of its own socket's family: an IPv6 listener sees IPv4 clients as mapped addresses.
    int other_family = as_family;
    for (const socket* one : here().bound) {
        if (one->is_stream() && one->is_listening() && one->accepts(real_to)) other_family = one->family();
    }
    mine.local = from.raw(as_family);
    mine.remote = real_to.raw(as_family);
    theirs.local = real_to.raw(other_family);
    theirs.remote = from.raw(other_family);
    if (is_unix) {
        acceptor* taker = listener_for(real_to);
        const bool is_taken = taker != nullptr && taker->has_room();
        mine.state = is_taken ? phase::established : phase::closed;
        if (is_taken) taker->take(link);
    } else {
        link->send_along(0, [link, real_to] { arrive(link, real_to, 0); });
    }
    return link;
}

void add_acceptor(const address& at, acceptor& which) { here().acceptors.emplace_back(at, &which); }

void remove_acceptor(acceptor& which) {
    std::erase_if(here().acceptors, [&](const auto& one) { return one.second == &which; });
}

int socket::connect_datagram(const address& to) {
    if (!bound_) {
        if (const int wrong = bind_anywhere(); wrong < 0) return wrong;
    }
    if (family_ != AF_UNIX && local_.is_wildcard()) local_.ip = to.ip;
    remote_ = to;
    has_remote_ = true;
    return 0;
}

std::ptrdiff_t socket::send_to(const void* data, std::size_t size, const void* to, unsigned length) {
    if (link_ != nullptr) {
        const kernel::piece all{data, size};
        return link_->send(who_, &all, 1);
    }
    if (error_ != 0) return -std::exchange(error_, 0);
    if (write_shut_) return -EPIPE;
    address target = remote_;
    if (length > 0) {
        if (const int wrong = parse(to, length, target); wrong < 0) return wrong;
    } else if (!has_remote_) {
        return family_ == AF_UNIX ? -ENOTCONN : -EDESTADDRREQ;
    }
    if (size > 65507) return -EMSGSIZE;
    if (!bound_ && family_ != AF_UNIX) {
        if (const int wrong = bind_anywhere(); wrong < 0) return wrong;
    }
    return deliver_datagram(target, data, size);
}

std::ptrdiff_t socket::deliver_datagram(const address& to, const void* data, std::size_t size) {
    world& in = here();
    const bool is_unix = family_ == AF_UNIX;
    address from = local_;
    if (!is_unix && from.is_wildcard()) from.ip = to.ip;
    const auto find = [to]() -> socket* {
        for (socket* one : here().bound) {
            // A connected one hears its partner only; the tests that need several on a port do not exist.
            if (!one->is_stream() && one->accepts(to)) return one;
        }
        return nullptr;
    };
    if (is_unix) {
        socket* target = find();
        if (target == nullptr) return in.files.contains(to.path) || to.path.starts_with('\0') ? -ECONNREFUSED : -ENOENT;
        if (target->datagram_bytes_ + size > target->receive_bytes_max_) return -EAGAIN;
        target->datagram_arrived({std::string(static_cast<const char*>(data), size), bound_ ? from.raw(AF_UNIX) : std::string()});
        return static_cast<std::ptrdiff_t>(size);
    }
    if (in.order.happens(in.with.loss_chance)) return static_cast<std::ptrdiff_t>(size);
    auto arrive_there = [find, from, sender = has_remote_ ? this : nullptr, bytes = std::string(static_cast<const char*>(data), size)] {
        socket* target = find();
        if (target != nullptr) {
            target->datagram_arrived({bytes, from.raw(target->family_)});
            return;
        }
        // The answer of the other host reaches a connected sender that still lives.
        const auto& bound = here().bound;
        if (sender != nullptr && std::find(bound.begin(), bound.end(), sender) != bound.end()) sender->refuse();
    };
    const std::int64_t delay = in.latency();
    if (delay == 0) {
        arrive_there();
    } else {
        in.after(delay, std::move(arrive_there));
    }
    return static_cast<std::ptrdiff_t>(size);
}

void socket::datagram_arrived(datagram arrived) {
    if (has_remote_ && family_ != AF_UNIX && arrived.from != remote_.raw(family_)) return;
    if (read_shut_ || datagram_bytes_ + arrived.bytes.size() > receive_bytes_max_) return;
    datagram_bytes_ += arrived.bytes.size();
    datagrams_.push_back(std::move(arrived));
    wake(kernel::poll_in);
}

std::ptrdiff_t socket::receive_from(void* out, std::size_t size, void* from, unsigned* length, bool* truncated, bool keep) {
    *truncated = false;
    if (is_stream_) {
        *length = 0;
        return receive(out, size, keep);
    }
    if (error_ != 0) return -std::exchange(error_, 0);
    if (datagrams_.empty()) return read_shut_ ? 0 : -EAGAIN;
    datagram& first = datagrams_.front();
    const std::size_t got = std::min(size, first.bytes.size());
    *truncated = got < first.bytes.size();
    std::memcpy(out, first.bytes.data(), got);
    if (from != nullptr) {
        std::memcpy(from, first.from.data(), std::min<std::size_t>(*length, first.from.size()));
        *length = static_cast<unsigned>(first.from.size());
    }
    if (!keep) {
        datagram_bytes_ -= first.bytes.size();
        datagrams_.pop_front();
    }
    return static_cast<std::ptrdiff_t>(got);
}

}  // namespace martlet::inline v0::sim
