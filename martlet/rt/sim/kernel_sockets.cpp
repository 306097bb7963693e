// The seam over the simulation: sockets.
#include <martlet/rt/kernel.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>

#include <martlet/rt/sim/objects.hpp>
#include <martlet/rt/sim/world.hpp>

namespace martlet::inline v0::kernel {

using sim::call;
using sim::call_kind;

namespace {

sim::socket* socket_of(call& now, const descriptor& socket) { return now.in.find_as<sim::socket>(socket.number()); }

int give_name(const std::string& name, void* address, unsigned* length) {
    std::memcpy(address, name.data(), std::min<std::size_t>(*length, name.size()));
    *length = static_cast<unsigned>(name.size());
    return 0;
}

template <class T>
T fail(call& now, sim::socket* which) {
    which->follow_error(now.error());
    return now.fail<T>();
}

std::ptrdiff_t receive(call_kind kind, const descriptor& socket, void* out, std::size_t size, bool keep) {
    call now(kind, socket.number(), size);
    sim::socket* from = socket_of(now, socket);
    if (from == nullptr) return now.done<std::ptrdiff_t>(-ENOTSOCK);
    if (now.fails()) return fail<std::ptrdiff_t>(now, from);
    return now.done(from->receive(out, size, keep));
}

}  // namespace

int socket_open(int family, int type, int protocol) noexcept {
    call now(call_kind::socket_open, -1, static_cast<std::uint64_t>(type));
    if (now.fails()) return now.fail();
    if (family != AF_INET && family != AF_INET6 && family != AF_UNIX) return now.done(-EAFNOSUPPORT);
    if (type != SOCK_STREAM && type != SOCK_DGRAM) return now.done(-EPROTONOSUPPORT);
    if (!now.in.has_room(1)) return now.done(-EMFILE);
    return now.done(now.in.open(std::make_shared<sim::socket>(family, type, protocol)));
}

int bind(const descriptor& socket, const void* address, unsigned length) noexcept {
    call now(call_kind::bind, socket.number(), length);
    sim::socket* which = socket_of(now, socket);
    if (which == nullptr) return now.done(-ENOTSOCK);
    if (now.fails()) return now.fail();
    return now.done(which->bind(address, length));
}

int listen(const descriptor& socket, int backlog) noexcept {
    call now(call_kind::listen, socket.number(), static_cast<std::uint64_t>(backlog));
    sim::socket* which = socket_of(now, socket);
    if (which == nullptr) return now.done(-ENOTSOCK);
    if (now.fails()) return now.fail();
    return now.done(which->listen(backlog));
}

int accept(const descriptor& socket, void* address, unsigned* length) noexcept {
    call now(call_kind::accept, socket.number());
    sim::socket* listener = socket_of(now, socket);
    if (listener == nullptr) return now.done(-ENOTSOCK);
    if (now.fails()) {
        if (now.error() == ECONNABORTED || now.error() == EPERM) listener->lose_pending();
        return now.fail();
    }
    // Linux reserves the number before it looks at the queue.
    if (!now.in.has_room(1)) return now.done(-EMFILE);
    int error = 0;
    const std::shared_ptr<sim::socket> made = listener->accept(error);
    if (made == nullptr) return now.done(error);
    if (address != nullptr && length != nullptr) give_name(made->accepted_from(), address, length);
    return now.done(now.in.open(made));
}

int connect(const descriptor& socket, const void* address, unsigned length) noexcept {
    call now(call_kind::connect, socket.number(), length);
    sim::socket* which = socket_of(now, socket);
    if (which == nullptr) return now.done(-ENOTSOCK);
    if (now.fails()) {
        const bool is_tcp = which->is_stream() && which->family() != AF_UNIX;
        return is_tcp && now.fails_later() ? now.done(which->connect_that_fails(now.error())) : now.fail();
    }
    return now.done(which->connect(address, length));
}

int local_address(const descriptor& socket, void* address, unsigned* length) noexcept {
    call now(call_kind::local_address, socket.number());
    sim::socket* which = socket_of(now, socket);
    if (which == nullptr) return now.done(-ENOTSOCK);
    if (now.fails()) return now.fail();
    std::string name;
    const int found = which->local(name);
    return now.done(found < 0 ? found : give_name(name, address, length));
}

int peer_address(const descriptor& socket, void* address, unsigned* length) noexcept {
    call now(call_kind::peer_address, socket.number());
    sim::socket* which = socket_of(now, socket);
    if (which == nullptr) return now.done(-ENOTSOCK);
    if (now.fails()) return now.fail();
    std::string name;
    const int found = which->remote(name);
    return now.done(found < 0 ? found : give_name(name, address, length));
}

int set_option(const descriptor& socket, int level, int name, const void* value, unsigned length) noexcept {
    call now(call_kind::set_option, socket.number(), static_cast<std::uint64_t>(level) << 32 | static_cast<std::uint64_t>(name));
    sim::socket* which = socket_of(now, socket);
    if (which == nullptr) return now.done(-ENOTSOCK);
    if (now.fails()) return now.fail();
    return now.done(which->set_option(level, name, value, length));
}

int option(const descriptor& socket, int level, int name, void* value, unsigned* length) noexcept {
    call now(call_kind::option, socket.number(), static_cast<std::uint64_t>(level) << 32 | static_cast<std::uint64_t>(name));
    sim::socket* which = socket_of(now, socket);
    if (which == nullptr) return now.done(-ENOTSOCK);
    if (now.fails()) return now.fail();
    return now.done(which->option(level, name, value, length));
}

int shutdown(const descriptor& socket, int how) noexcept {
    call now(call_kind::shutdown, socket.number(), static_cast<std::uint64_t>(how));
    sim::socket* which = socket_of(now, socket);
    if (which == nullptr) return now.done(-ENOTSOCK);
    if (now.fails()) {
        // The only way to get it: the peer's reset came in between.
        which->follow_error(ECONNRESET);
        return now.fail();
    }
    return now.done(which->shutdown(how));
}

std::ptrdiff_t recv(const descriptor& socket, void* out, std::size_t size) noexcept {
    return receive(call_kind::recv, socket, out, size, false);
}

std::ptrdiff_t peek(const descriptor& socket, void* out, std::size_t size) noexcept {
    return receive(call_kind::peek, socket, out, size, true);
}

std::ptrdiff_t send(const descriptor& socket, const void* data, std::size_t size) noexcept {
    call now(call_kind::send, socket.number(), size);
    sim::socket* to = socket_of(now, socket);
    if (to == nullptr) return now.done<std::ptrdiff_t>(-ENOTSOCK);
    if (now.fails()) return fail<std::ptrdiff_t>(now, to);
    const piece all{data, size};
    return now.done(to->send(&all, 1));
}

std::ptrdiff_t send_pieces(const descriptor& socket, const piece* pieces, std::size_t count) noexcept {
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) size += pieces[i].size;
    call now(call_kind::send_pieces, socket.number(), size);
    sim::socket* to = socket_of(now, socket);
    if (to == nullptr) return now.done<std::ptrdiff_t>(-ENOTSOCK);
    if (count > 1024) return now.done<std::ptrdiff_t>(-EMSGSIZE);
    if (now.fails()) return fail<std::ptrdiff_t>(now, to);
    return now.done(to->send(pieces, count));
}

