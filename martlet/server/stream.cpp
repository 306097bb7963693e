#include <martlet/server/stream.hpp>

namespace martlet::inline v0::server {

namespace {

// Shorter ones are cheaper to copy than to send as a piece of their own.
constexpr std::size_t sliced_bytes_min = 4096;

result<void> as_result(exchange_errc outcome) noexcept {
    if (outcome != exchange_errc::none) return failure(make_error(outcome));
    return {};
}

// RFC 9110 section 6.5.1: what frames, routes, authenticates or describes a message must be known before its content.
bool fits_a_trailer(std::string_view name) noexcept {
    switch (http::field_id_of(name)) {
    case http::field_id::authorization:
    case http::field_id::cache_control:
    case http::field_id::content_encoding:
    case http::field_id::content_range:
    case http::field_id::content_type:
    case http::field_id::cookie:
    case http::field_id::max_forwards:
    case http::field_id::range:
    case http::field_id::set_cookie:
    case http::field_id::te:
    case http::field_id::trailer: return false;
    default: return !http::is_framing(http::field_id_of(name));
    }
}

}  // namespace

result<void> body_writer::begun() const noexcept { return as_result(begun_); }

sink_wait body_writer::send(std::string&& content) noexcept {
    if (content.size() < sliced_bytes_min || to_ == nullptr) return send(std::string_view(content));
    return waits(to_->put(slice::own(std::move(content))));
}

sink_wait body_writer::send(file_range content) noexcept {
    return waits(to_ != nullptr ? to_->put(std::move(content)) : outcome_of_none());
}

result<void> body_writer::trailer(std::string_view name, std::string_view value) {
    const auto checked = http::field_value::make(value);
    if (!checked || !http::token::is_valid(name) || !fits_a_trailer(name)) return failure(make_error(exchange_errc::invalid_field));
    if (!trailers_.add(name, *checked)) return failure(make_error(exchange_errc::no_memory));
    return {};
}

result<void> body_writer::end() noexcept { return as_result(to_ != nullptr ? to_->end(trailers_.view()) : outcome_of_none()); }

}  // namespace martlet::inline v0::server
