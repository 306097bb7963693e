// The inside of a simulation: clock, what is to happen, descriptors, chance, faults and the trace. Seen by the simulation's own files only.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <martlet/rt/sim/allocation.hpp>
#include <martlet/rt/sim/object.hpp>
#include <martlet/rt/sim/simulation.hpp>
#include <martlet/rt/sim/socket.hpp>

namespace martlet::inline v0::sim {

class signal_source;

/// splitmix64: small, and the same everywhere.
class chance {
public:
    explicit chance(std::uint64_t seed) noexcept : state_(seed) {}
    std::uint64_t next() noexcept;
    /// Below `bound`; 0 when `bound` is 0.
    std::uint64_t below(std::uint64_t bound) noexcept { return bound == 0 ? 0 : next() % bound; }
    /// True in `probability` of all cases. Draws nothing when that is 0.
    bool happens(double probability) noexcept;

private:
    std::uint64_t state_;
};

struct file_node {
    std::string content;
    std::int64_t modified_ns = 0;
    std::uint64_t inode = 0;
    std::uint32_t mode = 0644;
    bool is_directory = false;
    bool is_socket = false;
    bool swallows = false;  ///< the null device
};

/// One call as the trace keeps it.
struct call_record {
    call_kind kind;
    int number;
    std::uint64_t argument;
    std::int64_t result;
    std::int64_t at;
    bool is_injected;
};

struct world {
    static constexpr int number_first = 1'000'000;
    static constexpr std::size_t recent_calls = 60;

    explicit world(const options& options);
    ~world();

    // Descriptors. Numbers start far above real ones, so that a system call that goes past the seam fails with EBADF.
    int open(std::shared_ptr<object> what);
    bool has_room(std::size_t descriptors) const noexcept;
    void close(int number);
    /// A number that is not open is a broken rule.
    object* find(int number);
    std::shared_ptr<object> share(int number);
    template <class T>
    T* find_as(int number) {
        return dynamic_cast<T*>(find(number));
    }
    static void drop_reference(const std::shared_ptr<object>& of);

    // Time.
    void after(std::int64_t delay_ns, std::move_only_function<void()> action);
    void run_due();
    /// The time of the next happening; -1 when there is none.
    std::int64_t next_time() const noexcept;
    void move_to(std::int64_t when) noexcept;
    std::int64_t latency();

    void note_call(const call_record& record);
    /// Prints `rule` and what led to it, and aborts.
    [[noreturn]] void broken(std::string_view rule);
    /// Prints seed, note, time and the last calls.
    void say_where() const;
    std::string text(const call_record& record) const;
    void sigpipe();

    options with;
    std::int64_t now_ns = 1'000'000'000;  // monotonic
    std::int64_t realtime_offset_ns = 1'700'000'000'000'000'000;
    chance order;
    chance entropy;
    chance drawn_by_tests;
    std::map<std::pair<std::int64_t, std::uint64_t>, std::move_only_function<void()>> happenings;
    std::uint64_t happening_count = 0;

    std::vector<std::shared_ptr<object>> table;
    std::size_t open_count = 0;
    std::unordered_map<void*, std::size_t> pages;
    std::size_t page_bytes = 0;

    std::vector<socket*> bound;
    std::vector<std::pair<address, acceptor*>> acceptors;
    unsigned next_port = 32768;
    std::map<std::string, std::shared_ptr<file_node>, std::less<>> files;
    std::shared_ptr<file_node> null_device = std::make_shared<file_node>();
    std::uint64_t next_inode = 100;
    std::map<std::string, process_script, std::less<>> programs;
    int next_pid = 1000;
    std::vector<signal_source*> signal_sources;
    bool sigpipe_blocked = false;
    bool sigpipe_pending = false;

    std::uint64_t call_count = 0;
    std::uint64_t fallible_count = 0;
    std::uint64_t calls_at_this_time = 0;
    std::uint64_t fail_at = 0;  // a value of fallible_count
    int fail_code = 0;
    std::size_t fail_variant = 0;
    std::size_t fitting = 0;
    std::move_only_function<void(const call_facts&)> observer;
    bool observing = false;
    bool interrupted = false;
    std::string note;

    std::uint64_t hash = 0xcbf29ce484222325;
    std::vector<call_record> calls;  // a ring unless the whole trace is kept
    std::size_t ring_at = 0;

    simulation* face = nullptr;
    void (*abort_handler_before)(int) = nullptr;
};

/// The world of this thread. Aborts when there is none.
world& here() noexcept;
world* here_or_null() noexcept;

/// An error that Linux may give for a call. `later`: a connect that fails after it was accepted.
struct fitting_error {
    int code;
    bool later = false;
};

/// One call of the seam while it runs: allocations of the simulation do not count, the trace learns the result.
class call {
public:
    call(call_kind kind, int number, std::uint64_t argument = 0);
    call(const call&) = delete;
    call& operator=(const call&) = delete;

    /// Whether this call is to fail; `error()` says how.
    bool fails();
    /// Positive.
    int error() const noexcept { return error_.code; }
    bool fails_later() const noexcept { return error_.later; }

    /// Notes the result and passes it on.
    template <class T>
    T done(T result) {
        note(static_cast<std::int64_t>(result));
        return result;
    }
    template <class T = int>
    T fail() {
        return done(static_cast<T>(-error_.code));
    }
    void done() { note(0); }

    world& in;

private:
    void note(std::int64_t result);

    allocation_pause pause_;
    call_kind kind_;
    int number_;
    std::uint64_t argument_;
    fitting_error error_{};
};

}  // namespace martlet::inline v0::sim
