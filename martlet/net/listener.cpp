#include <martlet/net/listener.hpp>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include <sys/socket.h>

#include <martlet/net/error.hpp>
#include <martlet/rt/kernel.hpp>
#include <martlet/rt/loop.hpp>

namespace martlet::inline v0::net {

namespace {

// A bound on connections that died in the queue and are skipped in one try.
constexpr int skipped_per_try_max = 64;

std::unexpected<error> refuse(int negated_errno) noexcept { return failure(error::system(-negated_errno)); }

// The path stands in the address with a zero behind it, as the constructors of address see to.
const char* path_of(const address& at) noexcept { return at.name().data(); }

/// What stands at the path of a Unix address; nothing when it cannot be told.
std::optional<kernel::file_facts> look_at(const address& at) noexcept {
    kernel::file_facts facts;
    if (kernel::path_stat(path_of(at), &facts) < 0) return std::nullopt;
    return facts;
}

/// Whether somebody listens on the Unix socket at `at`.
bool answers(const address& at) noexcept {
    const int number = kernel::socket_open(AF_UNIX, SOCK_STREAM, 0);
    if (number < 0) return true;
    const descriptor probe(number);
    int connected;
    do {
        connected = kernel::connect(probe, at.data(), at.size());
    } while (connected == -EINTR);
    return connected != -ECONNREFUSED;
}

int bind_unix(const descriptor& socket, const address& at) noexcept {
    const int bound = kernel::bind(socket, at.data(), at.size());
    if (bound != -EADDRINUSE || at.family() != address_family::unix_path) return bound;
    const auto file = look_at(at);
    if (!file || !file->is_socket || answers(at)) return bound;
    if (const int removed = kernel::path_remove(path_of(at)); removed < 0 && removed != -ENOENT) return removed;
    return kernel::bind(socket, at.data(), at.size());
}

// Errors that belong to one connection, or pass at once: accept(2) reports what had already happened to it.
bool is_skipped(int code) noexcept {
    switch (-code) {
    case EINTR:
    case ECONNABORTED:
    case ECONNRESET:
    case EPROTO:
    case EPERM:
    case ENOPROTOOPT:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENONET:
    case ETIMEDOUT: return true;
    default: return false;
    }
}

bool is_starved(int code) noexcept { return code == -EMFILE || code == -ENFILE || code == -ENOMEM || code == -ENOBUFS; }

}  // namespace

listener::listener(listener&& other) noexcept
    : socket_(std::move(other.socket_)),
      owns_file_(std::exchange(other.owns_file_, false)),
      at_(other.at_),
      file_device_(other.file_device_),
      file_number_(other.file_number_) {}

listener& listener::operator=(listener&& other) noexcept {
    if (this != &other) {
        close();
        socket_ = std::move(other.socket_);
        owns_file_ = std::exchange(other.owns_file_, false);
        at_ = other.at_;
        file_device_ = other.file_device_;
        file_number_ = other.file_number_;
    }
    return *this;
}

result<listener> listener::open(const address& at, const listener_options& options) noexcept {
    if (!at || at.family() == address_family::unix_unnamed) return failure(make_error(net_error::address_unusable));
    auto opened = open_exactly(at, options);
    if (opened || at.family() != address_family::ipv6 || !at.is_any() || options.ipv6_only()) return opened;
    if (!opened.error().is_system(EAFNOSUPPORT) && !opened.error().is_system(EADDRNOTAVAIL)) return opened;
    return open_exactly(address::ipv4_any(at.port()), options);
}

result<listener> listener::open_exactly(const address& at, const listener_options& options) noexcept {
    const int number = kernel::socket_open(at.system_family(), SOCK_STREAM, 0);
    if (number < 0) return refuse(number);
    listener made;
    made.socket_ = descriptor(number);
    const result<void> applied = options.apply(made.socket_, at.system_family());
    if (!applied) return failure(applied.error());
    const int bound = at.is_unix() ? bind_unix(made.socket_, at) : kernel::bind(made.socket_, at.data(), at.size());
    if (bound == -EADDRINUSE && at.family() == address_family::unix_path) {
        const auto file = look_at(at);
        if (file && !file->is_socket) return failure(make_error(net_error::path_taken));
    }
    if (bound < 0) return refuse(bound);
    if (at.family() == address_family::unix_path) {
        const auto file = look_at(at);
        made.at_ = at;
        made.owns_file_ = file && file->is_socket;
        made.file_device_ = file ? file->device : 0;
        made.file_number_ = file ? file->inode : 0;
        // Before listening: until then nobody can connect.
        if (options.unix_mode() != 0) {
            const int set = kernel::path_set_mode(path_of(at), options.unix_mode());
            if (set < 0) return refuse(set);
        }
    }
    const int listening = kernel::listen(made.socket_, options.backlog());
    if (listening < 0) return refuse(listening);
    return made;
}

result<listener> listener::inherit(int number) noexcept {
    descriptor given(number);
    int listens = 0;
    int type = 0;
    unsigned length = sizeof listens;
    int asked = kernel::option(given, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length);
    length = sizeof type;
    if (asked == 0) asked = kernel::option(given, SOL_SOCKET, SO_TYPE, &type, &length);
    if (asked < 0 || listens == 0 || type != SOCK_STREAM) {
        static_cast<void>(given.release());
        return failure(make_error(net_error::not_listening));
    }
    // The duplicate is close-on-exec, which an inherited descriptor is not.
    const int own = kernel::duplicate(given);
    if (own < 0) {
        static_cast<void>(given.release());
        return refuse(own);
    }
    listener made;
    made.socket_ = descriptor(own);
    const int set = kernel::set_nonblocking(made.socket_);
    if (set < 0) {
        static_cast<void>(given.release());
        return refuse(set);
    }
    return made;
}

result<address> listener::local_address() const noexcept {
    if (!socket_.is_open()) return failure(make_error(net_error::listener_closed));
    unsigned char raw[address::storage_bytes];
    unsigned length = sizeof raw;
    const int asked = kernel::local_address(socket_, raw, &length);
    if (asked < 0) return refuse(asked);
    return address::from_system(raw, std::min<unsigned>(length, sizeof raw));
}

void listener::close() noexcept {
    if (!socket_.is_open()) return;
    if (std::exchange(owns_file_, false)) {
        const auto file = look_at(at_);
        // Nothing can be done about a name that stays: the next to listen there takes it over.
        if (file && file->is_socket && file->device == file_device_ && file->inode == file_number_)
            static_cast<void>(kernel::path_remove(path_of(at_)));
    }
    socket_.close();
}

result<void> acceptor::open(loop& on, const listener& from) noexcept {
    if (!from.is_open()) return martlet::failure(make_error(net_error::listener_closed));
    const int number = kernel::duplicate(from.fd());
    if (number < 0) return refuse(number);
    const int opened = socket_.open_shared(on, descriptor(number));
    if (opened < 0) return refuse(opened);
    return {};
}

void acceptor::close() noexcept {
    if (!socket_.is_open()) return;
    owner().disarm(timer_);
    why_ = make_error(net_error::listener_closed);
    waiter_ = nullptr;
    waiting_node* const told = std::exchange(told_waiter_, nullptr);
    socket_.close();
    if (told != nullptr) told->closed();
}

accept_state acceptor::try_accept(accepted& into) noexcept {
    if (!socket_.is_open()) return accept_state::failed;
    if (is_paused()) return accept_state::blocked;
    for (int skipped = 0; skipped < skipped_per_try_max && socket_.maybe_readable(); ++skipped) {
        unsigned char raw[address::storage_bytes];
        unsigned length = sizeof raw;
        const int number = kernel::accept(socket_.fd(), raw, &length);
        if (number >= 0) {
            into.socket = descriptor(number);
            into.peer = address::from_system(raw, std::min<unsigned>(length, sizeof raw)).unmapped();
            return accept_state::accepted;
        }
        if (number == -EAGAIN) {
            socket_.drained();
            break;
        }
        if (is_skipped(number)) continue;
        why_ = error::system(-number);
        if (!is_starved(number)) return accept_state::failed;
        owner().arm(timer_, saturating_add(owner().clock(), pause));
        return accept_state::starved;
    }
    return accept_state::blocked;
}

void acceptor::arm(ready_node* waiter) noexcept {
    const bool paused = is_paused();
    waiter_ = paused ? waiter : nullptr;
    told_waiter_ = nullptr;
    socket_.arm(direction::reading, paused ? nullptr : waiter);
}

bool acceptor::wait(waiting_node& waiter) noexcept {
    if (!is_paused()) return socket_.wait(direction::reading, waiter);
    if (told_waiter_ != nullptr) return false;
    arm(nullptr);
    told_waiter_ = &waiter;
    return true;
}

void acceptor::pause_over(timer_node& timer) noexcept {
    acceptor& self = static_cast<pause_timer&>(timer).of_;
    // Nothing was drained, so a waiter is queued at once.
    if (waiting_node* const told = std::exchange(self.told_waiter_, nullptr)) {
        static_cast<void>(self.socket_.wait(direction::reading, *told));
    } else {
        self.socket_.arm(direction::reading, std::exchange(self.waiter_, nullptr));
    }
}

bool accept_operation::start(context& in, std::coroutine_handle<> awaiter) noexcept {
    if (in.is_cancelled()) {
        fail(in.why());
        return false;
    }
    if (attempt() || !wait_again()) return false;
    suspend(in, awaiter);
    return true;
}

void accept_operation::fail(error why) noexcept {
    failed_ = true;
    why_ = why;
}

// False: it has failed instead.
bool accept_operation::wait_again() noexcept {
    if (of_.wait(waker_)) return true;
    fail(make_error(net_error::stream_busy));
    return false;
}

bool accept_operation::attempt() noexcept {
    switch (of_.try_accept(taken_)) {
    case accept_state::accepted: return true;
    case accept_state::blocked:
    case accept_state::starved: return false;
    case accept_state::failed: break;
    }
    fail(of_.failure());
    return true;
}

result<accepted> accept_operation::finish() noexcept {
    if (failed_) return failure(why_);
    return std::move(taken_);
}

void accept_operation::woken(ready_node& node) noexcept {
    accept_operation& self = static_cast<waker&>(node).of_;
    if (self.attempt() || !self.wait_again()) self.complete();
}

void accept_operation::closed(ready_node& node) noexcept {
    accept_operation& self = static_cast<waker&>(node).of_;
    self.fail(make_error(net_error::listener_closed));
    self.complete();
}

void accept_operation::cancelled(operation& base, error why) noexcept {
    auto& self = static_cast<accept_operation&>(base);
    // Queued, it is in the acceptor's place no more, and another may be.
    if (self.waker_.is_linked()) {
        self.waker_.unlink();
    } else {
        self.of_.arm(nullptr);
    }
    self.fail(why);
    self.complete();
}

}  // namespace martlet::inline v0::net
