#include <martlet/rt/sim/connection.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <martlet/rt/sim/world.hpp>

namespace martlet::inline v0::sim {

using kernel::poll_error;
using kernel::poll_hangup;
using kernel::poll_in;
using kernel::poll_out;
using kernel::poll_read_hangup;

connection::connection(bool is_unix, std::size_t send_bytes_max, std::size_t receive_bytes_max) : is_unix(is_unix) {
    for (side& s : sides) {
        s.send_bytes_max = send_bytes_max;
        s.receive_bytes_max = receive_bytes_max;
    }
}

int connection::take_error(int who) { return std::exchange(sides[who].error, 0); }

// A Unix socket is charged until the other side has read.
std::size_t connection::used(int who) const { return sides[who].queued.size() + (is_unix ? sides[1 - who].received.size() : 0); }

bool connection::is_writable(int who) const {
    const side& s = sides[who];
    if (s.is_squeezed) return false;
    const std::size_t taken = used(who);
    if (is_unix) return taken * 4 <= s.send_bytes_max;
    return taken < s.send_bytes_max && s.send_bytes_max - taken >= taken / 2;
}

std::ptrdiff_t connection::send(int who, const kernel::piece* pieces, std::size_t count) {
    side& s = sides[who];
    if (s.error != 0) return -take_error(who);
    if (s.state == phase::connecting) return -EAGAIN;
    if (s.state == phase::closed || s.write_shut || (is_unix && sides[1 - who].read_shut)) return -EPIPE;
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) size += pieces[i].size;
    if (size == 0) return 0;
    const std::size_t taken = used(who);
    std::size_t room = taken < s.send_bytes_max && !s.is_squeezed ? s.send_bytes_max - taken : 0;
    if (room > 0 && here().order.happens(here().with.short_write_chance)) {
        room = here().order.below(std::min(room, size));
        squeeze(who);
    }
    if (room < size) s.no_space = true;
    if (room == 0) return -EAGAIN;
    const std::size_t accepted = std::min(room, size);
    std::size_t left = accepted;
    for (std::size_t i = 0; left > 0; ++i) {
        const std::size_t part = std::min(left, pieces[i].size);
        s.queued.append(static_cast<const char*>(pieces[i].data), part);
        left -= part;
    }
    pump(who);
    return static_cast<std::ptrdiff_t>(accepted);
}

std::ptrdiff_t connection::receive(int who, void* out, std::size_t size, bool keep) {
    side& s = sides[who];
    if (size == 0) return 0;
    if (!s.received.empty()) {
        const std::size_t got = std::min(size, s.received.size());
        std::memcpy(out, s.received.data(), got);
        if (keep) return static_cast<std::ptrdiff_t>(got);
        s.received.drop(got);
        if (!is_unix) {
            pump(1 - who);
        } else if (sides[1 - who].state == phase::established && is_writable(1 - who)) {
            notify(1 - who, poll_out);
        }
        return static_cast<std::ptrdiff_t>(got);
    }
    if (s.fin_received) return 0;
    if (s.error != 0) return -take_error(who);
    if (s.read_shut) return 0;
    if (s.state == phase::closed) return -ENOTCONN;
    return -EAGAIN;
}

std::uint32_t connection::poll(int who) {
    side& s = sides[who];
    std::uint32_t events = 0;
    if ((s.read_shut && s.write_shut) || s.state == phase::closed) events |= poll_hangup;
    if (s.read_shut) events |= poll_in | poll_read_hangup;
    if (s.state != phase::connecting) {
        if (!s.received.empty()) events |= poll_in;
        if ((s.write_shut && !is_unix) || is_writable(who)) {
            events |= poll_out;
        } else {
            s.no_space = true;
        }
    }
    if (s.error != 0) events |= poll_error;
    return events;
}

int connection::shutdown(int who, int how) {
    side& s = sides[who];
    const bool reading = how == 0 || how == 2;
    const bool writing = how == 1 || how == 2;
    if (how < 0 || how > 2) return -EINVAL;
    s.read_shut |= reading;
    s.write_shut |= writing;
    if (is_unix) {
        notify(who, 0);
        if (sides[1 - who].is_dead) return 0;
        send_along(who, [this, self = shared_from_this(), who, reading, writing] {
            sides[1 - who].write_shut |= reading;
            sides[1 - who].read_shut |= writing;
            notify(1 - who, 0);
        });
        return 0;
    }
    if (s.state == phase::closed) {
        notify(who, 0);
        return -ENOTCONN;
    }
    if (writing && !s.fin_queued) {
        s.fin_queued = true;
        pump(who);
    }
    notify(who, 0);
    return 0;
}

void connection::close(int who, bool reset_wanted) {
    side& s = sides[who];
    s.owner = nullptr;
    s.is_dead = true;
    const bool has_unread = !s.received.empty();
    if (is_unix) {
        side& o = sides[1 - who];
        s.state = phase::closed;
        if (!o.is_dead) leave_unix(who, has_unread);
        return;
    }
    if (s.state == phase::connecting) s.state = phase::closed;
    if (s.state == phase::closed) return;
    s.received.truncate(0);
    if (has_unread || reset_wanted) return reset(who);
    s.read_shut = s.write_shut = true;
    s.fin_queued = true;
    pump(who);
}

