// The simulated kernel: everything behind the seam in one thread, in virtual time, in an order that a seed decides.
// A program links it in place of the real one; a test makes a `simulation` first and everything else inside its life.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/base/time.hpp>
#include <martlet/rt/descriptor.hpp>

namespace martlet::inline v0::sim {

/// The calls of the seam, in the order of kernel.hpp.
enum class call_kind : std::uint8_t {
    monotonic_ns,
    realtime_ns,
    random_bytes,
    map_pages,
    unmap_pages,
    close,
    read,
    write,
    pipe_open,
    set_nonblocking,
    duplicate,
    epoll_open,
    epoll_add,
    epoll_change,
    epoll_remove,
    epoll_wait,
    eventfd_open,
    eventfd_signal,
    eventfd_drain,
    socket_open,
    bind,
    listen,
    accept,
    connect,
    local_address,
    peer_address,
    set_option,
    option,
    shutdown,
    recv,
    peek,
    send,
    send_pieces,
    send_file,
    recv_from,
    send_to,
    file_open,
    file_stat,
    file_read_at,
    file_write_at,
    file_sync,
    path_stat,
    path_set_mode,
    path_remove,
    signals_open,
    signals_next,
    signals_restore,
    sigpipe_block,
    sigpipe_consume,
    process_open,
    process_signal,
    process_reap,
    count_,
};

/// The name of the seam's function.
std::string_view name(call_kind kind) noexcept;

/// What a simulation does by chance. All chances are 0 at first: only the order of ready events is drawn.
class options {
public:
    explicit options(std::uint64_t seed = 1) noexcept : seed(seed) {}

    /// Pieces, short writes, interrupts, latency and loss, all switched on at rates that meet each within a few dozen calls.
    static options rough(std::uint64_t seed) noexcept;

    /// Bytes sent arrive in several pieces.
    options& with_split_chance(double chance) noexcept {
        split_chance = chance;
        return *this;
    }
    /// A send takes less than there is room for, or nothing; the socket becomes writable a little later.
    options& with_short_write_chance(double chance) noexcept {
        short_write_chance = chance;
        return *this;
    }
    /// epoll_wait ends with EINTR.
    options& with_interrupt_chance(double chance) noexcept {
        interrupt_chance = chance;
        return *this;
    }
    /// A datagram is lost.
    options& with_loss_chance(double chance) noexcept {
        loss_chance = chance;
        return *this;
    }
    /// Each call of `kind` fails with an error that Linux may give there.
    options& with_error_chance(call_kind kind, double chance) noexcept {
        error_chance[static_cast<std::size_t>(kind)] = chance;
        return *this;
    }
    /// How long bytes, connects, FINs and resets are on their way. Zero: they arrive within the call that sent them.
    options& with_latency(duration least, duration most) noexcept {
        latency_min = least;
        latency_max = most;
        return *this;
    }
    /// Ready events in the order in which they became ready, as Linux does, instead of a drawn one.
    options& in_order() noexcept {
        shuffle = false;
        return *this;
    }
    options& with_send_buffer_bytes(std::size_t bytes) noexcept {
        send_buffer_bytes = bytes;
        return *this;
    }
    options& with_receive_buffer_bytes(std::size_t bytes) noexcept {
        receive_buffer_bytes = bytes;
        return *this;
    }
    /// More open descriptors than these fail with EMFILE.
    options& with_descriptors_max(std::size_t count) noexcept {
        descriptors_max = count;
        return *this;
    }
    /// Keeps every call as text for `trace_text`; otherwise the last ones only.
    options& with_whole_trace() noexcept {
        whole_trace = true;
        return *this;
    }

