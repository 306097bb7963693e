// loop: one thread's event loop over epoll, with its ready list, flush list, timers and pools.
//
// A turn: wait (not at all when something is ready) -> note events -> expire timers -> run posted functions
//         -> run the ready list, up to a budget -> write what is on the flush list.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>

#include <martlet/base/buffer.hpp>
#include <martlet/base/outq.hpp>
#include <martlet/base/page_source.hpp>
#include <martlet/base/pool.hpp>
#include <martlet/base/time.hpp>
#include <martlet/base/timer_wheel.hpp>
#include <martlet/rt/context.hpp>
#include <martlet/rt/loop_handle.hpp>
#include <martlet/rt/pollable.hpp>
#include <martlet/rt/ready.hpp>

namespace martlet::inline v0 {

template <class T>
class task;
namespace detail {
class loop_memory;
}
namespace kernel {
struct poll_event;
}

/// How a loop is made. Each setter returns the options, so that they chain.
class loop_options {
public:
    loop_options() noexcept {}
    /// Allows another thread to take the loop during a loop_call. Default: no.
    loop_options& hand_over(bool on) noexcept {
        hand_over_ = on;
        return *this;
    }
    /// How many ready nodes a turn runs before it looks at the kernel again. Default: 1024.
    loop_options& ready_budget(unsigned nodes_max) noexcept {
        ready_budget_ = nodes_max;
        return *this;
    }

private:
    friend class loop;
    bool hand_over_ = false;
    unsigned ready_budget_ = 1024;
};

/// How a turn or a run ended.
enum class loop_state : std::uint8_t {
    running,      ///< the loop is still this thread's and may be turned again
    stopped,      ///< stop() was called; the loop turns no more
    handed_over,  ///< another thread owns the loop; this thread must not touch it
};

/// Functions around the wait, for a host that holds a lock which the wait must not hold. Both run on the owner's thread.
class wait_hooks {
public:
    using function = void (*)(void* data) noexcept;
    wait_hooks() noexcept {}
    wait_hooks(function before, function after, void* data) noexcept : before_(before), after_(after), data_(data) {}
    void before() const noexcept {
        if (before_ != nullptr) before_(data_);
    }
    void after() const noexcept {
        if (after_ != nullptr) after_(data_);
    }

private:
    function before_ = nullptr;
    function after_ = nullptr;
    void* data_ = nullptr;
};

/// Owned by one thread at a time: all but handle(), take() and the stall counters is for that thread alone.
class loop {
public:
    /// How many nodes of the background a turn runs. Each may move as much as one read or write takes, about 50 us.
    static constexpr unsigned background_budget = 16;
    /// How many budgets of ready nodes run() runs after a stop, so that nodes which queue each other without end cannot hold it.
    static constexpr unsigned last_rounds_max = 64;

    /// Throws std::system_error when the kernel refuses the descriptors that a loop needs.
    explicit loop(loop_options options = loop_options());
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;
    /// Nothing may be left on it: no frame, no timer, no registered descriptor.
    ~loop();

    /// The loop that the calling thread is running, or null.
    static loop* current() noexcept;

    // --- driving it ---

    /// Turns until stop(). SIGPIPE is blocked in this thread meanwhile.
    loop_state run();
    /// Turns until `main` has finished, and returns what it returned; rethrows what it threw.
    template <class T>
    T run(task<T> main);
    /// One turn that waits at most `longest`.
    loop_state turn(duration longest);
    /// Ends run() after the current turn, for good. Functions posted by then still run, and the ready nodes that these make, and what those
    /// make in turn, for `last_rounds_max` budgets of ready nodes; no event or timer is looked at any more. Later posts are refused.
    void stop() noexcept { stopping_ = true; }
    bool is_stopping() const noexcept { return stopping_; }
    /// Readable when a turn has something to do; for a foreign poll(). Timers are told by next_deadline().
    int fd() const noexcept { return epoll_.number(); }
    /// When the next turn is due without an event: now if something is ready, `never` if nothing waits for time.
    time_point next_deadline() const noexcept;
    void set_wait_hooks(wait_hooks hooks) noexcept { hooks_ = hooks; }
    /// Sends functions to this loop from other threads.
    loop_handle handle() const noexcept;

    // --- time ---

    /// The time at which this turn began; costs nothing.
    time_point now() const noexcept { return now_; }
    /// The time now, from the clock.
    time_point clock() const noexcept;
    void arm(timer_node& timer, time_point when) noexcept { wheel_.arm(timer, when); }
    void disarm(timer_node& timer) noexcept { wheel_.disarm(timer); }
    /// Queues `node` when it is `when`, as exactly as the kernel keeps time; the other timers have a tick of a millisecond. There is one
    /// such node: the next call takes its place, and `never` forgets it. It stays until then or until it is queued.
    void arm_exactly(ready_node& node, time_point when) noexcept {
        exact_ = &node;
        exact_due_ = when;
    }

    // --- running things ---

    /// Queues `node` behind what is ready already. It runs in this turn if the budget lasts, and otherwise in a later one, where what the wait
    /// tells of comes first.
    void ready(ready_node& node) noexcept { ready_.push_back(node); }
    /// Queues `node`, which has had its share of this turn, behind what the next wait tells of.
    void ready_next_turn(ready_node& node) noexcept { next_turn_.push_back(node); }
    /// Queues `node` behind all that is ready, where no more than `background_budget` run in a turn: for what moves many bytes or has
    /// had its share, so that what asks for little does not wait for it.
    void background(ready_node& node) noexcept { background_.push_back(node); }
    /// What runs now was queued there.
    bool is_in_background() const noexcept { return in_background_; }
    /// Runs `node` when the ready list is empty or the budget spent, before the loop waits: for output gathered during the turn.
    /// It must not make a loop_call.
    void flush_later(ready_node& node) noexcept { flush_.push_back(node); }
    /// Resumes `handle`, then whatever waited for what finished meanwhile. Only ready nodes call this.
    void resume(std::coroutine_handle<> handle) noexcept;
    /// A finished child gives its awaiter here; it runs as soon as the child has returned.
    void hand_on(std::coroutine_handle<> awaiter) noexcept { next_ = awaiter; }
    /// The context of everything on this loop: cancelled with `shutting_down` when the loop's work is to end.
    context& root() noexcept { return root_; }

