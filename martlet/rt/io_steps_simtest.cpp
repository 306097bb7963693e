// Operations of the runtime that meet the kernel, with each fault at each step: pipes, processes, signals, files, the blocking pool,
// post, and
// the loop itself.
#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

#include <martlet/rt/blocking_pool.hpp>
#include <martlet/rt/combine.hpp>
#include <martlet/rt/files.hpp>
#include <martlet/rt/kernel.hpp>
#include <martlet/rt/pipes.hpp>
#include <martlet/rt/process.hpp>
#include <martlet/rt/signals.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/stepping_internal.hpp>

#include <gtest/gtest.h>

namespace {

using namespace martlet;
using namespace std::chrono_literals;
using sim::fault;
using sim::step_source;
using trial::run_stepped;

/// A play ends well, or with an error that its fault explains: what an error fault does is the operation's matter, but it is an error of
/// the system.
void expect_explained(step_source& steps, const result<void>& ended) {
    if (steps.is_faultless()) {
        EXPECT_TRUE(ended) << "nothing went wrong, and it failed: " << ended.error().text();
    } else if (!ended) {
        if (steps.kind() == fault::cancellation) {
            EXPECT_EQ(ended.error().reason(), cancel_reason::cancelled) << ended.error().text();
        } else {
            EXPECT_EQ(&ended.error().category(), &system_category) << ended.error().text();
        }
    }
}

/// Closes also when an exception leaves: the other side then learns of it.
template <class End>
class closing {
public:
    explicit closing(End& which) noexcept : which_(which) {}
    closing(const closing&) = delete;
    closing& operator=(const closing&) = delete;
    ~closing() { which_.close(); }

private:
    End& which_;
};

TEST(AtEveryStep, Pipe) {
    sim::at_every_step("pipe", [](step_source& steps) {
        loop on;
        std::string sent(100'000, 'x');
        std::string got;
        const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
            int ends[2];
            if (const int failed = kernel::pipe_open(ends, true); failed < 0) co_return failure(error::system(-failed));
            descriptor out(ends[0]);
            descriptor in(ends[1]);
            pipe_reader reader;
            pipe_writer writer;
            if (auto opened = reader.open(on, std::move(out)); !opened) co_return opened;
            if (auto opened = writer.open(on, std::move(in)); !opened) co_return opened;
            const auto write_all = [&]() -> task<result<void>> {
                const closing<pipe_writer> at_end(writer);
                auto written = co_await writer.write(sent);
                if (!written) co_return failure(written.error());
                EXPECT_LE(*written, sent.size());
                co_return result<void>();
            };
            const auto read_all = [&]() -> task<result<void>> {
                const closing<pipe_reader> at_end(reader);
                auto read = co_await reader.read_all(1'000'000);
                if (!read) co_return failure(read.error());
                got = std::move(*read);
                co_return result<void>();
            };
            auto [wrote, read] = co_await both(write_all(), read_all());
            if (!read) co_return read;
            co_return wrote;
        });
        if (steps.is_faultless()) {
            EXPECT_TRUE(ended);
            EXPECT_EQ(got, sent);
        }
        EXPECT_TRUE(sent.starts_with(got));
    });
}

TEST(AtEveryStep, Signals) {
    sim::at_every_step("signal_set", [](step_source& steps) {
        loop on;
        signal_set signals(on, SIGTERM, SIGHUP);
        steps.world().after(2ms, [] { sim::simulation::current()->raise(SIGHUP); });
        const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
            auto got = co_await signals.next();
            if (!got) co_return failure(got.error());
            EXPECT_EQ(*got, SIGHUP);
            co_return result<void>();
        });
        expect_explained(steps, ended);
    });
}

