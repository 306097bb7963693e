// http_server: a server as an object, to be started, asked and stopped. run() wraps one for a whole program.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <martlet/base/result.hpp>
#include <martlet/base/time.hpp>
#include <martlet/rt/task.hpp>
#include <martlet/server/options.hpp>
#include <martlet/server/router.hpp>

namespace martlet::inline v0::server {

/// Numbers since the start, over all loops.
class statistics {
public:
    statistics(std::uint64_t accepted, std::uint64_t refused, std::uint32_t open) noexcept
        : accepted_(accepted), refused_(refused), open_(open) {}
    std::uint64_t connections_accepted() const noexcept { return accepted_; }
    /// Answered 503 or closed at once, because connections_max were open.
    std::uint64_t connections_refused() const noexcept { return refused_; }
    std::uint32_t connections_open() const noexcept { return open_; }

private:
    std::uint64_t accepted_;
    std::uint64_t refused_;
    std::uint32_t open_;
};

/// Listens from start() to stop(). start, serve and the destructor belong to one thread; the rest may be called from any.
class http_server {
public:
    /// `app` outlives the server and is not changed while it runs.
    http_server(const router& app, options how);
    http_server(const http_server&) = delete;
    http_server& operator=(const http_server&) = delete;
    /// Stops at once if it is running, and waits for the threads.
    ~http_server();

    /// Binds all addresses and starts `threads` threads. An error says what is wrong with which address (what()); nothing runs then.
    result<void> start();
    /// The same with `on`, which the caller runs, as the first of the loops; the others have threads. `on` outlives the server.
    result<void> start_on(loop& on);
    /// What kept start from succeeding, for a person.
    const std::string& what() const noexcept;

    /// Where it listens, ports that the system chose included.
    std::vector<std::string> addresses() const;
    statistics counts() const noexcept;

    /// Starts or ends loops until there are `count`, at least 1, while the server goes on: no connection that waits to be accepted is lost, and
    /// one that has not sent anything yet goes to another loop. On the others of a loop that ends, the answer to the request under way is
    /// the last; idle ones are closed. After start(); an error, as for start(), leaves as many as could be started. Any thread.
    result<void> threads(unsigned count);

    /// Accepts no more, closes idle connections, lets requests that are under way finish with `Connection: close`, and resets what is
    /// still open after limits::drain_timeout. Returns at once; the second call forces what the first left. Any thread, any number of times.
    void stop() noexcept;
    /// To be awaited on the loop given to start_on: until it has stopped. Does not end earlier when cancelled.
    task<void> stopped();
    /// Waits until it has stopped. Not on a thread that runs one of its loops.
    void wait() noexcept;
    bool is_running() const noexcept;

private:
    class state;
    std::unique_ptr<state> state_;
};

}  // namespace martlet::inline v0::server
