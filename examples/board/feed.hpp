// feed: brings each new message to the streams of all loops. A stream is a place in the store, not a queue: one that is slow, or that was
// away, reads what it missed from there.
#pragma once

#include <martlet/rt.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "message.hpp"
#include "store.hpp"

namespace board {

/// A message as the streams send it.
class notice {
public:
    explicit notice(const message& m);
    std::int64_t id() const noexcept { return id_; }
    const std::string& json() const noexcept { return json_; }

private:
    std::int64_t id_;
    std::string json_;
};

using notices = std::vector<std::shared_ptr<const notice>>;

/// The newest messages, as one loop has heard of them. Belongs to that loop.
class tail {
public:
    static constexpr std::size_t kept_max = 256;

    /// What came after message `id`, in order; false when it does not reach back so far, and the store must be asked.
    bool after(std::int64_t id, notices& out) const;
    /// Counts what was heard.
    std::uint64_t heard() const noexcept { return heard_; }
    /// To be awaited: until something is heard.
    martlet::event::wait_operation changed() noexcept { return changed_.wait(); }

    /// `previous` is the id of the message before `next`: what lies between two that are known, is known.
    void add(std::int64_t previous, std::shared_ptr<const notice> next) noexcept;

private:
    std::array<std::shared_ptr<const notice>, kept_max> kept_;  // a ring: number i of what was heard is at i % kept_max
    std::uint64_t first_ = 0;                                   // the oldest that is still known
    std::uint64_t heard_ = 0;
    martlet::event changed_;
};

/// Shared by all loops.
class feed {
public:
    /// A tail for `on`. It hears of all that is published from now on, for as long as somebody holds it.
    std::shared_ptr<tail> join(const martlet::loop& on);
    /// Tells all tails, from any thread. Messages come in the order of their ids.
    void publish(const message& m) noexcept;

private:
    struct member {
        martlet::loop_handle home;
        std::weak_ptr<tail> at;
    };

    std::mutex lock_;
    std::vector<member> members_;
    std::int64_t previous_ = 0;
};

/// What came after message `place`, from the tail or, where that does not reach back so far, from the store. Waits until there is something.
martlet::task<martlet::result<notices>> news_after(std::int64_t place, tail& latest, store& messages);

}  // namespace board
