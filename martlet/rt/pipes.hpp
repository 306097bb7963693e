// One end of a pipe, to be read or written by coroutines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <martlet/base/result.hpp>
#include <martlet/rt/polled_operation.hpp>
#include <martlet/rt/task.hpp>

namespace martlet::inline v0 {

/// One reader at a time. Closed while it waits, it gets EBADF.
class pipe_reader {
public:
    class [[nodiscard]] read_operation final : public polled_operation {
    public:
        read_operation(read_operation&&) noexcept = default;
        result<std::size_t> finish() const noexcept;

    private:
        friend class pipe_reader;
        read_operation(pollable& of, std::span<char> out) noexcept;
        static bool attempt(polled_operation& base) noexcept;
        std::span<char> out_;
        std::ptrdiff_t outcome_ = 0;
    };

    pipe_reader() noexcept = default;
    /// Takes over the reading end; makes it non-blocking.
    result<void> open(loop& on, descriptor end) noexcept;
    bool is_open() const noexcept { return pipe_.is_open(); }
    void close() noexcept { pipe_.close(); }

    /// To be awaited: some bytes as soon as there are any; 0 at the end, when no writer is left.
    read_operation read(std::span<char> out) noexcept { return {pipe_, out}; }
    /// Everything up to the end. More than `bytes_max` is the error EFBIG.
    task<result<std::string>> read_all(std::size_t bytes_max);

private:
    pollable pipe_;
};

/// One writer at a time. Closed while it waits, it gets EBADF or what was written.
class pipe_writer {
public:
    class [[nodiscard]] write_operation final : public polled_operation {
    public:
        write_operation(write_operation&&) noexcept = default;
        result<std::size_t> finish() const noexcept;

    private:
        friend class pipe_writer;
        write_operation(pollable& of, std::string_view data) noexcept;
        static bool attempt(polled_operation& base) noexcept;
        std::ptrdiff_t write_some() const noexcept;
        std::string_view left_;
        std::size_t written_ = 0;
        int failed_ = 0;
    };

    pipe_writer() noexcept = default;
    /// Takes over the writing end; makes it non-blocking.
    result<void> open(loop& on, descriptor end) noexcept;
    bool is_open() const noexcept { return pipe_.is_open(); }
    /// The reader then finds the end.
    void close() noexcept { pipe_.close(); }

    /// To be awaited: writes all of `data`, which is borrowed; the number of bytes written. Fewer than all only when something ended it after
    /// some had been written. EPIPE when no reader is left; SIGPIPE is never raised.
    write_operation write(std::string_view data) noexcept { return {pipe_, data}; }

private:
    pollable pipe_;
};

}  // namespace martlet::inline v0
