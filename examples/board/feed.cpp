#include "feed.hpp"

#include <martlet/base.hpp>

#include <new>
#include <utility>

#include "json.hpp"

namespace board {

notice::notice(const message& m) : id_(m.id), json_(to_json(m)) {}

bool tail::after(std::int64_t id, notices& out) const {
    if (first_ == heard_ || id < kept_[first_ % kept_max]->id() - 1) return false;
    for (std::uint64_t i = first_; i < heard_; ++i) {
        if (kept_[i % kept_max]->id() > id) out.push_back(kept_[i % kept_max]);
    }
    return true;
}

void tail::add(std::int64_t previous, std::shared_ptr<const notice> next) noexcept {
    const bool missed_some = first_ < heard_ && kept_[(heard_ - 1) % kept_max]->id() != previous;
    if (missed_some) first_ = heard_;
    kept_[heard_ % kept_max] = std::move(next);
    ++heard_;
    if (heard_ - first_ > kept_max) ++first_;
    // Wakes who waits now, and nobody later.
    changed_.set();
    changed_.reset();
}

std::shared_ptr<tail> feed::join(const martlet::loop& on) {
    auto made = std::make_shared<tail>();
    const std::lock_guard held(lock_);
    members_.push_back({on.handle(), made});
    return made;
}

void feed::publish(const message& m) noexcept {
    const std::lock_guard held(lock_);
    try {
        const std::int64_t previous = std::exchange(previous_, m.id);
        const auto told = std::make_shared<const notice>(m);
        std::erase_if(members_, [&](const member& each) {
            auto at = each.at.lock();
            if (at == nullptr) return true;
            return !each.home.post([at = std::move(at), previous, told] { at->add(previous, told); });
        });
    } catch (const std::bad_alloc&) {
        // The message is in the store; a tail that missed it notices with the next one.
        martlet::log::error("no memory to tell of a message", martlet::log::field("id", m.id));
    }
}

martlet::task<martlet::result<notices>> news_after(std::int64_t place, tail& latest, store& messages) {
    constexpr int read_max = 100;
    for (;;) {
        const std::uint64_t heard = latest.heard();
        notices next;
        if (!latest.after(place, next)) {
            auto found = co_await messages.after(place, read_max);
            if (!found) co_return martlet::failure(found.error());
            for (const message& m : *found) next.push_back(std::make_shared<const notice>(m));
        }
        if (!next.empty()) co_return next;
        // What was heard while the store was read must not be slept over.
        if (latest.heard() == heard) {
            auto woken = co_await latest.changed();
            if (!woken) co_return martlet::failure(woken.error());
        }
    }
}

}  // namespace board
