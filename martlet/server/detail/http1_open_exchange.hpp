// The exchange of HTTP/1 that outlives its turn: of a handler that may suspend, that waits for its content, or that answers later.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <martlet/rt/task.hpp>
#include <martlet/server/body_sink.hpp>
#include <martlet/server/body_source.hpp>
#include <martlet/server/detail/http1_exchange.hpp>
#include <martlet/server/handler.hpp>

namespace martlet::inline v0::server::detail {

/// In a block of its own with a copy of the head. What only a content or a stream needs is here and not in the connection.
class http1_open_exchange final : public http1_exchange, public ready_node, public body_source, public body_sink {
public:
    enum class form : std::uint8_t {
        task,       ///< a coroutine handler runs
        later,      ///< its plain handler has returned; it has no head unless somebody watches
        collected,  ///< its plain handler will run once the content is complete
    };

    /// A copy of `from`. Null when there is no memory.
    static http1_open_exchange* make(http1_exchange& from, http1_connection& of, outq& out, const http1::response_prefix& prefix, form how,
                                     bool without_head) noexcept;
    void destroy() noexcept;

    /// Runs what stands before the handler. True: the handler is not to be called.
    bool run_before() { return points_ != nullptr && points_->has_before() && points_->before(request_, response_); }
    /// Runs a plain handler.
    void run(const handler& h) { h.run(request_, response_); }
    /// Starts a coroutine handler. True: it has finished already.
    bool start(const handler& of);
    /// Cancels the handler's context.
    void cancel(error why) noexcept { work_.cancel(why); }
    context* work() noexcept override { return form_ == form::collected ? nullptr : &work_; }
    exchange_errc respond(const response_head& answer, std::string_view content) noexcept override;
    exchange_errc respond(const response_head& answer, slice content) noexcept override;
    exchange_errc respond(int status, http::media type, std::string_view content) noexcept override;

    /// Rethrows what the handler threw.
    void finish() { running_.finish(); }
    bool has_task() const noexcept { return static_cast<bool>(running_); }
    form how() const noexcept { return form_; }
    /// As its route says.
    bool keeps_running_after_fin = false;
    /// Whose turn it is when the content is complete.
    const handler* then = nullptr;

    // --- the content that comes in ---

    body_source* source() noexcept override { return form_ == form::task ? this : nullptr; }
    pull try_pull(std::string_view& into) noexcept override;
    error failure() const noexcept override;
    std::uint64_t content_bytes_max() const noexcept override;
    /// Something has come, or will not come any more.
    void input_moved() noexcept { retry(); }

    // --- the content that goes out ---

    body_sink* sink() noexcept override { return form_ == form::collected ? nullptr : this; }
    exchange_errc begin(const response_head& head, std::optional<std::uint64_t> length) noexcept override;
    exchange_errc put(std::string_view content) noexcept override;
    exchange_errc put(slice content) noexcept override;
    exchange_errc put(file_range content) noexcept override;
    exchange_errc end(std::string_view trailers) noexcept override;
    exchange_errc upgrade(std::string_view token, std::string_view fields) noexcept override;
    net::byte_stream* taken_stream(std::string_view& already_read) noexcept override;
    bool is_open() const noexcept override { return stream_ == stream::open; }
    std::size_t queued_bytes() const noexcept override;
    std::size_t queued_bytes_max() const noexcept override;
    void is_event_stream() noexcept override;
    /// It ends whole when the server stops.
    bool is_endless() const noexcept { return events_; }
    /// What was queued has moved, or never will.
    void output_taken() noexcept { output_moved(); }
    void output_gone(error why) noexcept { output_lost(why); }
    /// As much as the head announced.
    bool is_all_sent() const noexcept { return silent_ || framing_.is_none() || (framing_.is_length() && left_ == 0); }
    /// The content ended early: the peer must be able to tell.
    void break_off() noexcept;
    /// The content's end can only be told by a reset.
    bool is_told_by_close() const noexcept { return framing_.is_until_close(); }

private:
    enum class stream : std::uint8_t { none, open, ended };

    class quiet_alarm : public timer_node {
    public:
        explicit quiet_alarm(http1_open_exchange& of) noexcept : timer_node(&http1_open_exchange::was_quiet), of(of) {}
        http1_open_exchange& of;
    };

    http1_open_exchange(context& outer, http1::field_record* records, std::uint16_t capacity, form how) noexcept
        : http1_exchange(records, capacity),
          ready_node(&http1_open_exchange::finished),
          work_(outer),
          request_(*this),
          response_(*this),
          quiet_(*this),
          form_(how) {}
    ~http1_open_exchange();

    void bring_up_to_date() noexcept;
    exchange* keep_open() noexcept override;
    void let_go() noexcept override;
    void awaited(bool on) noexcept override;
    static void finished(ready_node& node) noexcept;
    static void was_quiet(timer_node& node) noexcept;

    exchange_errc admit(std::uint64_t bytes) noexcept;
    exchange_errc out_of_memory() noexcept;
    exchange_errc put_filtered(std::string_view content, bool last) noexcept;
    exchange_errc put_framed(std::string_view content) noexcept;
    bool put_chunk_head(std::uint64_t bytes) noexcept;
    template <class Content>
    exchange_errc put_whole(Content&& content, std::uint64_t bytes) noexcept;
    void moved_on(std::uint64_t bytes) noexcept;

    context work_;
    request request_;
    response response_;
    task<void> running_;
    std::size_t block_bytes_ = 0;
    loop* origin_ = nullptr;
    quiet_alarm quiet_;
    time_point put_at_{};
    std::unique_ptr<body_filter> filter_;
    std::uint64_t left_ = 0;  // of an announced length
    http1::body_framing framing_;
    form form_;
    stream stream_ = stream::none;
    bool silent_ = false;  // to HEAD, or a status without content: what is put is counted and dropped
    bool events_ = false;
};

}  // namespace martlet::inline v0::server::detail
