#include <martlet/base/metric.hpp>

#include <cmath>
#include <cstdlib>
#include <mutex>

#include <martlet/base/assert.hpp>

namespace martlet::inline v0::metrics {

namespace {

struct entry {
    std::string_view name;
    std::string_view help;
    std::size_t slot;
    kind of;
};

constexpr std::size_t slots_of(kind of) noexcept { return of == kind::histogram ? histogram_slots : 1; }

}  // namespace

/// All metrics and shards of the process. Constant-initialised, so that metrics may be variables of namespace scope.
struct registry {
    std::mutex lock;
    entry entries[metrics_max];
    std::size_t count = 0;
    std::size_t slots_used = 0;
    shard* first = nullptr;
    std::atomic<std::uint64_t> shared[slots_max];  // counted without a shard, or by shards that are gone

    std::size_t add(kind of, std::string_view name, std::string_view help) noexcept;
    void join(shard& added) noexcept;
    void leave(shard& gone) noexcept;
    std::uint64_t sum(std::size_t slot) const noexcept;
};

namespace {

constinit registry all{};

}  // namespace

std::size_t registry::add(kind of, std::string_view name, std::string_view help) noexcept {
    const std::lock_guard hold(lock);
    for (std::size_t i = 0; i < count; ++i) {
        if (entries[i].name != name) continue;
        MARTLET_ASSERT(entries[i].of == of, "a name belongs to metrics of one kind");
        return entries[i].slot;
    }
    MARTLET_ASSERT(count < metrics_max && slots_used + slots_of(of) <= slots_max,
                   "there is room for metrics_max metrics and slots_max slots");
    const std::size_t slot = slots_used;
    slots_used += slots_of(of);
    entries[count++] = {name, help, slot, of};
    return slot;
}

void registry::join(shard& added) noexcept {
    const std::lock_guard hold(lock);
    added.next_ = first;
    if (first != nullptr) first->prev_ = &added;
    first = &added;
}

void registry::leave(shard& gone) noexcept {
    const std::lock_guard hold(lock);
    for (std::size_t i = 0; i < slots_used; ++i) {
        const std::uint64_t n = gone.slots_[i].load(std::memory_order_relaxed);
        if (n != 0) shared[i].fetch_add(n, std::memory_order_relaxed);
    }
    if (gone.next_ != nullptr) gone.next_->prev_ = gone.prev_;
    (gone.prev_ != nullptr ? gone.prev_->next_ : first) = gone.next_;
}

/// With the lock held.
std::uint64_t registry::sum(std::size_t slot) const noexcept {
    std::uint64_t total = shared[slot].load(std::memory_order_relaxed);
    for (const shard* one = first; one != nullptr; one = one->next_) total += one->slots_[slot].load(std::memory_order_relaxed);
    return total;
}

shard::shard() noexcept {
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t));
    slots_ = static_cast<std::atomic<std::uint64_t>*>(std::calloc(slots_max, sizeof(std::atomic<std::uint64_t>)));
    if (slots_ != nullptr) all.join(*this);
}

shard::~shard() {
    if (slots_ == nullptr) return;
    all.leave(*this);
    std::free(slots_);
}

void shard::add_shared(std::size_t slot, std::uint64_t n) noexcept { all.shared[slot].fetch_add(n, std::memory_order_relaxed); }

counter::counter(std::string_view name, std::string_view help) noexcept : slot_(all.add(kind::counter, name, help)) {}
gauge::gauge(std::string_view name, std::string_view help) noexcept : slot_(all.add(kind::gauge, name, help)) {}
histogram::histogram(std::string_view name, std::string_view help) noexcept : slot_(all.add(kind::histogram, name, help)) {}

std::uint64_t counter::value() const noexcept {
    const std::lock_guard hold(all.lock);
    return all.sum(slot_);
}

std::int64_t gauge::value() const noexcept {
    const std::lock_guard hold(all.lock);
    return static_cast<std::int64_t>(all.sum(slot_));
}

std::uint64_t reading::count() const noexcept {
    std::uint64_t total = 0;
    for (const std::uint64_t n : buckets()) total += n;
    return total;
}

std::uint64_t reading::quantile(double fraction) const noexcept {
    const std::uint64_t total = count();
    if (total == 0) return 0;
    const double place = std::ceil(fraction * static_cast<double>(total));
    const std::uint64_t rank = place < 1 ? 1 : place >= static_cast<double>(total) ? total : static_cast<std::uint64_t>(place);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < histogram_buckets; ++i) {
        seen += buckets()[i];
        if (seen >= rank) return histogram::upper_bound(i);
    }
    return histogram::upper_bound(histogram_buckets - 1);
}

void detail::visit(void (*see)(void*, const reading&), void* context) {
    const std::lock_guard hold(all.lock);
    std::uint64_t slots[histogram_slots];
    for (std::size_t i = 0; i < all.count; ++i) {
        const entry& one = all.entries[i];
        for (std::size_t k = 0; k < slots_of(one.of); ++k) slots[k] = all.sum(one.slot + k);
        see(context, reading(one.of, one.name, one.help, std::span<const std::uint64_t>(slots, slots_of(one.of))));
    }
}

}  // namespace martlet::inline v0::metrics
