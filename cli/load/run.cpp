#include "run.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <martlet/rt/event.hpp>
#include <martlet/rt/kernel.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/processors.hpp>
#include <martlet/rt/scope.hpp>
#include <martlet/rt/signals.hpp>
#include <martlet/rt/sleep.hpp>

#include "worker.hpp"

namespace load {

using namespace martlet;

namespace {

// The kernel may end a wait by so much late, 50 us unless told otherwise. Where it cannot be told, the lag shows it.
void wake_exactly() { std::ofstream("/proc/" + std::to_string(kernel::thread_number()) + "/timerslack_ns") << "1"; }

/// The threads and what watches over them, on the thread that called run().
class conductor {
public:
    conductor(const plan& what, const std::function<void(const moment&)>& live)
        : plan_(what), live_(live), signals_(loop_, SIGINT, SIGTERM), line_(what.threads), out_(what.targets.size()) {
        const auto lanes = lanes_of(what);
        for (unsigned i = 0; i < what.threads; ++i) workers_.push_back(std::make_unique<worker>(what, lanes, i, line_));
    }

    outcome run() {
        {
            std::vector<std::jthread> threads;
            for (const auto& each : workers_) {
                threads.emplace_back([one = each.get(), home = loop_.handle(), this] {
                    wake_exactly();
                    one->run();
                    home.post([this] { one_ended(); });
                });
            }
            loop_.run(watch());
        }
        for (const auto& each : workers_) {
            out_.total.merge(each->result());
            out_.has_begun |= each->has_begun();
            if (!out_.connect_error) out_.connect_error = each->connect_error();
        }
        out_.processors = processors_usable();
        return std::move(out_);
    }

private:
    task<> watch() {
        co_await in_scope([this](scope& jobs) -> task<> {
            jobs.spawn([this] { return take_signals(); });
            jobs.spawn([this] { return tick(); });
            auto ended = co_await all_ended_.wait();
            jobs.cancel(cancel_reason::shutting_down);
            if (!ended) co_return;
        });
    }

    task<> take_signals() {
        for (bool first = true;; first = false) {
            auto number = co_await signals_.next();
            if (!number) co_return;
            out_.was_interrupted = true;
            for (const auto& each : workers_) {
                each->handle().post([one = each.get(), first] { first ? one->stop() : one->stop_now(); });
            }
        }
    }

    task<> tick() {
        time_point next = loop_.clock();
        for (;;) {
            next += std::chrono::seconds(1);
            auto slept = co_await sleep_until(next);
            if (!slept) co_return;
            replies_ = 0;
            gathered_ = worker::recent();
            for (const auto& each : workers_) {
                each->handle().post(
                    [one = each.get(), home = loop_.handle(), this] { home.post([this, found = one->take_recent()] { gather(found); }); });
            }
        }
    }

    void gather(const worker::recent& found) {
        gathered_.latency.merge(found.latency);
        gathered_.right += found.right;
        gathered_.faults += found.faults;
        gathered_.elapsed = std::max(gathered_.elapsed, found.elapsed);
        if (++replies_ != workers_.size() || gathered_.elapsed <= last_.elapsed) return;
        moment now;
        const histogram& latency = gathered_.latency;
        now.until_s = std::chrono::duration<double>(gathered_.elapsed).count();
        now.length_s = std::chrono::duration<double>(gathered_.elapsed - last_.elapsed).count();
        now.answers = gathered_.right - last_.right;
        now.faults = gathered_.faults - last_.faults;
        now.p50_ns = latency.at_ns(0.5);
        now.p99_ns = latency.at_ns(0.99);
        now.max_ns = latency.max_ns();
        last_.right = gathered_.right;
        last_.faults = gathered_.faults;
        last_.elapsed = gathered_.elapsed;
        out_.moments.push_back(now);
        if (live_) live_(now);
    }

    void one_ended() {
        if (++ended_ == workers_.size()) all_ended_.set();
    }

    const plan& plan_;
    const std::function<void(const moment&)>& live_;
    loop loop_;
    signal_set signals_;
    starting_line line_;
    std::vector<std::unique_ptr<worker>> workers_;
    event all_ended_;
    std::size_t ended_ = 0;
    worker::recent gathered_;
    std::size_t replies_ = 0;
    worker::recent last_;
    outcome out_;
};

}  // namespace

outcome run(const plan& what, const std::function<void(const moment&)>& live) {
    conductor all(what, live);
    return all.run();
}

double outcome::client_busy(const plan& of) const noexcept {
    if (total.elapsed_ns <= 0) return 0;
    const auto elapsed = static_cast<double>(total.elapsed_ns);
    const double usable = elapsed * std::min(of.threads, processors);
    return std::max(static_cast<double>(total.cpu_ns) / usable, static_cast<double>(total.busiest_thread_ns) / elapsed);
}

double outcome::client_waited(const plan& of) const noexcept {
    if (total.elapsed_ns <= 0) return 0;
    return static_cast<double>(total.waited_ns) / (static_cast<double>(total.elapsed_ns) * of.threads);
}

double outcome::answers_per_second() const noexcept {
    if (total.window_ns <= 0) return 0;
    return static_cast<double>(total.window_answers) * 1e9 / static_cast<double>(total.window_ns);
}

double outcome::sent_share() const noexcept {
    const auto sent = static_cast<double>(total.sent());
    const double due = sent + static_cast<double>(total.unsent());
    return due == 0 ? 1 : sent / due;
}

}  // namespace load
