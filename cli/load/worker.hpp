// worker: the load of one thread: its loop, its connections, when to send, and what came of it.
#pragma once

#include <atomic>
#include <barrier>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <martlet/base/timer_wheel.hpp>
#include <martlet/rt/event.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/semaphore.hpp>
#include <martlet/rt/task.hpp>

#include "connection.hpp"
#include "lane.hpp"
#include "plan.hpp"
#include "tally.hpp"

namespace load {

/// Where the threads wait for each other once their connections are open. The time of the load begins then.
class starting_line {
public:
    explicit starting_line(unsigned threads);
    /// One thread's connections have been tried; `open` of them are open. Gives the common beginning; none when not one is open anywhere.
    std::optional<martlet::time_point> meet(unsigned open);

private:
    struct started {
        starting_line* of;
        void operator()() const noexcept;
    };
    std::atomic<unsigned> open_{0};
    martlet::time_point begin_{};
    std::barrier<started> line_;
};

class worker {
public:
    static constexpr unsigned connecting_max = 256;

    worker(const plan& of, const std::vector<lane>& lanes, unsigned thread, starting_line& line);
    ~worker();
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    /// Makes the load; on the thread that owns it.
    void run();
    /// For posts from other threads, which call the three below.
    martlet::loop_handle handle() const { return loop_.handle(); }
    /// Sends nothing more; what is under way may still be answered.
    void stop();
    /// Waits for nothing more.
    void stop_now();
    /// All latencies since the last call, and faults and answers so far.
    struct recent {
        histogram latency;
        std::uint64_t right = 0;
        std::uint64_t faults = 0;
        martlet::duration elapsed{};  // since the beginning
    };
    recent take_recent();

    const tally& result() const noexcept { return tally_; }
    bool has_begun() const noexcept { return has_begun_; }
    std::optional<martlet::error> connect_error() const noexcept { return connect_error_; }

private:
    friend class connection;

    class alarm final : public martlet::timer_node {
    public:
        alarm(expired_function expired, worker& of) noexcept : timer_node(expired), of_(of) {}
        worker& of_;
    };
    class pacer final : public martlet::ready_node {
    public:
        explicit pacer(worker& of) noexcept
            : ready_node([](martlet::ready_node& node) noexcept { static_cast<pacer&>(node).of_.pace(); }), of_(of) {}
        worker& of_;
    };

    martlet::task<> main();
    void begin(martlet::time_point at);
    void finish();
    void note_cpu(bool beginning);
    void pace();
    void arm_pace();
    void time_is_up();
    void over(bool by_time);
    void note_window(martlet::time_point until);
    void check_done();
    void arm_sweep();
    void sweep();

    // For its connections.
    void connect_tried(const martlet::error* why, bool first);
    void rest(connection& one, lane_state& in);
    void closed();
    void note_sent(std::uint32_t target, martlet::time_point intended, martlet::time_point now, bool was_waiting);
    void count(std::uint32_t target, martlet::time_point intended, const answer_step& step, martlet::time_point now);
    void count(std::uint32_t target, martlet::time_point intended, fault why);
    bool is_warmup(martlet::time_point intended) const noexcept { return intended < warm_; }

    const plan& plan_;
    martlet::loop loop_;
    starting_line& line_;
    tally tally_;
    std::vector<answer_model> models_;
    std::vector<std::unique_ptr<lane_state>> lanes_;
    std::vector<std::unique_ptr<connection>> connections_;
    martlet::semaphore connecting_{connecting_max};
    martlet::event tried_;
    martlet::event done_;
    std::size_t tried_count_ = 0;
    std::size_t open_ = 0;
    std::uint64_t in_flight_ = 0;
    std::optional<martlet::error> connect_error_;
    martlet::time_point begin_{};
    martlet::time_point warm_{};
    martlet::time_point end_{};
    martlet::time_point last_open_{};
    bool has_begun_ = false;
    bool is_stopped_ = false;
    bool is_over_ = false;
    bool over_by_time_ = false;
    alarm end_alarm_;
    pacer pacer_;
    alarm sweep_alarm_;
    std::vector<histogram> told_;
};

}  // namespace load
