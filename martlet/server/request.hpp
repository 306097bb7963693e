// request: what a handler asks about the request it was given.
#pragma once

#include <martlet/server/body_source.hpp>
#include <martlet/server/exchange.hpp>
#include <martlet/server/form_data.hpp>
#include <martlet/server/input.hpp>
#include <martlet/server/local_table.hpp>

namespace martlet::inline v0::server {

/// Views are good until the handler returns, or for a coroutine handler until it has finished.
class request {
public:
    explicit request(exchange& of) noexcept : of_(of) {}
    request(const request&) = delete;
    request& operator=(const request&) = delete;

    http::method method() const noexcept { return of_.method(); }
    /// The method's token as sent.
    std::string_view method_text() const noexcept { return of_.method_text(); }
    /// The whole target as sent.
    std::string_view target() const noexcept { return of_.target(); }
    /// The target's path, not decoded, without the query.
    std::string_view path() const noexcept { return of_.path(); }
    /// What follows the '?', not decoded; empty without one.
    std::string_view query() const noexcept { return of_.query(); }
    /// The authority that the request is for.
    std::string_view host() const noexcept { return of_.host(); }

    /// The value of the first field of that name; names are compared without case.
    std::optional<std::string_view> field(http::field_id id) const noexcept { return of_.field(id); }
    std::optional<std::string_view> field(std::string_view name) const noexcept { return of_.field(name); }
    /// All fields in the order received.
    std::size_t field_count() const noexcept { return of_.field_count(); }
    field_line field_at(std::size_t index) const noexcept { return of_.field_at(index); }

    /// There is content, or there may be: its length is unknown or not 0.
    bool has_content() const noexcept { return of_.has_content(); }
    /// As announced by the peer; none when there is no content, or it tells its end by itself.
    std::optional<std::uint64_t> content_length() const noexcept { return of_.content_length(); }
    /// All of the content, in a plain handler, which runs when it is complete. More than `body_bytes_max` was answered 413 before.
    std::string_view content() const noexcept { return of_.content(); }
    /// To be awaited in a coroutine handler: the next piece of content as a result<std::string_view>, empty at the end. It is good until the
    /// next read. Nothing is received while nobody reads. A content that breaks off, is too slow or too large is an error with its hint.
    content_read read() noexcept { return content_read(of_.source()); }
    /// To be awaited in a coroutine handler: all of the content that was not read yet, as a result<std::string>.
    task<result<std::string>> read_all() { return read_all_of(of_.source(), of_.content_length()); }
    /// A field that came behind the content, once that is complete.
    std::optional<std::string_view> trailer(std::string_view name) const noexcept { return of_.trailer(name); }
    /// The path's part for `:name` in the route's pattern, its escapes replaced: "%2F" is a slash inside it. As a number or another type
    /// that from_text knows, an error with status 400 names the parameter and what it must be. A name that the pattern does not have is
    /// a local error. For the name of `*rest` this is rest().
    template <class T = std::string>
    result<T> param(std::string_view name) const {
        std::string scratch;
        const auto text = param_text(name, scratch);
        if (!text) return failure(text.error());
        return detail::value_of<T>(input_source::path, name, *text);
    }
    /// What `*name` at the end of the pattern took, as sent and not decoded, so that "%2F" is still another thing than a slash. Empty
    /// without one.
    std::string_view rest() const noexcept;
    /// The first value of that name in the query, decoded, as a T. An error with status 400 names it, and says that it is missing or what it
    /// must be. As std::optional<T>, a missing one is no error.
    template <class T = std::string>
    result<T> query_value(std::string_view name) const {
        std::string scratch;
        const auto text = query_text(name, scratch);
        if (!text) return failure(text.error());
        return detail::value_or_missing<T>(input_source::query, name, *text);
    }
    /// `otherwise` when it is missing; one that is no T is still an error.
    template <class T>
    result<T> query_value(std::string_view name, T otherwise) const {
        return detail::value_or<T>(query_value<std::optional<T>>(name), std::move(otherwise));
    }
    /// The first cookie of that name, as sent; quotes are part of it.
    std::optional<std::string_view> cookie(std::string_view name) const noexcept;
    /// `content`, which is the request's, as that of a form, decoded. Errors: 415 when Content-Type names no such form, 400 for a bad escape,
    /// 413 for more than uri::form_limits::pairs_max pairs.
    result<form_data> form(std::string_view content) const;
    /// The same of the content of a plain handler.
    result<form_data> form() const { return form(content()); }

    /// The T of this loop, made by the factory given to router::local<T>. It is used by one thread, and lives until all handlers have ended.
    /// Throws a local error for a T that no factory was given for.
    template <class T>
    T& local() const {
        void* const found = of_.locals() != nullptr ? of_.locals()->find(detail::local_index<T>()) : nullptr;
        if (found == nullptr) [[unlikely]]
            detail::throw_no_such_local();
        return *static_cast<T*>(found);
    }

    /// Peer and local address.
    net::stream_info connection() const noexcept { return of_.info(); }
    /// The context that is cancelled when the peer goes or the server stops; null in a plain handler.
    context* work() const noexcept { return of_.work(); }

private:
    result<std::string_view> param_text(std::string_view name, std::string& scratch) const;
    result<std::optional<std::string_view>> query_text(std::string_view name, std::string& scratch) const;

    exchange& of_;
};

}  // namespace martlet::inline v0::server
