#include <martlet/net/stream_operations.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <martlet/net/error.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/within.hpp>

namespace martlet::inline v0::net {

namespace {

// A fresh buffer gives less room at first, and then a long stream would be read in small steps.
constexpr std::size_t read_room_bytes = 4096;

/// Reads and drops until the end of the stream or `bytes_max`.
class discard_operation final : public detail::stream_operation {
public:
    discard_operation(byte_stream& from, std::size_t bytes_max) noexcept : stream_operation(from, direction::reading), left_(bytes_max) {}
    discard_operation(discard_operation&& other) noexcept : stream_operation(std::move(other)), left_(other.left_) {}

    void finish() const noexcept {}

private:
    bool attempt() noexcept override {
        char storage[4096 + padding_bytes] = {};
        while (left_ > 0) {
            buffer scratch = buffer::over(storage, sizeof storage);
            const io read = stream().try_read(scratch);
            if (read != io::moved) return read != io::blocked;
            left_ -= std::min(left_, scratch.size());
        }
        return true;
    }

    std::size_t left_;
};

}  // namespace

namespace detail {

bool stream_operation::start(context& in, std::coroutine_handle<> awaiter) noexcept {
    if (failed_) return false;
    if (in.is_cancelled()) {
        fail(in.why());
        return false;
    }
    if (attempt() || !wait_again()) return false;
    suspend(in, awaiter);
    return true;
}

// False: it has failed instead.
bool stream_operation::wait_again() noexcept { return stream_.wait(which_, waker_) || !fail(make_error(net_error::stream_busy)); }

void stream_operation::woken(ready_node& node) noexcept {
    stream_operation& self = static_cast<waker&>(node).of_;
    if (self.attempt() || !self.wait_again()) self.complete();
}

void stream_operation::closed(ready_node& node) noexcept {
    stream_operation& self = static_cast<waker&>(node).of_;
    self.fail(make_error(net_error::stream_closed));
    self.complete();
}

void stream_operation::cancelled(operation& base, error why) noexcept {
    auto& self = static_cast<stream_operation&>(base);
    // Queued, it is in the stream's place no more, and another may be.
    if (self.waker_.is_linked()) {
        self.waker_.unlink();
    } else {
        self.stream_.arm(self.which_, nullptr);
    }
    self.fail(why);
    self.complete();
}

}  // namespace detail

bool read_operation::attempt() noexcept {
    for (;;) {
        const std::size_t held = into_.size();
        if (bytes_min_ != 0 && held >= bytes_min_) return true;
        if (into_.full() || bytes_min_ > into_.limit_bytes()) return fail(make_error(net_error::buffer_full));
        // Only a wish: a try makes do with less.
        static_cast<void>(
            into_.prepare(std::min(std::max(read_room_bytes, bytes_min_ - std::min(bytes_min_, held)), into_.limit_bytes() - held)));
        const io read = stream().try_read(into_);
        added_ += into_.size() - held;
        switch (read) {
        case io::moved:
            if (bytes_min_ == 0) return true;
            break;
        case io::blocked: return false;
        case io::ended: return bytes_min_ == 0 || fail(make_error(net_error::ended_early));
        case io::failed: return fail(stream().failure());
        }
    }
}

result<std::size_t> read_operation::finish() const noexcept {
    if (has_failed()) return failure(why());
    return added_;
}

write_operation::write_operation(byte_stream& to, std::string_view copied) noexcept
    : stream_operation(to, direction::writing), own_(to.owner().blocks()), from_(&own_) {
    if (!own_.append_copy(copied)) fail(error::system(ENOMEM));
}

bool write_operation::attempt() noexcept {
    switch (stream().try_write(*from_)) {
    case io::moved: return true;
    case io::blocked: return false;
    case io::ended:
    case io::failed: break;
    }
    return fail(stream().failure());
}

result<void> write_operation::finish() const noexcept {
    if (has_failed()) return failure(why());
    return {};
}

bool wait_readable_operation::attempt() noexcept { return std::exchange(waited_, true) || stream().pending() > 0; }

result<void> wait_readable_operation::finish() const noexcept {
    if (has_failed()) return failure(why());
    return {};
}

task<> lingering_close(std::unique_ptr<byte_stream> stream, linger_limits limits) {
    stream->shutdown_write();
    co_await within(limits.time_max(), discard_operation(*stream, limits.bytes_max()));
    stream->close();
}

}  // namespace martlet::inline v0::net
