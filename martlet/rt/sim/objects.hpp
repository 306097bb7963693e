// The simulated descriptors that are no sockets: pipes, eventfds, signalfds, files in memory and scripted processes.
#pragma once

#include <csignal>
#include <cstdint>
#include <memory>
#include <string>

#include <martlet/rt/sim/object.hpp>
#include <martlet/rt/sim/world.hpp>

namespace martlet::inline v0::sim {

class event_counter final : public object {
public:
    std::uint32_t poll() override { return (count_ > 0 ? kernel::poll_in : 0) | (count_ < count_max ? kernel::poll_out : 0); }
    std::ptrdiff_t read(void* out, std::size_t size) override;
    std::ptrdiff_t write(const void* data, std::size_t size) override;
    void signal();
    void drain();

private:
    static constexpr std::uint64_t count_max = UINT64_MAX - 1;
    std::uint64_t count_ = 0;
};

/// What the two ends share.
struct pipe_buffer {
    static constexpr std::size_t capacity = 64 * 1024;
    static constexpr std::size_t atomic_bytes = 4096;
    std::string bytes;
    object* reader = nullptr;
    object* writer = nullptr;
};

class pipe_reader final : public object {
public:
    explicit pipe_reader(std::shared_ptr<pipe_buffer> buffer, bool nonblocking) : buffer_(std::move(buffer)), nonblocking_(nonblocking) {
        buffer_->reader = this;
    }
    std::uint32_t poll() override;
    std::ptrdiff_t read(void* out, std::size_t size) override;
    void released() override;
    void set_nonblocking() override { nonblocking_ = true; }

private:
    std::shared_ptr<pipe_buffer> buffer_;
    bool nonblocking_;
};

class pipe_writer final : public object {
public:
    explicit pipe_writer(std::shared_ptr<pipe_buffer> buffer, bool nonblocking) : buffer_(std::move(buffer)), nonblocking_(nonblocking) {
        buffer_->writer = this;
    }
    std::uint32_t poll() override;
    std::ptrdiff_t write(const void* data, std::size_t size) override;
    void released() override;
    void set_nonblocking() override { nonblocking_ = true; }

private:
    std::shared_ptr<pipe_buffer> buffer_;
    bool nonblocking_;
};

class signal_source final : public object {
public:
    signal_source(const int* numbers, std::size_t count);
    std::uint32_t poll() override { return (pending_ & wanted_) != 0 ? kernel::poll_in : 0; }
    void released() override;
    void raise(int number);
    /// The lowest pending one, or -EAGAIN.
    int next();

private:
    std::uint64_t wanted_ = 0;
    std::uint64_t pending_ = 0;
};

void raise_signal(world& in, int number);

class open_file final : public object {
public:
    open_file(std::shared_ptr<file_node> node, kernel::open_mode mode) : node_(std::move(node)), mode_(mode) {}
    // Linux refuses regular files in an epoll; the seam's epoll_add asks with dynamic_cast.
    std::uint32_t poll() override { return kernel::poll_in | kernel::poll_out; }
    std::ptrdiff_t read(void* out, std::size_t size) override;
    std::ptrdiff_t write(const void* data, std::size_t size) override;
    std::ptrdiff_t read_at(void* out, std::size_t size, std::int64_t offset) const;
    std::ptrdiff_t write_at(const void* data, std::size_t size, std::int64_t offset);
    const file_node& node() const noexcept { return *node_; }
    bool is_readable() const noexcept { return mode_ == kernel::open_mode::read || mode_ == kernel::open_mode::read_write; }

private:
    std::shared_ptr<file_node> node_;
    kernel::open_mode mode_;
    std::size_t position_ = 0;
};

/// Lives by its script. The descriptors that it inherited stay open until it ends.
class process final : public object, public std::enable_shared_from_this<process> {
public:
    process(const process_script& script, std::shared_ptr<object> input, std::shared_ptr<object> output, std::shared_ptr<object> error);
    std::uint32_t poll() override { return ended_ ? kernel::poll_in : 0; }
    void start();
    int signal(int number);
    /// As kernel::process_reap.
    int reap(int* status);

private:
    void work();
    void end(int status);

    process_script script_;
    std::shared_ptr<object> inherited_[3];
    std::string unwritten_;
    bool input_ended_ = false;
    bool ended_ = false;
    bool reaped_ = false;
    int status_ = 0;
};

}  // namespace martlet::inline v0::sim
