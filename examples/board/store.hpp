// store: the messages, in a file of SQLite. SQLite blocks, so it is used from the one thread of a pool, and no lock is needed.
#pragma once

#include <martlet/rt.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "message.hpp"

namespace board {

class store {
public:
    /// Called with each new message, in the order of ids, on the store's thread. It must not throw.
    using listener = std::function<void(const message&)>;

    store();
    store(const store&) = delete;
    store& operator=(const store&) = delete;
    /// Waits for what is being written.
    ~store();

    /// Opens `file`, and makes it when there is none; waits while another program, such as the one before, still uses it. Called once,
    /// before anything else. what() says what was wrong.
    martlet::result<void> open(const std::string& file, std::chrono::milliseconds busy_timeout = std::chrono::seconds(5));
    const std::string& what() const noexcept { return what_; }
    /// Before the first add().
    void listen(listener to) { told_ = std::move(to); }

    /// Posts a message, which then has an id and a time. It is on the disk when this succeeds, and what has been begun is not cancelled.
    martlet::task<martlet::result<message>> add(const draft& what);
    /// Up to `count_max` messages whose id is greater than `id`, oldest first.
    martlet::task<martlet::result<std::vector<message>>> after(std::int64_t id, int count_max);
    /// The newest `count_max`, oldest first.
    martlet::task<martlet::result<std::vector<message>>> newest(int count_max);

private:
    class database;

    std::unique_ptr<database> in_;
    listener told_;
    std::string what_;
    martlet::blocking_pool pool_;  // ends before the database that its thread uses
};

/// The codes of SQLite. A full disk or a busy file answers 503: the same may succeed later.
extern const martlet::error_category sqlite_category;

}  // namespace board
