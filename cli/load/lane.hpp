// lane: connections that share a stream of requests, and when the next one of it is to be sent.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <martlet/base/list.hpp>
#include <martlet/base/time.hpp>
#include <martlet/net/address.hpp>

#include "plan.hpp"

namespace load {

class connection;
struct idle_tag;

/// A group of connections that shares a stream of requests. In a closed loop one for each address, whose targets take turns by their
/// shares; at a fixed rate one for each target, with arrivals of its own, so that a slow target does not delay a quick one in the client.
struct lane {
    std::vector<std::uint32_t> targets;  // indexes into plan::targets
    unsigned connections = 0;
    unsigned first_thread = 0;  // connection i belongs to thread (first_thread + i) modulo threads
    double rate = 0;
    std::optional<std::uint64_t> requests;
};

/// Divides connections, requests and rate by shares; each lane has at least one connection.
std::vector<lane> lanes_of(const plan& whole);

/// The part of a lane that one thread has. Threads without connections have none.
struct lane_part {
    unsigned connections = 0;
    unsigned index = 0;  // of this part, below parts
    unsigned parts = 1;
    std::optional<std::uint64_t> requests;
};
lane_part part_of(const lane& whole, unsigned thread, unsigned threads) noexcept;

/// Takes turns between targets so that after any number of requests each is within one of its share.
class share_sequence {
public:
    /// Starts so far into the sequence that threads do not walk in step.
    share_sequence(const plan& of, const lane& in, unsigned start);
    /// Index into plan::targets.
    std::uint32_t next() noexcept;

private:
    struct entry {
        std::uint32_t target;
        std::int64_t share;
        std::int64_t credit;
    };
    std::vector<entry> entries_;
    std::int64_t total_ = 0;
};

/// What a thread has of a lane, and which of its connections wait for something to do.
class lane_state {
public:
    lane_state(const plan& of, const lane& whole, const lane_part& part);

    /// How many requests may be sent now, at most `most`; counts them as sent.
    unsigned claim(martlet::time_point now, unsigned most) noexcept;
    /// At a fixed rate: the intended moment of the next request.
    martlet::time_point next_due() const noexcept { return due_of(next_); }
    bool is_spent() const noexcept { return next_ == requests_; }
    bool is_due(martlet::time_point now) const noexcept { return is_running_ && !is_spent() && next_due() <= now; }

    const lane_part part;
    const martlet::net::address where;
    const std::uint32_t first_target;
    share_sequence sequence;
    martlet::list<connection, idle_tag> idle;

    bool is_open_loop() const noexcept { return interval_ns_ > 0; }
    void start(martlet::time_point begin) noexcept;
    void stop() noexcept { is_running_ = false; }
    /// The intended moment of request number `index` of this part.
    martlet::time_point due_of(std::uint64_t index) const noexcept;
    std::uint64_t next() const noexcept { return next_; }
    /// Requests due by `when` that were not sent.
    std::uint64_t unsent(martlet::time_point when) const noexcept;

private:
    std::uint64_t next_ = 0;
    std::uint64_t requests_ = UINT64_MAX;
    double interval_ns_ = 0;  // between two requests of the whole lane; 0 in a closed loop
    double ramp_ns_ = 0;      // while the rate still rises
    double ramp_requests_ = 0;
    martlet::time_point begin_{};
    bool is_running_ = false;
};

}  // namespace load
