// What becomes of the bytes that were read: heads, routes, handlers in their three forms, answers.
#include <martlet/server/detail/http1_connection.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <expected>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <martlet/base/log.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/server/detail/http1_body.hpp>
#include <martlet/server/detail/http1_open_exchange.hpp>
#include <martlet/server/detail/worker.hpp>
#include <martlet/server/error_page.hpp>
#include <martlet/wire/http/status.hpp>

namespace martlet::inline v0::server::detail {

namespace {

[[gnu::cold, gnu::noinline]] void answer_failed(http1_exchange& x, const std::exception_ptr& thrown) noexcept {
    int status = 500;
    std::string_view why = "the handler did not answer";
    std::string_view detail;
    try {
        if (thrown) std::rethrow_exception(thrown);
    } catch (const std::bad_expected_access<error>& e) {
        status = e.error().http_status();
        why = e.error().text();
        detail = public_detail(e.error());
    } catch (const std::exception& e) {
        why = "a handler threw";
        log::error(why, log::field("path", x.path()), log::field("what", e.what()));
    } catch (...) {
        why = "a handler threw something that is no std::exception";
    }
    if (x.is_answered() || x.is_kept()) return;
    if (status >= 500) log::error(why, log::field("path", x.path()), log::field("status", status));
    // Without memory for it the connection ends.
    static_cast<void>(respond_error(x, status, detail));
}

/// Runs a plain handler. Whatever it does, the request has an answer or has been kept open afterwards, unless memory is out.
[[gnu::always_inline]] inline void run_handler(const handler& h, http1_exchange& x) noexcept {
    try {
        request req(x);
        response res(x);
        h.run(req, res);
        // The first says it all, usually, and is what is asked next.
        if (x.went_as_usual() || x.is_answered() || x.is_kept()) [[likely]]
            return;
    } catch (...) {
        answer_failed(x, std::current_exception());
        return;
    }
    answer_failed(x, nullptr);
}

/// The same with what stands before it.
void run_handler_behind_points(const handler& h, http1_exchange& x) noexcept {
    if (x.points() == nullptr || !x.points()->has_before()) return run_handler(h, x);
    try {
        request req(x);
        response res(x);
        if (!x.points()->before(req, res)) h.run(req, res);
        if (x.is_answered() || x.is_kept()) return;
    } catch (...) {
        answer_failed(x, std::current_exception());
        return;
    }
    answer_failed(x, nullptr);
}

}  // namespace

// False: the connection has been destroyed, or the loop is another thread's now.
bool http1_connection::serve(buffer& in) noexcept {
    http1::resume_state fresh;
    http1::resume_state& resume = pending_ != nullptr ? pending_->resume : fresh;
    http1_exchange& x = worker_.plain;
    const router& app = worker_.common.app;
    const http1::head_limits& head_bounds = worker_.common.head_bounds;
    const std::size_t flush_bytes = worker_.bounds.flush_bytes();
    // The short way ends before the last request of the connection, which says so in its answer; none takes it while the server stops.
    const bool simple = worker_.is_simple() && worker_.held.now() != pressure::full;
    const std::uint32_t slice = std::max(worker_.bounds.slice_requests_max(), 1u);
    const std::uint32_t before_last = worker_.bounds.requests_max() - 1 - requests_;
    const std::uint32_t ordinary_max = !simple ? 0 : std::min(slice - 1, before_last);
    std::uint32_t served = 0;
    std::uint32_t counted = 0;
    fresh_ = false;
    serving_ = true;
    x.attach(*this, out_, worker_.prefix(), worker_.watcher != nullptr);
    out_.open();
    padded_view rest = in.padded();
    while (!rest.empty()) {
        const http1::parse_status parsed = http1::parse_request(rest, head_bounds, x.head, resume);
        if (!parsed.is_complete()) [[unlikely]] {
            if (parsed.is_failed()) refuse(parsed.error(), rest);
            break;
        }
        rest = rest.from(parsed.consumed());
        ++served;
        if (x.head.is_ordinary() && served <= ordinary_max) [[likely]] {
            x.begin_ordinary();
            const route* found = app.find(x.path(), x.params());
            const handler* h = found != nullptr ? found->find_quick(x.method()) : nullptr;
            if (h != nullptr) [[likely]] {
                worker_.on.note_activity(found->path().c_str());
                run_handler(*h, x);
                if (x.went_as_usual() && out_.size() < flush_bytes) [[likely]]
                    continue;
                if (!x.went_as_usual() && !x.is_kept()) settled(x);
                if (out_.size() >= flush_bytes && state_ == state::reading) write();
                if (state_ != state::reading || abort_on_return_) break;
                continue;
            }
        }
        // The other way: the bytes are consumed first, which moves nothing, since a handler elsewhere takes what is behind with it.
        in.consume(in.size() - rest.size());
        requests_ += served - std::exchange(counted, served);
        x.begin(persistence_for(x));
        if (worker_.watcher != nullptr) worker_.watcher->head(id(), x);
        dispatch(x, in);
        // A handler on this stack was left behind by its loop.
        if (loop::current() == nullptr) return false;
        x.found(nullptr, nullptr, {});
        // A content may have gone with the request, or have taken all that is left along.
        rest = in.padded();
        if (out_.size() >= flush_bytes && state_ == state::reading) write();
        if (state_ != state::reading || abort_on_return_) break;
        if (served >= slice || (pending_ != nullptr && &in != &pending_->bytes)) {
            unserved_ = true;
            break;
        }
    }
    in.consume(in.size() - rest.size());
    requests_ += served - counted;
    // What is left is another head, with a time of its own.
    if (pending_ != nullptr && served != 0) pending_->timed = false;
    return served_batch(in);
}

bool http1_connection::bring_up_to_date() noexcept {
    worker_.prefix();
    return worker_.is_draining();
}

http1::persistence http1_connection::persistence_for(const http1_exchange& x) noexcept {
    const bool full = requests_ >= worker_.bounds.requests_max();
    if (full || worker_.is_draining()) {
        if (full && worker_.watcher != nullptr) worker_.watcher->limit_hit(id(), "requests_max");
        return http1::persistence::close;
    }
    if (!x.head.keep_alive()) return http1::persistence::close;
    return x.head.version_minor() == 0 ? http1::persistence::keep_alive : http1::persistence::keep;
}

void http1_connection::dispatch(http1_exchange& x, buffer& in) noexcept {
    if (refused_for(pressure::full, x)) return;
    const routing where = worker_.common.app.resolve(x.method(), x.path(), x.params());
    if (where.to() != nullptr) worker_.on.note_activity(where.to()->path().c_str());
    x.found(where.to(), where.points(), worker_.on.now());
    if (x.method() == http::method::connect) {
        // What follows is meant for somebody else: none of it is a request (RFC 9110 section 9.3.6).
        x.close_after();
        answer_without_handler(x, 405, "GET, HEAD, OPTIONS");
    } else if (!x.head.framing().is_empty()) {
        dispatch_with_content(x, in, where);
    } else if (where.run() == nullptr) {
        answer_unhandled(x, where);
    } else if (where.run()->is_plain()) {
        run_plain(*where.run(), x, in);
    } else {
        run_coroutine(where, x);
    }
}

void http1_connection::run_plain(const handler& h, http1_exchange& x, buffer& in) noexcept {
    if (worker_.on.allows_hand_over()) {
        run_elsewhere(h, x, in);
    } else {
        run_handler_behind_points(h, x);
        if (!x.is_kept()) settled(x);
    }
}

// What stands before the handler has run at the head, with the same request and response.
void http1_connection::run_after_collecting(http1_open_exchange& x) noexcept {
    try {
        x.run(*x.then);
        if (!x.is_answered() && !x.is_kept()) answer_failed(x, nullptr);
    } catch (...) {
        answer_failed(x, std::current_exception());
    }
    if (!x.is_kept()) settled(x);
}

// A handler that waits must not begin before what stands before it has let the request pass. True: it has been answered, or will be.
bool http1_connection::stopped_before(http1_open_exchange& x) noexcept {
    try {
        if (!x.run_before()) return false;
        if (!x.is_answered() && !x.is_kept()) answer_failed(x, nullptr);
    } catch (...) {
        answer_failed(x, std::current_exception());
    }
    if (!x.is_kept()) settled(x);
    x.destroy();
    return true;
}

void http1_connection::answer_unhandled(http1_exchange& x, const routing& where) noexcept {
    if (where.status() == 501) {
        // Nobody can know what else such a method means for what follows.
        x.close_after();
    }
    if (x.points() != nullptr && x.points()->has_before()) {
        try {
            request req(x);
            response res(x);
            if (!x.points()->before(req, res)) give_status(x, res, where.status(), where.allow());
            if (!x.is_answered() && !x.is_kept()) answer_failed(x, nullptr);
        } catch (...) {
            answer_failed(x, std::current_exception());
        }
        if (!x.is_kept()) settled(x);
        return;
    }
    answer_without_handler(x, where.status(), where.allow());
}

void http1_connection::answer_without_handler(http1_exchange& x, int status, std::string_view allow) noexcept {
    response res(x);
    give_status(x, res, status, allow);
    settled(x);
}

void http1_connection::give_status(http1_exchange& x, response& res, int status, std::string_view allow) noexcept {
    if (!allow.empty()) {
        const auto set = res.set(http::field_id::allow, allow);
        if (!set) log::warn(set.error().text(), log::field("path", x.path()));
    }
    if (status == 503) {
        const auto set = res.set("Retry-After", "1");
        if (!set) log::warn(set.error().text(), log::field("path", x.path()));
    }
    if (status == 204) {
        res.empty(status);
    } else {
        res.fail(status);
    }
}

void http1_connection::response_queued(const http1_exchange& of, int status) noexcept {
    if (worker_.watcher != nullptr) worker_.watcher->response_head(id(), of, status);
    // An answer from outside the serving loop has nobody else to write it.
    if (!serving_) queue_output();
}

void http1_connection::ended(http1_exchange& x) noexcept {
    if (worker_.watcher != nullptr) worker_.watcher->end(id(), x, x.status(), x.response_bytes());
    if (x.points() == nullptr) return;
    const std::uint64_t bytes_in = body() != nullptr ? body()->received_bytes() : x.content().size();
    std::optional<error> why;
    if (open_ != nullptr && open_->work() != nullptr && open_->work()->is_cancelled()) why = open_->work()->why();
    x.tell_end(bytes_in, worker_.on.now(), why);
}

// The exchange is over; its answer decides whether another may follow.
void http1_connection::settled(http1_exchange& x) noexcept {
    ended(x);
    // Why it is gone is known already.
    if (state_ == state::gone) return;
    if (x.is_broken() || !x.is_answered()) {
        abort_with(close_reason::failed);
    } else if (x.after() == http1::persistence::close) {
        move_to(state::finishing);
    } else if (body() != nullptr) [[unlikely]] {
        skip_content();
    }
}

void http1_connection::run_coroutine(const routing& where, http1_exchange& x) noexcept {
    const route_options& how = where.to()->options(x.method());
    http1_open_exchange* made = http1_open_exchange::make(x, *this, out_, worker_.prefix(), http1_open_exchange::form::task, false);
    if (made == nullptr) {
        answer_without_handler(x, 503, {});
        return;
    }
    if (stopped_before(*made)) return;
    open_ = made;
    move_to(state::running);
    made->keeps_running_after_fin = how.keeps_running_after_fin();
    const duration time = how.handler_timeout().value_or(worker_.bounds.handler_timeout());
    if (time != duration::zero()) made->work()->set_deadline(saturating_add(worker_.on.now(), time));
    bool finished = true;
    std::exception_ptr thrown;
    try {
        finished = made->start(*where.run());
    } catch (...) {
        // By the callable itself, or for want of memory for its frame.
        thrown = std::current_exception();
    }
    if (finished) exchange_finished(*made, thrown);
}

http1_open_exchange* http1_connection::keep_open(http1_exchange& asking) noexcept {
    // A watcher may still ask for the head when the answer comes.
    const bool without_head = worker_.watcher == nullptr && asking.points() == nullptr;
    http1_open_exchange* made =
        http1_open_exchange::make(asking, *this, out_, worker_.prefix(), http1_open_exchange::form::later, without_head);
    if (made == nullptr) return nullptr;
    open_ = made;
    move_to(state::running);
    return made;
}

void http1_connection::exchange_finished(http1_open_exchange& done, const std::exception_ptr& thrown) noexcept {
    int status = 500;
    std::string_view why = "the handler did not answer";
    std::string_view detail;
    const bool cancelled = done.work()->is_cancelled();
    bool failed = true;
    // What peers bring about without end is for observers: limit_hit told them.
    bool is_told = false;
    if (thrown || done.has_task()) {
        try {
            if (thrown) std::rethrow_exception(thrown);
            done.finish();
            failed = false;
        } catch (const std::bad_expected_access<error>& e) {
            status = e.error().http_status();
            why = e.error().text();
            detail = public_detail(e.error());
            is_told = e.error() == make_error(exchange_errc::server_full);
        } catch (const std::exception& e) {
            log::error("a handler threw", log::field("path", done.path()), log::field("what", e.what()));
        } catch (...) {
            log::error("a handler threw something that is no std::exception", log::field("path", done.path()));
        }
    }
    if (!done.is_answered() && state_ != state::gone) {
        if (cancelled && done.work()->why().is_timeout()) {
            status = done.work()->why().http_status();
            why = "a handler took longer than handler_timeout";
            log::warn(why, log::field("path", done.path()));
        } else if (status >= 500 && !cancelled && !is_told) {
            log::error(why, log::field("path", done.path()), log::field("status", status));
        }
        // Only memory can lack now, and settled() ends the connection for it.
        static_cast<void>(respond_error(done, status, detail));
    } else if (done.is_open() && state_ != state::gone) {
        end_stream(done, failed);
    }
    endless_ = false;
    if (state_ == state::running) move_to(state::reading);
    settled(done);
    open_ = nullptr;
    done.destroy();
    if (!serving_) go_on();
}

// A content that nobody ended is whole only if its handler came to its own end.
void http1_connection::end_stream(http1_open_exchange& of, bool failed) noexcept {
    const bool cancelled = of.work()->is_cancelled();
    const bool stopped = cancelled && of.is_endless() && of.work()->why().reason() == cancel_reason::shutting_down;
    if ((failed || cancelled) && !stopped && !of.is_all_sent()) {
        of.break_off();
        return;
    }
    const exchange_errc ended = of.end({});
    if (ended != exchange_errc::none) log::error(make_error(ended).text(), log::field("path", of.path()));
}

// After an answer that did not come from the serving loop.
void http1_connection::go_on() noexcept {
    if (state_ == state::gone) {
        destroy(reason_);
    } else if (abort_on_return_) {
        lose(reason_, error::system(12));
    } else if (state_ == state::reading && output_waits_) {
        // Nothing more is answered while the peer does not take what it asked for.
        move_to(state::blocked);
        disarm_input();
        arm_timer(deadline_);
    } else {
        // Nothing more of it is wanted, and the peer may take its time to go.
        if (state_ == state::finishing) drop_pending();
        queue_output();
        if (state_ == state::reading) {
            wait_for_input();
        } else {
            wait_for_content();
        }
    }
}

/// Gives back what a handler leaves whose loop has gone to another thread. Made before the handler runs: coming back must not fail for want of memory.
class http1_connection::call_note final : public martlet::detail::posted {
public:
    explicit call_note(http1_connection& of) noexcept : posted(&call_note::arrived), ended(nullptr, 0), of_(of) {}

