#include <martlet/rt/sim/objects.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace martlet::inline v0::sim {

std::ptrdiff_t event_counter::read(void* out, std::size_t size) {
    if (size < sizeof count_) return -EINVAL;
    if (count_ == 0) return -EAGAIN;
    std::memcpy(out, &count_, sizeof count_);
    drain();
    return sizeof count_;
}

std::ptrdiff_t event_counter::write(const void* data, std::size_t size) {
    std::uint64_t more;
    if (size < sizeof more) return -EINVAL;
    std::memcpy(&more, data, sizeof more);
    if (more > count_max || count_ > count_max - more) return -EAGAIN;
    count_ += more;
    wake(kernel::poll_in);
    return sizeof more;
}

void event_counter::signal() {
    const std::uint64_t one = 1;
    write(&one, sizeof one);
}

void event_counter::drain() {
    if (count_ == 0) return;
    count_ = 0;
    wake(kernel::poll_out);
}

std::uint32_t pipe_reader::poll() {
    return (buffer_->bytes.empty() ? 0 : kernel::poll_in) | (buffer_->writer == nullptr ? kernel::poll_hangup : 0);
}

std::ptrdiff_t pipe_reader::read(void* out, std::size_t size) {
    std::string& bytes = buffer_->bytes;
    if (bytes.empty()) {
        if (buffer_->writer == nullptr || size == 0) return 0;
        if (!nonblocking_) here().broken("nothing but epoll_wait blocks: this read of a blocking pipe would");
        return -EAGAIN;
    }
    const std::size_t taken = std::min(size, bytes.size());
    const bool was_full = pipe_buffer::capacity - bytes.size() < pipe_buffer::atomic_bytes;
    std::memcpy(out, bytes.data(), taken);
    bytes.erase(0, taken);
    const bool is_full = pipe_buffer::capacity - bytes.size() < pipe_buffer::atomic_bytes;
    if (was_full && !is_full && buffer_->writer != nullptr) buffer_->writer->wake(kernel::poll_out);
    return static_cast<std::ptrdiff_t>(taken);
}

void pipe_reader::released() {
    buffer_->reader = nullptr;
    if (buffer_->writer != nullptr) buffer_->writer->wake(0);
}

std::uint32_t pipe_writer::poll() {
    const bool has_room = pipe_buffer::capacity - buffer_->bytes.size() >= pipe_buffer::atomic_bytes;
    return (has_room ? kernel::poll_out : 0) | (buffer_->reader == nullptr ? kernel::poll_error : 0);
}

std::ptrdiff_t pipe_writer::write(const void* data, std::size_t size) {
    if (buffer_->reader == nullptr) {
        here().sigpipe();
        return -EPIPE;
    }
    const std::size_t room = pipe_buffer::capacity - buffer_->bytes.size();
    if (room < std::min(size, pipe_buffer::atomic_bytes) || (room == 0 && size > 0)) {
        if (!nonblocking_) here().broken("nothing but epoll_wait blocks: this write to a blocking pipe would");
        return -EAGAIN;
    }
    const std::size_t taken = std::min(size, room);
    buffer_->bytes.append(static_cast<const char*>(data), taken);
    if (taken > 0) buffer_->reader->wake(kernel::poll_in);
    return static_cast<std::ptrdiff_t>(taken);
}

void pipe_writer::released() {
    buffer_->writer = nullptr;
    if (buffer_->reader != nullptr) buffer_->reader->wake(0);
}

signal_source::signal_source(const int* numbers, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) wanted_ |= std::uint64_t{1} << numbers[i];
    here().signal_sources.push_back(this);
}

void signal_source::released() { std::erase(here().signal_sources, this); }

void signal_source::raise(int number) {
    const std::uint64_t bit = std::uint64_t{1} << number;
    if ((wanted_ & bit) == 0) return;
    pending_ |= bit;
    wake(kernel::poll_in);
}

int signal_source::next() {
    if (pending_ == 0) return -EAGAIN;
    const int number = std::countr_zero(pending_);
    pending_ &= pending_ - 1;
    return number;
}

void raise_signal(world& in, int number) {
    // A signal that no descriptor waits for would run its disposition, which is not the library's matter.
    for (signal_source* source : in.signal_sources) source->raise(number);
}

