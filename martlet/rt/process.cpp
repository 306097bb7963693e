#include <martlet/rt/process.hpp>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <memory>
#include <mutex>

#include <martlet/rt/kernel.hpp>
#include <martlet/rt/within.hpp>

// The C library's, which no standard header declares.
extern "C" char** environ;

namespace martlet::inline v0 {

namespace {

constexpr duration reap_wait_max = std::chrono::seconds(1);

/// Killed processes that had not ended in time, as when they hang in the kernel. Looked at again when another process starts or is destroyed.
class unreaped {
public:
    void add(descriptor pidfd) noexcept {
        const std::lock_guard hold(mutex_);
        try {
            left_.push_back(std::move(pidfd));
        } catch (...) {
            // Without memory it stays a zombie until this process ends: nothing can be noted.
        }
    }
    void look_again() noexcept {
        const std::lock_guard hold(mutex_);
        std::erase_if(left_, [](const descriptor& pidfd) {
            int status;
            return kernel::process_reap(pidfd, &status) != 0;
        });
    }

private:
    std::mutex mutex_;
    std::vector<descriptor> left_;
};

unreaped& leftovers() {
    static unreaped all;
    return all;
}

// Waits for the pidfd to become readable, outside of any loop.
void wait_outside(const descriptor& pidfd, duration longest) noexcept {
    const int opened = kernel::epoll_open();
    if (opened < 0) return;
    const descriptor epoll(opened);
    if (kernel::epoll_add(epoll, pidfd, kernel::poll_in, nullptr) < 0) return;
    kernel::poll_event ended;
    kernel::epoll_wait(epoll, &ended, 1, static_cast<int>(longest / std::chrono::milliseconds(1)));
}

void kill_and_reap(descriptor pidfd) noexcept {
    // Once more if it is refused, so that no passing reason leaves it running.
    if (kernel::process_signal(pidfd, SIGKILL) < 0) kernel::process_signal(pidfd, SIGKILL);
    const std::int64_t give_up = kernel::monotonic_ns() + reap_wait_max.count();
    int status;
    while (kernel::process_reap(pidfd, &status) == 0) {
        const std::int64_t left = give_up - kernel::monotonic_ns();
        if (left <= 0) {
            leftovers().add(std::move(pidfd));
            return;
        }
        wait_outside(pidfd, duration(left) + std::chrono::milliseconds(1));
    }
}

std::string_view name_of(std::string_view variable) noexcept { return variable.substr(0, variable.find('=')); }

}  // namespace

process_options& process_options::variable(std::string_view name, std::string_view value) {
    std::erase_if(variables_, [name](const std::string& one) { return name_of(one) == name; });
    std::string added(name);
    added += '=';
    added += value;
    variables_.push_back(std::move(added));
    return *this;
}

/// The arrays that the kernel takes. Borrows from the options.
class process_options::environment {
public:
    explicit environment(const process_options& of) {
        for (const std::string& text : of.arguments_) arguments_.push_back(const_cast<char*>(text.c_str()));
        arguments_.push_back(nullptr);
        for (const std::string& text : of.variables_) variables_.push_back(const_cast<char*>(text.c_str()));
        if (of.inherits_) add_inherited(of);
        variables_.push_back(nullptr);
    }
    char* const* arguments() const noexcept { return arguments_.data(); }
    char* const* variables() const noexcept { return variables_.data(); }

private:
    void add_inherited(const process_options& of) {
        for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
            bool replaced = false;
            for (const std::string& own : of.variables_) replaced = replaced || name_of(own) == name_of(*at);
            if (!replaced) variables_.push_back(*at);
        }
    }

    std::vector<char*> arguments_;
    std::vector<char*> variables_;
};

class process::child {
public:
    child() noexcept = default;
    ~child() {
        MARTLET_ASSERT(!pidfd_.is_armed(direction::reading), "a process must outlive those who wait for its end");
        if (!pidfd_.is_open()) return;
        descriptor fd = pidfd_.release();
        if (!ended) kill_and_reap(std::move(fd));
    }

    result<void> open(loop& on, descriptor pidfd) noexcept {
        const int kept = kernel::duplicate(pidfd);
        if (kept < 0) {
            kill_and_reap(std::move(pidfd));
            return failure(error::system(-kept));
        }
        // The registration takes a descriptor with it when it fails, and this one has to be killed then.
        descriptor spare(kept);
        const int added = pidfd_.open(on, std::move(pidfd));
        if (added < 0) {
            kill_and_reap(std::move(spare));
            return failure(error::system(-added));
        }
        return {};
    }

    pollable pidfd_;
    pipe_writer input;
    pipe_reader output;
    pipe_reader error_output;
    int pid = 0;
    bool ended = false;
    exit_status how{0};
};

