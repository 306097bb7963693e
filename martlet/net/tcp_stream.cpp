#include <martlet/net/tcp_stream.hpp>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include <sys/socket.h>

#include <martlet/net/file_front_internal.hpp>
#include <martlet/rt/kernel.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/sigpipe.hpp>

namespace martlet::inline v0::net {

namespace {

constexpr std::size_t pieces_max = 64;
constexpr std::size_t copied_file_bytes = 16 * 1024;

using address_call = int (*)(const descriptor&, void*, unsigned*) noexcept;

std::optional<address> ask(address_call of, const descriptor& socket) noexcept {
    unsigned char raw[address::storage_bytes];
    unsigned length = sizeof raw;
    if (of(socket, raw, &length) < 0) return std::nullopt;
    return address::from_system(raw, std::min<unsigned>(length, sizeof raw)).unmapped();
}

// Files that sendfile refuses can be read all the same.
bool cannot_be_sent(std::ptrdiff_t code) noexcept { return code == -EINVAL || code == -ENOSYS || code == -EOPNOTSUPP; }

}  // namespace

result<void> socket_stream::open(loop& on, descriptor of, const address& peer) noexcept {
    const int opened = socket_.open(on, std::move(of));
    if (opened < 0) return martlet::failure(error::system(-opened));
    peer_.family = peer.family();
    const auto host = peer.host();
    std::ranges::copy(host, peer_.host);
    peer_.scope_id = peer.scope_id();
    peer_.port = peer.port();
    return {};
}

io socket_stream::try_read(buffer& into) noexcept {
    if (errno_ != 0 || broken_ != net_error{}) return io::failed;
    if (at_end_) return io::ended;
    if (!socket_.maybe_readable()) return io::blocked;
    const std::span<char> room = into.prepare(1);
    if (room.empty()) return into.full() ? fail(net_error::buffer_full) : fail(ENOMEM);
    for (;;) {
        const std::ptrdiff_t got = kernel::recv(socket_.fd(), room.data(), room.size());
        if (got > 0) {
            const auto size = static_cast<std::size_t>(got);
            into.commit(size);
            // A FIN or an error that was reported stays noted, so that the next try reads on until it meets it.
            if (size < room.size()) socket_.drained();
            return io::moved;
        }
        if (got == 0) {
            at_end_ = true;
            return io::ended;
        }
        if (got == -EINTR) continue;
        if (got != -EAGAIN) return fail(static_cast<int>(-got));
        socket_.drained();
        // The error has been taken by another call: waiting for it again would not end.
        socket_.recovered();
        return io::blocked;
    }
}

// One gathered write. Bytes written, or a negated errno value; `wanted` is what it offered.
std::ptrdiff_t socket_stream::write_memory(const outq& from, std::size_t& wanted) noexcept {
    const_buffer found[pieces_max];
    const std::size_t count = from.gather(found);
    if (count == 1) {
        wanted = found[0].size;
        return kernel::send(socket_.fd(), found[0].data, found[0].size);
    }
    kernel::piece pieces[pieces_max];
    wanted = 0;
    for (std::size_t i = 0; i < count; ++i) {
        pieces[i] = {found[i].data, found[i].size};
        wanted += found[i].size;
    }
    return kernel::send_pieces(socket_.fd(), pieces, count);
}

std::ptrdiff_t socket_stream::write_file(const file_range& from, std::size_t bytes_max) noexcept {
    const detail::borrowed_descriptor file(from.descriptor());
    auto offset = static_cast<std::int64_t>(from.offset());
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(from.length(), bytes_max));
    std::ptrdiff_t sent;
    if (socket_.owner().blocks_sigpipe()) {
        sent = kernel::send_file(socket_.fd(), file.owner(), &offset, size);
        if (sent == -EPIPE) socket_.owner().consume_sigpipe();
    } else {
        const sigpipe_guard blocked;
        sent = kernel::send_file(socket_.fd(), file.owner(), &offset, size);
    }
    return cannot_be_sent(sent) ? copy_file(from) : sent;
}

std::ptrdiff_t socket_stream::copy_file(const file_range& from) noexcept {
    char copied[copied_file_bytes];
    const std::ptrdiff_t got = detail::read_file_front(from, copied);
    return got <= 0 ? got : kernel::send(socket_.fd(), copied, static_cast<std::size_t>(got));
}

