#include <martlet/server/detail/worker.hpp>

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
    explicit accept_line(worker& of) noexcept : ready_node(&accept_line::arrived), of_(of) {}
    ~accept_line() { unlink(); }

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
      pairs_(sizeof(pair_block), loop_of.pages()),
      drain_alarm_(*this, [](timer_node& timer) noexcept { static_cast<alarm&>(timer).of.force(); }) {
    plain.reach(locals);
}

worker::~worker() {
    on.disarm(drain_alarm_);
    MARTLET_ASSERT(connections_.empty(), "a server is drained before it is destroyed");
}

result<void> worker::listen(const net::listener& from) {
    auto line = std::make_unique<accept_line>(*this);
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
            adopt(got);
            continue;
        }
        if (state == net::accept_state::starved) {
            log::warn("cannot accept connections for now", log::field("error", line.accepting.failure().text()));
            if (watcher != nullptr) watcher->limit_hit(0, "descriptors");
        } else if (state == net::accept_state::failed) {
            log::error("a listening socket has failed", log::field("error", line.accepting.failure().text()));
            return;
        }
        break;
    }
    line.accepting.arm(&line);
}

bool worker::admit() noexcept {
    common.connections_accepted.fetch_add(1, std::memory_order_relaxed);
    if (common.connections.fetch_add(1, std::memory_order_relaxed) < bounds.connections_max()) return true;
    common.connections.fetch_sub(1, std::memory_order_relaxed);
    common.connections_refused.fetch_add(1, std::memory_order_relaxed);
    if (watcher != nullptr) {
        watcher->limit_hit(0, "connections_max");
        watcher->closed(0, close_reason::over_limit);
    }
    return false;
}

void worker::adopt(net::accepted& got) noexcept {
    if (!admit()) return;
    void* memory = pairs_.allocate();
    if (memory == nullptr) {
        common.connections.fetch_sub(1, std::memory_order_relaxed);
        log::warn("no memory for a connection");
        return;
    }
    auto* block = new (memory) pair_block;
    auto* stream = new (block->stream) net::socket_stream();
    if (!stream->open(on, std::move(got.socket), got.peer)) {
        stream->~socket_stream();
        pairs_.free(memory);
        common.connections.fetch_sub(1, std::memory_order_relaxed);
        return;
    }
    begin(*new (block->connection) http1_connection(*this, *stream));
}

void worker::serve(std::unique_ptr<net::byte_stream> stream) noexcept {
    if (!admit()) return;
    void* memory = pairs_.allocate();
    if (memory == nullptr) {
        common.connections.fetch_sub(1, std::memory_order_relaxed);
        return;
    }
    auto* block = new (memory) pair_block;
    begin(*new (block->connection) http1_connection(*this, *stream.release()));
}

void worker::begin(http1_connection& added) noexcept {
    connections_.push_back(added);
    ++connection_count_;
    if (watcher != nullptr) watcher->accepted(added.id());
    added.begin();
}

void worker::free(http1_connection& ended, close_reason why) noexcept {
    if (watcher != nullptr) watcher->closed(ended.id(), why);
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
    common.connections.fetch_sub(1, std::memory_order_relaxed);
    check_drained();
}

void worker::drain(time_point deadline, void (*done)(void*) noexcept, void* data) noexcept {
    if (draining_) return;
    draining_ = true;
    drained_ = done;
    drained_data_ = data;
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
