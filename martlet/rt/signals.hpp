// signal_set: signals as something to await, through a signal descriptor. No handler runs, and dispositions are left alone.
#pragma once

#include <concepts>
#include <span>

#include <martlet/base/result.hpp>
#include <martlet/rt/polled_operation.hpp>

namespace martlet::inline v0 {

/// Blocks its signals for the thread that makes it, and gives them out one by one. Made before other threads start, which then inherit
/// the block: a signal that some thread does not block goes there instead. Destroyed by the same thread.
class signal_set {
public:
    class [[nodiscard]] next_operation final : public polled_operation {
    public:
        next_operation(next_operation&&) noexcept = default;
        result<int> finish() const noexcept;

    private:
        friend class signal_set;
        explicit next_operation(signal_set& of) noexcept;
        static bool attempt(polled_operation& base) noexcept;
        int outcome_ = 0;
    };

    /// Throws std::system_error when the kernel refuses.
    signal_set(loop& on, std::span<const int> numbers);
    template <std::same_as<int>... N>
    explicit signal_set(loop& on, int first, N... more)
        : signal_set(on, std::span<const int>(numbers_of<1 + sizeof...(N)>{first, more...}.all)) {}
    signal_set(const signal_set&) = delete;
    signal_set& operator=(const signal_set&) = delete;
    /// Puts back the thread's signal mask. What came and was never asked for is dropped.
    ~signal_set();

    /// To be awaited: the number of the next signal. Signals of one number that came together may be given once.
    next_operation next() noexcept { return next_operation(*this); }

private:
    template <std::size_t Count>
    struct numbers_of {
        int all[Count];
    };

    pollable signals_;
    alignas(8) unsigned char mask_[128];
};

}  // namespace martlet::inline v0
