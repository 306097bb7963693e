#include <martlet/rt/blocking_pool.hpp>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <martlet/rt/kernel.hpp>

namespace martlet::inline v0 {

namespace {

std::string_view text_of(int) noexcept { return "the blocking pool's queue is full"; }

constinit const error_category pool_category("blocking_pool", text_of);

}  // namespace

constinit const error blocking_pool_full(pool_category, 1, blame::local, 503, true);

namespace detail {

error blocking_out_of_memory() noexcept { return error::system(ENOMEM); }

/// Counted: jobs hold it, so that one that is still on its way to its loop outlives the pool.
class pool_state {
public:
    explicit pool_state(const blocking_pool_options& options) noexcept
        : threads_max_(options.threads_max_ == 0 ? 1 : options.threads_max_), queued_max_(options.queued_max_) {}

    void retain() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
    }

    result<void> submit(blocking_job& job) noexcept;
    blocking_job::phase withdraw(blocking_job& job) noexcept;
    void stop() noexcept;

    unsigned threads() const noexcept {
        const std::lock_guard hold(mutex_);
        return static_cast<unsigned>(threads_.size());
    }
    std::size_t queued() const noexcept {
        const std::lock_guard hold(mutex_);
        return queued_;
    }
    std::size_t running() const noexcept {
        const std::lock_guard hold(mutex_);
        return running_;
    }

private:
    using lock = std::unique_lock<std::mutex>;

    int start_thread() noexcept;
    result<void> post_turn(blocking_job& job) noexcept;
    void serve() noexcept;
    bool run_one(lock& held) noexcept;
    blocking_job* take() noexcept;

    mutable std::mutex mutex_;
    std::condition_variable work_came_;
    list<blocking_job, job_tag> queue_;
    std::vector<std::thread> threads_;
    std::size_t queued_ = 0;
    std::size_t running_ = 0;
    std::size_t idle_ = 0;
    const unsigned threads_max_;
    const std::size_t queued_max_;
    bool stopping_ = false;
    std::atomic<long> count_{1};
};

result<void> pool_state::submit(blocking_job& job) noexcept {
    lock held(mutex_);
    if (stopping_) return failure(cancel_reason::shutting_down);
    if (queued_ >= queued_max_) return failure(blocking_pool_full);
    job.phase_ = blocking_job::phase::queued;
    queue_.push_back(job);
    ++queued_;
    if (!kernel::has_threads()) {
        held.unlock();
        return post_turn(job);
    }
    // Idle threads that were woken but have not come yet are spoken for by what is queued already.
    if (queued_ > idle_ && threads_.size() < threads_max_) {
        const int failed = start_thread();
        if (failed != 0 && threads_.empty()) {
            job.unlink();
            --queued_;
            job.phase_ = blocking_job::phase::idle;
            return failure(error::system(failed));
        }
    }
    held.unlock();
    work_came_.notify_one();
    return {};
}

// 0, or the errno value of the failure.
int pool_state::start_thread() noexcept {
    try {
        threads_.reserve(threads_.size() + 1);
        threads_.emplace_back([this] { serve(); });
        return 0;
    } catch (const std::system_error& e) {
        return e.code().value();
    } catch (...) {
        return ENOMEM;
    }
}

// Without threads, a posted function does the work on the loop's own.
result<void> pool_state::post_turn(blocking_job& job) noexcept {
    class turn {
    public:
        explicit turn(pool_state& of) noexcept : of_(&of) { of.retain(); }
        turn(turn&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
        ~turn() {
            if (of_ != nullptr) of_->release();
        }
        void operator()() noexcept {
            lock held(of_->mutex_);
            of_->run_one(held);
        }

    private:
        pool_state* of_;
    };
    error why = cancel_reason::shutting_down;
    try {
        if (job.to_.post(turn(*this))) return {};
    } catch (...) {
        why = error::system(ENOMEM);
    }
    withdraw(job);
    return failure(why);
}

blocking_job* pool_state::take() noexcept {
    blocking_job* job = queue_.pop_front();
    if (job != nullptr) {
        --queued_;
        ++running_;
        job->phase_ = blocking_job::phase::running;
    }
    return job;
}

bool pool_state::run_one(lock& held) noexcept {
    blocking_job* job = take();
    if (job == nullptr) return false;
    held.unlock();
    job->work_(*job);
    held.lock();
    --running_;
    job->phase_ = blocking_job::phase::ended;
    // Once it is sent, the job belongs to its loop.
    const loop_handle to = std::move(job->to_);
    held.unlock();
    to.send(job);
    held.lock();
    return true;
}

void pool_state::serve() noexcept {
    lock held(mutex_);
    while (!stopping_) {
        if (run_one(held)) continue;
        ++idle_;
        work_came_.wait(held);
        --idle_;
    }
}

blocking_job::phase pool_state::withdraw(blocking_job& job) noexcept {
    const lock held(mutex_);
    const blocking_job::phase was = job.phase_;
    if (was == blocking_job::phase::queued) {
        job.unlink();
        --queued_;
        job.phase_ = blocking_job::phase::idle;
    }
    return was;
}

void pool_state::stop() noexcept {
    lock held(mutex_);
    stopping_ = true;
    std::vector<std::thread> ending = std::exchange(threads_, {});
    while (blocking_job* job = queue_.pop_front()) {
        --queued_;
        job->phase_ = blocking_job::phase::ended;
        job->refused_ = true;
        const loop_handle to = std::move(job->to_);
        held.unlock();
        to.send(job);
        held.lock();
    }
    held.unlock();
    work_came_.notify_all();
    for (std::thread& one : ending) one.join();
}

blocking_job::~blocking_job() {
    if (pool_ != nullptr) pool_->release();
}

result<void> blocking_job::submit(pool_state& to, const loop& from) noexcept {
    // Held already when the same operation is awaited again.
    if (pool_ == nullptr) {
        pool_ = &to;
        to.retain();
    }
    to_ = from.handle();
    return to.submit(*this);
}

blocking_job::phase blocking_job::withdraw() noexcept { return pool_->withdraw(*this); }

}  // namespace detail

blocking_pool::blocking_pool(blocking_pool_options options) : state_(new detail::pool_state(options)) {}

blocking_pool::~blocking_pool() {
    stop();
    state_->release();
}

void blocking_pool::stop() noexcept { state_->stop(); }
unsigned blocking_pool::threads() const noexcept { return state_->threads(); }
std::size_t blocking_pool::queued() const noexcept { return state_->queued(); }
std::size_t blocking_pool::running() const noexcept { return state_->running(); }

}  // namespace martlet::inline v0
