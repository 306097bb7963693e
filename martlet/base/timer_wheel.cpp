#include <martlet/base/timer_wheel.hpp>

#include <algorithm>

namespace martlet::inline v0 {

namespace {

constexpr int digit_bits = 6;
constexpr std::int64_t tick_nanoseconds = timer_wheel::tick.count();
constexpr std::int64_t tick_max = time_point::max().time_since_epoch().count() / tick_nanoseconds;

/// The first tick that does not begin before `at`; time before the clock's epoch is its epoch.
std::int64_t tick_from(time_point at) noexcept {
    const std::int64_t nanoseconds = at.time_since_epoch().count();
    if (nanoseconds <= 0) return 0;
    const std::int64_t whole = nanoseconds / tick_nanoseconds;
    return whole + (nanoseconds % tick_nanoseconds != 0);
}

/// The tick that `at` is in.
std::int64_t tick_at(time_point at) noexcept {
    const std::int64_t nanoseconds = at.time_since_epoch().count();
    return nanoseconds <= 0 ? 0 : nanoseconds / tick_nanoseconds;
}

}  // namespace

timer_wheel::timer_wheel(time_point now) noexcept : now_tick_(tick_at(now)) {
    static_assert(tick_max >> (level_count * digit_bits) == 0, "the levels must cover every time there is");
}

timer_wheel::place timer_wheel::place_of(std::int64_t due_tick) const noexcept {
    if (due_tick <= now_tick_) return {0, static_cast<int>(now_tick_ & (slot_count - 1))};
    const auto differing = static_cast<std::uint64_t>(due_tick ^ now_tick_);
    const int level = (63 - __builtin_clzll(differing)) / digit_bits;
    return {level, static_cast<int>((due_tick >> (level * digit_bits)) & (slot_count - 1))};
}

/// The first tick of a slot.
std::int64_t timer_wheel::start_of(place where) const noexcept {
    const int shift = where.level * digit_bits;
    const std::int64_t above = now_tick_ >> (shift + digit_bits) << (shift + digit_bits);
    return above | (static_cast<std::int64_t>(where.slot) << shift);
}

/// Until which tick advance() has nothing to do when the first timers stand there.
std::int64_t timer_wheel::idle_until(place where) const noexcept {
    const std::int64_t start = start_of(where);
    return start <= now_tick_ ? std::numeric_limits<std::int64_t>::min() : start;
}

/// Where the timers stand that are due first; false when there are none.
bool timer_wheel::next_place(place& where) const noexcept {
    if (levels_in_use_ == 0) return false;
    where.level = __builtin_ctz(levels_in_use_);
    where.slot = __builtin_ctzll(slots_in_use_[where.level]);
    return true;
}

void timer_wheel::insert(timer_node& timer) noexcept {
    const place where = place_of(timer.tick_);
    slots_[where.level][where.slot].push_back(timer);
    slots_in_use_[where.level] |= std::uint64_t{1} << where.slot;
    levels_in_use_ |= 1u << where.level;
    idle_until_tick_ = std::min(idle_until_tick_, idle_until(where));
}

void timer_wheel::arm(timer_node& timer, time_point deadline) noexcept {
    disarm(timer);
    if (deadline == never) return;
    timer.tick_ = tick_from(deadline);
    insert(timer);
    ++size_;
}

void timer_wheel::disarm(timer_node& timer) noexcept {
    if (!timer.is_linked()) return;
    timer.unlink();
    --size_;
    // A timer that advance() has collected is in no slot; for it this looks at a slot which is right in any case.
    const place where = place_of(timer.tick_);
    if (!slots_[where.level][where.slot].empty()) return;
    slots_in_use_[where.level] &= ~(std::uint64_t{1} << where.slot);
    if (slots_in_use_[where.level] == 0) levels_in_use_ &= ~(1u << where.level);
}

/// Moves the wheel to `now_tick` and what is due to `due_`, in order.
void timer_wheel::collect(std::int64_t now_tick) noexcept {
    place next;
    while (next_place(next)) {
        const std::int64_t start = start_of(next);
        if (start > now_tick) break;
        now_tick_ = start;
        list<timer_node, timer_tag>& slot = slots_[next.level][next.slot];
        slots_in_use_[next.level] &= ~(std::uint64_t{1} << next.slot);
        if (slots_in_use_[next.level] == 0) levels_in_use_ &= ~(1u << next.level);
        if (next.level == 0) {
            due_.append(slot);
        } else {
            while (timer_node* timer = slot.pop_front()) insert(*timer);
        }
    }
    now_tick_ = now_tick;
}

std::size_t timer_wheel::advance_to(std::int64_t now_tick) noexcept {
    collect(now_tick > now_tick_ ? now_tick : now_tick_);
    std::size_t called = 0;
    while (timer_node* timer = due_.pop_front()) {
        --size_;
        ++called;
        timer->expired_(*timer);
    }
    place next;
    idle_until_tick_ = next_place(next) ? idle_until(next) : std::numeric_limits<std::int64_t>::max();
    return called;
}

time_point timer_wheel::next_deadline() const noexcept {
    place next;
    if (!next_place(next)) return never;
    return time_point(std::chrono::milliseconds(start_of(next)));
}

}  // namespace martlet::inline v0