io socket_stream::try_write(outq& from) noexcept {
    if (errno_ != 0 || broken_ != net_error{}) return io::failed;
    // The usual answer is one piece of memory, taken at once.
    const const_buffer whole = from.whole();
    std::size_t left = write_bytes_per_try_max;
    if (whole.size - 1 < left && socket_.maybe_writable()) [[likely]] {
        const std::ptrdiff_t sent = kernel::send(socket_.fd(), whole.data, whole.size);
        if (sent == static_cast<std::ptrdiff_t>(whole.size)) [[likely]] {
            from.clear();
            return io::moved;
        }
        if (!note_sent(from, sent, whole.size)) return io::failed;
        left -= static_cast<std::size_t>(std::max<std::ptrdiff_t>(sent, 0));
    }
    return write_pieces(from, left);
}

// At most `left` bytes.
io socket_stream::write_pieces(outq& from, std::size_t left) noexcept {
    while (!from.empty()) {
        if (left == 0 || !socket_.maybe_writable()) return io::blocked;
        const file_range* file = from.front_file();
        if (file != nullptr && file->descriptor() < 0) return fail(net_error::file_unreadable);
        // A file's end also makes sendfile send less, so there only the next call tells that the socket is full.
        std::size_t wanted = 0;
        const std::ptrdiff_t sent = file != nullptr ? write_file(*file, left) : write_memory(from, wanted);
        if (!note_sent(from, sent, wanted)) return io::failed;
        left -= std::min(left, static_cast<std::size_t>(std::max<std::ptrdiff_t>(sent, 0)));
    }
    return io::moved;
}

// What came of a call that was to send `wanted` bytes: bytes sent, or a negated errno value. False: the stream has failed.
bool socket_stream::note_sent(outq& from, std::ptrdiff_t sent, std::size_t wanted) noexcept {
    if (sent > 0) {
        from.consume(static_cast<std::size_t>(sent));
        if (static_cast<std::size_t>(sent) < wanted) socket_.filled();
    } else if (sent == 0) {
        fail(net_error::file_shrank);
        return false;
    } else if (sent == -EAGAIN) {
        socket_.filled();
        socket_.recovered();
    } else if (sent != -EINTR) {
        fail(static_cast<int>(-sent));
        return false;
    }
    return true;
}

io socket_stream::fail(int errno_value) noexcept {
    errno_ = errno_value;
    socket_.fail();
    return io::failed;
}

io socket_stream::fail(net_error why) noexcept {
    broken_ = why;
    socket_.fail();
    return io::failed;
}

// After our own FIN the peer's makes the kernel report both directions closed, which is no failure.
bool socket_stream::peer_failed() const noexcept { return errno_ != 0 || broken_ != net_error{} || (socket_.failed() && !write_shut_); }

void socket_stream::shutdown_write() noexcept {
    if (write_shut_ || !socket_.is_open()) return;
    write_shut_ = true;
    constexpr int writing = 1;
    kernel::shutdown(socket_.fd(), writing);
}

void socket_stream::abort() noexcept {
    if (!socket_.is_open()) return;
    const ::linger at_once{1, 0};
    kernel::set_option(socket_.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
}

descriptor socket_stream::release(address& peer) noexcept {
    if (const auto known = peer_address()) peer = *known;
    return socket_.release();
}

void socket_stream::close() noexcept {
    if (!socket_.is_open()) return;
    socket_.close();
    if (errno_ == 0 && broken_ == net_error{}) fail(net_error::stream_closed);
}

error socket_stream::failure() const noexcept { return errno_ != 0 ? error::system(errno_) : make_error(broken_); }

std::optional<address> socket_stream::peer_address() const noexcept {
    if (peer_.family == address_family::ipv4) return address::ipv4(peer_.host[0], peer_.host[1], peer_.host[2], peer_.host[3], peer_.port);
    if (peer_.family == address_family::ipv6) return address::ipv6(peer_.host, peer_.port, peer_.scope_id);
    if (socket_.is_open()) return ask(&kernel::peer_address, socket_.fd());
    return std::nullopt;
}

stream_info socket_stream::info() const noexcept {
    stream_info known;
    if (const auto peer = peer_address()) known.peer(*peer);
    if (socket_.is_open()) {
        if (const auto local = ask(&kernel::local_address, socket_.fd())) known.local(*local);
    }
    return known;
}

}  // namespace martlet::inline v0::net
