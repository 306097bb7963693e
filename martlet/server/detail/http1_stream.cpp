// Answers whose content is given piece by piece: how HTTP/1 frames them, and what becomes of those that end early.
#include <martlet/server/detail/http1_open_exchange.hpp>

#include <cstring>
#include <string>
#include <utility>

#include <martlet/base/log.hpp>
#include <martlet/base/scan.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/server/detail/http1_connection.hpp>
#include <martlet/wire/http/status.hpp>
#include <martlet/wire/http1/chunked.hpp>

namespace martlet::inline v0::server::detail {

namespace {

// A piece up to this size is written into one piece of memory with what frames it.
constexpr std::size_t joined_bytes_max = 2048;

// A comment, which a reader of events drops (WHATWG HTML section 9.2.6).
constexpr std::string_view quiet_comment = ":\n\n";

}  // namespace

exchange_errc http1_open_exchange::begin(const response_head& answer, std::optional<std::uint64_t> length) noexcept {
    bring_up_to_date();
    if (const exchange_errc fit = check(answer.status()); fit != exchange_errc::none) return fit;
    if ((course_ & course_around) != 0) {
        field_block fields;
        if (!fields.add_lines(answer.fields())) return exchange_errc::no_memory;
        changed_head changed(answer, fields);
        // The handler's answer is refused and the server's takes its place.
        if (!ask_around(changed)) return exchange_errc::not_answered;
        filter_ = std::move(changed.filter);
        // Nobody knows what a filter makes of a length.
        return begin(changed.result(), filter_ != nullptr ? std::nullopt : length);
    }
    const bool old = (course_ & course_old) != 0;
    http1::body_framing announced = length ? http1::body_framing::length(*length) : http1::body_framing::chunked();
    if (!length && old) {
        // RFC 9112 section 6.1: no chunks for HTTP/1.0. The connection's end is the content's.
        announced = http1::body_framing::until_close();
        if (after() != http1::persistence::close) end_connection();
    }
    silent_ = method_ == http::method::head || http::forbids_content(answer.status());
    if (announced.is_until_close() && !silent_) connection_->content_ends_with_connection();
    if (http::forbids_content(answer.status())) announced = http1::body_framing::none();
    const std::size_t out_before = out_->size();
    char* at = out_->cork(http1::encoded_bytes_max(answer.type(), answer.fields()));
    if (at == nullptr) return exchange_errc::no_memory;
    char* end = http1::encode_head(at, answer.status(), answer.type(), announced, answer.fields(), after(), *prefix_);
    out_->commit(static_cast<std::size_t>(end - at));
    framing_ = announced;
    left_ = length.value_or(0);
    stream_ = stream::open;
    answered(answer.status(), out_before);
    return exchange_errc::none;
}

// Whether `bytes` more may be put.
exchange_errc http1_open_exchange::admit(std::uint64_t bytes) noexcept {
    if ((course_ & course_gone) != 0) return exchange_errc::connection_gone;
    if (stream_ != stream::open) return stream_ == stream::ended ? exchange_errc::stream_ended : exchange_errc::no_stream;
    if (framing_.is_length()) {
        if (bytes > left_) return exchange_errc::content_too_long;
        left_ -= bytes;
    }
    return exchange_errc::none;
}

// What was framed cannot be unframed: the connection ends here.
exchange_errc http1_open_exchange::out_of_memory() noexcept {
    course_ |= course_broken;
    return exchange_errc::no_memory;
}

bool http1_open_exchange::put_chunk_head(std::uint64_t bytes) noexcept {
    char* at = out_->cork(http1::chunk_head_bytes_max);
    if (at == nullptr) return false;
    out_->commit(static_cast<std::size_t>(http1::encode_chunk_head(at, bytes) - at));
    return true;
}

void http1_open_exchange::moved_on(std::uint64_t bytes) noexcept {
    response_bytes_ += bytes;
    if (events_) put_at_ = origin_->now();
    connection_->output_added();
}

exchange_errc http1_open_exchange::put(std::string_view content) noexcept {
    if (const exchange_errc fit = admit(content.size()); fit != exchange_errc::none) return fit;
    if (silent_ && events_) return exchange_errc::content_unwanted;
    return filter_ != nullptr && !silent_ ? put_filtered(content, false) : put_framed(content);
}

exchange_errc http1_open_exchange::put_filtered(std::string_view content, bool last) noexcept {
    bool whole = false;
    std::string bytes;
    try {
        outq filtered;
        whole = (content.empty() || filter_->put(content, filtered)) && (!last || filter_->end(filtered));
        const_buffer piece[1];
        while (whole && filtered.gather(piece) != 0) {
            bytes.append(static_cast<const char*>(piece[0].data), piece[0].size);
            filtered.consume(piece[0].size);
        }
    } catch (...) {
        whole = false;
    }
    if (whole) return put_framed(bytes);
    log::error("a filter failed", log::field("path", path_));
    break_off();
    return exchange_errc::stream_ended;
}

exchange_errc http1_open_exchange::put_framed(std::string_view content) noexcept {
    // An empty chunk would end the content.
    if (silent_ || content.empty()) return exchange_errc::none;
    const std::size_t out_before = out_->size();
    const bool chunked = framing_.is_chunked();
    if (chunked && content.size() <= joined_bytes_max) {
        char* at = out_->cork(http1::chunk_head_bytes_max + content.size() + http1::chunk_end.size());
        if (at == nullptr) return out_of_memory();
        char* end = http1::encode_chunk_head(at, content.size());
        std::memcpy(end, content.data(), content.size());
        end += content.size();
        std::memcpy(end, http1::chunk_end.data(), http1::chunk_end.size());
        out_->commit(static_cast<std::size_t>(end - at) + http1::chunk_end.size());
    } else {
        if (chunked && !put_chunk_head(content.size())) return out_of_memory();
        if (!out_->append_copy(content)) return out_of_memory();
        if (chunked && !out_->append_copy(http1::chunk_end)) return out_of_memory();
    }
    moved_on(out_->size() - out_before);
    return exchange_errc::none;
}

template <class Content>
exchange_errc http1_open_exchange::put_whole(Content&& content, std::uint64_t bytes) noexcept {
    if (const exchange_errc fit = admit(bytes); fit != exchange_errc::none) return fit;
    if (silent_ || bytes == 0) return exchange_errc::none;
    const std::size_t out_before = out_->size();
    const bool chunked = framing_.is_chunked();
    if (chunked && !put_chunk_head(bytes)) return out_of_memory();
    if (!out_->append(std::forward<Content>(content))) return out_of_memory();
    if (chunked && !out_->append_copy(http1::chunk_end)) return out_of_memory();
    moved_on(out_->size() - out_before);
    return exchange_errc::none;
}

exchange_errc http1_open_exchange::put(slice content) noexcept {
    if (content.failed()) return exchange_errc::no_memory;
    if (filter_ != nullptr) return put(content.view());
    const std::size_t bytes = content.size();
    return put_whole(std::move(content), bytes);
}

exchange_errc http1_open_exchange::put(file_range content) noexcept {
    // A filter is given memory.
    if (filter_ != nullptr) return exchange_errc::no_stream;
    const std::uint64_t bytes = content.length();
    return put_whole(std::move(content), bytes);
}

exchange_errc http1_open_exchange::end(std::string_view trailers) noexcept {
    if (const exchange_errc fit = admit(0); fit != exchange_errc::none) return fit;
    if (framing_.is_length() && left_ != 0 && !silent_) {
        break_off();
        return exchange_errc::content_too_short;
    }
    if (filter_ != nullptr && !silent_) {
        if (const exchange_errc put = put_filtered({}, true); put != exchange_errc::none) return put;
    }
    stream_ = stream::ended;
    origin_->disarm(quiet_);
    if (silent_ || !framing_.is_chunked()) return exchange_errc::none;
    const std::size_t bytes = http1::last_chunk_bytes(trailers);
    char* at = out_->cork(bytes);
    if (at == nullptr) return out_of_memory();
    http1::encode_last_chunk(at, trailers);
    out_->commit(bytes);
    moved_on(bytes);
    return exchange_errc::none;
}

void http1_open_exchange::break_off() noexcept {
    stream_ = stream::ended;
    origin_->disarm(quiet_);
    course_ |= course_cut;
    if (!silent_) connection_->content_broken_off(framing_.is_until_close());
    close_after();
}

std::size_t http1_open_exchange::queued_bytes() const noexcept { return (course_ & course_gone) != 0 ? 0 : out_->size(); }

std::size_t http1_open_exchange::queued_bytes_max() const noexcept { return connection_->stream_queued_bytes_max(); }

// --- another protocol ---

namespace {

/// `wanted` is one of the list that is the value of Upgrade.
bool names(std::string_view list, std::string_view wanted) noexcept {
    while (!list.empty()) {
        std::string_view each = list.substr(0, list.find(','));
        list.remove_prefix(each.size() == list.size() ? each.size() : each.size() + 1);
        while (!each.empty() && (each.front() == ' ' || each.front() == '\t')) each.remove_prefix(1);
        while (!each.empty() && (each.back() == ' ' || each.back() == '\t')) each.remove_suffix(1);
        if (scan::equal_ignoring_case(each, wanted)) return true;
    }
    return false;
}

}  // namespace

exchange_errc http1_open_exchange::upgrade(std::string_view token, std::string_view fields) noexcept {
    constexpr int switching = 101;
    if (const exchange_errc fit = check(200); fit != exchange_errc::none) return fit;
    if (form_ != form::task) return exchange_errc::no_stream;
    if (!http::token::is_valid(token)) return exchange_errc::invalid_field;
    bool asked = false;
    for (const http1::field_view each : head) asked = asked || (each.id == http::field_id::upgrade && names(each.value, token));
    if (!head.wants_upgrade() || !asked || !connection_->content_is_over()) {
        // What stands behind may be meant for the other protocol.
        close_after();
        return exchange_errc::not_upgradable;
    }
    bring_up_to_date();
    constexpr std::string_view before = "Connection: Upgrade\r\nUpgrade: ";
    const std::size_t extra_bytes = before.size() + token.size() + 2 + fields.size();
    const std::size_t out_before = out_->size();
    char* const at = out_->cork(http1::plain_head_bytes_max + 2 * extra_bytes);
    if (at == nullptr) return exchange_errc::no_memory;
    // The further lines are put together behind the place that the head can take.
    char* const extra = at + http1::plain_head_bytes_max + extra_bytes;
    std::memcpy(extra, before.data(), before.size());
    std::memcpy(extra + before.size(), token.data(), token.size());
    std::memcpy(extra + before.size() + token.size(), "\r\n", 2);
    if (!fields.empty()) std::memcpy(extra + before.size() + token.size() + 2, fields.data(), fields.size());
    char* const end = http1::encode_head(at, switching, http::media::none, http1::body_framing::none(), {extra, extra_bytes},
                                         http1::persistence::keep, *prefix_);
    out_->commit(static_cast<std::size_t>(end - at));
    close_after();
    connection_->give_away_stream();
    answered(switching, out_before);
    return exchange_errc::none;
}

net::byte_stream* http1_open_exchange::taken_stream(std::string_view& already_read) noexcept {
    if ((course_ & course_gone) != 0) return nullptr;
    already_read = connection_->bytes_behind();
    return &connection_->stream();
}

// --- events ---

void http1_open_exchange::is_event_stream() noexcept {
    events_ = true;
    put_at_ = origin_->now();
    origin_->arm(quiet_, saturating_add(put_at_, connection_->event_quiet_time()));
    connection_->stream_is_endless();
    // To HEAD all is said: whatever the handler waits for ends, so that it comes to its end.
    if (silent_) cancel(cancel_reason::peer_gone);
}

void http1_open_exchange::was_quiet(timer_node& node) noexcept {
    http1_open_exchange& self = static_cast<quiet_alarm&>(node).of;
    if (self.stream_ != stream::open || (self.course_ & course_gone) != 0) return;
    const duration quiet = self.connection_->event_quiet_time();
    // A reader that does not take what there is needs no more of it.
    if (self.origin_->now() >= saturating_add(self.put_at_, quiet)) {
        if (self.out_->empty()) {
            static_cast<void>(self.put(quiet_comment));
        } else {
            self.put_at_ = self.origin_->now();
        }
    }
    self.origin_->arm(self.quiet_, saturating_add(self.put_at_, quiet));
}

}  // namespace martlet::inline v0::server::detail
