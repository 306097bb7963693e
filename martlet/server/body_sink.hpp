// body_sink: where the content of an answer goes piece by piece, with backpressure; and what is awaited to keep to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <martlet/base/list.hpp>
#include <martlet/base/result.hpp>
#include <martlet/base/slice.hpp>
#include <martlet/rt/event.hpp>
#include <martlet/server/exchange.hpp>

namespace martlet::inline v0::net {
class byte_stream;
}

namespace martlet::inline v0::server {

class sink_wait;

/// A protocol implements it. What is put in order goes out in order.
class body_sink {
public:
    body_sink(const body_sink&) = delete;
    body_sink& operator=(const body_sink&) = delete;

    /// Queues the head; `length` is what will be put, if that is known.
    virtual exchange_errc begin(const response_head& head, std::optional<std::uint64_t> length) noexcept = 0;
    /// Queues content; the first copies it.
    virtual exchange_errc put(std::string_view content) noexcept = 0;
    virtual exchange_errc put(slice content) noexcept = 0;
    virtual exchange_errc put(file_range content) noexcept = 0;
    /// Queues the end. `trailers` are checked field lines, left out where they cannot be sent.
    virtual exchange_errc end(std::string_view trailers) noexcept = 0;
    /// Queues 101 (Switching Protocols) with `fields`; once it is written the stream is the handler's.
    virtual exchange_errc upgrade(std::string_view token, std::string_view fields) noexcept = 0;
    /// After that: the transport, and what was read from it behind the request.
    virtual net::byte_stream* taken_stream(std::string_view& already_read) noexcept = 0;
    /// Begun and not ended.
    virtual bool is_open() const noexcept = 0;
    /// Output that the transport has not taken yet.
    virtual std::size_t queued_bytes() const noexcept = 0;
    /// Above so much a sender waits.
    virtual std::size_t queued_bytes_max() const noexcept = 0;
    /// From now on, whenever nothing was put for a while, a comment of an event stream goes out; and the stream ends whole when the server stops.
    virtual void is_event_stream() noexcept = 0;

protected:
    body_sink() noexcept = default;
    ~body_sink() = default;

    /// The transport took something.
    void output_moved() noexcept;
    /// It takes no more.
    void output_lost(error why) noexcept;

private:
    friend class sink_wait;
    list<sink_wait, martlet::detail::queue_tag> waiting_;
};

/// To be awaited: until no more than a mark is queued. Fails with what was wrong when the content was put.
class [[nodiscard]] sink_wait final : public martlet::detail::queued_operation {
public:
    sink_wait(body_sink* of, exchange_errc put, std::size_t mark) noexcept : of_(of), put_(put), mark_(mark) {}

    bool start(context& in, std::coroutine_handle<> awaiter) noexcept;

private:
    friend class body_sink;
    body_sink* of_;
    exchange_errc put_;
    std::size_t mark_;
};

}  // namespace martlet::inline v0::server