TEST(AtEveryStep, Process) {
    sim::at_every_step("process", [](step_source& steps) {
        steps.world().add_process("/bin/cat", sim::process_script().echoes().exits_with(3));
        loop on;
        const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
            process_options with("/bin/cat");
            with.input(process_stream::pipe).output(process_stream::pipe);
            auto child = process::start(on, with);
            if (!child) co_return failure(child.error());
            auto written = co_await child->input().write("hello");
            if (!written) co_return failure(written.error());
            child->input().close();
            auto said = co_await child->output().read_all(100);
            if (!said) co_return failure(said.error());
            EXPECT_EQ(*said, "hello");
            auto how = co_await child->wait();
            if (!how) co_return failure(how.error());
            EXPECT_EQ(how->code(), 3);
            co_return result<void>();
        });
        expect_explained(steps, ended);
    });
}

TEST(AtEveryStep, ProcessThatIsStopped) {
    sim::at_every_step("process::stop", [](step_source& steps) {
        steps.world().add_process("/bin/sleep", sim::process_script().runs_for(1h));
        loop on;
        const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
            auto child = process::start(on, process_options("/bin/sleep"));
            if (!child) co_return failure(child.error());
            auto how = co_await child->stop(10ms);
            if (!how) co_return failure(how.error());
            EXPECT_TRUE(how->signal() == SIGTERM || how->signal() == SIGKILL);
            co_return result<void>();
        });
        expect_explained(steps, ended);
    });
}

TEST(AtEveryStep, Files) {
    sim::at_every_step("file", [](step_source& steps) {
        loop on;
        blocking_pool pool;
        const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
            auto wrote = co_await write_file(pool, "/a", "some content");
            if (!wrote) co_return wrote;
            auto opened = co_await file::open(pool, "/a", file_mode::read_write);
            if (!opened) co_return failure(opened.error());
            auto put = co_await opened->write_at("SOME", 0);
            if (!put) co_return put;
            auto synced = co_await opened->sync();
            if (!synced) co_return synced;
            auto facts = co_await opened->stat();
            if (!facts) co_return failure(facts.error());
            EXPECT_EQ(facts->size, 12);
            auto read = co_await read_file(pool, "/a", 100);
            if (!read) co_return failure(read.error());
            EXPECT_EQ(*read, "SOME content");
            co_return result<void>();
        });
        expect_explained(steps, ended);
    });
}

TEST(AtEveryStep, BlockingPool) {
    sim::at_every_step("run_blocking", [](step_source& steps) {
        loop on;
        blocking_pool pool;
        int ran = 0;
        const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
            auto [one, two] = co_await both(run_blocking(pool, [&] { return ++ran; }), run_blocking(pool, [&] { return ++ran; }));
            if (!one) co_return failure(one.error());
            if (!two) co_return failure(two.error());
            EXPECT_EQ(*one + *two, 3);
            co_return result<void>();
        });
        expect_explained(steps, ended);
        EXPECT_LE(ran, 2);
    });
}

TEST(AtEveryStep, BlockingPoolWithOwningWork) {
    sim::at_every_step("run_blocking_owning", [](step_source& steps) {
        loop on;
        blocking_pool pool;
        const auto ended = run_stepped(steps, on, [&](context&) -> task<result<void>> {
            auto measure = [text = std::string("a text that needs memory of its own")] { return text.size(); };
            auto got = co_await run_blocking_owning(pool, std::move(measure));
            if (!got) co_return failure(got.error());
            EXPECT_EQ(*got, 35u);
            co_return result<void>();
        });
        expect_explained(steps, ended);
    });
}

TEST(AtEveryStep, LoopAlone) {
    sim::at_every_step("loop", [](step_source& steps) {
        // Twice: what the first left behind would be met by the second.
        for (int i = 0; i < 2; ++i) {
            loop on;
            on.read_buffer();
            char* block = on.blocks().allocate_block(block_source::small_block_bytes);
            if (block != nullptr) on.blocks().free_block(block, block_source::small_block_bytes);
            if (!steps.cancel_now()) on.turn(1ms);
        }
        EXPECT_EQ(steps.world().mapped_bytes(), 0u);
    });
}

}  // namespace
