#include <martlet/server/detail/worker.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include <martlet/base/log.hpp>
#include <martlet/rt/wall_clock.hpp>

namespace martlet::inline v0::server::detail {

/// Room for a connection and, behind it, the stream of an accepted socket. A connection over somebody else's stream leaves that room empty.
struct worker::pair_block {
    alignas(http1_connection) unsigned char connection[sizeof(http1_connection)];
    alignas(net::socket_stream) unsigned char stream[sizeof(net::socket_stream)];
};

/// Accepts from one listening socket.
class worker::accept_line final : public ready_node {
public:
    accept_line(worker& of, const net::listener& from) noexcept : ready_node(&accept_line::arrived), from(from), of_(of) {}
    ~accept_line() { unlink(); }

    const net::listener& from;
    net::acceptor accepting;

private:
    static void arrived(ready_node& node) noexcept {
        auto& self = static_cast<accept_line&>(node);
        self.of_.accept_from(self);
    }

    worker& of_;
};

worker::worker(loop& loop_of, shared& all)
    : on(loop_of),
      common(all),
      bounds(all.bounds),
      watcher(all.watcher),
      records(all.bounds.fields_max()),
      plain(records.data(), static_cast<std::uint16_t>(records.size())),
      locals(loop_of, all.app.locals()),
      home(loop_of.handle()),
      held(all.held),
      pairs_(sizeof(pair_block), loop_of.pages()),
      own_(std::make_shared<seat>(*this, home)),
      drain_alarm_(*this, [](timer_node& timer) noexcept { static_cast<alarm&>(timer).of.force(); }) {
    plain.reach(locals);
}

worker::~worker() {
    on.disarm(drain_alarm_);
    relief_.unlink();
    MARTLET_ASSERT(connections_.empty(), "a server is drained before it is destroyed");
}

result<void> worker::listen(const net::listener& from) {
    auto line = std::make_unique<accept_line>(*this, from);
    auto opened = line->accepting.open(on, from);
    if (!opened) return opened;
    line->accepting.arm(line.get());
    lines_.push_back(std::move(line));
    return {};
}

void worker::accept_from(accept_line& line) noexcept {
    for (std::uint32_t left = bounds.accepts_per_turn_max(); left != 0; --left) {
        net::accepted got;
        const net::accept_state state = line.accepting.try_accept(got);
        if (state == net::accept_state::accepted) {
            seat_somewhere(got);
            continue;
        }
        if (state == net::accept_state::starved) {
            log::warn("cannot accept connections for now", log::field("error", line.accepting.failure().text()));
            if (watcher != nullptr) watcher->limit_hit(0, "descriptors");
        } else if (state == net::accept_state::failed) {
            log::error("a listening socket has failed", log::field("error", line.accepting.failure().text()));
            return;
        }
        line.accepting.arm(&line);
        return;
    }
    on.ready_next_turn(line);
}

bool worker::admit() noexcept {
    common.connections_accepted.fetch_add(1, std::memory_order_relaxed);
    if (common.connections.fetch_add(1, std::memory_order_relaxed) < bounds.connections_max()) return true;
    common.connections_refused.fetch_add(1, std::memory_order_relaxed);
    if (watcher != nullptr) watcher->limit_hit(0, "connections_max");
    return false;
}

// Whether there is an answer for one too many; if not, it ends here.
bool worker::may_refuse_aloud() noexcept {
    if (on.now() >= saturating_add(refusals_since_, std::chrono::seconds(1))) {
        refusals_since_ = on.now();
        refusals_ = 0;
    }
    if (refusals_++ < bounds.refusals_per_second_max()) return true;
    if (watcher != nullptr) watcher->closed(0, close_reason::over_limit);
    return false;
}

void worker::uncount() noexcept {
    own_->connections.fetch_sub(1, std::memory_order_relaxed);
    common.connections.fetch_sub(1, std::memory_order_relaxed);
}

void worker::seat_somewhere(net::accepted& got) noexcept {
    const bool over_limit = !admit();
    if (over_limit) {
        own_->connections.fetch_add(1, std::memory_order_relaxed);
        if (may_refuse_aloud()) {
            take(got, true);
        } else {
            uncount();
        }
        return;
    }
    const std::shared_ptr<seat>& to = seating::least(seats_, own_);
    if (to != own_) {
        if (std::unique_ptr<moved_connection> moved = moved_connection::make(got)) {
            to->connections.fetch_add(1, std::memory_order_relaxed);
            common.seats.send(std::move(moved), to);
            return;
        }
    }
    own_->connections.fetch_add(1, std::memory_order_relaxed);
    adopt(got);
}

void worker::adopt(net::accepted& got) noexcept { take(got, false); }

void worker::take(net::accepted& got, bool over_limit) noexcept {
    void* memory = pairs_.allocate();
    if (memory == nullptr) {
        uncount();
        log::warn("no memory for a connection");
        return;
    }
    auto* block = new (memory) pair_block;
    auto* stream = new (block->stream) net::socket_stream();
    if (!stream->open(on, std::move(got.socket), got.peer)) {
        stream->~socket_stream();
        pairs_.free(memory);
        uncount();
        return;
    }
    begin(*new (block->connection) http1_connection(*this, *stream), over_limit);
}

void worker::serve(std::unique_ptr<net::byte_stream> stream) noexcept {
    const bool over_limit = !admit();
    own_->connections.fetch_add(1, std::memory_order_relaxed);
    void* memory = over_limit && !may_refuse_aloud() ? nullptr : pairs_.allocate();
    if (memory == nullptr) {
        uncount();
        return;
    }
    auto* block = new (memory) pair_block;
    begin(*new (block->connection) http1_connection(*this, *stream.release()), over_limit);
}

void worker::begin(http1_connection& added, bool over_limit) noexcept {
    connections_.push_back(added);
    ++connection_count_;
    if (watcher != nullptr) watcher->accepted(added.id());
    if (over_limit) {
        added.begin_refusing();
    } else {
        added.begin();
    }
}

void worker::free(http1_connection& ended, close_reason why) noexcept {
    if (watcher != nullptr) watcher->closed(ended.id(), why);
    dispose(ended);
    uncount();
    check_drained();
}

void worker::dispose(http1_connection& ended) noexcept {
    auto* block = reinterpret_cast<pair_block*>(&ended);
    net::byte_stream& stream = ended.stream();
    ended.list_hook<connection_tag>::unlink();
    ended.~http1_connection();
    if (static_cast<void*>(&stream) == static_cast<void*>(block->stream)) {
        static_cast<net::socket_stream&>(stream).~socket_stream();
    } else {
        delete &stream;
    }
    pairs_.free(block);
    --connection_count_;
}

void worker::look() noexcept {
    for (const std::unique_ptr<accept_line>& line : lines_) {
        line->unlink();
        line->accepting.close();
        // Registered anew, it tries at once.
        if (const auto opened = line->accepting.open(on, line->from); !opened) {
            log::error("a listening socket has failed", log::field("error", opened.error().text()));
            continue;
        }
        line->accepting.arm(line.get());
    }
}

// The socket goes as it is; nothing was read from it.
void worker::move_away(http1_connection& fresh) noexcept {
    auto* block = reinterpret_cast<pair_block*>(&fresh);
    if (static_cast<void*>(&fresh.stream()) != static_cast<void*>(block->stream)) return;
    net::accepted nothing;
    std::unique_ptr<moved_connection> moved = moved_connection::make(nothing);
    if (moved == nullptr) return;
    fresh.forget_stream();
    moved->got.socket = static_cast<net::socket_stream&>(fresh.stream()).release(moved->got.peer);
    if (watcher != nullptr) watcher->closed(fresh.id(), close_reason::moved);
    dispose(fresh);
    own_->connections.fetch_sub(1, std::memory_order_relaxed);
    common.seats.forward(std::move(moved));
}

void worker::retire(time_point deadline, void (*done)(void*) noexcept, void* data) noexcept {
    if (draining_) return;
    own_->open.store(false, std::memory_order_relaxed);
    for (http1_connection* at = connections_.empty() ? nullptr : &connections_.front(); at != nullptr;) {
        http1_connection* next = connections_.after(*at);
        if (at->is_fresh()) move_away(*at);
        at = next;
    }
    drain(deadline, done, data);
    // A connection may have been reported to this loop alone.
    for (const std::shared_ptr<seat>& each : common.seats.all()) {
        if (!each->open.load(std::memory_order_relaxed)) continue;
        try {
            if (each->home.post([to = each] { to->of.look(); })) break;
        } catch (const std::bad_alloc&) {
            log::warn("no memory: a connection may wait until the next one arrives");
            break;
        }
    }
}

void worker::drain(time_point deadline, void (*done)(void*) noexcept, void* data) noexcept {
    if (draining_) return;
    draining_ = true;
    drained_ = done;
    drained_data_ = data;
    own_->open.store(false, std::memory_order_relaxed);
    lines_.clear();
    on.arm(drain_alarm_, deadline);
    for (http1_connection* at = connections_.empty() ? nullptr : &connections_.front(); at != nullptr;) {
        http1_connection* next = connections_.after(*at);
        at->drain();
        at = next;
    }
    check_drained();
}

void worker::force() noexcept {
    locals.cancel(cancel_reason::shutting_down);
    for (http1_connection* at = connections_.empty() ? nullptr : &connections_.front(); at != nullptr;) {
        http1_connection* next = connections_.after(*at);
        at->force(cancel_reason::shutting_down, close_reason::shutting_down);
        at = next;
    }
}

// A few at a time, so that others on the loop have their turn. One look at the connections finds them all: a peer must not buy a walk
// over 50,000 with each one that it makes the server give up.
void worker::relieve() noexcept {
    constexpr std::size_t refused_per_run_max = 16;
    if (held.now() == pressure::none) return;
    // Who is given up first: by what it holds, then by which must make progress sooner.
    struct candidate {
        http1_connection* who;
        burden what;
        time_point due;
    };
    const auto slower = [](const candidate& one, const candidate& other) noexcept {
        return one.what != other.what ? one.what < other.what : one.due < other.due;
    };
    // A heap with the least slow in front.
    std::array<candidate, refused_per_run_max> slowest;
    auto end = slowest.begin();
    for (http1_connection* at = connections_.empty() ? nullptr : &connections_.front(); at != nullptr; at = connections_.after(*at)) {
        const burden what = at->burden();
        if (what == burden::none) continue;
        const candidate found{at, what, at->next_deadline()};
        if (end == slowest.end()) {
            if (!slower(found, slowest.front())) continue;
            std::pop_heap(slowest.begin(), end--, slower);
        }
        *end++ = found;
        std::push_heap(slowest.begin(), end, slower);
    }
    if (end == slowest.begin()) return;
    std::sort_heap(slowest.begin(), end, slower);
    // Giving one up ends no other.
    for (auto at = slowest.begin(); at != end && held.now() != pressure::none; ++at) at->who->give_way();
    relieve_later();
}

void worker::check_drained() noexcept {
    if (!draining_ || !connections_.empty() || drained_ == nullptr) return;
    // No handler is left that could use them.
    if (locals.close([](void* self) noexcept { static_cast<worker*>(self)->drained(); }, this)) drained();
}

void worker::drained() noexcept {
    on.disarm(drain_alarm_);
    on.trim();
    std::exchange(drained_, nullptr)(drained_data_);
}

// Once a second. Between two readings of the calendar the monotonic clock is followed, so a step of the calendar shows within a second.
void worker::refresh_prefix() noexcept {
    const std::int64_t now_ns = wall_clock_ns();
    constexpr std::int64_t second_ns = 1'000'000'000;
    prefix_.refresh(now_ns / second_ns);
    next_second_ = on.now() + duration(second_ns - now_ns % second_ns);
}

}  // namespace martlet::inline v0::server::detail