void connection::leave_unix(int who, bool is_reset) {
    send_along(who, [this, self = shared_from_this(), who, is_reset] {
        side& o = sides[1 - who];
        o.read_shut = o.write_shut = true;
        if (is_reset) o.error = ECONNRESET;
        notify(1 - who, 0);
    });
}

void connection::reset(int who) {
    if (is_unix) return leave_unix(who, true);
    side& s = sides[who];
    if (s.state == phase::closed) return;
    s.state = phase::closed;
    s.read_shut = s.write_shut = true;
    // What is on its way arrives before the reset does; the rest is lost.
    s.queued.truncate(s.in_flight);
    s.fin_queued = s.fin_in_flight;
    send_along(who, [this, self = shared_from_this(), who] { deliver_reset(1 - who); });
}

void connection::fail(int who) {
    if (is_unix) {
        side& s = sides[who];
        side& o = sides[1 - who];
        s.read_shut = s.write_shut = true;
        if (!o.is_dead) leave_unix(who, true);
    } else {
        reset(who);
    }
    sides[who].received.truncate(0);
    notify(who, 0);
}

void connection::squeeze(int who) {
    side& s = sides[who];
    if (s.is_squeezed) return;
    s.is_squeezed = true;
    s.no_space = true;
    here().after(1'000 + here().latency(), [this, self = shared_from_this(), who] {
        sides[who].is_squeezed = false;
        if (!is_writable(who)) return;
        sides[who].no_space = false;
        notify(who, poll_out);
    });
}

void connection::send_along(int who, std::move_only_function<void()> action, bool is_delayed) {
    side& s = sides[who];
    world& in = here();
    // Between Unix sockets nothing is ever on its way, but a test may have it come in pieces.
    const std::int64_t delay = is_unix ? 0 : in.latency();
    if (s.happenings == 0 && delay == 0 && !is_delayed) return action();
    s.last_arrival = std::max(s.last_arrival, in.now_ns + delay);
    ++s.happenings;
    in.after(s.last_arrival - in.now_ns, [this, self = shared_from_this(), who, action = std::move(action)]() mutable {
        --sides[who].happenings;
        action();
    });
}

void connection::pump(int who) {
    side& s = sides[who];
    side& o = sides[1 - who];
    world& in = here();
    bool is_delayed = false;
    for (;;) {
        const std::size_t at_other = o.received.size() + s.in_flight;
        const std::size_t room = is_unix || o.is_dead ? SIZE_MAX : o.receive_bytes_max - std::min(o.receive_bytes_max, at_other);
        const std::size_t part = std::min(room, s.queued.size() - s.in_flight);
        if (part == 0) break;
        const bool is_split = part > 1 && in.order.happens(in.with.split_chance);
        const std::size_t size = is_split ? 1 + in.order.below(part - 1) : part;
        s.in_flight += size;
        send_along(who, [this, self = shared_from_this(), who, size] { deliver(who, size); }, is_delayed);
        is_delayed = is_split;
    }
    if (s.fin_queued && !s.fin_in_flight && s.queued.size() == s.in_flight) {
        s.fin_in_flight = true;
        send_along(who, [this, self = shared_from_this(), who] { deliver_fin(who); }, is_delayed);
    }
}

void connection::deliver(int who, std::size_t size) {
    side& s = sides[who];
    side& o = sides[1 - who];
    s.in_flight -= size;
    if (o.state == phase::closed || o.is_dead) {
        s.queued.drop(size);
        // Nobody is there to take it. (A Unix side learned that when the other closed.)
        if (!is_unix && o.state != phase::closed) reset(1 - who);
        return;
    }
    o.received.append(s.queued.data(), size);
    s.queued.drop(size);
    notify(1 - who, poll_in);
    if (s.no_space && s.state == phase::established && is_writable(who)) {
        s.no_space = false;
        notify(who, poll_out);
    }
}

void connection::deliver_fin(int who) {
    side& s = sides[who];
    side& o = sides[1 - who];
    if (o.state == phase::closed) return;
    o.fin_received = true;
    o.read_shut = true;
    s.fin_arrived = true;
    notify(1 - who, 0);
    // The other's acknowledgement.
    if (s.state != phase::closed) notify(who, 0);
    finish_if_both_shut(0);
    finish_if_both_shut(1);
}

void connection::finish_if_both_shut(int who) {
    side& s = sides[who];
    if (!s.fin_received || !s.fin_arrived || s.state == phase::closed) return;
    s.state = phase::closed;
    s.read_shut = s.write_shut = true;
    notify(who, 0);
}

void connection::deliver_reset(int to) {
    side& s = sides[to];
    if (s.state == phase::closed) return;
    const bool is_close_wait = s.fin_received && !s.fin_queued;
    s.error = s.state == phase::connecting ? ECONNREFUSED : is_close_wait ? EPIPE : ECONNRESET;
    s.state = phase::closed;
    s.read_shut = s.write_shut = true;
    s.queued.truncate(s.in_flight);
    notify(to, poll_error);
    notify(to, 0);
}

}  // namespace martlet::inline v0::sim
