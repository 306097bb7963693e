// The server's side of one HTTP/1 connection: a small machine over the codec.
//
//   state       waits for                      may become
//   reading     bytes                          collecting, skipping, running, blocked, finishing, (destroyed)
//   collecting  the content of a plain handler reading, finishing, (destroyed)
//   running     the handler                    reading, blocked, finishing, gone
//   skipping    the end of unread content      reading, finishing, (destroyed)
//   blocked     room for output                reading, running, finishing, (destroyed)
//   finishing   room for the last output       lingering, (destroyed)
//   lingering   the peer's FIN                 (destroyed)
//   gone        the handler; no stream         (destroyed)
//
// In `running` content is read while the handler pulls it, and what it sends goes out at the end of each turn.
// While output waits nothing is read. An idle connection holds no buffer. Nothing of it is on the stack while a handler runs.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>

#include <martlet/base/outq.hpp>
#include <martlet/base/timer_wheel.hpp>
#include <martlet/net/byte_stream.hpp>
#include <martlet/rt/ready.hpp>
#include <martlet/server/body_source.hpp>
#include <martlet/server/detail/buffered_bytes.hpp>
#include <martlet/server/handler.hpp>
#include <martlet/server/observer.hpp>
#include <martlet/server/router.hpp>
#include <martlet/wire/http1/encoder.hpp>
#include <martlet/wire/http1/parser.hpp>

namespace martlet::inline v0::server::detail {

class worker;
class http1_exchange;
class http1_open_exchange;
class http1_body;
struct connection_tag;

/// Bytes of an unfinished head or content, behind a running handler or behind a spent slice, and how far they were looked at.
struct pending_input {
    explicit pending_input(std::size_t limit) noexcept : bytes(limit) {}
    buffer bytes;
    http1::resume_state resume;
    /// The content that is under way, which begins at `bytes`; owned.
    http1_body* body = nullptr;
    /// Timing of the head has begun.
    bool timed = false;
};

/// Input and output wait in different lists, so each has a node.
struct input_node : ready_node {
    using ready_node::ready_node;
};
struct output_node : ready_node {
    using ready_node::ready_node;
};

/// What a connection holds for a peer that is not done, in the order in which it is given up.
enum class burden : std::uint8_t { content, head, output, none };

/// Made, owned and freed by its worker; it asks the worker to free it.
class http1_connection final : public input_node, public output_node, public timer_node, public list_hook<connection_tag> {
public:
    http1_connection(worker& of, net::byte_stream& stream) noexcept;
    ~http1_connection();

    void begin() noexcept;
    /// Answers 503 to whatever comes, and closes.
    void begin_refusing() noexcept;
    /// Not a byte was read, and none is known to be there.
    bool is_fresh() const noexcept { return fresh_ && state_ == state::reading; }
    /// Takes its hands off the stream, before the socket goes elsewhere.
    void forget_stream() noexcept;
    /// The server stops: ends now if nothing is under way, else after the present answer.
    void drain() noexcept;
    /// Ends now, whatever is under way; handlers are cancelled with `why`.
    void force(error why, close_reason reason) noexcept;

    /// A handler that suspended, or promised to answer later, is done.
    void exchange_finished(http1_open_exchange& done, const std::exception_ptr& thrown = nullptr) noexcept;
    /// A plain handler asks to answer later.
    http1_open_exchange* keep_open(http1_exchange& asking) noexcept;
    void response_queued(const http1_exchange& of, int status) noexcept;
    /// Makes the prefix right for this moment; true when the connection is to close after the present answer.
    bool bring_up_to_date() noexcept;

    // --- when the server holds too much: http1_connection_pressure.cpp ---

    detail::burden burden() const noexcept;
    /// When it must have made progress.
    time_point next_deadline() const noexcept;
    /// Gives up what it holds: 503, or a reset when the peer does not take its answers.
    void give_way() noexcept;

    // --- for the exchange: content ---

    /// What a coroutine handler's read finds.
    pull pull_content(std::string_view& into) noexcept;
    error content_failure() const noexcept;
    std::uint64_t content_bytes_max() const noexcept;
    void content_awaited(bool on) noexcept;
    std::optional<std::string_view> trailer(std::string_view name) const noexcept;
    bool content_is_over() const noexcept;
    /// Content is due that will not be read, and too much to be dropped.
    bool must_close_behind_content() const noexcept;

    // --- for the exchange: streams ---

    void output_added() noexcept;
    /// An answer ended early; `by_reset`: nothing else tells the peer.
    void content_broken_off(bool by_reset) noexcept;
    /// The end of the connection will be the end of what answers now.
    void content_ends_with_connection() noexcept { until_close_ = true; }
    /// What answers now ends only with the server.
    void stream_is_endless() noexcept;
    /// The stream is the handler's once all output is written.
    void give_away_stream() noexcept;
    std::string_view bytes_behind() const noexcept;
    std::size_t stream_queued_bytes_max() const noexcept;
    duration event_quiet_time() const noexcept;

