// The kernel seam over Linux. Its own library, so that a program can link the simulated kernel instead.
#include <martlet/rt/kernel.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace martlet::inline v0 {

void descriptor::close_number(int number) noexcept { kernel::close(number); }

}  // namespace martlet::inline v0

namespace martlet::inline v0::kernel {

namespace {

static_assert(sizeof(poll_event) == sizeof(::epoll_event));
static_assert(offsetof(poll_event, tag) == offsetof(::epoll_event, data));
static_assert(sizeof(piece) == sizeof(::iovec) && offsetof(piece, size) == offsetof(::iovec, iov_len));
static_assert(poll_in == EPOLLIN && poll_out == EPOLLOUT && poll_error == EPOLLERR && poll_hangup == EPOLLHUP);
static_assert(poll_read_hangup == EPOLLRDHUP && poll_exclusive == EPOLLEXCLUSIVE && poll_edge == EPOLLET);
static_assert(sizeof(::sigset_t) <= 128);

template <class T>
T or_errno(T value) noexcept {
    return value < 0 ? static_cast<T>(-errno) : value;
}

std::int64_t clock_ns(clockid_t which) noexcept {
    ::timespec now;
    ::clock_gettime(which, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

int epoll_control(const descriptor& epoll, int operation, const descriptor& of, std::uint32_t events, void* tag) noexcept {
    ::epoll_event event{};
    event.events = events;
    event.data.ptr = tag;
    return or_errno(::epoll_ctl(epoll.number(), operation, of.number(), &event));
}

}  // namespace

std::int64_t monotonic_ns() noexcept { return clock_ns(CLOCK_MONOTONIC); }
std::int64_t realtime_ns() noexcept { return clock_ns(CLOCK_REALTIME); }

int random_bytes(void* out, std::size_t size) noexcept {
    auto* at = static_cast<char*>(out);
    while (size > 0) {
        const ssize_t got = ::getrandom(at, size, 0);
        if (got < 0) {
            if (errno == EINTR) continue;
            return -errno;
        }
        at += got;
        size -= static_cast<std::size_t>(got);
    }
    return 0;
}

void* map_pages(std::size_t size) noexcept {
    // The kernel aligns to its own pages only: map more, and give back what lies outside the aligned part.
    constexpr std::size_t alignment = 64 * 1024;
    void* mapped = ::mmap(nullptr, size + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    auto start = reinterpret_cast<std::uintptr_t>(mapped);
    const std::uintptr_t aligned = (start + alignment - 1) & ~(alignment - 1);
    if (aligned != start) ::munmap(mapped, aligned - start);
    const std::size_t behind = start + alignment - aligned;
    if (behind != 0) ::munmap(reinterpret_cast<void*>(aligned + size), behind);
    return reinterpret_cast<void*>(aligned);
}

void unmap_pages(void* pages, std::size_t size) noexcept { ::munmap(pages, size); }

// Not repeated on EINTR: Linux has released the number by then.
void close(int number) noexcept { ::close(number); }

std::ptrdiff_t read(const descriptor& from, void* out, std::size_t size) noexcept { return or_errno(::read(from.number(), out, size)); }

std::ptrdiff_t write(const descriptor& to, const void* data, std::size_t size) noexcept {
    return or_errno(::write(to.number(), data, size));
}

int pipe_open(int (&ends)[2], bool nonblocking) noexcept { return or_errno(::pipe2(ends, O_CLOEXEC | (nonblocking ? O_NONBLOCK : 0))); }

int set_nonblocking(const descriptor& of) noexcept {
    const int flags = ::fcntl(of.number(), F_GETFL);
    return flags < 0 ? -errno : or_errno(::fcntl(of.number(), F_SETFL, flags | O_NONBLOCK));
}

int duplicate(const descriptor& of) noexcept { return or_errno(::fcntl(of.number(), F_DUPFD_CLOEXEC, 0)); }

int epoll_open() noexcept { return or_errno(::epoll_create1(EPOLL_CLOEXEC)); }

int epoll_add(const descriptor& epoll, const descriptor& of, std::uint32_t events, void* tag) noexcept {
    return epoll_control(epoll, EPOLL_CTL_ADD, of, events, tag);
}

int epoll_change(const descriptor& epoll, const descriptor& of, std::uint32_t events, void* tag) noexcept {
    return epoll_control(epoll, EPOLL_CTL_MOD, of, events, tag);
}

int epoll_remove(const descriptor& epoll, const descriptor& of) noexcept { return epoll_control(epoll, EPOLL_CTL_DEL, of, 0, nullptr); }

int epoll_wait(const descriptor& epoll, poll_event* out, int capacity, int timeout_ms) noexcept {
    return or_errno(::epoll_wait(epoll.number(), reinterpret_cast<::epoll_event*>(out), capacity, timeout_ms));
}

int epoll_wait_briefly(const descriptor& epoll, poll_event* out, int capacity, std::int64_t timeout_ns) noexcept {
    constexpr std::int64_t second = 1'000'000'000, millisecond = 1'000'000;
    ::timespec timeout{static_cast<time_t>(timeout_ns / second), static_cast<long>(timeout_ns % second)};
    const int count = or_errno(::epoll_pwait2(epoll.number(), reinterpret_cast<::epoll_event*>(out), capacity, &timeout, nullptr));
    if (count != -ENOSYS) return count;
    const std::int64_t rounded = timeout_ns / millisecond + (timeout_ns % millisecond != 0);
    return epoll_wait(epoll, out, capacity, static_cast<int>(rounded < INT_MAX ? rounded : INT_MAX));
}

int eventfd_open() noexcept { return or_errno(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

void eventfd_signal(const descriptor& of) noexcept {
    // Fails only when the counter is full, and then the reader is woken already.
    while (::eventfd_write(of.number(), 1) < 0 && errno == EINTR) {
    }
}

void eventfd_drain(const descriptor& of) noexcept {
    ::eventfd_t count;
    while (::eventfd_read(of.number(), &count) < 0 && errno == EINTR) {
    }
}

int socket_open(int family, int type, int protocol) noexcept {
    return or_errno(::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
}

int bind(const descriptor& socket, const void* address, unsigned length) noexcept {
    return or_errno(::bind(socket.number(), static_cast<const ::sockaddr*>(address), length));
}

int listen(const descriptor& socket, int backlog) noexcept { return or_errno(::listen(socket.number(), backlog)); }

int accept(const descriptor& socket, void* address, unsigned* length) noexcept {
    return or_errno(::accept4(socket.number(), static_cast<::sockaddr*>(address), length, SOCK_NONBLOCK | SOCK_CLOEXEC));
}

int connect(const descriptor& socket, const void* address, unsigned length) noexcept {
    return or_errno(::connect(socket.number(), static_cast<const ::sockaddr*>(address), length));
}

int local_address(const descriptor& socket, void* address, unsigned* length) noexcept {
    return or_errno(::getsockname(socket.number(), static_cast<::sockaddr*>(address), length));
}

int peer_address(const descriptor& socket, void* address, unsigned* length) noexcept {
    return or_errno(::getpeername(socket.number(), static_cast<::sockaddr*>(address), length));
}

int set_option(const descriptor& socket, int level, int name, const void* value, unsigned length) noexcept {
    return or_errno(::setsockopt(socket.number(), level, name, value, length));
}

int option(const descriptor& socket, int level, int name, void* value, unsigned* length) noexcept {
    return or_errno(::getsockopt(socket.number(), level, name, value, length));
}

int shutdown(const descriptor& socket, int how) noexcept { return or_errno(::shutdown(socket.number(), how)); }

std::ptrdiff_t recv(const descriptor& socket, void* out, std::size_t size) noexcept {
    return or_errno(::recv(socket.number(), out, size, 0));
}

std::ptrdiff_t peek(const descriptor& socket, void* out, std::size_t size) noexcept {
    return or_errno(::recv(socket.number(), out, size, MSG_PEEK));
}

std::ptrdiff_t send(const descriptor& socket, const void* data, std::size_t size) noexcept {
    return or_errno(::send(socket.number(), data, size, MSG_NOSIGNAL));
}

std::ptrdiff_t send_pieces(const descriptor& socket, const piece* pieces, std::size_t count) noexcept {
    ::msghdr message{};
    // The kernel does not write through these pointers.
    message.msg_iov = reinterpret_cast<::iovec*>(const_cast<piece*>(pieces));
    message.msg_iovlen = count;
    return or_errno(::sendmsg(socket.number(), &message, MSG_NOSIGNAL));
}

std::ptrdiff_t send_file(const descriptor& socket, const descriptor& file, std::int64_t* offset, std::size_t size) noexcept {
    ::off_t at = *offset;
    const ssize_t sent = ::sendfile(socket.number(), file.number(), &at, size);
    if (sent < 0) return -errno;
    *offset = at;
    return sent;
}

std::ptrdiff_t recv_from(const descriptor& socket, void* out, std::size_t size, void* address, unsigned* length, bool* truncated) noexcept {
    ::iovec room{out, size};
    ::msghdr message{};
    message.msg_name = address;
    message.msg_namelen = *length;
    message.msg_iov = &room;
    message.msg_iovlen = 1;
    const ssize_t got = ::recvmsg(socket.number(), &message, 0);
    if (got < 0) return -errno;
    *length = message.msg_namelen;
    *truncated = (message.msg_flags & MSG_TRUNC) != 0;
    return got;
}

std::ptrdiff_t send_to(const descriptor& socket, const void* data, std::size_t size, const void* address, unsigned length) noexcept {
    return or_errno(::sendto(socket.number(), data, size, MSG_NOSIGNAL, static_cast<const ::sockaddr*>(address), length));
}

int file_open(const char* path, open_mode mode) noexcept {
    int flags = O_CLOEXEC;
    switch (mode) {
    case open_mode::read: flags |= O_RDONLY; break;
    case open_mode::write_truncate: flags |= O_WRONLY | O_CREAT | O_TRUNC; break;
    case open_mode::append: flags |= O_WRONLY | O_CREAT | O_APPEND; break;
    case open_mode::read_write: flags |= O_RDWR | O_CREAT; break;
    }
    return or_errno(::open(path, flags, 0666));
}

int file_open_beneath(const descriptor& directory, const char* path) noexcept {
    ::open_how how{};
    // A pipe must not make it wait for a writer.
    how.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    return or_errno(static_cast<int>(::syscall(SYS_openat2, directory.number(), path, &how, sizeof how)));
}

namespace {

void note_facts(const struct ::stat& facts, file_facts* out) noexcept {
    out->size = facts.st_size;
    out->modified_ns = static_cast<std::int64_t>(facts.st_mtim.tv_sec) * 1'000'000'000 + facts.st_mtim.tv_nsec;
    out->device = facts.st_dev;
    out->inode = facts.st_ino;
    out->mode = facts.st_mode & 07777;
    out->is_regular = S_ISREG(facts.st_mode);
    out->is_directory = S_ISDIR(facts.st_mode);
    out->is_socket = S_ISSOCK(facts.st_mode);
}

}  // namespace

int file_stat(const descriptor& file, file_facts* out) noexcept {
    struct ::stat facts;
    if (::fstat(file.number(), &facts) < 0) return -errno;
    note_facts(facts, out);
    return 0;
}

std::ptrdiff_t file_read_at(const descriptor& file, void* out, std::size_t size, std::int64_t offset) noexcept {
    return or_errno(::pread(file.number(), out, size, offset));
}

std::ptrdiff_t file_write_at(const descriptor& file, const void* data, std::size_t size, std::int64_t offset) noexcept {
    return or_errno(::pwrite(file.number(), data, size, offset));
}

int file_sync(const descriptor& file) noexcept { return or_errno(::fsync(file.number())); }

int path_stat(const char* path, file_facts* out) noexcept {
    struct ::stat facts;
    if (::lstat(path, &facts) < 0) return -errno;
    note_facts(facts, out);
    return 0;
}

int path_set_mode(const char* path, std::uint32_t mode) noexcept { return or_errno(::chmod(path, mode)); }

int path_remove(const char* path) noexcept { return or_errno(::unlink(path)); }

int signals_open(const int* numbers, std::size_t count, void* mask) noexcept {
    ::sigset_t wanted;
    ::sigemptyset(&wanted);
    for (std::size_t i = 0; i < count; ++i) {
        if (::sigaddset(&wanted, numbers[i]) < 0) return -errno;
    }
    const int number = ::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
    if (number < 0) return -errno;
    ::pthread_sigmask(SIG_BLOCK, &wanted, static_cast<::sigset_t*>(mask));
    return number;
}

int signals_next(const descriptor& of) noexcept {
    ::signalfd_siginfo info;
    const ssize_t got = ::read(of.number(), &info, sizeof info);
    return got < 0 ? -errno : static_cast<int>(info.ssi_signo);
}

void signals_restore(const void* mask) noexcept { ::pthread_sigmask(SIG_SETMASK, static_cast<const ::sigset_t*>(mask), nullptr); }

bool sigpipe_block(void* mask) noexcept {
    ::sigset_t pipe_only;
    ::sigemptyset(&pipe_only);
    ::sigaddset(&pipe_only, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_only, static_cast<::sigset_t*>(mask));
    // Only where it was blocked before can one have been left waiting.
    ::sigset_t waiting;
    return ::sigismember(static_cast<::sigset_t*>(mask), SIGPIPE) == 1 && ::sigpending(&waiting) == 0 &&
           ::sigismember(&waiting, SIGPIPE) == 1;
}

void sigpipe_consume() noexcept {
    ::sigset_t pipe_only;
    ::sigemptyset(&pipe_only);
    ::sigaddset(&pipe_only, SIGPIPE);
    const ::timespec at_once{};
    while (::sigtimedwait(&pipe_only, nullptr, &at_once) < 0 && errno == EINTR) {
    }
}

namespace {

// Runs in the child between clone3 and exec: only async-signal-safe calls, no allocation.
[[noreturn]] void become(const process_start& what, int report) noexcept {
    const auto fail = [&report] {
        const int code = errno;
        [[maybe_unused]] const ssize_t sent = ::write(report, &code, sizeof code);
        ::_exit(127);
    };
    for (int number = 1; number < 32; ++number) {
        if (number != SIGKILL && number != SIGSTOP) ::signal(number, SIG_DFL);
    }
    ::sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (what.directory != nullptr && ::chdir(what.directory) < 0) fail();
    // Out of the way of 0..2, which are about to be replaced.
    report = ::fcntl(report, F_DUPFD_CLOEXEC, 3);
    int input = what.input != nullptr ? what.input->number() : ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int wanted[3] = {input, what.output != nullptr ? what.output->number() : 1, what.error != nullptr ? what.error->number() : 2};
    // First out of the way of 0..2, then into place, so that no source is overwritten before it was used.
    int moved[3];
    for (int i = 0; i < 3; ++i) {
        moved[i] = ::fcntl(wanted[i], F_DUPFD_CLOEXEC, 3);
        if (moved[i] < 0) fail();
    }
    for (int i = 0; i < 3; ++i) {
        if (::dup2(moved[i], i) < 0) fail();
    }
    ::execve(what.path, what.arguments, what.environment != nullptr ? what.environment : ::environ);
    fail();
    ::_exit(127);
}

}  // namespace

int process_open(const process_start& what, int* pid) noexcept {
    int report[2];
    if (::pipe2(report, O_CLOEXEC) < 0) return -errno;
    int pidfd = -1;
    ::clone_args arguments{};
    arguments.flags = CLONE_PIDFD;
    arguments.pidfd = reinterpret_cast<std::uintptr_t>(&pidfd);
    arguments.exit_signal = SIGCHLD;
    const long child = ::syscall(SYS_clone3, &arguments, sizeof arguments);
    if (child == 0) become(what, report[1]);
    const int code = errno;
    ::close(report[1]);
    if (child < 0) {
        ::close(report[0]);
        return -code;
    }
    // The pipe closes with a successful exec; otherwise the child says why not.
    int failed = 0;
    ssize_t got;
    while ((got = ::read(report[0], &failed, sizeof failed)) < 0 && errno == EINTR) {
    }
    ::close(report[0]);
    if (got == static_cast<ssize_t>(sizeof failed)) {
        ::siginfo_t ended;
        while (::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd), &ended, WEXITED) < 0 && errno == EINTR) {
        }
        ::close(pidfd);
        return -failed;
    }
    *pid = static_cast<int>(child);
    return pidfd;
}

int process_signal(const descriptor& pidfd, int number) noexcept {
    return static_cast<int>(or_errno(::syscall(SYS_pidfd_send_signal, pidfd.number(), number, nullptr, 0)));
}

int process_reap(const descriptor& pidfd, int* status) noexcept {
    ::siginfo_t ended{};
    if (::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd.number()), &ended, WEXITED | WNOHANG) < 0) return -errno;
    if (ended.si_pid == 0) return 0;
    *status = ended.si_code == CLD_EXITED ? W_EXITCODE(ended.si_status, 0) : W_EXITCODE(0, ended.si_status);
    return 1;
}

std::uint64_t thread_number() noexcept { return static_cast<std::uint64_t>(::gettid()); }
int processors_allowed() noexcept {
    ::cpu_set_t allowed;
    return ::sched_getaffinity(0, sizeof allowed, &allowed) < 0 ? -errno : CPU_COUNT(&allowed);
}
std::int64_t descriptors_allow(std::int64_t count) noexcept {
    ::rlimit limits{};
    if (::getrlimit(RLIMIT_NOFILE, &limits) < 0) return -errno;
    const auto wanted = std::min(static_cast<::rlim_t>(std::max<std::int64_t>(count, 0)), limits.rlim_max);
    if (limits.rlim_cur < wanted) {
        limits.rlim_cur = wanted;
        if (::setrlimit(RLIMIT_NOFILE, &limits) < 0) return -errno;
    }
    return static_cast<std::int64_t>(std::min<::rlim_t>(limits.rlim_cur, INT64_MAX));
}
bool has_threads() noexcept { return true; }

}  // namespace martlet::inline v0::kernel
