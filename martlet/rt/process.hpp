// Child processes, started with clone3 and watched through a pidfd: no signal handler, no race for process numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <martlet/base/result.hpp>
#include <martlet/base/time.hpp>
#include <martlet/rt/pipes.hpp>
#include <martlet/rt/polled_operation.hpp>
#include <martlet/rt/task.hpp>

namespace martlet::inline v0 {

/// What a child's standard stream is connected to.
enum class process_stream : std::uint8_t {
    null,       ///< /dev/null
    inherited,  ///< this process's own
    pipe,       ///< a pipe whose other end the `process` has
};

/// Each setter returns the options, so that they chain.
class process_options {
public:
    /// `path` names the program; it is not searched for. The first argument is `path` too.
    explicit process_options(std::string path) { arguments_.push_back(std::move(path)); }

    process_options& argument(std::string text) {
        arguments_.push_back(std::move(text));
        return *this;
    }
    /// Sets a variable of the child's environment, which otherwise is this process's.
    process_options& variable(std::string_view name, std::string_view value);
    /// Only variables set here.
    process_options& empty_environment() noexcept {
        inherits_ = false;
        return *this;
    }
    process_options& directory(std::string path) {
        directory_ = std::move(path);
        return *this;
    }
    /// Default: null.
    process_options& input(process_stream from) noexcept {
        streams_[0] = from;
        return *this;
    }
    /// Default: inherited.
    process_options& output(process_stream to) noexcept {
        streams_[1] = to;
        return *this;
    }
    /// Default: inherited.
    process_options& error_output(process_stream to) noexcept {
        streams_[2] = to;
        return *this;
    }

private:
    friend class process;
    class environment;

    std::vector<std::string> arguments_;
    std::vector<std::string> variables_;  // name=value
    std::string directory_;
    bool inherits_ = true;
    process_stream streams_[3] = {process_stream::null, process_stream::inherited, process_stream::inherited};
};

/// How a process ended.
class exit_status {
public:
    /// `status` as waitpid gives it.
    explicit exit_status(int status) noexcept : status_(status) {}
    /// It ended by itself with code 0.
    bool is_success() const noexcept { return status_ == 0; }
    /// The code it ended with; -1 when a signal ended it.
    int code() const noexcept { return (status_ & 0x7f) == 0 ? (status_ >> 8) & 0xff : -1; }
    /// The signal that ended it; 0 when none did.
    int signal() const noexcept { return status_ & 0x7f; }

private:
    int status_;
};

/// A child process. One that still runs when this is destroyed is killed and reaped, which may block for a moment, a second at most.
class process {
    class child;

public:
    class [[nodiscard]] wait_operation final : public polled_operation {
    public:
        wait_operation(wait_operation&&) noexcept = default;
        bool start(context& in, std::coroutine_handle<> awaiter) noexcept;
        result<exit_status> finish() const noexcept;

    private:
        friend class process;
        explicit wait_operation(child& of) noexcept;
        static bool attempt(polled_operation& base) noexcept;
        child& of_;
        int failed_ = 0;
    };

    /// Returns when the program runs, or with the reason why it does not (ENOENT, EACCES, ...). Blocks for the moment that this takes.
    static result<process> start(loop& on, const process_options& with);

    process(process&& other) noexcept : child_(std::exchange(other.child_, nullptr)) {}
    process& operator=(process&& other) noexcept {
        std::swap(child_, other.child_);
        return *this;
    }
    ~process();

    int pid() const noexcept;
    /// It has ended, and wait() has said how.
    bool has_ended() const noexcept;
    /// To be awaited: how it ended; again and again once it has. Cancelled, the process goes on. One waiter at a time.
    wait_operation wait() noexcept;
    /// ESRCH once it has ended.
    result<void> signal(int number) noexcept;
    /// Asks it to end with SIGTERM, kills it after `grace`, and says how it ended. Cancelled meanwhile, it kills at once.
    task<result<exit_status>> stop(duration grace);

    /// Open when `process_stream::pipe` was asked for.
    pipe_writer& input() noexcept;
    pipe_reader& output() noexcept;
    pipe_reader& error_output() noexcept;

private:
    explicit process(child& of) noexcept : child_(&of) {}

    child* child_;
};

}  // namespace martlet::inline v0
