// Input, output, time and the end of a connection; what is made of its requests is in http1_connection_requests.cpp.
#include <martlet/server/detail/http1_connection.hpp>

#include <cstring>
#include <new>

#include <martlet/rt/loop.hpp>
#include <martlet/server/detail/http1_body.hpp>
#include <martlet/server/detail/http1_open_exchange.hpp>
#include <martlet/server/detail/worker.hpp>

namespace martlet::inline v0::server::detail {

namespace {

// Input that waits behind a handler: at most what one read brought, and an unfinished head.
constexpr std::size_t pending_bytes_max = 128 * 1024;
constexpr std::size_t pending_room_bytes = 4 * 1024;
// Who had so much to write at once waits behind others the next time, and with more than the second at once.
constexpr std::size_t bulk_bytes = 32 * 1024;
constexpr std::size_t written_at_once_max = 80 * 1024;

}  // namespace

http1_connection::http1_connection(worker& of, net::byte_stream& stream) noexcept
    : input_node(&http1_connection::input_ready),
      output_node(&http1_connection::output_ready),
      timer_node(&http1_connection::expired),
      worker_(of),
      stream_(stream),
      out_(of.on.blocks()) {}

http1_connection::~http1_connection() {
    drop_collecting();
    drop_pending();
    worker_.held.remove(std::size_t{held_kib_} * 1024);
}

void http1_connection::move_to(state next) noexcept {
    constexpr auto bit = [](state s) { return 1u << static_cast<unsigned>(s); };
    // By the present state, in the order of the enumeration; the table at the top of the header.
    constexpr unsigned allowed[] = {
        bit(state::collecting) | bit(state::skipping) | bit(state::running) | bit(state::blocked) | bit(state::finishing),
        bit(state::reading) | bit(state::finishing),
        bit(state::reading) | bit(state::blocked) | bit(state::finishing) | bit(state::gone),
        bit(state::reading) | bit(state::finishing),
        bit(state::reading) | bit(state::running) | bit(state::finishing),
        bit(state::lingering),
        0,
        0,
    };
    MARTLET_ASSERT((allowed[static_cast<unsigned>(state_)] & bit(next)) != 0, "a connection makes only the moves of its table");
    state_ = next;
}

void http1_connection::begin() noexcept {
    set_deadline(saturating_add(worker_.on.now(), worker_.bounds.first_byte_timeout()));
    arm_input(direction::reading);
}

void http1_connection::forget_stream() noexcept {
    disarm_input();
    worker_.on.disarm(*this);
}

// --- input ---

// An event may have queued the node already; the stream remembers the event and queues it again.
void http1_connection::arm_input(direction which) noexcept {
    input_node::unlink();
    stream_.arm(which, static_cast<input_node*>(this));
}

void http1_connection::disarm_input() noexcept {
    stream_.arm(direction::reading, nullptr);
    input_node::unlink();
}

void http1_connection::input_ready(ready_node& node) noexcept {
    auto& self = static_cast<http1_connection&>(static_cast<input_node&>(node));
    const bool may_be_long = self.state_ != state::reading || self.fresh_ || self.is_bulk_ || self.pending_ != nullptr;
    if (may_be_long && !self.worker_.on.is_in_background()) {
        // Contents, heads that do not come at once, newcomers of whom there may be any number, and who had much to read before: what asks
        // for little does not wait for them.
        self.worker_.on.background(node);
        return;
    }
    switch (self.state_) {
    case state::reading: self.read(); break;
    case state::collecting: self.collect_more(); break;
    case state::running: self.peer_event(); break;
    case state::skipping: self.skip_more(); break;
    case state::lingering: self.drop_input(); break;
    case state::blocked:
    case state::finishing:
    case state::gone: break;
    }
}

void http1_connection::read() noexcept {
    if (unserved_) {
        unserved_ = false;
        serve(pending_->bytes);
        return;
    }
    // A head that is under way goes on where it is; everything else starts in the loop's buffer.
    buffer& in = pending_ != nullptr ? pending_->bytes : worker_.on.read_buffer();
    if (in.prepare(pending_ != nullptr ? pending_room_bytes : 1).empty()) {
        destroy(close_reason::failed);
        return;
    }
    switch (stream_.try_read(in)) {
    case net::io::moved: serve(in); break;
    case net::io::blocked: wait_for_input(); break;
    case net::io::ended: peer_finished(); break;
    case net::io::failed: destroy(close_reason::peer_vanished); break;
    }
}
// False: the connection has been destroyed.
bool http1_connection::served_batch(buffer& in) noexcept {
    serving_ = false;
    // A block was taken ahead, and nothing came of it yet.
    if (out_.empty()) [[unlikely]]
        out_.clear();
    const bool nothing_left = in.empty() && pending_ == nullptr && !unserved_ && state_ == state::reading;
    if (!nothing_left && !abort_on_return_ && !keep_rest(in)) [[unlikely]]
        abort_with(close_reason::failed);
    if (abort_on_return_) [[unlikely]] {
        // Nothing of it may be taken for another connection's.
        in.clear();
        lose(reason_, error::system(12));
        return false;
    }
    queue_output();
    if (state_ == state::reading) [[likely]] {
        wait_for_input();
    } else {
        wait_for_content();
    }
    return true;
}

// Leaves what was not used where it outlives the turn: nothing of it may stay in the loop's buffer.
bool http1_connection::keep_rest(buffer& in) noexcept {
    const bool wanted = state_ != state::finishing && state_ != state::lingering && state_ != state::gone;
    const bool apart = pending_ != nullptr && &in != &pending_->bytes;  // a content took the input along
    const bool empty = apart ? pending_->bytes.empty() : in.empty();
    if (!wanted || (empty && body() == nullptr)) {
        in.clear();
        drop_pending();
        unserved_ = false;
        return true;
    }
    if (state_ != state::reading || apart) unserved_ = true;
    if (pending_ != nullptr) return true;
    const bool kept = keep(in.view());
    in.clear();
    return kept;
}

bool http1_connection::keep(std::string_view bytes) noexcept {
    void* memory = worker_.on.allocate(sizeof(pending_input));
    if (memory == nullptr) return false;
    pending_ = new (memory) pending_input(pending_bytes_max);
    return pending_->bytes.append(bytes);
}

void http1_connection::drop_pending() noexcept {
    if (pending_ == nullptr) return;
    drop_body();
    pending_->~pending_input();
    worker_.on.free(std::exchange(pending_, nullptr), sizeof(pending_input));
}

void http1_connection::wait_for_input() noexcept {
    account_if_held();
    const time_point now = worker_.on.now();
    if (unserved_) {
        // Others have their turn before the rest of this batch.
        disarm_input();
        worker_.on.ready(*static_cast<input_node*>(this));
        return;
    }
    if (pending_ != nullptr) {
        if (!std::exchange(pending_->timed, true)) set_deadline(saturating_add(now, worker_.bounds.head_timeout()));
    } else if (!fresh_) {
        set_deadline(saturating_add(now, worker_.bounds.idle_timeout()));
    }
    arm_input(direction::reading);
    if (worker_.is_draining()) [[unlikely]]
        drain();
}

void http1_connection::peer_finished() noexcept {
    peer_finished_ = true;
    // What is pending is a head that will never be whole. The answers to those before it still go out.
    reason_ = pending_ != nullptr ? close_reason::peer_vanished : close_reason::peer_closed;
    drop_pending();
    if (out_.empty()) {
        destroy(reason_);
    } else {
        move_to(state::finishing);
        queue_output();
    }
}

// While a handler runs: the peer has sent its FIN, or is gone. What the handler still sends after a FIN is written.
void http1_connection::peer_event() noexcept {
    if (stream_.peer_failed()) {
        lose(close_reason::peer_vanished, cancel_reason::peer_gone);
        return;
    }
    if (open_ == nullptr) return;
    if (open_->is_awaited()) {
        pull_more();
    } else if (stream_.peer_closed() && !open_->keeps_running_after_fin) {
        open_->cancel(cancel_reason::peer_gone);
    }
}
// --- output ---

void http1_connection::queue_output() noexcept {
    // What waits already is written when the stream has room. A last answer that is empty still has its connection to close.
    if (output_waits_ || (out_.empty() && state_ != state::finishing)) return;
    if (output_node::is_linked()) return;
    if (is_bulk_) [[unlikely]] {
        worker_.on.background(*static_cast<output_node*>(this));
    } else {
        worker_.on.flush_later(*static_cast<output_node*>(this));
    }
}

void http1_connection::output_ready(ready_node& node) noexcept { static_cast<http1_connection&>(static_cast<output_node&>(node)).write(); }

void http1_connection::write() noexcept {
    if (state_ == state::gone || state_ == state::lingering) return;
    output_node::unlink();
    const std::size_t before = out_.size();
    if (!output_waits_) is_bulk_ = before >= bulk_bytes;
    const bool has_turn = (!output_waits_ && before <= written_at_once_max) || worker_.on.is_in_background();
    switch (has_turn ? stream_.try_write(out_) : net::io::blocked) {
    case net::io::moved:
        if (open_ != nullptr) [[unlikely]]
            open_->output_taken();
        written();
        return;
    case net::io::blocked: break;
    case net::io::ended:
    case net::io::failed:
        if (serving_) {
            abort_with(close_reason::peer_vanished);
        } else {
            lose(close_reason::peer_vanished, cancel_reason::peer_gone);
        }
        return;
    }
    if (state_ == state::reading) {
        // Nothing is read while the peer does not take what it asked for.
        move_to(state::blocked);
        disarm_input();
    }
    if (open_ != nullptr && out_.size() != before) open_->output_taken();
    account();
    if (!output_waits_ || out_.size() != before) {
        output_waits_ = true;
        set_deadline(saturating_add(worker_.on.now(), worker_.bounds.write_timeout()));
    }
    has_turn ? stream_.arm(direction::writing, static_cast<output_node*>(this)) : worker_.on.background(*static_cast<output_node*>(this));
}

// A kernel that reports room late hides that a slow peer takes what it is sent. True: something moved, or the connection has ended.
bool http1_connection::output_still_moves() noexcept {
    const std::size_t before = out_.size();
    stream_.recheck_write();
    const net::io outcome = stream_.try_write(out_);
    if (outcome != net::io::blocked) {
        // The usual way finds the same again, and acts on it. The stream, which was not asked, still has the waiter.
        stream_.arm(direction::writing, nullptr);
        if (!output_node::is_linked()) worker_.on.flush_later(*static_cast<output_node*>(this));
        return true;
    }
    if (out_.size() == before) return false;
    if (open_ != nullptr) open_->output_taken();
    set_deadline(saturating_add(worker_.on.now(), worker_.bounds.write_timeout()));
    return true;
}

void http1_connection::written() noexcept {
    output_waits_ = false;
    account_if_held();
    if (state_ == state::finishing) {
        linger();
    } else if (state_ == state::blocked) {
        move_to(state::reading);
        unserved_ = pending_ != nullptr;
        if (!serving_) wait_for_input();
    } else if (state_ == state::reading && !serving_ && pending_ == nullptr && worker_.is_draining()) {
        // The answer did not say so, but nothing comes after it.
        reason_ = close_reason::shutting_down;
        move_to(state::finishing);
        linger();
    }
}

// A peer may be sending on, whatever it asked for, and what comes behind a close makes the kernel reset the connection: the peer would lose what
// it has not got of the last answer. So the server says its end and waits for the peer's (RFC 9112 section 9.6).
void http1_connection::linger() noexcept {
    if (break_off_) {
        // The peer got all that there was; that it is not all can only be told so.
        stream_.abort();
        destroy(reason_);
        return;
    }
    if (peer_finished_ || stream_.peer_failed()) {
        destroy(reason_);
        return;
    }
    move_to(state::lingering);
    stream_.shutdown_write();
    deadline_ = never;
    set_deadline(saturating_add(worker_.on.now(), worker_.bounds.linger_timeout()));
    arm_input(direction::reading);
}

void http1_connection::drop_input() noexcept {
    buffer& in = worker_.on.read_buffer();
    const net::io got = stream_.try_read(in);
    lingered_bytes_ += static_cast<std::uint32_t>(in.size());
    in.clear();
    if (got == net::io::ended || got == net::io::failed || lingered_bytes_ > worker_.bounds.linger_bytes_max()) {
        destroy(reason_);
        return;
    }
    arm_input(direction::reading);
}

// --- time and ending ---

// Moving a deadline back costs nothing: the timer stays where it is, and looks again when it rings.
void http1_connection::set_deadline(time_point when) noexcept {
    deadline_ = when;
    arm_timer(when);
}

void http1_connection::arm_timer(time_point when) noexcept {
    if (when != never && (!timer_node::is_armed() || timer_node::deadline() > when)) worker_.on.arm(*this, when);
}

// Output that waits and content that is awaited can be due at the same time.
time_point http1_connection::next_deadline() const noexcept {
    const time_point output = output_waits_ ? deadline_ : never;
    time_point content = never;
    switch (state_) {
    case state::collecting: content = body()->deadline(); break;
    case state::skipping: content = body()->drop_until; break;
    case state::running:
        if (body() != nullptr) content = body()->deadline();
        break;
    default: return deadline_;
    }
    return output < content ? output : content;
}

void http1_connection::expired(timer_node& node) noexcept {
    auto& self = static_cast<http1_connection&>(node);
    const time_point due = self.next_deadline();
    if (self.worker_.on.now() < due) {
        self.arm_timer(due);
    } else {
        self.timed_out();
    }
}

void http1_connection::timed_out() noexcept {
    const auto hit = [this](std::string_view name) {
        if (worker_.watcher != nullptr) worker_.watcher->limit_hit(id(), name);
    };
    switch (state_) {
    case state::reading:
        if (input_node::is_linked()) {
            // Something came in time and only waits for its turn.
            worker_.on.arm(*this, saturating_add(worker_.on.now(), std::chrono::milliseconds(1)));
            return;
        }
        if (pending_ == nullptr) {
            hit(fresh_ ? "first_byte_timeout" : "idle_timeout");
            destroy(close_reason::timed_out);
            return;
        }
        hit("head_timeout");
        encode_refusal(408, "the request's head did not arrive in time", pending_->bytes.view());
        reason_ = close_reason::timed_out;
        disarm_input();
        move_to(state::finishing);
        queue_output();
        return;
    case state::blocked:
    case state::finishing:
        if (output_still_moves()) return;
        hit("write_timeout");
        stream_.abort();
        destroy(close_reason::timed_out);
        return;
    case state::lingering: destroy(reason_); return;
    case state::collecting:
    case state::skipping:
    case state::running:
        if (in_call_) return;
        if (output_waits_ && worker_.on.now() >= deadline_) {
            if (output_still_moves()) return;
            hit("write_timeout");
            stream_.abort();
            lose(close_reason::timed_out, cancel_reason::peer_gone);
        } else if (!content_timed_out()) {
            arm_timer(next_deadline());
        }
        return;
    case state::gone: return;
    }
}

void http1_connection::drain() noexcept {
    if (endless_ && open_ != nullptr) open_->cancel(cancel_reason::shutting_down);
    // One that is queued has something to read: a request that came in time, perhaps.
    if (state_ == state::reading && pending_ == nullptr && out_.empty() && !input_node::is_linked()) destroy(close_reason::shutting_down);
}

void http1_connection::force(error why, close_reason reason) noexcept {
    if (in_call_) {
        abort_with(reason);
        return;
    }
    if (state_ == state::gone) {
        open_->cancel(why);
        return;
    }
    stream_.abort();
    lose(reason, why);
}

// The stream is of no more use. A handler that still runs is cancelled, and the connection waits for it.
void http1_connection::lose(close_reason reason, error why) noexcept {
    // With a FIN what the peer has got would look whole.
    if (until_close_) stream_.abort();
    if (open_ == nullptr || state_ == state::collecting) {
        destroy(reason);
        return;
    }
    reason_ = reason;
    out_.clear();
    input_node::unlink();
    output_node::unlink();
    worker_.on.disarm(*this);
    stream_.close();
    account_if_held();
    move_to(state::gone);
    open_->take_no_answer();
    open_->output_gone(why);
    open_->cancel(why);
    open_->input_moved();
}

// For what is on the stack: it ends the connection once that is safe.
void http1_connection::abort_with(close_reason reason) noexcept {
    abort_on_return_ = true;
    reason_ = reason;
}

void http1_connection::destroy(close_reason reason) noexcept {
    drop_collecting();
    input_node::unlink();
    output_node::unlink();
    worker_.on.disarm(*this);
    worker_.free(*this, reason);
}

}  // namespace martlet::inline v0::server::detail
