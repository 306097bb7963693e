#include "lane.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace load {

using namespace martlet;

namespace {

double share_of(const plan& whole, const lane& in) {
    double mine = 0, all = 0;
    for (const target& each : whole.targets) all += each.share;
    for (const std::uint32_t index : in.targets) mine += whole.targets[index].share;
    return mine / all;
}

// Whole numbers that sum to `total`, in proportion to `shares`: rounded down, and what is left goes to the largest remainders.
std::vector<std::uint64_t> divide(std::uint64_t total, const std::vector<double>& shares) {
    std::vector<std::uint64_t> parts(shares.size());
    std::vector<std::size_t> order(shares.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::uint64_t given = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        parts[i] = static_cast<std::uint64_t>(static_cast<double>(total) * shares[i] + 1e-9);
        given += parts[i];
    }
    const auto rest = [&](std::size_t i) { return static_cast<double>(total) * shares[i] - static_cast<double>(parts[i]); };
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return rest(a) > rest(b) + 1e-9; });
    for (std::size_t i = 0; given < total; i = (i + 1) % order.size(), ++given) ++parts[order[i]];
    return parts;
}

}  // namespace

std::vector<lane> lanes_of(const plan& whole) {
    std::vector<lane> lanes;
    for (std::uint32_t i = 0; i < whole.targets.size(); ++i) {
        const auto same = [&](const lane& each) { return whole.targets[each.targets[0]].where == whole.targets[i].where; };
        const auto found = whole.is_open() ? lanes.end() : std::ranges::find_if(lanes, same);
        if (found != lanes.end()) {
            found->targets.push_back(i);
        } else {
            lanes.emplace_back().targets.push_back(i);
        }
    }
    std::vector<double> shares;
    for (const lane& each : lanes) shares.push_back(share_of(whole, each));
    const std::uint64_t spare = whole.connections > lanes.size() ? whole.connections - lanes.size() : 0;
    const auto connections = divide(spare, shares);
    const auto requests = divide(whole.requests.value_or(0), shares);
    unsigned first = 0;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        lanes[i].connections = 1 + static_cast<unsigned>(connections[i]);
        lanes[i].first_thread = first % whole.threads;
        first += lanes[i].connections;
        lanes[i].rate = whole.rate.value_or(0) * shares[i];
        if (whole.requests) lanes[i].requests = requests[i];
    }
    return lanes;
}

lane_part part_of(const lane& whole, unsigned thread, unsigned threads) noexcept {
    lane_part part;
    part.parts = std::min(threads, whole.connections);
    part.index = (thread + threads - whole.first_thread) % threads;
    if (part.index >= part.parts) return part;
    part.connections = (whole.connections - part.index + threads - 1) / threads;
    if (whole.requests) part.requests = *whole.requests / part.parts + (part.index < *whole.requests % part.parts ? 1 : 0);
    return part;
}

share_sequence::share_sequence(const plan& of, const lane& in, unsigned start) {
    for (const std::uint32_t index : in.targets) {
        entries_.push_back({index, of.targets[index].share, 0});
        total_ += of.targets[index].share;
    }
    for (unsigned i = 0; i < start && entries_.size() > 1; ++i) next();
}

std::uint32_t share_sequence::next() noexcept {
    if (entries_.size() == 1) return entries_[0].target;
    entry* most = nullptr;
    for (entry& each : entries_) {
        each.credit += each.share;
        if (most == nullptr || each.credit > most->credit) most = &each;
    }
    most->credit -= total_;
    return most->target;
}

lane_state::lane_state(const plan& of, const lane& whole, const lane_part& share)
    : part(share), where(of.targets[whole.targets[0]].where), first_target(whole.targets[0]), sequence(of, whole, share.index) {
    if (whole.rate > 0) {
        interval_ns_ = 1e9 / whole.rate;
        ramp_ns_ = static_cast<double>(of.ramp.count());
        ramp_requests_ = ramp_ns_ / 2 / interval_ns_;
        // Those of the whole lane that fall into the time, of which every `parts`th is this part's. The ramp ends before it does.
        const double full_ns = static_cast<double>(of.length.count()) - ramp_ns_ / 2;
        const auto fitting = static_cast<std::uint64_t>(std::ceil(full_ns / interval_ns_ - 1e-6));
        requests_ = fitting > part.index ? (fitting - part.index + part.parts - 1) / part.parts : 0;
    }
    if (part.requests) requests_ = std::min(requests_, *part.requests);
}

unsigned lane_state::claim(time_point now, unsigned most) noexcept {
    if (!is_running_) return 0;
    unsigned claimed = 0;
    if (is_open_loop()) {
        while (claimed < most && next_ + claimed < requests_ && due_of(next_ + claimed) <= now) ++claimed;
    } else {
        claimed = static_cast<unsigned>(std::min<std::uint64_t>(most, requests_ - next_));
    }
    next_ += claimed;
    return claimed;
}

void lane_state::start(time_point begin) noexcept {
    begin_ = begin;
    is_running_ = true;
}

time_point lane_state::due_of(std::uint64_t index) const noexcept {
    const auto number = static_cast<double>(index * part.parts + part.index);
    if (number < ramp_requests_) return begin_ + duration(static_cast<std::int64_t>(std::sqrt(2 * number * interval_ns_ * ramp_ns_)));
    return begin_ + duration(static_cast<std::int64_t>(number * interval_ns_ + ramp_ns_ / 2));
}

std::uint64_t lane_state::unsent(time_point when) const noexcept {
    if (!is_open_loop()) return requests_ == UINT64_MAX ? 0 : requests_ - next_;
    std::uint64_t late = next_;
    while (late < requests_ && due_of(late) <= when) ++late;
    return late - next_;
}

}  // namespace load
