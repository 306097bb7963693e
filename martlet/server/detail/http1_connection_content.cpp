// A request's content on a connection: collected for a plain handler, pulled by a coroutine, or dropped because nobody reads it.
#include <martlet/server/detail/http1_connection.hpp>

#include <new>
#include <utility>

#include <martlet/base/scan.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/server/detail/http1_body.hpp>
#include <martlet/server/detail/http1_open_exchange.hpp>
#include <martlet/server/detail/worker.hpp>

namespace martlet::inline v0::server::detail {

namespace {

// What a pull reads at once into the connection's own memory.
constexpr std::size_t pulled_bytes = 32 * 1024;

}  // namespace

// --- at the head ---

void http1_connection::dispatch_with_content(http1_exchange& x, buffer& in, const routing& where) noexcept {
    const handler* const h = where.run();
    const http1::body_framing framing = x.head.framing();
    const route_options how = h != nullptr ? where.to()->options(x.method()) : route_options().ignores_body();
    const bool ignored = how.ignores_body();
    const std::uint64_t bytes_max = ignored ? http1::content_unlimited : how.body_bytes_max().value_or(worker_.bounds.body_bytes_max());
    if (framing.bytes() > bytes_max) {
        if (worker_.watcher != nullptr) worker_.watcher->limit_hit(id(), "body_bytes_max");
        x.close_after();
        answer_without_handler(x, 413, {});
        return;
    }
    if (framing.is_length() && framing.bytes() <= in.size() && (h == nullptr || h->is_plain())) {
        // All of it came with the head, and stays where it is: taking it off moves nothing.
        if (!ignored) x.give_content(in.view().substr(0, static_cast<std::size_t>(framing.bytes())));
        in.consume(static_cast<std::size_t>(framing.bytes()));
        if (h == nullptr) {
            answer_unhandled(x, where);
        } else {
            run_plain(*h, x, in);
        }
        return;
    }
    // Before the memory of a content is taken.
    if (refused_for(pressure::tight, x)) return;
    const bool collects = h != nullptr && h->is_plain() && !ignored;
    http1_open_exchange* made = nullptr;
    if (collects) {
        made = http1_open_exchange::make(x, *this, out_, worker_.prefix(), http1_open_exchange::form::collected, false);
    }
    if ((collects && made == nullptr) || !begin_body(x, in, bytes_max)) {
        if (made != nullptr) made->destroy();
        x.close_after();
        answer_without_handler(x, 503, {});
        return;
    }
    if (collects) {
        // On a loop that a call may leave behind, all of it runs in that call.
        if (!worker_.on.allows_hand_over() && stopped_before(*made)) return;
        made->then = h;
        open_ = made;
        move_to(state::collecting);
        collect(pending_->bytes);
        return;
    }
    if (h != nullptr && !h->is_plain()) {
        run_coroutine(where, x);
        return;
    }
    if (must_close_behind_content()) x.close_after();
    if (h == nullptr) {
        answer_unhandled(x, where);
    } else {
        run_plain(*h, x, pending_->bytes);
    }
}

// The input goes to memory of the connection's own, and the content stands in front of it.
bool http1_connection::begin_body(http1_exchange& x, buffer& in, std::uint64_t bytes_max) noexcept {
    void* memory = worker_.on.allocate(sizeof(http1_body));
    if (memory == nullptr) return false;
    if (pending_ == nullptr) {
        const bool kept = keep(in.view());
        in.clear();
        if (!kept) {
            worker_.on.free(memory, sizeof(http1_body));
            return false;
        }
    }
    pending_->body = new (memory) http1_body(x.head.framing(), worker_.common.content_bounds, bytes_max, worker_.bounds);
    // RFC 9110 section 10.1.1: a peer that has begun to send does not wait.
    pending_->body->continue_due = x.head.expects_continue() && pending_->bytes.empty();
    return true;
}

void http1_connection::drop_body() noexcept {
    if (body() == nullptr) return;
    body()->~http1_body();
    worker_.on.free(std::exchange(pending_->body, nullptr), sizeof(http1_body));
}

bool http1_connection::must_close_behind_content() const noexcept {
    const http1_body* of = body();
    if (of == nullptr || of->is_complete()) return false;
    const bool too_long = of->bytes_due() > pending_->bytes.size() + worker_.bounds.unread_bytes_max();
    // Told a final answer, a peer that waits for 100 may send its content or not: nobody can know.
    return of->is_failed() || of->continue_due || too_long;
}

bool http1_connection::content_is_over() const noexcept { return body() == nullptr || body()->is_complete(); }

// --- waiting for more ---

void http1_connection::wait_for_content() noexcept {
    account_if_held();
    const bool pulled = state_ == state::running && open_ != nullptr && open_->is_awaited();
    if (state_ == state::running && !pulled) {
        if (!in_call_ && !given_away_) arm_input(direction::closing);
        return;
    }
    if (state_ != state::collecting && state_ != state::skipping && !pulled) return;
    if (state_ != state::skipping) body()->wait_begins(worker_.on.now());
    arm_timer(next_deadline());
    arm_input(direction::reading);
}

void http1_connection::content_awaited(bool on) noexcept {
    if (body() == nullptr || state_ != state::running) return;
    if (!on) body()->wait_ends(worker_.on.now());
    if (!serving_) wait_for_content();
}

// True: time was up, and that has been dealt with.
bool http1_connection::content_timed_out() noexcept {
    const time_point now = worker_.on.now();
    http1_body* of = body();
    if (of == nullptr) return false;
    if (state_ == state::skipping) {
        if (now < of->drop_until) return false;
        if (worker_.watcher != nullptr) worker_.watcher->limit_hit(id(), "unread_timeout");
        move_to(state::finishing);
        if (output_waits_) arm_timer(deadline_);
        queue_output();
        return true;
    }
    if (now < of->deadline()) return false;
    if (input_node::is_linked()) {
        // Something came in time and only waits for its turn.
        worker_.on.arm(*this, saturating_add(now, std::chrono::milliseconds(1)));
        return true;
    }
    if (worker_.watcher != nullptr) worker_.watcher->limit_hit(id(), "body_timeout");
    const error late = make_error(exchange_errc::content_too_slow);
    if (state_ == state::collecting) {
        give_up_collecting(late, close_reason::timed_out);
    } else {
        of->fail(late);
        open_->input_moved();
    }
    return true;
}

// --- collected for a plain handler ---

void http1_connection::collect(buffer& in) noexcept {
    http1_body& of = *body();
    const std::string_view piece = of.take(in);
    if (!piece.empty() && !of.content.append(piece)) {
        give_up_collecting(make_error(exchange_errc::no_memory), close_reason::failed);
        return;
    }
    if (of.is_failed()) {
        give_up_collecting(of.why(), close_reason::refused);
    } else if (of.is_complete()) {
        run_collected();
    } else if (std::exchange(of.continue_due, false)) {
        // Without memory the peer goes on after a while by itself.
        static_cast<void>(out_.append_copy(http1::continue_response));
        output_added();
    }
}

void http1_connection::collect_more() noexcept {
    buffer& in = worker_.on.read_buffer();
    http1_body& of = *body();
    switch (stream_.try_read(in)) {
    case net::io::moved: {
        of.wait_ends(worker_.on.now());
        const std::string_view piece = of.take(in);
        const bool kept = (piece.empty() || of.content.append(piece)) && (in.empty() || pending_->bytes.append(in.view()));
        in.clear();
        if (!kept) {
            give_up_collecting(make_error(exchange_errc::no_memory), close_reason::failed);
        } else if (of.is_over()) {
            collect(pending_->bytes);
        } else {
            wait_for_content();
        }
        return;
    }
    case net::io::blocked: wait_for_content(); return;
    case net::io::ended:
        peer_finished_ = true;
        of.break_off();
        give_up_collecting(of.why(), close_reason::peer_vanished);
        return;
    case net::io::failed: destroy(close_reason::peer_vanished); return;
    }
}

void http1_connection::run_collected() noexcept {
    http1_open_exchange& x = *open_;
    move_to(state::reading);
    x.give_content(body()->content.view());
    if (worker_.on.allows_hand_over()) {
        // The call may be left behind, and reads from both: they stay until it returns.
        run_elsewhere(*x.then, x, pending_->bytes);
        if (loop::current() == nullptr) return;
        open_ = nullptr;
    } else {
        open_ = nullptr;
        run_after_collecting(x);
    }
    x.destroy();
    if (!serving_) go_on();
}

// The exchange is answered as if its handler had failed.
void http1_connection::give_up_collecting(error why, close_reason reason) noexcept {
    http1_open_exchange& x = *std::exchange(open_, nullptr);
    if (worker_.watcher != nullptr) worker_.watcher->refused(id(), why);
    reason_ = reason;
    move_to(state::reading);
    x.close_after();
    answer_without_handler(x, why.http_status(), {});
    x.destroy();
    if (!serving_) go_on();
}

void http1_connection::drop_collecting() noexcept {
    if (open_ == nullptr || state_ != state::collecting) return;
    http1_open_exchange& x = *std::exchange(open_, nullptr);
    ended(x);
    x.destroy();
}

// --- pulled by a coroutine ---

pull http1_connection::pull_content(std::string_view& into) noexcept {
    http1_body* of = body();
    if (of == nullptr) return pull::ended;
    into = of->take(pending_->bytes);
    if (!into.empty()) return pull::piece;
    if (of->is_complete()) return pull::ended;
    if (of->is_failed()) return pull::failed;
    if (std::exchange(of->continue_due, false) && !open_->is_answered()) {
        static_cast<void>(out_.append_copy(http1::continue_response));
        output_added();
    }
    return pull::waits;
}

void http1_connection::pull_more() noexcept {
    http1_body& of = *body();
    buffer& in = pending_->bytes;
    if (in.prepare(pulled_bytes).empty()) {
        of.fail(make_error(exchange_errc::no_memory));
        open_->input_moved();
        return;
    }
    switch (stream_.try_read(in)) {
    case net::io::moved:
        of.wait_ends(worker_.on.now());
        open_->input_moved();
        // It may have brought no more than what frames the content.
        if (open_->is_awaited()) wait_for_content();
        return;
    case net::io::blocked: wait_for_content(); return;
    case net::io::ended:
        peer_finished_ = true;
        of.break_off();
        open_->input_moved();
        if (!open_->keeps_running_after_fin) open_->cancel(cancel_reason::peer_gone);
        return;
    case net::io::failed: lose(close_reason::peer_vanished, cancel_reason::peer_gone); return;
    }
}

error http1_connection::content_failure() const noexcept {
    return body() != nullptr && body()->is_failed() ? body()->why() : error(cancel_reason::peer_gone);
}

std::uint64_t http1_connection::content_bytes_max() const noexcept {
    return body() != nullptr ? body()->bytes_max() : worker_.bounds.body_bytes_max();
}

std::optional<std::string_view> http1_connection::trailer(std::string_view name) const noexcept {
    if (body() == nullptr || !body()->is_complete()) return std::nullopt;
    const http::field_id id = http::field_id_of(name);
    for (const http1::field_view each : body()->trailers()) {
        if (id != http::field_id::other ? each.id == id : scan::equal_ignoring_case(each.name, name)) return each.value;
    }
    return std::nullopt;
}

// --- dropped ---

// After the answer, in `reading`: what is left of the content stands before the next request.
void http1_connection::skip_content() noexcept {
    http1_body& of = *body();
    of.wait_ends(worker_.on.now());
    if (!of.is_over()) {
        of.drop_until = saturating_add(worker_.on.now(), worker_.bounds.unread_timeout());
        move_to(state::skipping);
    }
    skip(pending_->bytes);
}

// Drops what is in `in`; at the end of the content the connection reads on.
void http1_connection::skip(buffer& in) noexcept {
    http1_body& of = *body();
    of.dropped_bytes += of.take(in).size();
    const bool too_much = of.dropped_bytes > worker_.bounds.unread_bytes_max();
    if (!of.is_failed() && !too_much && !of.is_complete()) return;
    if (of.is_failed() || too_much) {
        // Its end cannot be found, or is too far.
        move_to(state::finishing);
        return;
    }
    if (state_ == state::skipping) move_to(state::reading);
    drop_body();
    if (serving_) return;
    if (&in != &pending_->bytes && !in.empty() && !pending_->bytes.append(in.view())) abort_with(close_reason::failed);
    unserved_ = !pending_->bytes.empty();
    if (!unserved_) drop_pending();
}

void http1_connection::skip_more() noexcept {
    buffer& in = worker_.on.read_buffer();
    switch (stream_.try_read(in)) {
    case net::io::moved:
        skip(in);
        in.clear();
        go_on();
        return;
    case net::io::blocked: wait_for_content(); return;
    case net::io::ended:
        peer_finished_ = true;
        reason_ = close_reason::peer_vanished;
        move_to(state::finishing);
        go_on();
        return;
    case net::io::failed: destroy(close_reason::peer_vanished); return;
    }
}

// --- what streams need of the connection ---

void http1_connection::output_added() noexcept {
    if (!serving_) queue_output();
}

void http1_connection::content_broken_off(bool by_reset) noexcept {
    reason_ = close_reason::failed;
    if (by_reset) break_off_ = true;
}

void http1_connection::stream_is_endless() noexcept {
    endless_ = true;
    if (worker_.is_draining()) open_->cancel(cancel_reason::shutting_down);
}

void http1_connection::give_away_stream() noexcept {
    given_away_ = true;
    disarm_input();
    stream_is_endless();
}

std::string_view http1_connection::bytes_behind() const noexcept {
    return pending_ != nullptr ? pending_->bytes.view() : std::string_view();
}

std::size_t http1_connection::stream_queued_bytes_max() const noexcept { return worker_.bounds.stream_queued_bytes_max(); }

blocking_pool& http1_connection::pool() noexcept { return worker_.common.pool; }

duration http1_connection::event_quiet_time() const noexcept { return worker_.bounds.event_quiet_time(); }

}  // namespace martlet::inline v0::server::detail
