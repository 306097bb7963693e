// decoder: a text/event-stream taken apart into events (WHATWG HTML, "Interpreting an event stream").
//
// State is the line that has begun, and the event that its lines have made so far. Each line end, CR, LF or CR LF, judges one line; an empty
// line makes the event complete, if it has data. A CR ends a line at once: an LF that follows it is passed over when it comes.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <martlet/base/result.hpp>

namespace martlet::inline v0::sse {

/// What one event may take.
class decoder_limits {
public:
    constexpr decoder_limits() noexcept = default;
    /// One line, and the data of one event; beyond it `event_too_long`.
    constexpr decoder_limits& event_bytes_max(std::size_t bytes) noexcept {
        event_bytes_max_ = bytes;
        return *this;
    }
    constexpr std::size_t event_bytes_max() const noexcept { return event_bytes_max_; }

private:
    std::size_t event_bytes_max_ = 1024 * 1024;
};

/// Bytes go in, events come out, however the bytes are split. Text is given as it came: UTF-8 is not checked.
class decoder {
public:
    explicit decoder(const decoder_limits& limits = {}) noexcept : limits_(limits) {}

    /// Takes bytes off the front of `bytes`: true when an event is complete, which is then what the accessors tell, with the bytes behind it
    /// left in `bytes`; false when all were taken and more are needed. `event_too_long` is final. An event that has begun when the stream
    /// ends is dropped, as the specification wants.
    result<bool> feed(std::string_view& bytes);

    /// Of the event that `feed` completed; good until the next `feed`.
    std::string_view name() const noexcept { return name_.empty() ? std::string_view("message") : std::string_view(name_); }
    std::string_view data() const noexcept { return data_; }
    /// The id that was sent last, with this event or an earlier one: what goes into Last-Event-ID.
    const std::string& last_id() const noexcept { return last_id_; }
    /// How long the peer asked to wait before coming back, if it did.
    std::optional<std::chrono::milliseconds> retry() const noexcept { return retry_; }

    /// Forgets what has begun, for a stream that is opened anew; the last id and the time to wait stay.
    void restart() noexcept;

private:
    result<bool> take_line(std::string_view line);
    void take_field(std::string_view name, std::string_view value);
    bool dispatch();

    decoder_limits limits_;
    std::string line_;  // what came of the line so far
    std::string name_;
    std::string data_;  // each line with LF behind it, until the event is complete
    std::string id_;    // of the event that has begun
    std::string last_id_;
    std::optional<std::chrono::milliseconds> retry_;
    bool first_line_ = true;  // a byte order mark may stand in front of it
    bool behind_cr_ = false;  // an LF would belong to the line end before
    bool complete_ = false;   // what is in name_ and data_ was given away
    bool failed_ = false;
};

}  // namespace martlet::inline v0::sse
