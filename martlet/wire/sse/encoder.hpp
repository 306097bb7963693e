// encoder: server-sent events as text/event-stream has them (WHATWG HTML, "Server-sent events").
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <martlet/base/buffer.hpp>
#include <martlet/base/result.hpp>

namespace martlet::inline v0::sse {

/// An event to be sent. Borrows all that it is given. It is UTF-8; that is not checked.
class event {
public:
    /// Without data: only an id or a time to wait, which a reader keeps and says nothing of.
    event() noexcept = default;
    /// CR, LF and CR LF in `data` each end a line; a reader gets LF for each.
    explicit event(std::string_view data) noexcept : data_(data) {}

    /// What the event is called; without one a reader calls it "message".
    event& name(std::string_view name) noexcept {
        name_ = name;
        return *this;
    }
    /// What a reader sends as Last-Event-ID when it comes back. An empty one takes back what was sent before.
    event& id(std::string_view id) noexcept {
        id_ = id;
        return *this;
    }
    /// How long a reader waits before it comes back.
    event& retry(std::chrono::milliseconds wait) noexcept {
        retry_ = wait;
        return *this;
    }

    std::optional<std::string_view> data() const noexcept { return data_; }
    std::string_view name() const noexcept { return name_; }
    std::optional<std::string_view> id() const noexcept { return id_; }
    std::optional<std::chrono::milliseconds> retry() const noexcept { return retry_; }

private:
    std::optional<std::string_view> data_;
    std::string_view name_;
    std::optional<std::string_view> id_;
    std::optional<std::chrono::milliseconds> retry_;
};

/// How many bytes `append` adds for it.
std::size_t encoded_bytes(const event& of) noexcept;

/// Appends the event, whole or not at all: `bad_event` when its name or id has a CR, LF or NUL; `no_memory` when the buffer has no room.
/// A negative time to wait counts as none at all.
result<void> append(std::string& out, const event& of);
result<void> append(buffer& out, const event& of) noexcept;

/// Appends a comment, which readers pass over: it keeps a connection from looking dead. Line ends in `text` begin further comments.
void append_comment(std::string& out, std::string_view text = {});
result<void> append_comment(buffer& out, std::string_view text = {}) noexcept;

}  // namespace martlet::inline v0::sse
