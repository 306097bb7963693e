// semaphore: a number of permits, waited for in order of arrival. On one loop.
#pragma once

#include <cstddef>
#include <utility>

#include <martlet/base/result.hpp>
#include <martlet/rt/event.hpp>

namespace martlet::inline v0 {

class semaphore;

/// One permit; given back when destroyed.
class [[nodiscard]] permit {
public:
    permit() noexcept = default;
    permit(permit&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    permit& operator=(permit&& other) noexcept {
        std::swap(of_, other.of_);
        return *this;
    }
    ~permit();
    explicit operator bool() const noexcept { return of_ != nullptr; }

private:
    friend class semaphore;
    explicit permit(semaphore& of) noexcept : of_(&of) {}
    semaphore* of_ = nullptr;
};

class semaphore {
public:
    class [[nodiscard]] acquire_operation final : public detail::queued_operation {
    public:
        bool start(context& in, std::coroutine_handle<> awaiter) noexcept {
            if (refuse_if_cancelled(in)) return false;
            if (of_.free_ > 0 && of_.waiting_.empty()) {
                --of_.free_;
                given_ = permit(of_);
                return false;
            }
            of_.waiting_.push_back(*this);
            suspend(in, awaiter);
            return true;
        }
        result<permit> finish() noexcept {
            if (!result_) return failure(result_.error());
            return std::move(given_);
        }

    private:
        friend class semaphore;
        explicit acquire_operation(semaphore& of) noexcept : of_(of) {}
        semaphore& of_;
        permit given_;
    };

    explicit semaphore(std::size_t permits) noexcept : free_(permits) {}
    semaphore(const semaphore&) = delete;
    semaphore& operator=(const semaphore&) = delete;

    /// To be awaited: a permit, in order of arrival. Fails only when cancelled.
    acquire_operation acquire() noexcept { return acquire_operation(*this); }
    /// A permit now, or an empty one.
    permit try_acquire() noexcept {
        if (free_ == 0 || !waiting_.empty()) return {};
        --free_;
        return permit(*this);
    }
    std::size_t free_permits() const noexcept { return free_; }

private:
    friend class permit;
    void give_back() noexcept {
        if (acquire_operation* next = waiting_.pop_front()) {
            // Straight to the one that waits longest: a newcomer cannot take it in between.
            next->given_ = permit(*this);
            next->grant();
        } else {
            ++free_;
        }
    }

    std::size_t free_;
    list<acquire_operation, detail::queue_tag> waiting_;
};

inline permit::~permit() {
    if (of_ != nullptr) of_->give_back();
}

}  // namespace martlet::inline v0
