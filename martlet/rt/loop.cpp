#include <martlet/rt/loop.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <system_error>

#include <martlet/base/assert.hpp>
#include <martlet/rt/kernel.hpp>
#include <martlet/rt/loop_memory.hpp>
#include <martlet/rt/mailbox.hpp>
#include <martlet/rt/sigpipe.hpp>

namespace martlet::inline v0 {

namespace {

constexpr int events_per_wait = 256;
// Each tells of other descriptors than those before.
constexpr int further_waits_max = 256;
// A wait for a timer that is so far off begins with the time at which the turn before began, which saves a look at the clock.
constexpr duration clock_again_below = std::chrono::milliseconds(100);

[[noreturn]] void refuse(int negated_errno, const char* what) { throw std::system_error(-negated_errno, std::generic_category(), what); }

time_point read_clock() noexcept { return time_point(duration(kernel::monotonic_ns())); }

}  // namespace

namespace detail {

constinit thread_local loop* current_loop = nullptr;

namespace {

// In front of each frame: where its memory came from. As wide as the alignment that frames need.
struct alignas(16) frame_origin {
    loop* from;
    std::size_t size;
};

}  // namespace

void* allocate_frame(std::size_t size) {
    const std::size_t whole = size + sizeof(frame_origin);
    loop* from = current_loop;
    void* memory = from != nullptr ? from->allocate(whole) : std::malloc(whole);
    if (memory == nullptr) throw std::bad_alloc();
    return new (memory) frame_origin{from, whole} + 1;
}

void free_frame(void* frame) noexcept {
    frame_origin* origin = static_cast<frame_origin*>(frame) - 1;
    if (origin->from == nullptr) {
        std::free(origin);
        return;
    }
    MARTLET_ASSERT(origin->from == current_loop, "a coroutine must be destroyed on the loop that it was started on");
    origin->from->free(origin, origin->size);
}

/// Makes `on` the thread's loop for a while, and puts back what was there.
class current_scope {
public:
    explicit current_scope(loop& on) noexcept : before_(current_loop) { current_loop = &on; }
    current_scope(const current_scope&) = delete;
    current_scope& operator=(const current_scope&) = delete;
    ~current_scope() { current_loop = before_; }

private:
    loop* before_;
};

}  // namespace detail

loop::loop(loop_options options)
    : now_(read_clock()),
      ready_budget_(options.ready_budget_),
      hand_over_(options.hand_over_),
      wheel_(now_),
      memory_(nullptr),
      mailbox_(nullptr),
      posted_node_(&loop::run_mailbox),
      root_(*this) {
    const int epoll = kernel::epoll_open();
    if (epoll < 0) refuse(epoll, "epoll_create1");
    epoll_ = descriptor(epoll);
    const int wake = kernel::eventfd_open();
    if (wake < 0) refuse(wake, "eventfd");
    descriptor watched(wake);
    // Two owners of one event descriptor would close it twice, so the loop registers the mailbox's own.
    auto box = new detail::mailbox(std::move(watched));
    const int added = kernel::epoll_add(epoll_, box->wake(), kernel::poll_in | kernel::poll_edge, &posted_node_);
    if (added < 0) {
        box->release();
        refuse(added, "epoll_ctl");
    }
    memory_ = new (std::nothrow) detail::loop_memory();
    if (memory_ == nullptr) {
        box->release();
        throw std::bad_alloc();
    }
    mailbox_ = box;
}

loop::~loop() {
    detail::current_scope current(*this);
    for (detail::posted* at = mailbox_->close(); at != nullptr;) {
        detail::posted* next = at->next;
        at->finish(false);
        at = next;
    }
    posted_node_.unlink();
    mailbox_->release();
    MARTLET_ASSERT(registered_ == 0, "every socket must be closed before its loop is destroyed");
    MARTLET_ASSERT(is_idle(), "all work of a loop must have finished before it is destroyed");
    MARTLET_ASSERT(frames_live() == 0, "every coroutine must have finished before its loop is destroyed");
    delete memory_;
}

loop_handle loop::handle() const noexcept {
    mailbox_->retain();
    return loop_handle(mailbox_);
}

time_point loop::clock() const noexcept { return read_clock(); }

void* loop::allocate(std::size_t size) noexcept { return memory_->objects.allocate(size); }
void loop::free(void* block, std::size_t size) noexcept { memory_->objects.free(block, size); }
page_source& loop::pages() noexcept { return memory_->pages; }
block_source& loop::blocks() noexcept { return memory_->blocks; }
buffer& loop::read_buffer() noexcept { return memory_->reading(); }
std::size_t loop::frames_live() const noexcept { return memory_->objects.blocks_used(); }

void loop::trim() noexcept {
    memory_->objects.trim();
    memory_->blocks.trim();
    memory_->pages.release();
}

void loop::resume(std::coroutine_handle<> handle) noexcept {
    // This function goes on with the loop after what it resumes, so nothing in there may leave the loop to another thread.
    pinned_ = true;
    do {
        handle.resume();
        handle = std::exchange(next_, {});
    } while (handle);
    pinned_ = false;
}

void loop::run_mailbox(ready_node& node) noexcept {
    loop& self = *detail::current_loop;
    MARTLET_ASSERT(&node == &self.posted_node_, "posted functions run on their own loop");
    self.run_posted();
}

void loop::run_posted() noexcept {
    pinned_ = true;
    for (detail::posted* at = mailbox_->drain(); at != nullptr;) {
        detail::posted* next = at->next;
        at->finish(true);
        at = next;
    }
    pinned_ = false;
}

// False when a node's call was taken over: then nothing of the loop may be touched.
[[gnu::always_inline]] inline bool loop::run_nodes(list<ready_node, ready_tag>& from, unsigned budget) noexcept {
    for (unsigned left = budget; left != 0; --left) {
        ready_node* node = from.pop_front();
        if (node == nullptr) break;
        pinned_ = false;
        node->run();
        if (detail::current_loop != this) return false;
    }
    pinned_ = true;
    return true;
}

[[gnu::always_inline]] inline bool loop::run_ready() noexcept { return run_nodes(ready_, ready_budget_); }

[[gnu::noinline]] bool loop::run_background() noexcept {
    in_background_ = true;
    if (!run_nodes(background_, background_budget)) return false;
    in_background_ = false;
    return true;
}

void loop::run_flush() noexcept {
    while (ready_node* node = flush_.pop_front()) node->run();
}

time_point loop::next_deadline() const noexcept { return is_idle() ? std::min(wheel_.next_deadline(), exact_due_) : now_; }

// Rounded up, so that a timer is due when the wait ends.
int loop::wait_ms(duration longest, bool follows_a_turn) noexcept {
    if (!is_idle() || longest <= duration::zero()) return 0;
    const time_point due = wheel_.next_deadline();
    constexpr std::int64_t unit = 1'000'000;
    std::int64_t wait = -1;
    if (longest != duration::max()) wait = longest.count() / unit + (longest.count() % unit != 0);
    if (due != never) {
        // What ran since the turn began took its time, or nobody turned the loop for a while.
        if (!follows_a_turn || due - now_ < clock_again_below) now_ = read_clock();
        const std::int64_t until = (due - now_).count();
        const std::int64_t timer = until <= 0 ? 0 : until / unit + (until % unit != 0);
        if (wait < 0 || timer < wait) wait = timer;
    }
    constexpr std::int64_t most = 1'000'000'000;
    return static_cast<int>(wait > most ? most : wait);
}

// Waits for `timeout_ms`, or until the exact node is due if that is earlier.
int loop::wait(kernel::poll_event* events, int timeout_ms) noexcept {
    if (exact_due_ == never) [[likely]]
        return kernel::epoll_wait(epoll_, events, events_per_wait, timeout_ms);
    constexpr std::int64_t unit = 1'000'000;
    const std::int64_t until = std::max<std::int64_t>((exact_due_ - read_clock()).count(), 0);
    if (timeout_ms >= 0 && until >= timeout_ms * unit) return kernel::epoll_wait(epoll_, events, events_per_wait, timeout_ms);
    return kernel::epoll_wait_briefly(epoll_, events, events_per_wait, until);
}

loop_state loop::turn(duration longest) { return turn(longest, false); }

loop_state loop::turn(duration longest, bool follows_a_turn) {
    MARTLET_ASSERT(detail::current_loop == nullptr || detail::current_loop == this, "one thread turns one loop at a time");
    loop* const outer = std::exchange(detail::current_loop, this);
    kernel::poll_event events[events_per_wait];
    // While memory is kept for the next turns, it wakes once more to give it back if there was none.
    const bool spare = memory_->has_spare();
    const int timeout =
        wait_ms(spare && longest > detail::loop_memory::spare_time ? detail::loop_memory::spare_time : longest, follows_a_turn);
    int count;
    if (timeout == 0) {
        count = kernel::epoll_wait(epoll_, events, events_per_wait, 0);
    } else {
        waiting_.store(true, std::memory_order_relaxed);
        hooks_.before();
        count = wait(events, timeout);
        hooks_.after();
        // A process that was stopped wakes like that: its timers are due, and what came meanwhile, in time, was not told.
        if (count < 0) count = kernel::epoll_wait(epoll_, events, events_per_wait, 0);
    }
    waiting_.store(false, std::memory_order_relaxed);
    turns_.store(turns_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    now_ = read_clock();
    // What one wait tells of goes before what the last budget did not reach: a crowd that was woken at once does not hold up a peer that asks
    // for little. The crowd has the rest of the budget, so that it comes to its end however much is told.
    list<ready_node, ready_tag> left;
    if (ready_budget_ >= 2 * events_per_wait) [[likely]]
        left.append(ready_);
    for (int further = further_waits_max;; --further) {
        for (int i = 0; i < count; ++i) {
            if (events[i].tag == &posted_node_) {
                if (!posted_node_.is_linked()) ready_.push_back(posted_node_);
            } else {
                static_cast<pollable*>(events[i].tag)->note(events[i].events);
            }
        }
        ready_.append(left);
        // Timers must end nothing for want of what has come: when they are due, what did not fit is asked for first.
        if (count != events_per_wait || further == 0 || wheel_.empty() || wheel_.next_deadline() > now_) [[likely]]
            break;
        count = kernel::epoll_wait(epoll_, events, events_per_wait, 0);
    }
    ready_.append(next_turn_);
    if (spare) memory_->age(now_);
    wheel_.advance(now_);
    if (now_ >= exact_due_) [[unlikely]] {
        exact_due_ = never;
        if (!exact_->is_linked()) ready_.push_back(*exact_);
    }
    if (!run_ready()) return loop_state::handed_over;
    if (!background_.empty() && !run_background()) [[unlikely]]
        return loop_state::handed_over;
    run_flush();
    waiting_.store(true, std::memory_order_relaxed);
    detail::current_loop = outer;
    return stopping_ ? loop_state::stopped : loop_state::running;
}

loop_state loop::drive(const bool& until) {
    sigpipe_guard blocked;
    sigpipe_blocked_ = true;
    sigpipe_is_others_ = blocked.found_pending();
    bool follows_a_turn = false;
    while (!until && !stopping_) {
        if (turn(duration::max(), follows_a_turn) == loop_state::handed_over) return loop_state::handed_over;
        follows_a_turn = true;
    }
    sigpipe_blocked_ = false;
    return stopping_ ? loop_state::stopped : loop_state::running;
}

loop_state loop::run() {
    const bool never_done = false;
    const loop_state state = drive(never_done);
    if (state != loop_state::stopped) return state;
    detail::current_scope current(*this);
    return run_last() ? state : loop_state::handed_over;
}

// Closed for good. What was accepted still runs, and what is ready then. False as with run_ready.
bool loop::run_last() noexcept {
    pinned_ = true;
    for (detail::posted* at = mailbox_->close(); at != nullptr;) {
        detail::posted* next = at->next;
        at->finish(true);
        at = next;
    }
    posted_node_.unlink();
    for (unsigned round = 0; round < last_rounds_max && !is_idle(); ++round) {
        while (ready_node* node = next_turn_.pop_front()) ready_.push_back(*node);
        if (!run_ready() || !run_background()) return false;
        run_flush();
    }
    return true;
}

void loop::consume_sigpipe() noexcept {
    if (!sigpipe_is_others_) kernel::sigpipe_consume();
}

bool loop::take() noexcept {
    std::uint64_t seen = ownership_.load(std::memory_order_acquire);
    if ((seen & 1) == 0 || !ownership_.compare_exchange_strong(seen, seen + 1, std::memory_order_acq_rel)) return false;
    // The call that was left behind keeps the bytes it may still look at.
    memory_->abandon_reading();
    sigpipe_blocked_ = false;
    pinned_ = true;
    in_background_ = false;
    return true;
}

loop_call::loop_call(loop& on) noexcept : loop_(on), reading_(on.memory_->read_storage()) {
    MARTLET_ASSERT(on.hand_over_, "only a loop made with loop_options::hand_over can be left to another thread");
    MARTLET_ASSERT(detail::current_loop == &on && !on.pinned_,
                   "a call that may block is made by a ready node itself, not by a coroutine or a posted function");
    detail::current_loop = nullptr;
    ticket_ = on.ownership_.fetch_add(1, std::memory_order_acq_rel) + 1;
}

bool loop_call::finish() noexcept {
    MARTLET_ASSERT(!finished_, "a loop_call is finished once");
    finished_ = true;
    std::uint64_t expected = ticket_;
    taken_ = !loop_.ownership_.compare_exchange_strong(expected, ticket_ + 1, std::memory_order_acq_rel);
    if (!taken_) detail::current_loop = &loop_;
    return !taken_;
}

loop_call::~loop_call() {
    MARTLET_ASSERT(finished_, "a loop_call must be finished");
    if (taken_) detail::loop_memory::free_read_storage(reading_);
}

}  // namespace martlet::inline v0
