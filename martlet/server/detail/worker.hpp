// worker: what one loop of a server has: its connections, the exchange that plain handlers use, the line that accepts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <martlet/base/pool.hpp>
#include <martlet/net/listener.hpp>
#include <martlet/net/tcp_stream.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/server/detail/http1_connection.hpp>
#include <martlet/server/detail/http1_exchange.hpp>
#include <martlet/server/detail/shared.hpp>

namespace martlet::inline v0::server::detail {

/// Lives on one loop's thread. The loop outlives it.
class worker {
public:
    worker(loop& on, shared& common);
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;
    ~worker();

    /// Accepts from `from` from now on; it outlives the worker.
    result<void> listen(const net::listener& from);
    /// Serves a connection that somebody else has made. The worker takes `stream` over.
    void serve(std::unique_ptr<net::byte_stream> stream) noexcept;

    /// Takes a connection that was accepted, here or on another loop, and is counted already.
    void adopt(net::accepted& got) noexcept;
    /// The loops that a new connection may go to. Before the first connection, and then on the loop.
    void know(seat_list others) noexcept { seats_ = std::move(others); }
    const std::shared_ptr<seat>& place() const noexcept { return own_; }
    /// Looks at the listening sockets, though nothing was reported: another loop may have been told and has ended.
    void look() noexcept;
    /// Like drain, while other loops go on: connections that have sent nothing yet go to them.
    void retire(time_point deadline, void (*done)(void*) noexcept, void* data) noexcept;

    /// Accepts no more, ends what is idle, and calls `done(data)` on the loop once nothing is left, at the latest a little after `deadline`.
    void drain(time_point deadline, void (*done)(void*) noexcept, void* data) noexcept;
    /// Ends everything now.
    void force() noexcept;
    bool is_draining() const noexcept { return draining_; }
    /// Nobody watches, no handler may be left behind by its loop, the server does not stop.
    bool is_simple() const noexcept { return watcher == nullptr && !on.allows_hand_over() && !draining_; }
    std::size_t connections() const noexcept { return connection_count_; }

    /// The server holds too much: the slowest of this loop's connections give up what they hold, soon.
    void relieve_later() noexcept {
        if (!relief_.is_linked()) on.ready(relief_);
    }

    /// Called by a connection that has ended.
    void free(http1_connection& ended, close_reason why) noexcept;

    /// Server and Date, right for this turn.
    const http1::response_prefix& prefix() noexcept {
        if (on.now() >= next_second_) [[unlikely]]
            refresh_prefix();
        return prefix_;
    }

    loop& on;
    shared& common;
    const limits& bounds;
    observer* const watcher;
    std::vector<http1::field_record> records;
    http1_exchange plain;
    local_table locals;
    loop_handle home;
    buffered_bytes_share held;

private:
    class accept_line;
    class relief : public ready_node {
    public:
        explicit relief(worker& of) noexcept
            : ready_node([](ready_node& node) noexcept { static_cast<relief&>(node).of.relieve(); }), of(of) {}
        worker& of;
    };
    class alarm : public timer_node {
    public:
        alarm(worker& of, expired_function expired) noexcept : timer_node(expired), of(of) {}
        worker& of;
    };
    /// A connection and the stream of an accepted socket, side by side in one block.
    struct pair_block;

    void accept_from(accept_line& line) noexcept;
    void take(net::accepted& got, bool over_limit) noexcept;
    void seat_somewhere(net::accepted& got) noexcept;
    void begin(http1_connection& added, bool over_limit) noexcept;
    bool admit() noexcept;
    bool may_refuse_aloud() noexcept;
    void uncount() noexcept;
    void move_away(http1_connection& fresh) noexcept;
    void dispose(http1_connection& ended) noexcept;
    void relieve() noexcept;
    void check_drained() noexcept;
    void drained() noexcept;
    void refresh_prefix() noexcept;

    http1::response_prefix prefix_;
    time_point next_second_{};
    block_pool pairs_;
    std::vector<std::unique_ptr<accept_line>> lines_;
    list<http1_connection, connection_tag> connections_;
    std::size_t connection_count_ = 0;
    std::shared_ptr<seat> own_;
    seat_list seats_;
    time_point refusals_since_{};
    std::uint32_t refusals_ = 0;
    relief relief_{*this};
    alarm drain_alarm_;
    void (*drained_)(void*) noexcept = nullptr;
    void* drained_data_ = nullptr;
    bool draining_ = false;
};

}  // namespace martlet::inline v0::server::detail