    /// Keeps what a watcher may ask for, since the read buffer goes with the call.
    void keep(const http1_exchange& from) {
        const http1::request_head& head = from.head;
        records_.assign(head.records(), head.records() + head.field_count());
        bytes_ = head.bytes();
        to = from.found_route();
        points = from.points();
        began = from.began();
        ended.head = head;
        ended.head.rebase_records(records_.data(), static_cast<std::uint16_t>(records_.size()));
        ended.head.rebase(bytes_.data());
    }
    bool is_kept() const noexcept { return !bytes_.empty(); }

    outq answered;
    std::string behind;  // bytes behind the request that the connection does not keep itself
    int status = 0;
    bool close = false;
    const route* to = nullptr;
    const fixed_points* points = nullptr;
    time_point began{};
    http1_exchange ended;

private:
    static void arrived(posted* node, bool run) {
        const std::unique_ptr<call_note> self(static_cast<call_note*>(node));
        if (run) self->of_.call_returned(*self);
    }

    http1_connection& of_;
    std::vector<http1::field_record> records_;
    std::string bytes_;
};

// A handler on a loop that another thread may take meanwhile. All that it touches is on this stack or in memory of malloc.
void http1_connection::run_elsewhere(const handler& h, http1_exchange& parsed, buffer& in) noexcept {
    std::unique_ptr<call_note> note(new (std::nothrow) call_note(*this));
    if (note == nullptr) {
        answer_without_handler(parsed, 503, {});
        return;
    }
    http1::field_record records[limits::fields_cap];
    http1_exchange own(records, limits::fields_cap);
    own.head = parsed.head;
    if (own.head.field_count() != 0) std::memcpy(records, parsed.head.records(), own.head.field_count() * sizeof records[0]);
    own.head.rebase_records(records, limits::fields_cap);
    const http1::response_prefix prefix = worker_.prefix();
    own.attach(*this, note->answered, prefix, false);
    own.begin(parsed.after());
    own.params() = parsed.params();
    own.found_as(parsed);
    own.give_content(parsed.content());
    own.leave_alone();
    const loop_handle home = worker_.home;
    const bool watched = worker_.watcher != nullptr || own.points() != nullptr;
    // What the connection keeps already stays with it; what is in the loop's buffer does not.
    const std::string_view behind = pending_ == nullptr ? in.view() : std::string_view();
    // What was answered before must not wait for a call that may block.
    if (!out_.empty() && !output_waits_ && stream_.try_write(out_) == net::io::failed) {
        ended(parsed);
        abort_with(close_reason::peer_vanished);
        return;
    }
    // A block that was taken ahead is of no use meanwhile.
    if (out_.empty()) out_.clear();
    move_to(state::running);
    in_call_ = true;
    stream_.mute(true);
    loop_call call(worker_.on);
    run_handler_behind_points(h, own);
    if (call.finish()) {
        in_call_ = false;
        stream_.mute(false);
        own.was_answered(own.status(), note->answered.size());
        out_.splice(note->answered);
        move_to(state::reading);
        if (own.is_answered()) response_queued(own, own.status());
        settled(own);
        return;
    }
    // From here on this object is another thread's; serve() learns of it from the current loop.
    note->status = own.status();
    note->close = own.after() == http1::persistence::close || own.is_broken() || !own.is_answered();
    try {
        if (watched) note->keep(own);
        note->behind = behind;
    } catch (const std::bad_alloc&) {
        // The answer is there, but what was sent behind the request is lost.
        note->close = true;
    }
    home.send(note.release());
}

void http1_connection::call_returned(call_note& note) noexcept {
    in_call_ = false;
    if (note.is_kept()) {
        note.ended.attach(*this, out_, worker_.prefix(), false);
        note.ended.begin(http1::persistence::keep);
        note.ended.found(note.to, note.points, note.began);
        note.ended.was_answered(note.status, note.answered.size());
        if (note.status != 0 && worker_.watcher != nullptr) worker_.watcher->response_head(id(), note.ended, note.status);
        ended(note.ended);
    }
    serving_ = false;
    out_.splice(note.answered);
    if (open_ != nullptr) std::exchange(open_, nullptr)->destroy();
    move_to(note.close ? state::finishing : state::reading);
    stream_.mute(false);
    if (body() != nullptr && !note.close) skip_content();
    if (pending_ != nullptr && (note.close || (body() == nullptr && pending_->bytes.empty()))) drop_pending();
    if (!note.close && !note.behind.empty() && !keep(note.behind)) abort_with(close_reason::failed);
    unserved_ = pending_ != nullptr;
    // Forced meanwhile.
    if (abort_on_return_) stream_.abort();
    go_on();
}

void http1_connection::begin_refusing() noexcept {
    encode_refusal(503, "the server has as many connections as it takes", {}, "Retry-After: 1\r\n");
    reason_ = close_reason::over_limit;
    move_to(state::finishing);
    queue_output();
}

void http1_connection::encode_refusal(int status, std::string_view why, std::string_view refused, std::string_view fields) noexcept {
    constexpr std::size_t text_bytes_max = 256;
    const std::string_view shown = why.substr(0, text_bytes_max);
    char* at = out_.cork(http1::encoded_bytes_max(http::media::text, fields) + text_bytes_max + 1);
    if (at == nullptr) return;
    char* end = http1::encode_head(at, status, http::media::text, http1::body_framing::length(shown.size() + 1), fields,
                                   http1::persistence::close, worker_.prefix());
    if (refused.starts_with("\r\n")) refused.remove_prefix(2);
    // RFC 9110 section 9.3.2
    if (!refused.starts_with("HEAD ")) {
        std::memcpy(end, shown.data(), shown.size());
        end += shown.size();
        *end++ = '\n';
    }
    out_.commit(static_cast<std::size_t>(end - at));
}

void http1_connection::refuse(error why, std::string_view refused) noexcept {
    if (worker_.watcher != nullptr) worker_.watcher->refused(id(), why);
    encode_refusal(why.http_status(), why.text(), refused);
    reason_ = close_reason::refused;
    move_to(state::finishing);
}

}  // namespace martlet::inline v0::server::detail
