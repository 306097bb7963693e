// body_source: where a handler that may suspend reads a request's content, piece by piece; and what it awaits to do so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <martlet/base/result.hpp>
#include <martlet/rt/operation.hpp>
#include <martlet/rt/task.hpp>

namespace martlet::inline v0::server {

class content_read;

/// What a source has at this moment.
enum class pull : std::uint8_t {
    piece,   ///< content
    ended,   ///< the content is complete
    waits,   ///< nothing now
    failed,  ///< there will be no more; failure() says why
};

/// A protocol implements it. Bytes flow only while somebody pulls.
class body_source {
public:
    body_source(const body_source&) = delete;
    body_source& operator=(const body_source&) = delete;

    /// On `piece` fills `into` with bytes that are good until the next call. After `waits`, the reader that is set is told to try again.
    virtual pull try_pull(std::string_view& into) noexcept = 0;
    virtual error failure() const noexcept = 0;
    /// The most that all of it may be.
    virtual std::uint64_t content_bytes_max() const noexcept = 0;

    bool is_awaited() const noexcept { return reader_ != nullptr; }

protected:
    body_source() noexcept = default;
    ~body_source() = default;

    /// Trying again is worth it.
    void retry() noexcept;
    /// A reader has begun to wait, or has gone (null).
    virtual void awaited(bool on) noexcept = 0;

private:
    friend class content_read;
    content_read* reader_ = nullptr;
};

/// To be awaited: the next piece of content, empty at its end.
class [[nodiscard]] content_read final : public operation {
public:
    explicit content_read(body_source* from) noexcept : operation(&content_read::cancelled), from_(from) {}
    content_read(content_read&& other) noexcept : operation(std::move(other)), from_(other.from_) {}

    bool start(context& in, std::coroutine_handle<> awaiter) noexcept;
    result<std::string_view> finish() const noexcept {
        if (failed_) return failure(why_);
        return piece_;
    }

private:
    friend class body_source;
    bool attempt() noexcept;
    bool fail(error why) noexcept {
        why_ = why;
        failed_ = true;
        return true;
    }
    static void cancelled(operation& base, error why) noexcept;

    body_source* from_;
    std::string_view piece_;
    error why_{cancel_reason::none};
    bool failed_ = false;
};

/// All of it that was not read yet; more than the source allows is an error with the hint 413.
task<result<std::string>> read_all_of(body_source* from, std::optional<std::uint64_t> announced);

}  // namespace martlet::inline v0::server
