#include <martlet/rt/files.hpp>

#include <cerrno>

#include <martlet/rt/blocking_pool.hpp>

namespace martlet::inline v0 {

// All of these functions named *_now block, and run on a thread of the pool.
namespace {

result<descriptor> open_now(const std::string& path, file_mode mode) {
    // The system would read the name up to there, and open another file.
    if (path.find('\0') != path.npos) return failure(error::system(ENOENT));
    int opened;
    do {
        opened = kernel::file_open(path.c_str(), mode);
    } while (opened == -EINTR);
    if (opened < 0) return failure(error::system(-opened));
    return descriptor(opened);
}

result<std::size_t> read_now(const descriptor& from, std::span<char> out, std::int64_t offset) {
    std::size_t done = 0;
    while (done < out.size()) {
        const std::ptrdiff_t got =
            kernel::file_read_at(from, out.data() + done, out.size() - done, offset + static_cast<std::int64_t>(done));
        if (got == -EINTR) continue;
        if (got < 0) return failure(error::system(static_cast<int>(-got)));
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

// `offset` below zero: at the file's own position.
result<void> write_now(const descriptor& to, std::string_view data, std::int64_t offset) {
    while (!data.empty()) {
        const std::ptrdiff_t put =
            offset < 0 ? kernel::write(to, data.data(), data.size()) : kernel::file_write_at(to, data.data(), data.size(), offset);
        if (put == -EINTR) continue;
        if (put < 0) return failure(error::system(static_cast<int>(-put)));
        data.remove_prefix(static_cast<std::size_t>(put));
        if (offset >= 0) offset += put;
    }
    return {};
}

result<void> checked(int code) {
    if (code < 0) return failure(error::system(-code));
    return {};
}

result<std::string> read_whole_now(const std::string& path, std::size_t bytes_max) {
    const result<descriptor> opened = open_now(path, file_mode::read);
    if (!opened) return failure(opened.error());
    file_facts facts{};
    const result<void> known = checked(kernel::file_stat(*opened, &facts));
    if (!known) return failure(known.error());
    if (facts.is_directory) return failure(error::system(EISDIR));
    // Files of the kernel's own say 0 and hold more, and a file may grow meanwhile: the end is where a read finds it. One byte more than
    // expected finds it in the first read.
    std::string content;
    const std::size_t expected = facts.size > 0 ? static_cast<std::size_t>(facts.size) : 0;
    if (expected > bytes_max) return failure(error::system(EFBIG));
    std::size_t room = expected + 1;
    for (;;) {
        const std::size_t before = content.size();
        content.resize(before + room);
        const auto got = read_now(*opened, std::span<char>(content).subspan(before), static_cast<std::int64_t>(before));
        if (!got) return failure(got.error());
        content.resize(before + *got);
        if (content.size() > bytes_max) return failure(error::system(EFBIG));
        if (*got < room) return content;
        const std::size_t left = bytes_max - content.size() + 1;
        room = left < 64 * 1024 ? left : 64 * 1024;
    }
}

}  // namespace

task<result<file>> file::open(blocking_pool& pool, std::string path, file_mode mode) {
    auto opened = co_await run_blocking(pool, [&path, mode] { return open_now(path, mode); });
    if (!opened) co_return failure(opened.error());
    co_return file(pool, std::move(*opened));
}

task<result<std::size_t>> file::read_at(std::span<char> out, std::int64_t offset) {
    co_return co_await run_blocking(*pool_, [this, out, offset] { return read_now(fd_, out, offset); });
}

task<result<void>> file::write_at(std::string_view data, std::int64_t offset) {
    if (offset < 0) co_return failure(error::system(EINVAL));
    co_return co_await run_blocking(*pool_, [this, data, offset] { return write_now(fd_, data, offset); });
}

task<result<void>> file::write(std::string_view data) {
    co_return co_await run_blocking(*pool_, [this, data] { return write_now(fd_, data, -1); });
}

task<result<file_facts>> file::stat() {
    file_facts facts{};
    const auto known = co_await run_blocking(*pool_, [this, &facts] { return checked(kernel::file_stat(fd_, &facts)); });
    if (!known) co_return failure(known.error());
    co_return facts;
}

task<result<void>> file::sync() {
    co_return co_await run_blocking(*pool_, [this] {
        int code;
        do {
            code = kernel::file_sync(fd_);
        } while (code == -EINTR);
        return checked(code);
    });
}

task<result<std::string>> read_file(blocking_pool& pool, std::string path, std::size_t bytes_max) {
    co_return co_await run_blocking(pool, [&path, bytes_max] { return read_whole_now(path, bytes_max); });
}

task<result<void>> write_file(blocking_pool& pool, std::string path, std::string_view content) {
    co_return co_await run_blocking(pool, [&path, content]() -> result<void> {
        const result<descriptor> opened = open_now(path, file_mode::write_truncate);
        if (!opened) return failure(opened.error());
        return write_now(*opened, content, 0);
    });
}

}  // namespace martlet::inline v0
