// Files, read and written by the blocking pool: a file is always "ready", so a loop cannot wait for one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <martlet/base/result.hpp>
#include <martlet/rt/descriptor.hpp>
#include <martlet/rt/kernel.hpp>
#include <martlet/rt/task.hpp>

namespace martlet::inline v0 {

class blocking_pool;

/// `read`, `write_truncate`, `append` or `read_write`. All but `read` make the file if there is none (mode 0666 less the umask).
using file_mode = kernel::open_mode;
using file_facts = kernel::file_facts;

/// An open file. Operations borrow it, and the bytes they are given, until they have ended; once the work has begun, cancelling waits for
/// its end and gives its result. The pool outlives the file.
class file {
public:
    /// An empty one.
    file() noexcept = default;
    file(file&& other) noexcept : pool_(other.pool_), fd_(std::move(other.fd_)) {}
    file& operator=(file&& other) noexcept {
        pool_ = other.pool_;
        fd_ = std::move(other.fd_);
        return *this;
    }

    static task<result<file>> open(blocking_pool& pool, std::string path, file_mode mode);

    /// Fills `out` from `offset` on; fewer bytes only at the end of the file.
    task<result<std::size_t>> read_at(std::span<char> out, std::int64_t offset);
    /// Writes all of `data`. After an error a part of it may have been written.
    task<result<void>> write_at(std::string_view data, std::int64_t offset);
    /// Writes all of `data` at the file's own position: its end, when opened to append.
    task<result<void>> write(std::string_view data);
    task<result<file_facts>> stat();
    /// Returns when the file's data has reached the disk (fsync).
    task<result<void>> sync();

    bool is_open() const noexcept { return fd_.is_open(); }
    const descriptor& fd() const noexcept { return fd_; }
    void close() noexcept { fd_.close(); }
    /// Gives the descriptor away.
    descriptor release() noexcept { return std::move(fd_); }

private:
    file(blocking_pool& pool, descriptor fd) noexcept : pool_(&pool), fd_(std::move(fd)) {}

    blocking_pool* pool_ = nullptr;
    descriptor fd_;
};

/// All of the file at `path`. More than `bytes_max` is the error EFBIG.
task<result<std::string>> read_file(blocking_pool& pool, std::string path, std::size_t bytes_max);
/// Makes the file at `path` hold `content`, which is borrowed. After an error, or a crash, it may hold a part.
task<result<void>> write_file(blocking_pool& pool, std::string path, std::string_view content);

}  // namespace martlet::inline v0
