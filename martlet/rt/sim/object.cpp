#include <martlet/rt/sim/object.hpp>

#include <algorithm>
#include <utility>

#include <martlet/rt/sim/world.hpp>

namespace martlet::inline v0::sim {

namespace {

constexpr std::uint32_t flags = kernel::poll_edge | kernel::poll_exclusive;
constexpr std::uint32_t always = kernel::poll_error | kernel::poll_hangup;

}  // namespace

object::~object() {
    // An object that is destroyed was released, and released objects are watched by nobody.
    while (!watches_.empty()) watches_.back()->by->forget(*this);
}

void object::wake(std::uint32_t key) {
    // A watcher may be an epoll that is watched itself; nobody changes watches_ in here.
    for (watch* entry : watches_) {
        if (key == 0 || ((entry->events | always) & key) != 0) entry->by->make_ready(*entry);
    }
}

epoll::~epoll() { released(); }

void epoll::released() {
    for (auto& [key, entry] : interest_) std::erase(entry.of->watches_, &entry);
    interest_.clear();
    ready_.clear();
}

std::uint32_t epoll::poll() {
    for (watch* entry : ready_) {
        if ((entry->of->poll() & (entry->events | always)) != 0) return kernel::poll_in;
    }
    return 0;
}

void epoll::make_ready(watch& entry) {
    if (!entry.is_ready) {
        entry.is_ready = true;
        ready_.push_back(&entry);
    }
    wake(kernel::poll_in);
}

int epoll::add(int number, object& of, std::uint32_t events, void* tag) {
    if (&of == this) return -EINVAL;
    auto [at, is_new] = interest_.try_emplace(std::pair(number, &of), watch{this, &of, events | always, tag, false, false});
    if (!is_new) return -EEXIST;
    of.watches_.push_back(&at->second);
    if ((of.poll() & at->second.events & ~flags) != 0) make_ready(at->second);
    return 0;
}

int epoll::change(int number, object& of, std::uint32_t events, void* tag) {
    const auto at = interest_.find({number, &of});
    if (at == interest_.end()) return -ENOENT;
    watch& entry = at->second;
    if (((entry.events | events) & kernel::poll_exclusive) != 0) return -EINVAL;
    entry.events = events | always;
    entry.tag = tag;
    if ((entry.of->poll() & entry.events & ~flags) != 0) make_ready(entry);
    return 0;
}

int epoll::remove(int number, object& of) {
    const auto at = interest_.find({number, &of});
    if (at == interest_.end()) return -ENOENT;
    std::erase(ready_, &at->second);
    std::erase(at->second.of->watches_, &at->second);
    interest_.erase(at);
    return 0;
}

void epoll::forget(object& of) {
    for (auto at = interest_.begin(); at != interest_.end();) {
        watch& entry = at->second;
        ++at;
        if (entry.of != &of) continue;
        std::erase(ready_, &entry);
        std::erase(of.watches_, &entry);
        interest_.erase(std::prev(at));
    }
}

int epoll::collect(kernel::poll_event* out, int capacity, bool shuffle) {
    std::vector<watch*> candidates = std::exchange(ready_, {});
    if (shuffle) {
        for (std::size_t left = candidates.size(); left > 1; --left) {
            std::swap(candidates[left - 1], candidates[here().order.below(left)]);
        }
        // Those that found no room the last time stay in front, or one could starve.
        std::partition(candidates.begin(), candidates.end(), [](const watch* entry) { return entry->is_left_over; });
    }
    int taken = 0;
    std::vector<watch*> again;
    for (watch* entry : candidates) {
        if (taken == capacity) {
            entry->is_left_over = true;
            ready_.push_back(entry);
            continue;
        }
        entry->is_left_over = false;
        const std::uint32_t events = entry->of->poll() & entry->events & ~flags;
        if (events == 0) {
            entry->is_ready = false;
            continue;
        }
        out[taken++] = kernel::poll_event{events, entry->tag};
        if ((entry->events & kernel::poll_edge) != 0) {
            entry->is_ready = false;
        } else {
            again.push_back(entry);
        }
    }
    ready_.insert(ready_.end(), again.begin(), again.end());
    return taken;
}

}  // namespace martlet::inline v0::sim
