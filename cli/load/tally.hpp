// tally: what was counted. Each thread keeps its own; they are added at the end.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fault.hpp"
#include "histogram.hpp"
#include "plan.hpp"

namespace load {

using fault_counts = std::array<std::uint64_t, fault_count>;

std::uint64_t sum_of(const fault_counts& counts) noexcept;

/// Of one target, without the warm-up.
struct target_tally {
    /// Of right answers: from the moment of sending, at a fixed rate from the intended one.
    histogram latency;
    std::uint64_t sent = 0;
    std::uint64_t right = 0;
    std::uint64_t bytes_received = 0;
    fault_counts faults{};
    /// Answers that were whole, by status.
    std::array<std::uint64_t, expectation::statuses> statuses{};
    /// Requests whose time came and that were not sent before the end.
    std::uint64_t unsent = 0;

    std::uint64_t wrong() const noexcept { return sum_of(faults); }
    void merge(const target_tally& other) noexcept;
};

struct tally {
    explicit tally(std::size_t targets) : of_targets(targets) {}

    std::vector<target_tally> of_targets;
    /// What befell connections that had no request under way.
    fault_counts connection_faults{};
    std::uint64_t connections_opened = 0;
    /// Ended by the server between requests or as an answer announced: no fault.
    std::uint64_t connections_ended = 0;
    std::uint64_t warmup_requests = 0;
    std::uint64_t warmup_faults = 0;
    /// At a fixed rate, of requests that a free connection waited for: how long after the intended moment they were sent.
    histogram lag;
    /// Those that had to wait because no connection was free.
    std::uint64_t queued = 0;
    /// Right answers until the end of the time, and how long that was.
    std::uint64_t window_answers = 0;
    std::int64_t window_ns = 0;
    std::int64_t elapsed_ns = 0;
    /// Of the threads that made the load: running, and ready to run without a processor.
    std::int64_t cpu_ns = 0;
    std::int64_t waited_ns = 0;
    std::int64_t busiest_thread_ns = 0;

    void merge(const tally& other);
    std::uint64_t sent() const noexcept;
    std::uint64_t right() const noexcept;
    std::uint64_t unsent() const noexcept;
    /// Of requests and of connections.
    fault_counts faults() const noexcept;
};

}  // namespace load
