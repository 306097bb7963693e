// A hierarchical timer wheel: arm and disarm in O(1), a tick of one millisecond, 8 levels of 64 slots.
// A timer stands on the level of the highest 6-bit digit in which its tick differs from the present tick, in the slot of that digit.
// So everything on a lower level is due before anything on a higher one, and the first slot in use of the lowest level in use is next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <martlet/base/list.hpp>
#include <martlet/base/time.hpp>

namespace martlet::inline v0 {

struct timer_tag;

/// A timer. Derive from it; it must be disarmed, or have expired, before it is destroyed. Not movable.
class timer_node : public list_hook<timer_tag> {
public:
    /// Called by `timer_wheel::advance` with the node already disarmed. It may arm, disarm and destroy any node, this one too.
    using expired_function = void (*)(timer_node&) noexcept;

    explicit timer_node(expired_function expired) noexcept : expired_(expired) {}

    bool is_armed() const noexcept { return is_linked(); }
    /// When it is due, rounded up to a tick. Has no meaning unless armed.
    time_point deadline() const noexcept { return time_point(std::chrono::milliseconds(tick_)); }

private:
    friend class timer_wheel;
    std::int64_t tick_ = 0;
    expired_function expired_;
};

static_assert(sizeof(timer_node) == 32);

/// Timers of one loop. Owns none of them; all must be disarmed before it is destroyed.
class timer_wheel {
public:
    static constexpr duration tick = std::chrono::milliseconds(1);

    explicit timer_wheel(time_point now = {}) noexcept;

    /// Makes `timer` expire at `deadline`, instead of when it was to expire before. `never` disarms it.
    void arm(timer_node& timer, time_point deadline) noexcept;
    /// The timer will not expire. Does nothing when it is not armed.
    void disarm(timer_node& timer) noexcept;

    /// Calls `expired` of every timer that is due at `now`, in the order of their ticks and, within one, of arming. Never early. What a
    /// callback arms for a time already past expires in the next call. `now` before an earlier `now` counts as that one. Returns how many were called.
    std::size_t advance(time_point now) noexcept {
        const std::int64_t now_tick = now.time_since_epoch() / tick;
        if (now_tick >= idle_until_tick_) return advance_to(now_tick);
        if (now_tick > now_tick_) now_tick_ = now_tick;
        return 0;
    }

    /// No timer is due earlier. Exact where the 6-bit digits above the lowest agree with the present tick; else the start of a slot, at which
    /// `advance` finds a better bound. `never` when none is armed. O(1).
    time_point next_deadline() const noexcept;

    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }

private:
    static constexpr int level_count = 8;
    static constexpr int slot_count = 64;
    struct place {
        int level;
        int slot;
    };

    place place_of(std::int64_t due_tick) const noexcept;
    std::int64_t start_of(place where) const noexcept;
    std::int64_t idle_until(place where) const noexcept;
    bool next_place(place& where) const noexcept;
    void insert(timer_node& timer) noexcept;
    void collect(std::int64_t now_tick) noexcept;
    std::size_t advance_to(std::int64_t now_tick) noexcept;

    std::int64_t now_tick_;
    // Nothing is due before. What was due when it was armed is due whatever the clock says.
    std::int64_t idle_until_tick_ = std::numeric_limits<std::int64_t>::max();
    std::size_t size_ = 0;
    std::uint32_t levels_in_use_ = 0;
    std::uint64_t slots_in_use_[level_count] = {};
    list<timer_node, timer_tag> due_;
    list<timer_node, timer_tag> slots_[level_count][slot_count];
};

}  // namespace martlet::inline v0
