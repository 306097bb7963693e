#include <martlet/rt/stall_watch.hpp>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <martlet/base/log.hpp>
#include <martlet/rt/kernel.hpp>
#include <martlet/rt/loop.hpp>

namespace martlet::inline v0 {

std::optional<stall_report> stall_detector::look(time_point now, std::uint64_t turn, bool waiting, const char* activity) noexcept {
    if (waiting) {
        watching_ = false;
        return std::nullopt;
    }
    if (!watching_ || turn != turn_) {
        watching_ = true;
        turn_ = turn;
        since_ = now;
        next_ = threshold_;
        return std::nullopt;
    }
    const duration lasting = now - since_;
    if (lasting < next_) return std::nullopt;
    // Doubled from what it is, not from what it was to be: a late look does not bring several reports at once.
    next_ = lasting > duration::max() / 2 ? duration::max() : 2 * lasting;
    return stall_report(activity != nullptr ? activity : "unnamed", lasting, turn);
}

class stall_watch::watcher {
public:
    watcher(duration threshold, function on_stall, void* data) : threshold_(threshold), on_stall_(on_stall), data_(data) {
        if (kernel::has_threads()) thread_ = std::thread([this] { watch(); });
    }
    watcher(const watcher&) = delete;
    watcher& operator=(const watcher&) = delete;
    ~watcher() {
        {
            const std::lock_guard hold(mutex_);
            ending_ = true;
        }
        end_.notify_all();
        if (thread_.joinable()) thread_.join();
    }

    void add(const loop& of) {
        const std::lock_guard hold(mutex_);
        watched_.emplace_back(&of, stall_detector(threshold_));
    }
    void remove(const loop& of) noexcept {
        const std::lock_guard hold(mutex_);
        std::erase_if(watched_, [&of](const auto& one) { return one.first == &of; });
    }

private:
    void watch() noexcept {
        std::unique_lock held(mutex_);
        while (!end_.wait_for(held, threshold_ / 2, [this] { return ending_; })) {
            for (auto& [of, detector] : watched_) look_at(*of, detector);
        }
    }

    void look_at(const loop& of, stall_detector& detector) noexcept {
        const auto now = time_point(duration(kernel::monotonic_ns()));
        const std::uint64_t turn = of.turns();
        const auto stall = detector.look(now, turn, of.is_waiting(), of.activity());
        // A turn that ended between the looks above was no stall, and its activity may be another's.
        if (!stall || of.turns() != turn) return;
        log::warn("a loop is held up", log::field("activity", stall->activity()),
                  log::field("milliseconds", static_cast<std::int64_t>(stall->lasting() / std::chrono::milliseconds(1))));
        if (on_stall_ != nullptr) on_stall_(*stall, data_);
    }

    const duration threshold_;
    const function on_stall_;
    void* const data_;
    std::mutex mutex_;
    std::condition_variable end_;
    bool ending_ = false;
    std::vector<std::pair<const loop*, stall_detector>> watched_;
    std::thread thread_;
};

stall_watch::stall_watch(duration threshold, function on_stall, void* data) : watcher_(new watcher(threshold, on_stall, data)) {}
stall_watch::~stall_watch() { delete watcher_; }
void stall_watch::add(const loop& of) { watcher_->add(of); }
void stall_watch::remove(const loop& of) noexcept { watcher_->remove(of); }

}  // namespace martlet::inline v0
