// The kernel seam: every system call, the clock and randomness that the library uses go through these functions.
// A program links either kernel_linux.cpp or the simulated kernel; both define every function here.
//
// A result below zero is a negated errno value. Nothing here throws, blocks (but epoll_wait) or retries; EINTR is handled by the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <martlet/rt/descriptor.hpp>

namespace martlet::inline v0::kernel {

// --- time, randomness, memory ---

/// CLOCK_MONOTONIC, nanoseconds.
std::int64_t monotonic_ns() noexcept;
/// CLOCK_REALTIME, nanoseconds since 1970.
std::int64_t realtime_ns() noexcept;
/// Fills `out` with unpredictable bytes. 0 or a negated errno value.
int random_bytes(void* out, std::size_t size) noexcept;
/// Zeroed pages, aligned to 64 KiB; `size` is a multiple of 64 KiB. Null when there is no memory.
void* map_pages(std::size_t size) noexcept;
void unmap_pages(void* pages, std::size_t size) noexcept;

// --- descriptors ---

void close(int number) noexcept;
/// Bytes read, 0 at the end.
std::ptrdiff_t read(const descriptor& from, void* out, std::size_t size) noexcept;
std::ptrdiff_t write(const descriptor& to, const void* data, std::size_t size) noexcept;
/// A pipe, both ends close-on-exec; non-blocking when asked. ends[0] reads.
int pipe_open(int (&ends)[2], bool nonblocking) noexcept;
int set_nonblocking(const descriptor& of) noexcept;
/// A second descriptor of the same open file, close-on-exec.
int duplicate(const descriptor& of) noexcept;

// --- readiness ---

inline constexpr std::uint32_t poll_in = 0x001;
inline constexpr std::uint32_t poll_out = 0x004;
inline constexpr std::uint32_t poll_error = 0x008;
inline constexpr std::uint32_t poll_hangup = 0x010;
inline constexpr std::uint32_t poll_read_hangup = 0x2000;
inline constexpr std::uint32_t poll_exclusive = 1u << 28;
inline constexpr std::uint32_t poll_edge = 1u << 31;

#if defined(__x86_64__)
#define MARTLET_POLL_EVENT_LAYOUT __attribute__((packed))
#else
#define MARTLET_POLL_EVENT_LAYOUT
#endif
/// Laid out as the kernel's epoll_event.
struct MARTLET_POLL_EVENT_LAYOUT poll_event {
    std::uint32_t events;
    void* tag;
};

int epoll_open() noexcept;
int epoll_add(const descriptor& epoll, const descriptor& of, std::uint32_t events, void* tag) noexcept;
int epoll_change(const descriptor& epoll, const descriptor& of, std::uint32_t events, void* tag) noexcept;
int epoll_remove(const descriptor& epoll, const descriptor& of) noexcept;
/// Waits up to `timeout_ms` (-1: for ever). The number of events.
int epoll_wait(const descriptor& epoll, poll_event* out, int capacity, int timeout_ms) noexcept;
/// The same for `timeout_ns`, not below 0. A kernel without epoll_pwait2 (before 5.11) rounds it up to milliseconds.
int epoll_wait_briefly(const descriptor& epoll, poll_event* out, int capacity, std::int64_t timeout_ns) noexcept;

int eventfd_open() noexcept;
/// Wakes whoever waits for it; callable from any thread.
void eventfd_signal(const descriptor& of) noexcept;
void eventfd_drain(const descriptor& of) noexcept;

// --- sockets (always non-blocking and close-on-exec) ---

int socket_open(int family, int type, int protocol) noexcept;
int bind(const descriptor& socket, const void* address, unsigned length) noexcept;
int listen(const descriptor& socket, int backlog) noexcept;
/// A new connection; `*length` is the room at `address` and becomes the length of the peer's address.
int accept(const descriptor& socket, void* address, unsigned* length) noexcept;
int connect(const descriptor& socket, const void* address, unsigned length) noexcept;
int local_address(const descriptor& socket, void* address, unsigned* length) noexcept;
int peer_address(const descriptor& socket, void* address, unsigned* length) noexcept;
int set_option(const descriptor& socket, int level, int name, const void* value, unsigned length) noexcept;
int option(const descriptor& socket, int level, int name, void* value, unsigned* length) noexcept;
/// `how`: 0 reading, 1 writing, 2 both.
int shutdown(const descriptor& socket, int how) noexcept;
std::ptrdiff_t recv(const descriptor& socket, void* out, std::size_t size) noexcept;
/// Looks at bytes without taking them.
std::ptrdiff_t peek(const descriptor& socket, void* out, std::size_t size) noexcept;
/// Never raises SIGPIPE.
std::ptrdiff_t send(const descriptor& socket, const void* data, std::size_t size) noexcept;

/// Laid out as the system's iovec.
struct piece {
    const void* data;
    std::size_t size;
};
/// One gathered write, at most 1024 pieces; never raises SIGPIPE.
std::ptrdiff_t send_pieces(const descriptor& socket, const piece* pieces, std::size_t count) noexcept;
/// From `file` at `*offset`, which advances by what was sent. May raise SIGPIPE: see sigpipe_guard.
std::ptrdiff_t send_file(const descriptor& socket, const descriptor& file, std::int64_t* offset, std::size_t size) noexcept;
std::ptrdiff_t recv_from(const descriptor& socket, void* out, std::size_t size, void* address, unsigned* length, bool* truncated) noexcept;
std::ptrdiff_t send_to(const descriptor& socket, const void* data, std::size_t size, const void* address, unsigned length) noexcept;

// --- files (these may block: the blocking pool calls them) ---

enum class open_mode : std::uint8_t { read, write_truncate, append, read_write };
int file_open(const char* path, open_mode mode) noexcept;
/// For reading what `path` names below `directory`. Whatever it is made of, links included, it never leads out: then -EXDEV.
int file_open_beneath(const descriptor& directory, const char* path) noexcept;
struct file_facts {
    std::int64_t size;
    std::int64_t modified_ns;  ///< since 1970
    std::uint64_t device;      ///< with `inode`: which file it is
    std::uint64_t inode;
    std::uint32_t mode;  ///< permission bits
    bool is_regular;
    bool is_directory;
    bool is_socket;
};
int file_stat(const descriptor& file, file_facts* out) noexcept;
std::ptrdiff_t file_read_at(const descriptor& file, void* out, std::size_t size, std::int64_t offset) noexcept;
std::ptrdiff_t file_write_at(const descriptor& file, const void* data, std::size_t size, std::int64_t offset) noexcept;
int file_sync(const descriptor& file) noexcept;
/// Of what stands at `path` itself: a symbolic link is not followed.
int path_stat(const char* path, file_facts* out) noexcept;
int path_set_mode(const char* path, std::uint32_t mode) noexcept;
/// Takes the name away; no directories.
int path_remove(const char* path) noexcept;

// --- signals and processes ---

/// Blocks `numbers` for this thread and gives a descriptor that reports them. `mask` (128 bytes) keeps the mask that was in force.
int signals_open(const int* numbers, std::size_t count, void* mask) noexcept;
/// The next signal's number, or -EAGAIN.
int signals_next(const descriptor& of) noexcept;
/// Puts back the mask kept by signals_open or sigpipe_block.
void signals_restore(const void* mask) noexcept;
/// Blocks SIGPIPE for this thread, keeping the mask in `mask` (128 bytes). True: one was pending already.
bool sigpipe_block(void* mask) noexcept;
/// Takes a pending SIGPIPE off this thread.
void sigpipe_consume() noexcept;

/// What a new process gets. Arrays end with a null pointer.
struct process_start {
    const char* path;
    char* const* arguments;
    char* const* environment;  ///< null: this process's
    const char* directory;     ///< null: this process's
    const descriptor* input;   ///< null: /dev/null
    const descriptor* output;  ///< null: inherited
    const descriptor* error;   ///< null: inherited
};
/// Starts a process with clone3; its pidfd. `*pid` gets its number. A failed exec is reported here, as the negated errno value.
int process_open(const process_start& what, int* pid) noexcept;
int process_signal(const descriptor& pidfd, int number) noexcept;
/// Reaps. 1 and `*status` (as waitpid gives it) when it ended, 0 while it runs.
int process_reap(const descriptor& pidfd, int* status) noexcept;

// --- threads ---

/// The calling thread's number, for assertions and reports.
std::uint64_t thread_number() noexcept;
/// Processors that this process may run on.
int processors_allowed() noexcept;
/// Lets this process have `count` descriptors at a time, as far as its hard limit goes; never fewer than before. How many it may have now, or
/// a negated errno value.
std::int64_t descriptors_allow(std::int64_t count) noexcept;
/// False in simulation: work for the blocking pool then runs on the loop's own thread, at a moment that the seed decides.
bool has_threads() noexcept;

}  // namespace martlet::inline v0::kernel
