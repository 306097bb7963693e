// run: makes the load that a plan describes, on its threads, and gives what came of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <martlet/base/error.hpp>

#include "plan.hpp"
#include "tally.hpp"

namespace load {

/// One second of the load, or what is left of it.
struct moment {
    double until_s = 0;  // from the beginning
    double length_s = 0;
    std::uint64_t answers = 0;
    std::uint64_t faults = 0;
    std::uint64_t p50_ns = 0;
    std::uint64_t p99_ns = 0;
    std::uint64_t max_ns = 0;
};

struct outcome {
    explicit outcome(std::size_t targets) : total(targets) {}

    tally total;
    std::vector<moment> moments;
    bool has_begun = false;  // no connection could be opened otherwise
    bool was_interrupted = false;
    /// The first failure to connect.
    std::optional<martlet::error> connect_error;
    unsigned processors = 1;

    /// The share of the processors that its threads could use, or of one of them, which one thread used: the greater of the two.
    double client_busy(const plan& of) const noexcept;
    /// The share of the time in which its threads were ready and had no processor.
    double client_waited(const plan& of) const noexcept;
    /// Above this the client is the limit, not the server.
    static constexpr double busy_max = 0.85;
    bool is_client_bound(const plan& of) const noexcept { return client_busy(of) > busy_max; }
    double answers_per_second() const noexcept;
    /// At a fixed rate: what was sent of what was due.
    double sent_share() const noexcept;
    static constexpr double sent_share_min = 0.99;
    bool fell_behind(const plan& of) const noexcept { return of.is_open() && sent_share() < sent_share_min; }
};

/// Blocks until the load is over. SIGINT and SIGTERM end it early, a second one at once. `live` is told of each second.
outcome run(const plan& what, const std::function<void(const moment&)>& live);

}  // namespace load
