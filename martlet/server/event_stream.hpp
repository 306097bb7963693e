// event_stream: an answer of server-sent events (WHATWG HTML section 9.2).
#pragma once

#include <string_view>

#include <martlet/base/result.hpp>
#include <martlet/server/stream.hpp>
#include <martlet/wire/sse/encoder.hpp>

namespace martlet::inline v0::server {

/// Given back by answer::sse(). As with body_writer, but it ends only when its handler does. The server sends a comment by itself whenever
/// nothing was sent for `event_quiet_time`. When the server stops, the handler's context is cancelled with `shutting_down` at once, and the
/// stream ends whole. To a HEAD request the context is cancelled at once, and sending fails. What a reader saw last it says in the request's
/// Last-Event-ID.
class [[nodiscard]] event_stream {
public:
    event_stream(event_stream&& other) noexcept = default;
    event_stream& operator=(event_stream&&) = delete;

    /// Whether the head was queued.
    result<void> begun() const noexcept { return body_.begun(); }

    /// Queues an event, at the call; to be awaited at once: waits while more than `stream_queued_bytes_max` are queued. Each line of `data`
    /// goes as a line of its own. A name or an id with a CR, LF or NUL is refused with a local error.
    sink_wait send(std::string_view data) { return send({}, data); }
    sink_wait send(std::string_view name, std::string_view data) { return send(name, data, {}); }
    /// With an id, which a reader that comes back tells.
    sink_wait send(std::string_view name, std::string_view data, std::string_view id);
    /// One with all that an event may have: how long a reader waits before it comes back, too.
    sink_wait send(const sse::event& what);
    /// Something that readers drop.
    sink_wait comment(std::string_view text);
    /// To be awaited: until the transport has taken all that was sent.
    sink_wait flush() noexcept { return body_.flush(); }

private:
    friend class answer;
    explicit event_stream(body_writer body) noexcept : body_(std::move(body)) {}

    body_writer body_;
};

}  // namespace martlet::inline v0::server
