// exchange: one request and its answer, whatever carries them. request and response stand on this; a protocol implements it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <martlet/base/result.hpp>
#include <martlet/base/slice.hpp>
#include <martlet/net/stream_info.hpp>
#include <martlet/rt/context.hpp>
#include <martlet/server/path_params.hpp>
#include <martlet/wire/http/content_type.hpp>
#include <martlet/wire/http/field.hpp>
#include <martlet/wire/http/field_value.hpp>
#include <martlet/wire/http/method.hpp>

namespace martlet::inline v0 {
class blocking_pool;
}

namespace martlet::inline v0::server {

/// A field as received. Borrows the head's bytes.
struct field_line {
    std::string_view name;
    std::string_view value;
};

/// What stands in front of an answer's content. Borrowed for the call that takes it.
class response_head {
public:
    response_head(int status, http::content_type type, std::string_view fields = {}) noexcept
        : status_(status), type_(type), fields_(fields) {}
    int status() const noexcept { return status_; }
    http::content_type type() const noexcept { return type_; }
    /// Further fields, checked, each as `Name: value CRLF`.
    std::string_view fields() const noexcept { return fields_; }

private:
    int status_;
    http::content_type type_;
    std::string_view fields_;
};

/// Why an answer could not be given.
enum class [[nodiscard]] exchange_errc : std::uint8_t {
    none = 0,           ///< it was queued
    answered_already,   ///< local: a second answer; the first stands
    connection_gone,    ///< peer: nobody is there to take it
    no_memory,          ///< system: the answer was not queued
    invalid_status,     ///< local: not 200 to 599
    invalid_field,      ///< local: a name or value that must not go on the wire, or a field that the server sets itself
    not_answered,       ///< local: a handler returned without answering
    not_upgradable,     ///< peer: it did not ask for this protocol, or its content stands in between
    content_too_slow,   ///< peer: its content came below the lowest rate
    server_full,        ///< system: the server holds as much as it may
    content_waited,     ///< local: the content is being read already
    no_stream,          ///< local: only a coroutine handler, or one that answers later, can stream, and once
    content_unwanted,   ///< peer: it asked for the head of an event stream, which has no end to come to
    stream_ended,       ///< local: the stream has ended already
    content_too_long,   ///< local: more content than the head announced
    content_too_short,  ///< local: less content than the head announced
    invalid_redirect,   ///< local: not a status that redirects, or nowhere to go
    no_such_param,      ///< local: the route's pattern has no parameter of that name
    no_local,           ///< local: the factory of a local threw
    no_such_local,      ///< local: the router was given no local of that type
};

extern const error_category exchange_category;
error make_error(exchange_errc code) noexcept;

/// `value` as the value of a field that an application may set under `name`, else `invalid_field`.
result<http::field_value> checked_field(std::string_view name, std::string_view value) noexcept;

class later_response;
class local_table;
class body_source;
class body_sink;

/// Views of the head are good until the exchange ends; for a plain handler, until it returns.
class exchange {
public:
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;

    // --- the request ---

    http::method method() const noexcept { return method_; }
    /// As sent, not decoded, without the query.
    std::string_view path() const noexcept { return path_; }
    virtual std::string_view method_text() const noexcept = 0;
    virtual std::string_view target() const noexcept = 0;
    virtual std::string_view query() const noexcept = 0;
    virtual std::string_view host() const noexcept = 0;
    virtual std::optional<std::string_view> field(http::field_id id) const noexcept = 0;
    virtual std::optional<std::string_view> field(std::string_view name) const noexcept = 0;
    virtual std::size_t field_count() const noexcept = 0;
    virtual field_line field_at(std::size_t index) const noexcept = 0;
    virtual net::stream_info info() const noexcept = 0;

    // --- its content ---

    /// There is content, or there may be: its length is unknown or not 0.
    virtual bool has_content() const noexcept = 0;
    /// As announced; none when there is no content or it tells its end by itself.
    virtual std::optional<std::uint64_t> content_length() const noexcept = 0;
    /// All of it, for a plain handler.
    virtual std::string_view content() const noexcept = 0;
    /// A field behind the content, once that is complete.
    virtual std::optional<std::string_view> trailer(std::string_view name) const noexcept = 0;
    /// Where a handler that may suspend reads it; null for a plain one.
    virtual body_source* source() noexcept { return nullptr; }

    // --- what the router found ---

    /// The parts of the path that the route's pattern left open; the router fills it.
    path_params& params() noexcept { return params_; }
    const path_params& params() const noexcept { return params_; }

    /// What the program keeps on this loop; null where a handler's loop may be another thread's meanwhile.
    local_table* locals() const noexcept { return locals_; }

    // --- the answer ---

    bool is_answered() const noexcept { return status_ != 0; }
    /// An answer was given and could not be sent: there is no memory for it, or it is none that can be given.
    bool has_lost_answer() const noexcept { return lost_answer_; }
    /// Said by who gave it.
    void lose_answer() noexcept { lost_answer_ = true; }
    /// The status of the answer; 0 before there is one.
    int status() const noexcept { return status_; }
    /// Gives the whole answer; `content` is copied. Content is left out where the method or status forbids it.
    virtual exchange_errc respond(const response_head& head, std::string_view content) noexcept = 0;
    /// The same without a copy.
    virtual exchange_errc respond(const response_head& head, slice content) noexcept = 0;
    /// The usual answer, with no field but those that every answer has: the short way.
    virtual exchange_errc respond(int status, http::media type, std::string_view content) noexcept = 0;

    /// Where content goes that is given piece by piece; null for a plain handler.
    virtual body_sink* sink() noexcept { return nullptr; }

    /// The peer is told, with the answer that is still to be given, that no other follows; where a connection carries several exchanges at a
    /// time it changes nothing.
    virtual void end_connection() noexcept = 0;

    /// Threads for what blocks: one pool for the whole server.
    virtual blocking_pool& pool() noexcept = 0;
    /// The context of a handler that may suspend; null for a plain one.
    virtual context* work() noexcept = 0;

    /// keep_open() has been asked for and was granted: another exchange answers.
    virtual bool is_kept() const noexcept = 0;

protected:
    friend class response;
    exchange() noexcept = default;
    ~exchange() = default;

    /// Leaves the exchange open after the handler has returned; null when there is no memory.
    virtual exchange* keep_open() noexcept = 0;
    /// The holder of a kept exchange has let it go.
    virtual void let_go() noexcept = 0;
    friend class later_response;

    // The first member of params_ follows, so that one store clears both.
    std::uint16_t status_ = 0;
    path_params params_;
    http::method method_ = http::method::other;
    std::string_view path_;
    local_table* locals_ = nullptr;
    bool lost_answer_ = false;
};

}  // namespace martlet::inline v0::server
