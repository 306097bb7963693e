#include <martlet/server/detail/http1_exchange.hpp>

#include <cstring>
#include <string>

#include <martlet/base/copy.hpp>
#include <martlet/base/log.hpp>
#include <martlet/server/detail/http1_connection.hpp>
#include <martlet/server/detail/http1_open_exchange.hpp>
#include <martlet/wire/http/status.hpp>

namespace martlet::inline v0::server::detail {

namespace {

// Content up to this size is written right behind its head, into the same piece of memory.
constexpr std::size_t joined_bytes_max = 2048;

// Content of so many bytes takes the shortest way, into room of so many.
constexpr std::size_t short_bytes_min = 10;
constexpr std::size_t short_bytes_max = 64;
constexpr std::size_t shortly_bytes_max = http1::plain_head_bytes_max + short_bytes_max;

}  // namespace

field_line http1_exchange::field_at(std::size_t index) const noexcept {
    const http1::field_view field = head.field_at(index);
    return {field.name, field.value};
}

net::stream_info http1_exchange::info() const noexcept {
    return connection_ != nullptr ? connection_->stream().info() : net::stream_info();
}

std::optional<std::uint64_t> http1_exchange::content_length() const noexcept {
    const http1::body_framing framing = head.framing();
    return framing.is_length() ? std::optional(framing.bytes()) : std::nullopt;
}

std::optional<std::string_view> http1_exchange::trailer(std::string_view name) const noexcept {
    return connection_ != nullptr ? connection_->trailer(name) : std::nullopt;
}

exchange_errc http1_exchange::check(int status) const noexcept {
    if (connection_ == nullptr || (course_ & course_gone) != 0) return exchange_errc::connection_gone;
    if (status_ != 0 || is_kept()) return exchange_errc::answered_already;
    if (status < 200 || status > 599) return exchange_errc::invalid_status;
    return exchange_errc::none;
}

// RFC 9110 section 8.6: no Content-Length with 204; with 304 and to HEAD it is what a GET would have had.
http1::body_framing http1_exchange::framing(int status, std::size_t bytes) const noexcept {
    return http::forbids_content(status) ? http1::body_framing::none() : http1::body_framing::length(bytes);
}

void http1_exchange::answered(int status, std::size_t out_before) noexcept {
    response_bytes_ = out_->size() - out_before;
    status_ = static_cast<std::uint16_t>(status);
    course_ |= course_answered;
    if ((course_ & course_told) != 0) connection_->response_queued(*this, status);
}

bool http1_exchange::ask_around(changed_head& of) noexcept {
    course_ &= ~course_around;
    request req(*this);
    if (!points_->on_head(req, of.head)) return false;
    if (!points_->has_filter() || http::forbids_content(of.head.status())) return true;
    try {
        of.filter = points_->filter(req, of.head);
        return true;
    } catch (...) {
        log::error("a filter could not be made", log::field("path", path_));
        return false;
    }
}

[[gnu::noinline]] exchange_errc http1_exchange::respond_around(const response_head& answer, std::string_view content) noexcept {
    if (const exchange_errc fit = check(answer.status()); fit != exchange_errc::none) return fit;
    field_block fields;
    if (!fields.add_lines(answer.fields())) return exchange_errc::no_memory;
    changed_head changed(answer, fields);
    bool whole = ask_around(changed);
    try {
        if (whole && changed.filter == nullptr) return respond(changed.result(), content);
        outq filtered;
        whole = whole && changed.filter->put(content, filtered) && changed.filter->end(filtered);
        if (whole) {
            std::string bytes;
            const_buffer piece[1];
            while (filtered.gather(piece) != 0) {
                bytes.append(static_cast<const char*>(piece[0].data), piece[0].size);
                filtered.consume(piece[0].size);
            }
            return respond(changed.result(), bytes);
        }
    } catch (...) {
        log::error("a filter threw", log::field("path", path_));
    }
    return respond(response_head(500, http::media::text), http::reason(500));
}

void http1_exchange::tell_end(std::uint64_t bytes_in, time_point now, const std::optional<error>& why) noexcept {
    if (points_ == nullptr || !points_->has_on_end()) return;
    const outcome how = status_ == 0                                    ? outcome::unanswered
                        : (course_ & (course_cut | course_broken)) != 0 ? outcome::cut_off
                                                                        : outcome::answered;
    exchange_end end(how, status_);
    end.to(route_).bytes(bytes_in, response_bytes_).times(began_, now);
    if (why) end.reason(*why);
    request req(*this);
    points_->on_end(req, end);
}

exchange_errc http1_exchange::respond(const response_head& answer, std::string_view content) noexcept {
    if ((course_ & course_around) != 0) [[unlikely]]
        return respond_around(answer, content);
    if (const exchange_errc fit = check(answer.status()); fit != exchange_errc::none) return fit;
    const std::size_t out_before = out_->size();
    const bool whole = method_ != http::method::head && !http::forbids_content(answer.status());
    const bool joined = whole && content.size() <= joined_bytes_max;
    const std::size_t head_bytes = http1::encoded_bytes_max(answer.type(), answer.fields());
    char* at = out_->cork(head_bytes + (joined ? content.size() : 0));
    if (at == nullptr) return exchange_errc::no_memory;
    char* end = http1::encode_head(at, answer.status(), answer.type(), framing(answer.status(), content.size()), answer.fields(), after(),
                                   *prefix_);
    if (joined && !content.empty()) {
        std::memcpy(end, content.data(), content.size());
        end += content.size();
    }
    out_->commit(static_cast<std::size_t>(end - at));
    if (whole && !joined && !out_->append_copy(content)) {
        // The head has promised what cannot follow, so the connection ends here: a body is never shorter than it said.
        course_ |= course_broken;
        return exchange_errc::no_memory;
    }
    answered(answer.status(), out_before);
    return exchange_errc::none;
}

inline bool http1_exchange::takes_short_way(std::string_view content) const noexcept {
    return course_ == 0 && method_ != http::method::head && content.size() - short_bytes_min <= short_bytes_max - short_bytes_min;
}

// A short content behind a head like one that was sent before, whose status was good therefore. False: nothing was written.
[[gnu::always_inline]] inline bool http1_exchange::respond_shortly(char* at, int status, http::media type,
                                                                   std::string_view content) noexcept {
    char* const end = http1::try_encode_plain_head(at, status, type, content.size(), *prefix_);
    if (end == nullptr) return false;
    copy_8_to_64(end, content.data(), content.size());
    out_->commit_corked(static_cast<std::size_t>(end - at) + content.size());
    status_ = static_cast<std::uint16_t>(status);
    course_ = course_answered;
    return true;
}

// The first answer of a batch is as short a way but for the memory that it needs.
[[gnu::noinline]] exchange_errc http1_exchange::respond_unusually(int status, http::media type, std::string_view content) noexcept {
    if (takes_short_way(content) && out_->empty()) {
        char* const at = out_->cork(shortly_bytes_max);
        if (at != nullptr && respond_shortly(at, status, type, content)) return exchange_errc::none;
    }
    return respond(response_head(status, type), content);
}

// Without a call, so that no register is saved.
exchange_errc http1_exchange::respond(int status, http::media type, std::string_view content) noexcept {
    char* const at = takes_short_way(content) ? out_->try_cork(shortly_bytes_max) : nullptr;
    if (at == nullptr || !respond_shortly(at, status, type, content)) [[unlikely]]
        return respond_unusually(status, type, content);
    return exchange_errc::none;
}

exchange_errc http1_exchange::respond(const response_head& answer, slice content) noexcept {
    if (content.failed()) return exchange_errc::no_memory;
    if ((course_ & course_around) != 0) return respond_around(answer, content.view());
    if (const exchange_errc fit = check(answer.status()); fit != exchange_errc::none) return fit;
    if (method_ == http::method::head || http::forbids_content(answer.status())) return respond(answer, content.view());
    const std::size_t out_before = out_->size();
    const std::size_t head_bytes = http1::encoded_bytes_max(answer.type(), answer.fields());
    char* at = out_->cork(head_bytes);
    if (at == nullptr) return exchange_errc::no_memory;
    char* end = http1::encode_head(at, answer.status(), answer.type(), framing(answer.status(), content.size()), answer.fields(), after(),
                                   *prefix_);
    out_->commit(static_cast<std::size_t>(end - at));
    if (!out_->append(std::move(content))) {
        course_ |= course_broken;
        return exchange_errc::no_memory;
    }
    answered(answer.status(), out_before);
    return exchange_errc::none;
}

blocking_pool& http1_exchange::pool() noexcept { return connection_->pool(); }

exchange* http1_exchange::keep_open() noexcept {
    if (connection_ == nullptr || is_kept() || left_alone_) return nullptr;
    http1_open_exchange* kept = connection_->keep_open(*this);
    if (kept != nullptr) course_ |= course_kept;
    return kept;
}

}  // namespace martlet::inline v0::server::detail
