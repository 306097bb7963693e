#include <martlet/rt/signals.hpp>

#include <cerrno>
#include <system_error>

#include <martlet/rt/kernel.hpp>

namespace martlet::inline v0 {

namespace {

[[noreturn]] void refuse(int negated_errno) { throw std::system_error(-negated_errno, std::generic_category(), "signalfd"); }

int next_number(const descriptor& of) noexcept {
    int number;
    do {
        number = kernel::signals_next(of);
    } while (number == -EINTR);
    return number;
}

}  // namespace

signal_set::signal_set(loop& on, std::span<const int> numbers) {
    const int opened = kernel::signals_open(numbers.data(), numbers.size(), mask_);
    if (opened < 0) refuse(opened);
    const int added = signals_.open(on, descriptor(opened));
    if (added < 0) {
        kernel::signals_restore(mask_);
        refuse(added);
    }
}

signal_set::~signal_set() {
    MARTLET_ASSERT(!signals_.is_armed(direction::reading), "a signal_set must outlive those who wait for its signals");
    // Unblocked, a signal that is still pending would act on the process after all.
    while (next_number(signals_.fd()) > 0) {
    }
    signals_.close();
    kernel::signals_restore(mask_);
}

signal_set::next_operation::next_operation(signal_set& of) noexcept
    : polled_operation(of.signals_, direction::reading, &next_operation::attempt) {}

bool signal_set::next_operation::attempt(polled_operation& base) noexcept {
    auto& self = static_cast<next_operation&>(base);
    self.outcome_ = next_number(self.polled().fd());
    if (self.outcome_ != -EAGAIN) return true;
    self.polled().drained();
    return false;
}

result<int> signal_set::next_operation::finish() const noexcept {
    if (stopped()) return failure(*stopped());
    if (outcome_ < 0) return failure(error::system(-outcome_));
    return outcome_;
}

}  // namespace martlet::inline v0
