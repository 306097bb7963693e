#include <martlet/server/response.hpp>

#include <martlet/base/log.hpp>
#include <martlet/server/error_page.hpp>
#include <martlet/wire/uri/percent.hpp>

namespace martlet::inline v0::server {

namespace {

// Shorter ones are cheaper to copy behind the head than to send as a piece of their own.
constexpr std::size_t sliced_bytes_min = 4096;

result<void> as_result(exchange_errc outcome) noexcept {
    if (outcome != exchange_errc::none) return failure(make_error(outcome));
    return {};
}

}  // namespace

result<void> answer::set(http::field_id id, std::string_view value) {
    if (id == http::field_id::other) return failure(make_error(exchange_errc::invalid_field));
    return set(http::text(id), value);
}

result<void> answer::set(std::string_view name, std::string_view value) {
    const auto checked = checked_field(name, value);
    if (!checked) return failure(checked.error());
    if (!fields_.add(name, *checked)) return failure(make_error(exchange_errc::no_memory));
    return {};
}

result<void> answer::try_respond(int status, http::content_type type, std::string_view content) noexcept {
    if (of_ == nullptr) return failure(make_error(exchange_errc::connection_gone));
    return as_result(noted(of_->respond(response_head(status, type, fields_.view()), content)));
}

result<void> answer::try_respond(int status, http::content_type type, slice content) noexcept {
    if (of_ == nullptr) return failure(make_error(exchange_errc::connection_gone));
    return as_result(noted(of_->respond(response_head(status, type, fields_.view()), std::move(content))));
}

void answer::respond(int status, http::media type, std::string&& content) noexcept {
    if (of_ == nullptr || content.size() < sliced_bytes_min) return respond(status, type, std::string_view(content));
    check(of_->respond(response_head(status, type, fields_.view()), slice::own(std::move(content))));
}

body_writer answer::begin_stream(int status, http::content_type type, std::optional<std::uint64_t> length) noexcept {
    exchange_errc begun = exchange_errc::connection_gone;
    body_sink* to = of_ != nullptr ? of_->sink() : nullptr;
    if (of_ != nullptr) begun = to != nullptr ? to->begin(response_head(status, type, fields_.view()), length) : exchange_errc::no_stream;
    check(begun);
    return {to, begun};
}

event_stream answer::sse() {
    if (!fields_.find("Cache-Control")) static_cast<void>(set(http::field_id::cache_control, "no-cache"));
    body_writer body = begin_stream(200, http::media::event_stream, std::nullopt);
    if (body.to_ != nullptr) body.to_->is_event_stream();
    return event_stream(std::move(body));
}

void answer::fail(int status, std::string_view detail) noexcept {
    check(of_ == nullptr ? exchange_errc::connection_gone : respond_error(*of_, status, detail, fields_.view()));
}

void answer::problem(int status, std::string_view detail) {
    const std::string content = problem_json(status, detail);
    bytes(status, http::content_type(problem_json_type), content);
}

void answer::redirect(int status, std::string_view location) {
    if (status != 301 && status != 302 && status != 303 && status != 307 && status != 308) return check(exchange_errc::invalid_redirect);
    // What no URI may hold is escaped, so that nothing gets out of the field.
    const auto set_location = set(http::field_id::location, uri::encode(location, uri::component::reference));
    if (!set_location) return check(exchange_errc::invalid_redirect);
    empty(status);
}

result<void> answer::set_cookie(const http::set_cookie& cookie) {
    const auto value = cookie.text();
    if (!value) return failure(value.error());
    return set(http::field_id::set_cookie, *value);
}

// A peer that has gone is no news; what the program got wrong is.
exchange_errc answer::noted(exchange_errc outcome) noexcept {
    if (outcome != exchange_errc::none) of_->lose_answer();
    return outcome;
}

void answer::report(exchange_errc outcome) noexcept {
    if (of_ != nullptr) of_->lose_answer();
    const error why = make_error(outcome);
    if (of_ != nullptr && !why.is_peer()) log::warn(why.text(), log::field("path", of_->path()));
}

task<result<upgraded>> response::upgrade(std::string token) {
    body_sink* const to = of_->sink();
    const exchange_errc begun = to != nullptr ? to->upgrade(token, fields_.view()) : exchange_errc::no_stream;
    if (begun != exchange_errc::none) co_return failure(make_error(begun));
    auto written = co_await sink_wait(to, begun, 0);
    if (!written) co_return failure(written.error());
    std::string_view already_read;
    net::byte_stream* const stream = to->taken_stream(already_read);
    if (stream == nullptr) co_return failure(make_error(exchange_errc::connection_gone));
    co_return upgraded(*stream, already_read);
}

later_response response::later() {
    if (of_ == nullptr || of_->is_answered()) return later_response(nullptr);
    exchange* const kept = of_->keep_open();
    if (kept == nullptr) of_->lose_answer();
    return later_response(kept);
}

bool later_response::is_cancelled() const noexcept { return of_ == nullptr || (of_->work() != nullptr && of_->work()->is_cancelled()); }

later_response::~later_response() {
    if (of_ == nullptr) return;
    if (!of_->is_answered()) {
        if (!is_cancelled()) log::error("a response was dropped unanswered");
        // The peer may be gone, and then nobody is missing the answer.
        static_cast<void>(respond_error(*of_, 500));
    }
    of_->let_go();
}

}  // namespace martlet::inline v0::server