    std::uint64_t seed;
    double split_chance = 0;
    double short_write_chance = 0;
    double interrupt_chance = 0;
    double loss_chance = 0;
    double error_chance[static_cast<std::size_t>(call_kind::count_)] = {};
    duration latency_min{0};
    duration latency_max{0};
    bool shuffle = true;
    bool whole_trace = false;
    std::size_t send_buffer_bytes = 64 * 1024;
    std::size_t receive_buffer_bytes = 64 * 1024;
    std::size_t descriptors_max = 100'000;
    /// This many calls while the clock stands still are reported as a loop that spins.
    std::uint64_t calls_at_one_time_max = 20'000'000;
};

/// One call, as `on_call` and the trace see it.
struct call_facts {
    call_kind kind;
    int descriptor_number;  ///< -1: none
    std::uint64_t number;   ///< counted from 1
};

/// How a process started in the simulation behaves.
class process_script {
public:
    process_script& runs_for(duration length) noexcept {
        length_ = length;
        return *this;
    }
    /// Written to its output just before it ends.
    process_script& prints(std::string_view text) {
        output_ = text;
        return *this;
    }
    /// Copies its input to its output until the end of the input, then ends.
    process_script& echoes() noexcept {
        echoes_ = true;
        return *this;
    }
    process_script& exits_with(int code) noexcept {
        code_ = code;
        return *this;
    }

    duration length_{0};
    std::string output_;
    bool echoes_ = false;
    int code_ = 0;
};

struct world;

/// The kernel of this thread from construction to destruction; one at a time. A rule broken by the code under test (a descriptor left
/// open at the
/// end, a call on a closed descriptor, a wait that nothing can end, SIGPIPE that would kill) is printed and aborts. However the program
/// dies under it, the
/// seed, the note and the last calls are printed too.
class simulation {
public:
    explicit simulation(const options& with = options());
    simulation(const simulation&) = delete;
    simulation& operator=(const simulation&) = delete;
    /// Reports descriptors that are still open.
    ~simulation();

    // --- time ---

    time_point now() const noexcept;
    /// Runs everything that is due until `length` from now.
    void advance(duration length);
    /// Calls `action` at `delay` from now, from within epoll_wait or `advance`.
    void after(duration delay, std::move_only_function<void()> action);

    // --- faults ---

    /// The `n`-th call from now (1 is the next) that can fail does so with `code` (positive), or with `variant` of those that fit it
    /// when 0.
    void fail_call(std::uint64_t n, int code = 0, std::size_t variant = 0) noexcept;
    /// The epoll_wait that runs, or the next one, ends at once with EINTR unless something is ready.
    void interrupt() noexcept;
    /// How many errors fit the call that `fail_call` hit; 0 while it has hit none.
    std::size_t fitting_errors() const noexcept;
    /// The calls so far that can fail.
    std::uint64_t fallible_calls() const noexcept;
    std::uint64_t calls() const noexcept;
    /// Called at the start of each call, before it acts. Calls made by `observer` itself are not reported to it.
    void on_call(std::move_only_function<void(const call_facts&)> observer);
    /// Said when the program dies under this simulation: what the harness was doing.
    void set_note(std::string note);

    // --- surroundings ---

    /// A signal for the process: shows on the signal descriptors that wait for it.
    void raise(int number);
    /// A regular file; replaces what was there. Its time is now.
    void add_file(std::string_view path, std::string_view content);
    void add_directory(std::string_view path);
    bool has_file(std::string_view path) const;
    /// Empty when there is none.
    std::string file_content(std::string_view path) const;
    /// What happens when `path` is started. Others fail with ENOENT.
    void add_process(std::string_view path, const process_script& script);

    // --- what happened ---

    std::size_t open_descriptors() const noexcept;
    /// Bytes that map_pages gave and unmap_pages did not get back.
    std::size_t mapped_bytes() const noexcept;
    /// A hash over every call, its arguments, result and time. The same seed and test give the same value.
    std::uint64_t trace() const noexcept;
    /// One line a call, the oldest first.
    std::string trace_text() const;
    /// A number below `bound` from the seed, for tests that draw too.
    std::uint64_t draw(std::uint64_t bound) noexcept;

    /// The simulation of this thread, or null.
    static simulation* current() noexcept;

    /// The inside, for what belongs to the simulation.
    world& inside() noexcept { return *world_; }

private:
    std::unique_ptr<world> world_;
};

}  // namespace martlet::inline v0::sim