std::ptrdiff_t open_file::read(void* out, std::size_t size) {
    const std::ptrdiff_t got = read_at(out, size, static_cast<std::int64_t>(position_));
    if (got > 0) position_ += static_cast<std::size_t>(got);
    return got;
}

std::ptrdiff_t open_file::write(const void* data, std::size_t size) {
    if (mode_ == kernel::open_mode::append) position_ = node_->content.size();
    const std::ptrdiff_t put = write_at(data, size, static_cast<std::int64_t>(position_));
    if (put > 0) position_ += static_cast<std::size_t>(put);
    return put;
}

std::ptrdiff_t open_file::read_at(void* out, std::size_t size, std::int64_t offset) const {
    if (!is_readable()) return -EBADF;
    if (node_->is_directory) return -EISDIR;
    if (offset < 0) return -EINVAL;
    const auto from = static_cast<std::size_t>(offset);
    if (from >= node_->content.size()) return 0;
    const std::size_t got = std::min(size, node_->content.size() - from);
    std::memcpy(out, node_->content.data() + from, got);
    return static_cast<std::ptrdiff_t>(got);
}

std::ptrdiff_t open_file::write_at(const void* data, std::size_t size, std::int64_t offset) {
    if (mode_ == kernel::open_mode::read) return -EBADF;
    if (offset < 0) return -EINVAL;
    if (node_->swallows) return static_cast<std::ptrdiff_t>(size);
    // Linux appends there too, whatever the offset.
    const std::size_t at = mode_ == kernel::open_mode::append ? node_->content.size() : static_cast<std::size_t>(offset);
    if (node_->content.size() < at + size) node_->content.resize(at + size);
    if (size > 0) std::memcpy(node_->content.data() + at, data, size);
    node_->modified_ns = here().now_ns + here().realtime_offset_ns;
    return static_cast<std::ptrdiff_t>(size);
}

process::process(const process_script& script, std::shared_ptr<object> input, std::shared_ptr<object> output, std::shared_ptr<object> error)
    : script_(script), inherited_{std::move(input), std::move(output), std::move(error)}, unwritten_(script.output_) {
    for (const auto& of : inherited_) {
        if (of != nullptr) ++of->references;
    }
    input_ended_ = !script_.echoes_ || inherited_[0] == nullptr;
}

void process::start() {
    here().after(script_.length_.count(), [self = shared_from_this()] { self->work(); });
}

void process::work() {
    if (ended_) return;
    char block[4096];
    // Its ends of pipes may be shared with non-blocking ones; a real child sees the same.
    while (!input_ended_ && unwritten_.size() < sizeof block && (inherited_[0]->poll() & (kernel::poll_in | kernel::poll_hangup)) != 0) {
        const std::ptrdiff_t got = inherited_[0]->read(block, sizeof block);
        if (got <= 0) input_ended_ = true;
        if (got > 0) unwritten_.append(block, static_cast<std::size_t>(got));
    }
    while (!unwritten_.empty() && inherited_[1] != nullptr) {
        const std::uint32_t state = inherited_[1]->poll();
        if ((state & kernel::poll_error) != 0) return end(SIGPIPE);
        if ((state & kernel::poll_out) == 0) break;
        const std::ptrdiff_t put = inherited_[1]->write(unwritten_.data(), std::min(unwritten_.size(), sizeof block));
        if (put <= 0) break;
        unwritten_.erase(0, static_cast<std::size_t>(put));
    }
    if (inherited_[1] == nullptr) unwritten_.clear();
    if (input_ended_ && unwritten_.empty()) return end((script_.code_ & 0xff) << 8);
    here().after(100'000, [self = shared_from_this()] { self->work(); });
}

void process::end(int status) {
    if (ended_) return;
    ended_ = true;
    status_ = status;
    for (auto& of : inherited_) {
        if (of != nullptr) world::drop_reference(of);
        of.reset();
    }
    wake(kernel::poll_in);
}

int process::signal(int number) {
    if (reaped_) return -ESRCH;
    if (number != 0 && number != SIGCHLD && number != SIGCONT) end(number);
    return 0;
}

int process::reap(int* status) {
    if (reaped_) return -ECHILD;
    if (!ended_) return 0;
    reaped_ = true;
    *status = status_;
    return 1;
}

}  // namespace martlet::inline v0::sim