namespace {

/// The child's end of one standard stream, and ours where there is a pipe.
class stream_ends {
public:
    result<void> open(int number, process_stream kind) noexcept {
        int opened = 0;
        switch (kind) {
        case process_stream::null:
            // The kernel's own default for input.
            if (number != 0) opened = kernel::file_open("/dev/null", kernel::open_mode::append);
            break;
        case process_stream::inherited:
            // And for output.
            if (number == 0) {
                descriptor standard(0);
                opened = kernel::duplicate(standard);
                static_cast<void>(standard.release());
            }
            break;
        case process_stream::pipe: return open_pipe(number);
        }
        if (opened < 0) return failure(error::system(-opened));
        if (opened > 0) theirs = descriptor(opened);
        return {};
    }
    const descriptor* given() const noexcept { return theirs.is_open() ? &theirs : nullptr; }

    descriptor theirs;
    descriptor ours;

private:
    result<void> open_pipe(int number) noexcept {
        int ends[2];
        const int code = kernel::pipe_open(ends, false);
        if (code < 0) return failure(error::system(-code));
        descriptor reading(ends[0]);
        descriptor writing(ends[1]);
        theirs = number == 0 ? std::move(reading) : std::move(writing);
        ours = number == 0 ? std::move(writing) : std::move(reading);
        return {};
    }
};

}  // namespace

result<process> process::start(loop& on, const process_options& with) {
    leftovers().look_again();
    stream_ends ends[3];
    for (int i = 0; i < 3; ++i) {
        const result<void> opened = ends[i].open(i, with.streams_[i]);
        if (!opened) return failure(opened.error());
    }
    auto made = std::make_unique<child>();
    const result<void> in = ends[0].ours.is_open() ? made->input.open(on, std::move(ends[0].ours)) : result<void>();
    if (!in) return failure(in.error());
    const result<void> out = ends[1].ours.is_open() ? made->output.open(on, std::move(ends[1].ours)) : result<void>();
    if (!out) return failure(out.error());
    const result<void> err = ends[2].ours.is_open() ? made->error_output.open(on, std::move(ends[2].ours)) : result<void>();
    if (!err) return failure(err.error());

    const process_options::environment arrays(with);
    const kernel::process_start what{
        .path = with.arguments_.front().c_str(),
        .arguments = arrays.arguments(),
        .environment = arrays.variables(),
        .directory = with.directory_.empty() ? nullptr : with.directory_.c_str(),
        .input = ends[0].given(),
        .output = ends[1].given(),
        .error = ends[2].given(),
    };
    const int pidfd = kernel::process_open(what, &made->pid);
    if (pidfd < 0) return failure(error::system(-pidfd));
    const result<void> watched = made->open(on, descriptor(pidfd));
    if (!watched) return failure(watched.error());
    return process(*made.release());
}

process::~process() {
    if (child_ == nullptr) return;
    leftovers().look_again();
    delete child_;
}

int process::pid() const noexcept { return child_->pid; }
bool process::has_ended() const noexcept { return child_->ended; }
pipe_writer& process::input() noexcept { return child_->input; }
pipe_reader& process::output() noexcept { return child_->output; }
pipe_reader& process::error_output() noexcept { return child_->error_output; }

process::wait_operation process::wait() noexcept { return wait_operation(*child_); }

process::wait_operation::wait_operation(child& of) noexcept
    : polled_operation(of.pidfd_, direction::reading, &wait_operation::attempt), of_(of) {}

bool process::wait_operation::start(context& in, std::coroutine_handle<> awaiter) noexcept {
    if (of_.ended) return false;
    return polled_operation::start(in, awaiter);
}

bool process::wait_operation::attempt(polled_operation& base) noexcept {
    auto& self = static_cast<wait_operation&>(base);
    int status = 0;
    const int code = kernel::process_reap(self.of_.pidfd_.fd(), &status);
    if (code == 0) {
        self.polled().drained();
        return false;
    }
    if (code > 0) {
        self.of_.ended = true;
        self.of_.how = exit_status(status);
    } else {
        self.failed_ = -code;
    }
    return true;
}

result<exit_status> process::wait_operation::finish() const noexcept {
    if (of_.ended) return of_.how;
    return failure(stopped() ? *stopped() : error::system(failed_));
}

result<void> process::signal(int number) noexcept {
    if (child_->ended) return failure(error::system(ESRCH));
    const int code = kernel::process_signal(child_->pidfd_.fd(), number);
    if (code < 0) return failure(error::system(-code));
    return {};
}

task<result<exit_status>> process::stop(duration grace) {
    // Refused when it has ended already, and then the wait says how.
    static_cast<void>(signal(SIGTERM));
    const auto gently = co_await within(grace, wait());
    if (gently || gently.error().reason() == cancel_reason::none) co_return gently;
    static_cast<void>(signal(SIGKILL));
    co_return co_await shield(within(reap_wait_max, wait()));
}

}  // namespace martlet::inline v0