    // --- memory ---

    /// For coroutine frames and small objects that live on this loop; freed on it. Null when there is no memory.
    void* allocate(std::size_t size) noexcept;
    void free(void* block, std::size_t size) noexcept;
    /// Pages from the kernel, for pools of a loop's own.
    page_source& pages() noexcept;
    /// Blocks for output queues.
    block_source& blocks() noexcept;
    /// What a read that starts a message goes into. Empty between ready nodes.
    buffer& read_buffer() noexcept;
    /// Gives unused pool memory back to the system.
    void trim() noexcept;

    // --- hand-over (see loop_call) ---

    /// From another thread: takes the loop if its owner is inside a loop_call. The caller then runs it.
    bool take() noexcept;
    bool allows_hand_over() const noexcept { return hand_over_; }

    // --- what it is doing, for a watcher on another thread ---

    /// Names what runs from here on, for a stall report. `name` has static lifetime or outlives the loop.
    void note_activity(const char* name) noexcept { activity_.store(name, std::memory_order_relaxed); }
    const char* activity() const noexcept { return activity_.load(std::memory_order_relaxed); }
    /// Counts turns: a number that stays the same while the loop is not waiting is a stall.
    std::uint64_t turns() const noexcept { return turns_.load(std::memory_order_relaxed); }
    /// Nothing runs on it: it waits for an event, or for somebody to turn it.
    bool is_waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }

    /// SIGPIPE is blocked in this thread, because run() is running.
    bool blocks_sigpipe() const noexcept { return sigpipe_blocked_; }
    /// After EPIPE while it is blocked: takes the signal off again that came with it. One that was pending before run() stays.
    void consume_sigpipe() noexcept;

    // --- counts, for tests and statistics ---

    std::size_t frames_live() const noexcept;
    std::size_t descriptors_registered() const noexcept { return registered_; }

private:
    friend class pollable;
    friend class loop_call;

    bool run_ready() noexcept;
    bool run_background() noexcept;
    bool run_nodes(list<ready_node, ready_tag>& from, unsigned budget) noexcept;
    bool is_idle() const noexcept { return ready_.empty() && flush_.empty() && background_.empty() && next_turn_.empty(); }
    void run_flush() noexcept;
    void run_posted() noexcept;
    loop_state turn(duration longest, bool follows_a_turn);
    int wait_ms(duration longest, bool follows_a_turn) noexcept;
    int wait(kernel::poll_event* events, int timeout_ms) noexcept;
    bool run_last() noexcept;
    loop_state drive(const bool& until);
    static void run_mailbox(ready_node& node) noexcept;

    // Hot, in the order of use.
    list<ready_node, ready_tag> ready_;
    list<ready_node, ready_tag> flush_;
    list<ready_node, ready_tag> background_;
    list<ready_node, ready_tag> next_turn_;
    time_point now_{};
    std::coroutine_handle<> next_;
    unsigned ready_budget_;
    bool stopping_ = false;
    bool hand_over_ = false;
    bool sigpipe_blocked_ = false;
    bool sigpipe_is_others_ = false;
    bool pinned_ = true;
    bool in_background_ = false;
    std::size_t registered_ = 0;
    descriptor epoll_;
    timer_wheel wheel_;
    wait_hooks hooks_;
    detail::loop_memory* memory_;
    detail::mailbox* mailbox_;
    ready_node posted_node_;
    context root_;
    ready_node* exact_ = nullptr;
    time_point exact_due_ = never;
    std::atomic<const char*> activity_{nullptr};
    std::atomic<std::uint64_t> turns_{0};
    std::atomic<bool> waiting_{true};
    // Even: owned. Odd: the owner is inside a loop_call. It only grows, so that a call that was left behind cannot mistake a later one for itself.
    std::atomic<std::uint64_t> ownership_{0};
};

/// A call that may block, on a loop that allows hand-over: until finish() this thread has no current loop, and another thread may take it.
/// Made only while a ready node runs, by code that keeps nothing of the loop on its stack which the next owner could change.
class loop_call {
public:
    explicit loop_call(loop& on) noexcept;
    loop_call(const loop_call&) = delete;
    loop_call& operator=(const loop_call&) = delete;
    /// What a read had put into the loop's read buffer stays where it is until here, also when the loop was taken.
    ~loop_call();

    /// True: the loop is still this thread's. False: it was taken; the caller gives what it has back by post, and returns to the bottom
    /// of its stack touching nothing of the loop. Called once.
    [[nodiscard]] bool finish() noexcept;

private:
    loop& loop_;
    std::uint64_t ticket_;
    void* reading_;
    bool finished_ = false;
    bool taken_ = false;
};

namespace detail {

/// The calling thread's loop. Read on every frame allocation, so no function stands in front of it.
extern constinit thread_local loop* current_loop;

/// Memory for a coroutine frame: from the current loop's pool, from malloc where there is none.
void* allocate_frame(std::size_t size);
void free_frame(void* frame) noexcept;

}  // namespace detail

inline loop* loop::current() noexcept { return detail::current_loop; }

}  // namespace martlet::inline v0
