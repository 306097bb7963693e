#include "worker.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>

#include <martlet/rt/kernel.hpp>
#include <martlet/rt/scope.hpp>

namespace load {

using namespace martlet;

namespace {

/// What the scheduler says of the calling thread.
struct thread_time {
    std::int64_t ran_ns = 0;
    std::int64_t waited_ns = 0;
};

thread_time time_of_this_thread() {
    thread_time time;
    std::ifstream file("/proc/self/task/" + std::to_string(kernel::thread_number()) + "/schedstat");
    file >> time.ran_ns >> time.waited_ns;
    return time;
}

time_point read_clock() noexcept { return time_point(duration(kernel::monotonic_ns())); }

}  // namespace

starting_line::starting_line(unsigned threads) : line_(threads, started{this}) {}

void starting_line::started::operator()() const noexcept { of->begin_ = read_clock(); }

std::optional<time_point> starting_line::meet(unsigned open) {
    open_ += open;
    line_.arrive_and_wait();
    if (open_ == 0) return std::nullopt;
    return begin_;
}

worker::worker(const plan& of, const std::vector<lane>& lanes, unsigned thread, starting_line& line)
    : plan_(of),
      line_(line),
      tally_(of.targets.size()),
      end_alarm_([](timer_node& timer) noexcept { static_cast<alarm&>(timer).of_.time_is_up(); }, *this),
      pacer_(*this),
      sweep_alarm_([](timer_node& timer) noexcept { static_cast<alarm&>(timer).of_.sweep(); }, *this) {
    for (const target& each : of.targets) models_.emplace_back(each.method, of.expected, each.closes);
    for (const lane& each : lanes) {
        const lane_part part = part_of(each, thread, of.threads);
        if (part.connections == 0) continue;
        lanes_.push_back(std::make_unique<lane_state>(of, each, part));
        for (unsigned i = 0; i < part.connections; ++i) connections_.push_back(std::make_unique<connection>(*this, *lanes_.back()));
    }
}

worker::~worker() = default;

void worker::run() { loop_.run(main()); }

task<> worker::main() {
    co_await in_scope([this](scope& jobs) -> task<> {
        for (const auto& each : connections_) jobs.spawn([one = each.get()] { return one->live(); });
        auto tried = co_await tried_.wait();
        if (!tried) co_return;
        if (const auto at = line_.meet(static_cast<unsigned>(open_))) {
            begin(*at);
            auto done = co_await done_.wait();
            if (!done) co_return;
            finish();
        }
        jobs.cancel(cancel_reason::shutting_down);
    });
}

void worker::begin(time_point at) {
    begin_ = at;
    warm_ = at + plan_.warmup;
    end_ = saturating_add(at, plan_.length);
    last_open_ = at;
    has_begun_ = true;
    note_cpu(true);
    for (const auto& each : lanes_) each->start(at);
    loop_.arm(end_alarm_, end_);
    arm_sweep();
    if (is_stopped_) return over(true);
    const time_point now = loop_.clock();
    for (const auto& each : connections_) {
        if (each->is_idle()) each->ask(now, plan_.is_open() ? 1 : plan_.depth, true);
    }
}

void worker::finish() {
    for (const auto& each : connections_) each->end();
    loop_.disarm(end_alarm_);
    loop_.arm_exactly(pacer_, never);
    loop_.disarm(sweep_alarm_);
    tally_.elapsed_ns = (loop_.clock() - begin_).count();
    note_cpu(false);
}

void worker::note_cpu(bool beginning) {
    const thread_time now = time_of_this_thread();
    const std::int64_t sign = beginning ? -1 : 1;
    tally_.cpu_ns += sign * now.ran_ns;
    tally_.waited_ns += sign * now.waited_ns;
    tally_.busiest_thread_ns = tally_.cpu_ns;
}

// --- when to send ---

void worker::pace() {
    const time_point now = loop_.clock();
    for (const auto& each : lanes_) {
        while (each->is_due(now) && !each->idle.empty()) {
            connection& next = *each->idle.pop_front();
            // Others that are free take the rest of what is due.
            next.ask(now, each->idle.empty() ? plan_.depth : 1, true);
        }
    }
    arm_pace();
}

void worker::arm_pace() {
    time_point due = never;
    for (const auto& each : lanes_) {
        if (!each->idle.empty() && !each->is_spent()) due = std::min(due, each->next_due());
    }
    loop_.arm_exactly(pacer_, due);
}

void worker::rest(connection& one, lane_state& in) {
    if (!has_begun_) return;
    if (is_over_) return check_done();
    const bool all_spent = std::ranges::all_of(lanes_, [](const auto& each) { return each->is_spent(); });
    if (plan_.requests && all_spent) return over(false);
    if (!in.is_open_loop() || in.is_spent()) return;
    in.idle.push_back(one);
    arm_pace();
}

// --- when to end ---

void worker::time_is_up() {
    if (plan_.is_open()) pace();
    over(true);
}

void worker::over(bool by_time) {
    if (is_over_) return;
    is_over_ = true;
    over_by_time_ = by_time;
    const time_point now = std::min(loop_.clock(), end_);
    for (const auto& each : lanes_) {
        tally_.of_targets[each->first_target].unsent += each->unsent(now);
        each->stop();
    }
    loop_.arm_exactly(pacer_, never);
    if (by_time) note_window(now);
    check_done();
}

void worker::note_window(time_point until) {
    tally_.window_answers = tally_.right();
    tally_.window_ns = std::max<std::int64_t>((until - warm_).count(), 0);
}

void worker::check_done() {
    if (!is_over_ || in_flight_ != 0 || done_.is_set()) return;
    if (!over_by_time_) note_window(loop_.clock());
    done_.set();
}

void worker::stop() {
    is_stopped_ = true;
    if (has_begun_) return over(true);
    tried_.set();
}

void worker::stop_now() {
    stop();
    if (!has_begun_) return;
    for (const auto& each : connections_) {
        if (each->is_open() && !each->is_idle()) each->fail(fault::dropped);
    }
}

void worker::arm_sweep() {
    const duration period = std::clamp<duration>(plan_.timeout / 16, std::chrono::milliseconds(1), std::chrono::milliseconds(100));
    loop_.arm(sweep_alarm_, saturating_add(loop_.now(), period));
}

void worker::sweep() {
    const time_point now = loop_.clock();
    for (const auto& each : connections_) each->expire(now - plan_.timeout);
    if (open_ != 0) last_open_ = now;
    // Nobody is there any more: it may not go on for ever.
    if (now - last_open_ > plan_.timeout) over(true);
    if (!done_.is_set()) arm_sweep();
}

// --- what came of it ---

void worker::connect_tried(const error* why, bool first) {
    if (why == nullptr) {
        ++open_;
        ++tally_.connections_opened;
    } else {
        if (!connect_error_) connect_error_ = *why;
        const fault kind =
            why->is_timeout() ? fault::connect_timeout : (why->is_system(ECONNREFUSED) ? fault::connect_refused : fault::connect_failed);
        if (!is_over_) ++tally_.connection_faults[index_of(kind)];
    }
    if (first && ++tried_count_ == connections_.size()) tried_.set();
}

void worker::closed() {
    --open_;
    last_open_ = loop_.now();
    check_done();
}

void worker::note_sent(std::uint32_t target, time_point intended, time_point now, bool was_waiting) {
    if (is_warmup(intended)) {
        ++tally_.warmup_requests;
        return;
    }
    ++tally_.of_targets[target].sent;
    if (!plan_.is_open()) return;
    if (was_waiting) {
        tally_.lag.record((now - intended).count());
    } else {
        ++tally_.queued;
    }
}

void worker::count(std::uint32_t target, time_point intended, const answer_step& step, time_point now) {
    if (step.wrong) [[unlikely]] {
        if (!is_warmup(intended)) ++tally_.of_targets[target].statuses[step.status];
        return count(target, intended, *step.wrong);
    }
    --in_flight_;
    if (is_warmup(intended)) [[unlikely]]
        return;
    target_tally& of = tally_.of_targets[target];
    ++of.right;
    ++of.statuses[step.status];
    of.latency.record((now - intended).count());
}

void worker::count(std::uint32_t target, time_point intended, fault why) {
    --in_flight_;
    if (is_warmup(intended)) {
        ++tally_.warmup_faults;
    } else {
        ++tally_.of_targets[target].faults[index_of(why)];
    }
}

worker::recent worker::take_recent() {
    recent out;
    told_.resize(tally_.of_targets.size());
    for (std::size_t i = 0; i < told_.size(); ++i) {
        const histogram& whole = tally_.of_targets[i].latency;
        out.latency.merge(whole.since(told_[i]));
        told_[i] = whole;
    }
    out.right = tally_.right();
    out.faults = sum_of(tally_.faults());
    if (has_begun_) out.elapsed = loop_.clock() - begin_;
    return out;
}

}  // namespace load
