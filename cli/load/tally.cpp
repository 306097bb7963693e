#include "tally.hpp"

#include <algorithm>
#include <numeric>

namespace load {

namespace {

template <class Counts>
void add(Counts& to, const Counts& from) noexcept {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

}  // namespace

std::uint64_t sum_of(const fault_counts& counts) noexcept { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }

void target_tally::merge(const target_tally& other) noexcept {
    latency.merge(other.latency);
    sent += other.sent;
    right += other.right;
    bytes_received += other.bytes_received;
    unsent += other.unsent;
    add(faults, other.faults);
    add(statuses, other.statuses);
}

void tally::merge(const tally& other) {
    for (std::size_t i = 0; i < of_targets.size(); ++i) of_targets[i].merge(other.of_targets[i]);
    add(connection_faults, other.connection_faults);
    connections_opened += other.connections_opened;
    connections_ended += other.connections_ended;
    warmup_requests += other.warmup_requests;
    warmup_faults += other.warmup_faults;
    lag.merge(other.lag);
    queued += other.queued;
    window_answers += other.window_answers;
    window_ns = std::max(window_ns, other.window_ns);
    elapsed_ns = std::max(elapsed_ns, other.elapsed_ns);
    cpu_ns += other.cpu_ns;
    waited_ns += other.waited_ns;
    busiest_thread_ns = std::max(busiest_thread_ns, other.busiest_thread_ns);
}

std::uint64_t tally::sent() const noexcept {
    std::uint64_t sum = 0;
    for (const target_tally& each : of_targets) sum += each.sent;
    return sum;
}

std::uint64_t tally::right() const noexcept {
    std::uint64_t sum = 0;
    for (const target_tally& each : of_targets) sum += each.right;
    return sum;
}

std::uint64_t tally::unsent() const noexcept {
    std::uint64_t sum = 0;
    for (const target_tally& each : of_targets) sum += each.unsent;
    return sum;
}

fault_counts tally::faults() const noexcept {
    fault_counts all = connection_faults;
    for (const target_tally& each : of_targets) add(all, each.faults);
    return all;
}

}  // namespace load
