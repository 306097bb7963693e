// response: how a handler answers; later_response: how it answers after it has returned.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <martlet/base/result.hpp>
#include <martlet/rt/task.hpp>
#include <martlet/server/event_stream.hpp>
#include <martlet/server/exchange.hpp>
#include <martlet/server/field_block.hpp>
#include <martlet/server/stream.hpp>
#include <martlet/server/upgraded.hpp>
#include <martlet/wire/http/set_cookie.hpp>

namespace martlet::inline v0::server {

/// What response and later_response have in common: fields first, then one answer.
class answer {
public:
    answer(const answer&) = delete;
    answer& operator=(const answer&) = delete;

    /// Adds a field. A value with a control byte, or a field that the server decides on itself (Content-Length, Connection, ...), is
    /// refused with a local error and nothing is added.
    result<void> set(http::field_id id, std::string_view value);
    result<void> set(std::string_view name, std::string_view value);

    /// Answers with `content` as text/plain in UTF-8. A second answer is not sent: it is logged, and the first stands.
    void text(int status, std::string_view content) noexcept { respond(status, http::media::text, content); }
    /// The same taking a string over: long ones are sent without a copy.
    void text(int status, std::string&& content) noexcept { respond(status, http::media::text, std::move(content)); }
    void text(int status, const char* content) noexcept { respond(status, http::media::text, std::string_view(content)); }
    void html(int status, std::string_view content) noexcept { respond(status, http::media::html, content); }
    /// `content` is JSON already.
    void json(int status, std::string_view content) noexcept { respond(status, http::media::json, content); }
    /// Any other type.
    void bytes(int status, http::content_type type, std::string_view content) noexcept {
        check(of_ == nullptr ? exchange_errc::connection_gone : of_->respond(response_head(status, type, fields_.view()), content));
    }
    /// Answers without content.
    void empty(int status) noexcept { respond(status, http::media::none, std::string_view()); }

    /// The same, telling whether it was queued.
    result<void> try_respond(int status, http::content_type type, std::string_view content) noexcept;
    result<void> try_respond(int status, http::content_type type, slice content) noexcept;

    /// Begins an answer whose content is sent piece by piece, from a coroutine handler or a later_response.
    body_writer stream(int status, http::content_type type) noexcept { return begin_stream(status, type, std::nullopt); }
    /// The same with the content's length, which the head then announces: not more can be sent, and less ends the connection.
    body_writer stream(int status, http::content_type type, std::uint64_t length) noexcept { return begin_stream(status, type, length); }

    /// Begins an answer of server-sent events, with Cache-Control: no-cache unless it was set.
    event_stream sse();
    /// Answers with a page that says `status` and `detail`: as problem details, HTML or text, by the request's Accept. `detail` goes to the
    /// peer as it is, up to error_page::detail_bytes_max.
    void fail(int status, std::string_view detail = {}) noexcept;
    /// Answers with problem details in JSON (RFC 9457), whatever Accept says.
    void problem(int status, std::string_view detail = {});
    /// Answers 301, 302, 303, 307 or 308 with `location`, a URI or a part of one; what may not stand in a URI is escaped. Where to is the
    /// program's to check when a peer had a say in it.
    void redirect(int status, std::string_view location);
    /// Adds a Set-Cookie field. Local errors say what is wrong with the cookie (RFC 6265 section 4.1).
    result<void> set_cookie(const http::set_cookie& cookie);

    /// The answer, which is still to be given, is the last on its connection: it says so, and the connection closes behind it.
    void end_connection() noexcept {
        if (of_ != nullptr) of_->end_connection();
    }

    bool is_answered() const noexcept { return of_ != nullptr && of_->is_answered(); }

protected:
    explicit answer(exchange* of) noexcept : of_(of) {}
    ~answer() = default;
    answer(answer&& other) noexcept : of_(std::exchange(other.of_, nullptr)), fields_(std::move(other.fields_)) {}
    /// Into an answer that was moved from.
    void take(answer& other) noexcept {
        of_ = std::exchange(other.of_, nullptr);
        fields_.swap(other.fields_);
    }

    exchange* of_;
    field_block fields_;

private:
    void respond(int status, http::media type, std::string_view content) noexcept {
        if (of_ != nullptr && fields_.empty()) [[likely]] {
            check(of_->respond(status, type, content));
        } else {
            bytes(status, type, content);
        }
    }
    void respond(int status, http::media type, std::string&& content) noexcept;
    body_writer begin_stream(int status, http::content_type type, std::optional<std::uint64_t> length) noexcept;
    void check(exchange_errc outcome) noexcept {
        if (outcome != exchange_errc::none) [[unlikely]]
            report(outcome);
    }
    exchange_errc noted(exchange_errc outcome) noexcept;
    void report(exchange_errc outcome) noexcept;
};

/// Given back by response::later(): answers from the loop after the handler has returned. The request's views are gone by then.
/// Move-only. Dropped unanswered, it answers 500 and logs that.
class [[nodiscard]] later_response : public answer {
public:
    later_response(later_response&& other) noexcept : answer(std::move(other)) {}
    /// What it held before is dropped.
    later_response& operator=(later_response&& other) noexcept {
        if (this != &other) {
            later_response dropped(std::move(*this));
            take(other);
        }
        return *this;
    }
    ~later_response();

    /// Nobody is left to take the answer: the peer has gone or the server stops. `work()` tells it as it happens.
    bool is_cancelled() const noexcept;
    /// Cancelled with the reason; operations awaited below it end. Null when later() failed.
    context* work() const noexcept { return of_ != nullptr ? of_->work() : nullptr; }

private:
    friend class response;
    explicit later_response(exchange* of) noexcept : answer(of) {}
};

class response : public answer {
public:
    explicit response(exchange& of) noexcept : answer(&of) {}

    /// Lets the handler return now and answer afterwards, on the same loop. Not in a coroutine handler, which can simply await.
    later_response later();
    /// To be awaited in a coroutine handler: answers a GET or HEAD with the file at `path`, which is the program's to choose: see files() for
    /// paths that a peer gives. With its content type by its name, ETag, Last-Modified and Accept-Ranges, and as its preconditions and
    /// ranges ask (RFC 9110 sections 13 and 14). What is no file is answered 404. Fails only when nothing could be answered.
    task<result<void>> file(std::string path);
    /// To be awaited in a coroutine handler: changes to the protocol `token`, which the peer must have asked for (RFC 9110 section 7.8), with
    /// 101 and the fields that were set. Fails with an error of the peer (400) when it did not; then an answer can still be given, after which
    /// the connection is closed.
    task<result<upgraded>> upgrade(std::string token);
    /// Threads for what blocks: one pool for the whole server.
    blocking_pool& pool() noexcept { return of_->pool(); }
    /// later() was called, and will answer.
    bool is_kept() const noexcept { return of_ != nullptr && of_->is_kept(); }
    /// An answer was given that could not be sent.
    bool has_lost_answer() const noexcept { return of_ != nullptr && of_->has_lost_answer(); }

private:
    friend class handler_access;
};

}  // namespace martlet::inline v0::server
