// channel: a bounded queue between tasks of one loop. A full one makes senders wait, an empty one receivers.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <type_traits>
#include <utility>

#include <martlet/base/result.hpp>
#include <martlet/rt/event.hpp>

namespace martlet::inline v0 {

/// What sending to, or receiving from, a closed and emptied channel fails with.
extern const error channel_closed;

/// Values arrive in the order in which they were sent; those who wait are served in order of arrival. Nothing that was accepted is lost:
/// a receiver that is cancelled after a value was handed to it still gets it.
template <class T>
class channel {
    static_assert(std::is_nothrow_move_constructible_v<T>, "a value that fails to move could be lost on its way");

public:
    class [[nodiscard]] send_operation final : public detail::queued_operation {
    public:
        send_operation(send_operation&& other) : queued_operation(std::move(other)), of_(other.of_), value_(std::move(other.value_)) {}
        bool start(context& in, std::coroutine_handle<> awaiter) {
            if (refuse_if_cancelled(in)) return false;
            if (of_.closed_) {
                result_ = failure(channel_closed);
                return false;
            }
            if (of_.try_send(value_)) return false;
            of_.senders_.push_back(*this);
            suspend(in, awaiter);
            return true;
        }
        /// The value, when it was not accepted.
        T& value() noexcept { return value_; }

    private:
        friend class channel;
        send_operation(channel& of, T&& value) : of_(of), value_(std::move(value)) {}
        channel& of_;
        T value_;
    };

    class [[nodiscard]] receive_operation final : public detail::queued_operation {
    public:
        receive_operation(receive_operation&& other) noexcept : queued_operation(std::move(other)), of_(other.of_) {}
        bool start(context& in, std::coroutine_handle<> awaiter) {
            if (refuse_if_cancelled(in)) return false;
            value_ = of_.try_receive();
            if (value_) return false;
            if (of_.closed_) {
                result_ = failure(channel_closed);
                return false;
            }
            of_.receivers_.push_back(*this);
            suspend(in, awaiter);
            return true;
        }
        result<T> finish() {
            if (!value_) return failure(result_.error());
            return std::move(*value_);
        }

    private:
        friend class channel;
        explicit receive_operation(channel& of) noexcept : of_(of) {}
        channel& of_;
        std::optional<T> value_;
    };

    /// Holds up to `capacity` values between senders and receivers; 0 hands each over directly.
    explicit channel(std::size_t capacity) : capacity_(capacity) {}
    channel(const channel&) = delete;
    channel& operator=(const channel&) = delete;

    /// To be awaited: succeeds when the value was accepted.
    send_operation send(T value) { return send_operation(*this, std::move(value)); }
    /// To be awaited: the next value; `channel_closed` when there will be none.
    receive_operation receive() noexcept { return receive_operation(*this); }

    /// Takes `value` if there is room or a receiver, else leaves it alone and returns false.
    bool try_send(T& value) {
        if (closed_) return false;
        if (receive_operation* waiting = receivers_.pop_front()) {
            waiting->value_.emplace(std::move(value));
            waiting->grant();
            return true;
        }
        if (held_.size() >= capacity_) return false;
        held_.push_back(std::move(value));
        return true;
    }
    std::optional<T> try_receive() {
        std::optional<T> out;
        if (!held_.empty()) {
            // First what may fail: without memory nothing has changed.
            if (!senders_.empty()) held_.push_back(std::move(senders_.front().value_));
            out.emplace(std::move(held_.front()));
            held_.pop_front();
            if (send_operation* accepted = senders_.pop_front()) accepted->grant();
        } else if (send_operation* direct = senders_.pop_front()) {
            out.emplace(std::move(direct->value_));
            direct->grant();
        }
        return out;
    }

    /// Refuses what is sent from now on, and senders that wait; what was accepted can still be received.
    void close() noexcept {
        closed_ = true;
        while (send_operation* waiting = senders_.pop_front()) waiting->refuse(channel_closed);
        while (receive_operation* waiting = receivers_.pop_front()) waiting->refuse(channel_closed);
    }
    bool is_closed() const noexcept { return closed_; }
    std::size_t size() const noexcept { return held_.size(); }

private:
    std::size_t capacity_;
    bool closed_ = false;
    std::deque<T> held_;
    list<send_operation, detail::queue_tag> senders_;
    list<receive_operation, detail::queue_tag> receivers_;
};

}  // namespace martlet::inline v0
