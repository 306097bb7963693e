// options: where a server listens, with how many threads, and under which limits.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <martlet/base/time.hpp>
#include <martlet/server/limits.hpp>
#include <martlet/server/observer.hpp>

namespace martlet::inline v0::server {

/// Setters chain: options("127.0.0.1:8080").threads(4).
class options {
public:
    /// `address` is "127.0.0.1:8080", "[::1]:8080", ":8080" for all addresses of the machine, "unix:/path" or "unix:@name". Port 0 lets
    /// the system choose; http_server::addresses() tells what it chose. It is read when the server starts.
    explicit options(std::string_view address) { addresses_.emplace_back(address); }

    /// A further address to listen on.
    options& listen(std::string_view address) {
        addresses_.emplace_back(address);
        return *this;
    }
    /// Loops, each on a thread of its own. Default: 1. 0 takes one for each processor that this process may use.
    options& threads(unsigned count) noexcept {
        threads_ = count;
        return *this;
    }
    options& bounds(const limits& to) noexcept {
        bounds_ = to;
        return *this;
    }
    /// Told what happens; outlives the server.
    options& watch(observer& watcher) noexcept {
        watcher_ = &watcher;
        return *this;
    }
    /// Watches the loops from a thread of its own, and logs what holds one for `time` or longer: a handler by its route. Default: 0, no watching.
    options& report_stalls(duration time) noexcept {
        stall_time_ = time;
        return *this;
    }
    /// run() does not print where it listens.
    options& quiet(bool on = true) noexcept {
        quiet_ = on;
        return *this;
    }

    const std::vector<std::string>& addresses() const noexcept { return addresses_; }
    unsigned threads() const noexcept { return threads_; }
    const limits& bounds() const noexcept { return bounds_; }
    observer* watcher() const noexcept { return watcher_; }
    duration stall_time() const noexcept { return stall_time_; }
    bool is_quiet() const noexcept { return quiet_; }

private:
    std::vector<std::string> addresses_;
    unsigned threads_ = 1;
    limits bounds_;
    observer* watcher_ = nullptr;
    duration stall_time_ = duration::zero();
    bool quiet_ = false;
};

}  // namespace martlet::inline v0::server
