#include <martlet/rt/pipes.hpp>

#include <cerrno>

#include <martlet/rt/kernel.hpp>
#include <martlet/rt/sigpipe.hpp>

namespace martlet::inline v0 {

namespace {

result<void> open_end(pollable& into, loop& on, descriptor end) noexcept {
    int code = kernel::set_nonblocking(end);
    if (code >= 0) code = into.open(on, std::move(end));
    if (code < 0) return failure(error::system(-code));
    return {};
}

}  // namespace

result<void> pipe_reader::open(loop& on, descriptor end) noexcept { return open_end(pipe_, on, std::move(end)); }
result<void> pipe_writer::open(loop& on, descriptor end) noexcept { return open_end(pipe_, on, std::move(end)); }

pipe_reader::read_operation::read_operation(pollable& of, std::span<char> out) noexcept
    : polled_operation(of, direction::reading, &read_operation::attempt), out_(out) {}

bool pipe_reader::read_operation::attempt(polled_operation& base) noexcept {
    auto& self = static_cast<read_operation&>(base);
    do {
        self.outcome_ = kernel::read(self.polled().fd(), self.out_.data(), self.out_.size());
    } while (self.outcome_ == -EINTR);
    if (self.outcome_ != -EAGAIN) return true;
    self.polled().drained();
    return false;
}

result<std::size_t> pipe_reader::read_operation::finish() const noexcept {
    if (stopped()) return failure(*stopped());
    if (outcome_ < 0) return failure(error::system(static_cast<int>(-outcome_)));
    return static_cast<std::size_t>(outcome_);
}

task<result<std::string>> pipe_reader::read_all(std::size_t bytes_max) {
    constexpr std::size_t step = 16 * 1024;
    std::string all;
    for (;;) {
        const std::size_t before = all.size();
        // One byte beyond the limit tells that there is more.
        const std::size_t left = bytes_max - before + 1;
        all.resize(before + (left < step ? left : step));
        const auto got = co_await read(std::span<char>(all).subspan(before));
        if (!got) co_return failure(got.error());
        all.resize(before + *got);
        if (*got == 0) co_return all;
        if (all.size() > bytes_max) co_return failure(error::system(EFBIG));
    }
}

pipe_writer::write_operation::write_operation(pollable& of, std::string_view data) noexcept
    : polled_operation(of, direction::writing, &write_operation::attempt), left_(data) {}

std::ptrdiff_t pipe_writer::write_operation::write_some() const noexcept {
    if (polled().owner().blocks_sigpipe()) return kernel::write(polled().fd(), left_.data(), left_.size());
    const sigpipe_guard blocked;
    return kernel::write(polled().fd(), left_.data(), left_.size());
}

bool pipe_writer::write_operation::attempt(polled_operation& base) noexcept {
    auto& self = static_cast<write_operation&>(base);
    while (!self.left_.empty()) {
        const std::ptrdiff_t put = self.write_some();
        if (put == -EINTR) continue;
        if (put == -EAGAIN) {
            self.polled().filled();
            return false;
        }
        if (put < 0) {
            self.failed_ = static_cast<int>(-put);
            return true;
        }
        self.written_ += static_cast<std::size_t>(put);
        self.left_.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
}

result<std::size_t> pipe_writer::write_operation::finish() const noexcept {
    if (written_ == 0) {
        if (stopped()) return failure(*stopped());
        if (failed_ != 0) return failure(error::system(failed_));
    }
    return written_;
}

}  // namespace martlet::inline v0