std::ptrdiff_t send_file(const descriptor& socket, const descriptor& file, std::int64_t* offset, std::size_t size) noexcept {
    call now(call_kind::send_file, socket.number(), size);
    sim::socket* to = socket_of(now, socket);
    auto* from = now.in.find_as<sim::open_file>(file.number());
    if (to == nullptr || from == nullptr || !to->is_stream() || from->node().is_directory) return now.done<std::ptrdiff_t>(-EINVAL);
    if (!from->is_readable()) return now.done<std::ptrdiff_t>(-EBADF);
    if (now.fails()) return fail<std::ptrdiff_t>(now, to);
    if (*offset < 0) return now.done<std::ptrdiff_t>(-EINVAL);
    const std::string& content = from->node().content;
    const std::size_t at = static_cast<std::size_t>(*offset);
    const std::size_t left = at < content.size() ? std::min(size, content.size() - at) : 0;
    if (left == 0) return now.done<std::ptrdiff_t>(0);
    const piece range{content.data() + at, left};
    const std::ptrdiff_t sent = to->send(&range, 1);
    if (sent == -EPIPE) now.in.sigpipe();
    if (sent > 0) *offset += sent;
    return now.done(sent);
}

std::ptrdiff_t recv_from(const descriptor& socket, void* out, std::size_t size, void* address, unsigned* length, bool* truncated) noexcept {
    call now(call_kind::recv_from, socket.number(), size);
    sim::socket* from = socket_of(now, socket);
    if (from == nullptr) return now.done<std::ptrdiff_t>(-ENOTSOCK);
    if (now.fails()) return fail<std::ptrdiff_t>(now, from);
    return now.done(from->receive_from(out, size, address, length, truncated, false));
}

std::ptrdiff_t send_to(const descriptor& socket, const void* data, std::size_t size, const void* address, unsigned length) noexcept {
    call now(call_kind::send_to, socket.number(), size);
    sim::socket* to = socket_of(now, socket);
    if (to == nullptr) return now.done<std::ptrdiff_t>(-ENOTSOCK);
    if (now.fails()) {
        // A datagram that found no room: room comes back at once, with a report.
        if (now.error() == EAGAIN) now.in.after(1'000, [kept = now.in.share(socket.number())] { kept->wake(poll_out); });
        return now.fail<std::ptrdiff_t>();
    }
    return now.done(to->send_to(data, size, address, length));
}

}  // namespace martlet::inline v0::kernel