    blocking_pool& pool() noexcept;
    net::byte_stream& stream() noexcept { return stream_; }
    observer::connection_id id() const noexcept { return reinterpret_cast<observer::connection_id>(this); }

private:
    enum class state : std::uint8_t { reading, collecting, running, skipping, blocked, finishing, lingering, gone };

    static void input_ready(ready_node& node) noexcept;
    static void output_ready(ready_node& node) noexcept;
    static void expired(timer_node& node) noexcept;
    void move_to(state next) noexcept;

    void read() noexcept;
    bool serve(buffer& in) noexcept;
    bool served_batch(buffer& in) noexcept;
    void dispatch(http1_exchange& x, buffer& in) noexcept;
    void dispatch_with_content(http1_exchange& x, buffer& in, const routing& where) noexcept;
    void run_plain(const handler& h, http1_exchange& x, buffer& in) noexcept;
    void answer_unhandled(http1_exchange& x, const routing& where) noexcept;
    void give_status(http1_exchange& x, response& res, int status, std::string_view allow) noexcept;
    void answer_without_handler(http1_exchange& x, int status, std::string_view allow) noexcept;
    void run_elsewhere(const handler& h, http1_exchange& parsed, buffer& in) noexcept;
    class call_note;
    void call_returned(call_note& note) noexcept;
    void run_coroutine(const routing& where, http1_exchange& x) noexcept;
    void end_stream(http1_open_exchange& of, bool failed) noexcept;
    void go_on() noexcept;
    void settled(http1_exchange& x) noexcept;
    void ended(http1_exchange& x) noexcept;
    void run_after_collecting(http1_open_exchange& x) noexcept;
    bool stopped_before(http1_open_exchange& x) noexcept;
    void refuse(error why, std::string_view refused) noexcept;
    /// `refused` begins with what has come of the request: the answer to HEAD has no content.
    void encode_refusal(int status, std::string_view why, std::string_view refused, std::string_view fields = {}) noexcept;
    http1::persistence persistence_for(const http1_exchange& x) noexcept;

    // Content: http1_connection_content.cpp.
    http1_body* body() const noexcept { return pending_ != nullptr ? pending_->body : nullptr; }
    bool begin_body(http1_exchange& x, buffer& in, std::uint64_t bytes_max) noexcept;
    void drop_body() noexcept;
    void wait_for_content() noexcept;
    void collect(buffer& in) noexcept;
    void collect_more() noexcept;
    void run_collected() noexcept;
    void give_up_collecting(error why, close_reason reason) noexcept;
    void drop_collecting() noexcept;
    void pull_more() noexcept;
    void skip_content() noexcept;
    void skip_more() noexcept;
    void skip(buffer& in) noexcept;
    bool content_timed_out() noexcept;

    void account() noexcept;
    void account_if_held() noexcept {
        if (pending_ != nullptr || held_kib_ != 0) [[unlikely]]
            account();
    }
    bool refused_for(pressure at_least, http1_exchange& x) noexcept;

    bool keep_rest(buffer& in) noexcept;
    bool keep(std::string_view bytes) noexcept;
    void drop_pending() noexcept;
    void arm_input(direction which) noexcept;
    void disarm_input() noexcept;
    void wait_for_input() noexcept;
    void peer_event() noexcept;
    void peer_finished() noexcept;
    void queue_output() noexcept;
    void write() noexcept;
    void written() noexcept;
    bool output_still_moves() noexcept;
    void linger() noexcept;
    void drop_input() noexcept;
    void timed_out() noexcept;
    void set_deadline(time_point when) noexcept;
    void arm_timer(time_point when) noexcept;
    void lose(close_reason reason, error why) noexcept;
    void abort_with(close_reason reason) noexcept;
    void destroy(close_reason reason) noexcept;

    worker& worker_;
    net::byte_stream& stream_;
    outq out_;
    pending_input* pending_ = nullptr;
    http1_open_exchange* open_ = nullptr;
    time_point deadline_{};
    std::uint32_t lingered_bytes_ = 0;
    std::uint32_t requests_ = 0;
    std::uint32_t held_kib_ = 0;  // as the worker has it counted
    state state_ = state::reading;
    close_reason reason_ = close_reason::finished;
    bool in_call_ : 1 = false;        // a plain handler is on another thread's stack
    bool peer_finished_ : 1 = false;  // FIN was read
    bool serving_ : 1 = false;        // serve() is on the stack
    bool unserved_ : 1 = false;       // pending_ has bytes to be looked at before more is read
    bool output_waits_ : 1 = false;   // the stream took less than there is
    bool is_bulk_ : 1 = false;        // much was written the last time
    bool abort_on_return_ : 1 = false;
    bool fresh_ : 1 = true;         // no byte has arrived yet
    bool endless_ : 1 = false;      // what answers now ends only with the server
    bool given_away_ : 1 = false;   // the handler reads and writes the stream itself
    bool break_off_ : 1 = false;    // only a reset tells the peer that the answer ended early
    bool until_close_ : 1 = false;  // the last answer has neither length nor chunks
};

}  // namespace martlet::inline v0::server::detail
