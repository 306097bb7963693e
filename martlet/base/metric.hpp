// Counters, gauges and histograms by name. Each thread or loop adds to a shard of its own; reading sums the shards.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace martlet::inline v0::metrics {

enum class kind : std::uint8_t { counter, gauge, histogram };

/// How many 8-byte slots there are for all metrics: a counter or gauge takes one, a histogram `histogram_slots`.
inline constexpr std::size_t slots_max = 4096;
/// Four buckets for each power of two: a value is known to within a quarter.
inline constexpr std::size_t histogram_buckets = 160;
inline constexpr std::size_t histogram_slots = histogram_buckets + 1;
inline constexpr std::size_t metrics_max = 512;

/// The slots of one writer. Only one thread at a time adds to a shard; any thread may read it meanwhile.
class shard {
public:
    /// Takes its memory and is found by `visit` from now on. Without memory it stands for the shared shard.
    shard() noexcept;
    shard(const shard&) = delete;
    shard& operator=(const shard&) = delete;
    /// What was counted stays counted.
    ~shard();

    bool has_slots() const noexcept { return slots_ != nullptr; }

private:
    friend class counter;
    friend class gauge;
    friend class histogram;
    friend struct registry;

    void add(std::size_t slot, std::uint64_t n) noexcept {
        if (slots_ == nullptr) return add_shared(slot, n);
        std::atomic<std::uint64_t>& to = slots_[slot];
        to.store(to.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    static void add_shared(std::size_t slot, std::uint64_t n) noexcept;

    std::atomic<std::uint64_t>* slots_ = nullptr;
    shard* next_ = nullptr;
    shard* prev_ = nullptr;
};

/// Something that only grows. Made once, usually as a variable of namespace scope; two of one name are one.
class counter {
public:
    /// `name` and `help` must live as long as the program.
    explicit counter(std::string_view name, std::string_view help = {}) noexcept;

    void add(shard& to, std::uint64_t n = 1) noexcept { to.add(slot_, n); }
    /// Without a shard: from any thread, with an atomic addition.
    void add(std::uint64_t n = 1) noexcept { shard::add_shared(slot_, n); }
    std::uint64_t value() const noexcept;

private:
    std::size_t slot_;
};

/// Something that grows and shrinks. What it shows is the sum over all shards.
class gauge {
public:
    explicit gauge(std::string_view name, std::string_view help = {}) noexcept;

    void add(shard& to, std::int64_t n) noexcept { to.add(slot_, static_cast<std::uint64_t>(n)); }
    void add(std::int64_t n) noexcept { shard::add_shared(slot_, static_cast<std::uint64_t>(n)); }
    std::int64_t value() const noexcept;

private:
    std::size_t slot_;
};

/// How often values of each size came.
class histogram {
public:
    /// Name the unit in `name`.
    explicit histogram(std::string_view name, std::string_view help = {}) noexcept;

    void record(shard& to, std::uint64_t value) noexcept {
        to.add(slot_ + bucket_of(value), 1);
        to.add(slot_ + histogram_buckets, value);
    }
    void record(std::uint64_t value) noexcept {
        shard::add_shared(slot_ + bucket_of(value), 1);
        shard::add_shared(slot_ + histogram_buckets, value);
    }

    /// The bucket of `value`; the last takes all that are too large for the others.
    static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
        if (value < 4) return static_cast<std::size_t>(value);
        const unsigned power = 63u - static_cast<unsigned>(__builtin_clzll(value));
        const std::size_t bucket = (power - 1) * std::size_t{4} + ((value >> (power - 2)) & 3);
        return bucket < histogram_buckets ? bucket : histogram_buckets - 1;
    }
    /// The largest value of `bucket`; of the last, the largest there is.
    static constexpr std::uint64_t upper_bound(std::size_t bucket) noexcept {
        if (bucket >= histogram_buckets - 1) return ~std::uint64_t{0};
        if (bucket < 4) return bucket;
        const unsigned power = static_cast<unsigned>(bucket / 4) + 1;
        return ((std::uint64_t{4} + bucket % 4 + 1) << (power - 2)) - 1;
    }

private:
    std::size_t slot_;
};

/// One metric, summed at the time of the visit.
class reading {
public:
    reading(metrics::kind of, std::string_view name, std::string_view help, std::span<const std::uint64_t> slots) noexcept
        : name_(name), help_(help), slots_(slots), kind_(of) {}

    metrics::kind kind() const noexcept { return kind_; }
    std::string_view name() const noexcept { return name_; }
    std::string_view help() const noexcept { return help_; }
    /// Of a counter or gauge.
    std::int64_t value() const noexcept { return static_cast<std::int64_t>(slots_[0]); }
    /// Of a histogram: how many values by bucket (not accumulated), how many together, and their sum.
    std::span<const std::uint64_t> buckets() const noexcept { return slots_.first(histogram_buckets); }
    std::uint64_t count() const noexcept;
    std::uint64_t sum() const noexcept { return slots_[histogram_buckets]; }
    /// The upper bound of the bucket in which the value at `fraction` of all (0 to 1) stands; 0 when there are none.
    std::uint64_t quantile(double fraction) const noexcept;

private:
    std::string_view name_;
    std::string_view help_;
    std::span<const std::uint64_t> slots_;
    metrics::kind kind_;
};

namespace detail {
void visit(void (*see)(void*, const reading&), void* context);
}

/// Calls `see(const reading&)` for each metric, in the order of their making. No metric or shard may be made or destroyed in a call.
template <class See>
void visit(See&& see) {
    detail::visit([](void* context, const reading& one) { (*static_cast<std::remove_reference_t<See>*>(context))(one); }, &see);
}

}  // namespace martlet::inline v0::metrics
