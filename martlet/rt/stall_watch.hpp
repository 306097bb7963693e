// Tells when something holds a loop too long, and names it: what a loop was doing when it did not come back to its next turn.
#pragma once

#include <cstdint>
#include <optional>

#include <martlet/base/time.hpp>

namespace martlet::inline v0 {

class loop;

/// A loop that does not turn.
class stall_report {
public:
    stall_report(const char* activity, duration lasting, std::uint64_t turn) noexcept
        : activity_(activity), lasting_(lasting), turn_(turn) {}

    /// What loop::note_activity named last; "unnamed" when nothing was.
    const char* activity() const noexcept { return activity_; }
    /// For how long it has been seen in this turn: at least, since a look may have come late.
    duration lasting() const noexcept { return lasting_; }
    /// The number of the turn; several reports of one stall have the same.
    std::uint64_t turn() const noexcept { return turn_; }

private:
    const char* activity_;
    duration lasting_;
    std::uint64_t turn_;
};

/// Decides what is a stall, from looks at a loop at times that are given to it. One for each loop.
class stall_detector {
public:
    explicit stall_detector(duration threshold) noexcept : threshold_(threshold) {}

    /// A report when the same turn has been seen at work for the threshold, and again each time that its length has doubled.
    std::optional<stall_report> look(time_point now, std::uint64_t turn, bool waiting, const char* activity) noexcept;

private:
    duration threshold_;
    duration next_ = duration::zero();
    time_point since_{};
    std::uint64_t turn_ = 0;
    bool watching_ = false;
};

/// A thread that looks at loops, reports stalls to the log, and to a function if one is given. In simulation it does nothing.
class stall_watch {
public:
    /// Called on the watching thread, while the loop is still stalled.
    using function = void (*)(const stall_report& stall, void* data) noexcept;

    /// Throws std::bad_alloc, or std::system_error when there can be no thread.
    explicit stall_watch(duration threshold, function on_stall = nullptr, void* data = nullptr);
    stall_watch(const stall_watch&) = delete;
    stall_watch& operator=(const stall_watch&) = delete;
    /// Ends the thread.
    ~stall_watch();

    /// Looks at `of` from now on, until remove() or the end of the watch; the loop lives as long. Throws std::bad_alloc.
    void add(const loop& of);
    /// When this returns, nothing looks at `of` any more.
    void remove(const loop& of) noexcept;

private:
    class watcher;
    watcher* watcher_;
};

}  // namespace martlet::inline v0
