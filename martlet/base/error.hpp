// error: what went wrong, in 16 bytes. Questions are asked of it; nobody switches over a list of types.
#pragma once

#include <cstdint>
#include <string_view>

namespace martlet::inline v0 {

/// Who has to change something so that the error does not come again.
enum class blame : std::uint8_t {
    local,   ///< the program: it broke a rule of the API
    peer,    ///< the other side of the connection
    system,  ///< the machine: memory, descriptors, the network
};

/// Why waiting ended before the awaited thing happened.
enum class cancel_reason : std::uint8_t {
    none,
    timed_out,      ///< a deadline passed
    cancelled,      ///< somebody asked, or a sibling failed
    peer_gone,      ///< the peer closed or reset the connection
    shutting_down,  ///< the server or the loop is stopping
};

/// A family of error codes. Each layer defines its own as a constant with static lifetime.
class error_category {
public:
    using text_function = std::string_view (*)(int code) noexcept;

    constexpr error_category(std::string_view name, text_function text_of) noexcept : name_(name), text_(text_of) {}
    error_category(const error_category&) = delete;
    error_category& operator=(const error_category&) = delete;

    constexpr std::string_view name() const noexcept { return name_; }
    std::string_view text(int code) const noexcept { return text_(code); }

private:
    std::string_view name_;
    text_function text_;
};

/// errno values.
extern const error_category system_category;
/// cancel_reason values: an operation that ended without doing what it was for.
extern const error_category cancel_category;

/// Trivially copyable. Detail that needs memory stays with the object that failed.
class error {
public:
    /// An error of `category`. `status` hints which HTTP status answers a request that failed by it; 0 is no hint (500).
    constexpr error(const error_category& category, int code, blame who, std::uint16_t status = 0, bool retryable = false) noexcept
        : category_(&category), code_(code), status_(status), blame_(who), retryable_(retryable) {}

    /// The operation ended for `why`, which is not `none`.
    error(cancel_reason why) noexcept;

    /// A failed system call; `code` is a positive errno value.
    static error system(int code) noexcept;

    const error_category& category() const noexcept { return *category_; }
    int code() const noexcept { return code_; }
    blame who() const noexcept { return blame_; }
    /// The HTTP status that fits, 500 when nothing better is known.
    int http_status() const noexcept { return status_ == 0 ? 500 : status_; }

    /// A deadline passed.
    bool is_timeout() const noexcept { return reason() == cancel_reason::timed_out; }
    /// Cancelled for any reason but a deadline: asked for, peer gone, shutting down.
    bool is_cancelled() const noexcept { return category_ == &cancel_category && !is_timeout(); }
    /// The other side is to blame.
    bool is_peer() const noexcept { return blame_ == blame::peer; }
    /// The same call may well succeed later.
    bool is_retryable() const noexcept { return retryable_; }
    /// The errno value `code`, from a system call.
    bool is_system(int code) const noexcept { return category_ == &system_category && code_ == code; }
    /// Why it was cancelled; `none` when it failed in another way.
    cancel_reason reason() const noexcept {
        return category_ == &cancel_category ? static_cast<cancel_reason>(code_) : cancel_reason::none;
    }

    /// A sentence fragment for logs, with static lifetime. Its wording is no interface.
    std::string_view text() const noexcept { return category_->text(code_); }

    friend bool operator==(const error& a, const error& b) noexcept { return a.category_ == b.category_ && a.code_ == b.code_; }

private:
    const error_category* category_;
    std::int32_t code_;
    std::uint16_t status_;
    blame blame_;
    bool retryable_;
};

static_assert(sizeof(error) == 16);

}  // namespace martlet::inline v0
