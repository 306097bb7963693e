// A whole program that serves: started in a child process and ended by signals.
#include <martlet/server/run.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <martlet/net/testing_internal.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/server/testing_internal.hpp>

namespace martlet::server {
namespace {

using namespace std::chrono_literals;
using net::testing::plain_socket;
using testing::answers_in;
using testing::get;
using testing::summary;

/// A child process that runs a server; its output is kept.
class program {
public:
    explicit program(const options& how) {
        int out[2];
        if (::pipe(out) != 0) std::abort();
        std::fflush(nullptr);
        child_ = ::fork();
        if (child_ == 0) {
            ::dup2(out[1], 1);
            ::dup2(out[1], 2);
            ::close(out[0]);
            ::close(out[1]);
            router app;
            app.get("/", [](request&, response& res) { res.text(200, "root"); });
            app.get("/soon", [](request&, response& res) -> task<> {
                auto slept = co_await sleep_for(300ms);
                res.text(slept ? 200 : 503, "soon");
            });
            app.get("/never", [](request&, response&) -> task<> {
                auto slept = co_await sleep_for(1h);
                static_cast<void>(slept);
            });
            const int code = run(app, how);
            std::fflush(nullptr);
            ::_exit(code);
        }
        ::close(out[1]);
        output_ = out[0];
    }
    program(const program&) = delete;
    program& operator=(const program&) = delete;
    ~program() {
        if (child_ > 0) {
            ::kill(child_, SIGKILL);
            ::waitpid(child_, nullptr, 0);
        }
        ::close(output_);
    }

    /// The next line that it prints; empty at its end.
    std::string line() const {
        std::string text;
        for (char c; ::read(output_, &c, 1) == 1 && c != '\n';) text += c;
        return text;
    }
    void signal(int number) const { ::kill(child_, number); }
    bool is_running() {
        if (child_ <= 0) return false;
        if (::waitpid(child_, &status_, WNOHANG) != child_) return true;
        child_ = 0;
        return false;
    }
    /// The exit code; -1 when it does not end, or not by itself.
    int code() {
        for (int i = 0; i < 5000 && is_running(); ++i) std::this_thread::sleep_for(2ms);
        return child_ == 0 && WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
    }

private:
    pid_t child_ = 0;
    int output_ = -1;
    int status_ = 0;
};

/// The address out of "listening on ADDRESS".
net::address where(const std::string& line) {
    EXPECT_TRUE(line.starts_with("listening on ")) << line;
    return net::address::parse(line.substr(std::string("listening on ").size())).value();
}

TEST(run, serves_until_a_signal_and_returns_0) {
    for (const int number : {SIGTERM, SIGINT}) {
        program child(options("127.0.0.1:0").listen("127.0.0.1:0"));
        const net::address first = where(child.line()), second = where(child.line());
        const plain_socket one(first), two(second);
        one.send(get("/"));
        EXPECT_TRUE(one.receive().ends_with("root"));
        two.send(get("/"));
        EXPECT_TRUE(two.receive().ends_with("root"));
        child.signal(number);
        EXPECT_EQ(one.receive(), "<end>");
        EXPECT_EQ(child.code(), 0);
        EXPECT_EQ(child.line(), "");
    }
}

TEST(run, the_first_signal_lets_requests_finish) {
    program child(options("127.0.0.1:0").threads(2));
    const net::address at = where(child.line());
    const plain_socket busy(at), other(at);
    busy.send(get("/soon"));
    // It has been read once a later request on the same connection's server is answered.
    other.send(get("/soon"));
    EXPECT_TRUE(other.receive().ends_with("soon"));
    EXPECT_TRUE(busy.receive().ends_with("soon"));
    busy.send(get("/soon"));
    std::this_thread::sleep_for(100ms);
    child.signal(SIGTERM);
    const auto answers = answers_in(busy.receive_all());
    ASSERT_EQ(summary(answers), "200 soon");
    EXPECT_TRUE(answers[0].closes());
    busy.finish();
    EXPECT_EQ(child.code(), 0);
}

TEST(run, a_second_signal_forces) {
    program child(options("127.0.0.1:0").bounds(limits().drain_timeout(1h)));
    const plain_socket stuck(where(child.line()));
    stuck.send(get("/never"));
    std::this_thread::sleep_for(100ms);
    child.signal(SIGTERM);
    std::this_thread::sleep_for(100ms);
    EXPECT_TRUE(child.is_running());
    child.signal(SIGTERM);
    EXPECT_EQ(stuck.receive(), "<error 104>");
    EXPECT_EQ(child.code(), 0);
}

TEST(run, says_why_it_cannot_start_and_returns_1) {
    const net::listener taken = net::testing::listen_on("127.0.0.1:0");
    const std::string at = net::testing::where(taken).text();
    program child(options{at});
    EXPECT_EQ(child.line(), "martlet: cannot listen on " + at + ": Address already in use");
    EXPECT_EQ(child.code(), 1);
}

TEST(run, is_quiet_when_told) {
    const std::string name = "unix:@martlet-run-test-" + std::to_string(::getpid());
    program child(options(name).quiet());
    const net::address at = net::address::parse(name).value();
    for (int i = 0; i < 5000 && !plain_socket(at).is_connected(); ++i) std::this_thread::sleep_for(2ms);
    const plain_socket client(at);
    client.send(get("/"));
    EXPECT_TRUE(client.receive().ends_with("root"));
    child.signal(SIGTERM);
    EXPECT_EQ(child.code(), 0);
    EXPECT_EQ(child.line(), "");
}

}  // namespace
}  // namespace martlet::server
