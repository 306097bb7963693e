#include <martlet/server/detail/seat.hpp>

#include <new>
#include <utility>

#include <martlet/server/detail/worker.hpp>

namespace martlet::inline v0::server::detail {

std::unique_ptr<moved_connection> moved_connection::make(net::accepted& got) noexcept {
    std::unique_ptr<moved_connection> made(new (std::nothrow) moved_connection());
    if (made != nullptr) made->got = std::move(got);
    return made;
}

void moved_connection::arrived(posted* node, bool run) {
    std::unique_ptr<moved_connection> self(static_cast<moved_connection*>(node));
    const std::shared_ptr<seat> at = std::move(self->to_);
    if (run && at->open.load(std::memory_order_relaxed)) {
        at->of.adopt(self->got);
        return;
    }
    at->connections.fetch_sub(1, std::memory_order_relaxed);
    seating& among = *self->among_;
    among.forward(std::move(self));
}

const std::shared_ptr<seat>& seating::least(const seat_list& of, const std::shared_ptr<seat>& own) noexcept {
    const std::shared_ptr<seat>* found = own->open.load(std::memory_order_relaxed) ? &own : nullptr;
    for (const std::shared_ptr<seat>& each : of) {
        if (!each->open.load(std::memory_order_relaxed)) continue;
        if (found == nullptr || each->connections.load(std::memory_order_relaxed) < (*found)->connections.load(std::memory_order_relaxed))
            found = &each;
    }
    return found != nullptr ? *found : own;
}

void seating::send(std::unique_ptr<moved_connection> what, const std::shared_ptr<seat>& to) noexcept {
    what->to_ = to;
    what->among_ = this;
    // Refused, it comes back through arrived(), which looks for another.
    to->home.send(what.release());
}

void seating::forward(std::unique_ptr<moved_connection> what) noexcept {
    std::shared_ptr<seat> to;
    {
        const std::lock_guard<std::mutex> held(lock_);
        for (const std::shared_ptr<seat>& each : seats_) {
            if (!each->open.load(std::memory_order_relaxed)) continue;
            if (to == nullptr || each->connections.load(std::memory_order_relaxed) < to->connections.load(std::memory_order_relaxed))
                to = each;
        }
    }
    if (to == nullptr) {
        open_total_.fetch_sub(1, std::memory_order_relaxed);
        return;
    }
    to->connections.fetch_add(1, std::memory_order_relaxed);
    send(std::move(what), to);
}

void seating::replace(seat_list with) noexcept {
    const std::lock_guard<std::mutex> held(lock_);
    seats_ = std::move(with);
}

seat_list seating::all() const {
    const std::lock_guard<std::mutex> held(lock_);
    return seats_;
}

}  // namespace martlet::inline v0::server::detail
