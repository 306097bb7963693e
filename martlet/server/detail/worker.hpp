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

    /// Accepts no more, ends what is idle, and calls `done(data)` on the loop once nothing is left, at the latest a little after `deadline`.
    void drain(time_point deadline, void (*done)(void*) noexcept, void* data) noexcept;
    /// Ends everything now.
    void force() noexcept;
    bool is_draining() const noexcept { return draining_; }
    /// Nobody watches, no handler may be left behind by its loop, the server does not stop.
    bool is_simple() const noexcept { return watcher == nullptr && !on.allows_hand_over() && !draining_; }
    std::size_t connections() const noexcept { return connection_count_; }

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

private:
    class accept_line;
    class alarm : public timer_node {
    public:
        alarm(worker& of, expired_function expired) noexcept : timer_node(expired), of(of) {}
        worker& of;
    };
    /// A connection and the stream of an accepted socket, side by side in one block.
    struct pair_block;

    void accept_from(accept_line& line) noexcept;
    void adopt(net::accepted& got) noexcept;
    void begin(http1_connection& added) noexcept;
    bool admit() noexcept;
    void check_drained() noexcept;
    void drained() noexcept;
    void refresh_prefix() noexcept;

    http1::response_prefix prefix_;
    time_point next_second_{};
    block_pool pairs_;
    std::vector<std::unique_ptr<accept_line>> lines_;
    list<http1_connection, connection_tag> connections_;
    std::size_t connection_count_ = 0;
    alarm drain_alarm_;
    void (*drained_)(void*) noexcept = nullptr;
    void* drained_data_ = nullptr;
    bool draining_ = false;
};

}  // namespace martlet::inline v0::server::detail
