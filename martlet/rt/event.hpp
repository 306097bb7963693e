// event: one side says that something has happened, others wait for it. On one loop.
#pragma once

#include <martlet/base/list.hpp>
#include <martlet/base/result.hpp>
#include <martlet/rt/operation.hpp>

namespace martlet::inline v0 {

namespace detail {

struct queue_tag;

/// An operation that waits in somebody's queue. Its queue outlives it.
class queued_operation : public operation, public list_hook<queue_tag> {
public:
    queued_operation(queued_operation&& other) noexcept : operation(std::move(other)) {}
    result<void> finish() const noexcept { return result_; }

protected:
    explicit queued_operation(cancelled_function when_cancelled = &queued_operation::cancelled) noexcept : operation(when_cancelled) {}

    bool refuse_if_cancelled(context& in) noexcept {
        result_ = in.is_cancelled() ? result<void>(failure(in.why())) : result<void>();
        return !result_;
    }
    void grant() noexcept { complete(); }
    void refuse(error why) noexcept {
        result_ = failure(why);
        complete();
    }

    static void cancelled(operation& base, error why) noexcept {
        auto& self = static_cast<queued_operation&>(base);
        self.list_hook<queue_tag>::unlink();
        self.refuse(why);
    }

    result<void> result_;
};

}  // namespace detail

/// Set or not. Setting it lets all who wait go on, and later ones pass until reset().
class event {
public:
    class [[nodiscard]] wait_operation final : public detail::queued_operation {
    public:
        bool start(context& in, std::coroutine_handle<> awaiter) noexcept {
            if (of_.set_) {
                result_ = {};
                return false;
            }
            if (refuse_if_cancelled(in)) return false;
            of_.waiting_.push_back(*this);
            suspend(in, awaiter);
            return true;
        }

    private:
        friend class event;
        explicit wait_operation(event& of) noexcept : of_(of) {}
        event& of_;
    };

    event() noexcept = default;
    event(const event&) = delete;
    event& operator=(const event&) = delete;

    bool is_set() const noexcept { return set_; }
    void set() noexcept {
        set_ = true;
        while (wait_operation* waiting = waiting_.pop_front()) waiting->grant();
    }
    void reset() noexcept { set_ = false; }
    /// To be awaited: succeeds when the event is set, fails when cancelled first.
    wait_operation wait() noexcept { return wait_operation(*this); }

private:
    bool set_ = false;
    list<wait_operation, detail::queue_tag> waiting_;
};

}  // namespace martlet::inline v0
