// The whole server, from accept to drain, over the simulated kernel: under many seeds, and with a fault at every step.
#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include <martlet/rt/sim/at_every_step.hpp>
#include <martlet/server/sim_testing_internal.hpp>

namespace martlet::server {
namespace {

using namespace std::chrono_literals;
using sim::call_kind;
using sim::step_source;
using testing::get;
using testing::letters;
using testing::pass;
using testing::sim_address;
using testing::sim_server;
using testing::wire_answer;

void add_routes(router& app, std::list<later_response>& waiting) {
    app.get("/", [](request&, response& res) { res.text(200, "root"); });
    app.get("/long", [](request&, response& res) { res.text(200, letters(40'000)); });
    app.get("/task", [](request&, response& res) -> task<> {
        auto slept = co_await sleep_for(3ms);
        if (!slept) co_await yield();
        res.text(200, "task");
    });
    app.get("/later", [&](request&, response& res) { waiting.push_back(res.later()); });
}

constexpr std::string_view targets[] = {"/", "/long", "/task", "/later", "/missing"};

std::string expected_content(std::string_view target) {
    if (target == "/") return "root";
    if (target == "/long") return letters(40'000);
    if (target == "/missing") return "Not Found";
    return std::string(target.substr(1));
}

/// One client of a simulated day, and what it may be told.
class visitor {
public:
    enum class manner {
        asks_and_waits,
        asks_in_pieces,
        finishes,
        resets,
        stops_reading,
        says_nothing,
        talks_nonsense,
        leaves_a_head,
        count_
    };

    visitor(sim::simulation& world, manner how) : how_(how), peer_(sim_address) {
        const std::size_t count = 1 + world.draw(8);
        std::string bytes;
        for (std::size_t i = 0; i < count; ++i) {
            asked_.push_back(targets[world.draw(std::size(targets))]);
            bytes += get(asked_.back());
        }
        const auto some_time = [&] { return std::chrono::microseconds(world.draw(30'000)); };
        switch (how) {
        case manner::says_nothing: asked_.clear(); break;
        case manner::talks_nonsense: peer_.send(bytes + "nonsense\r\n\r\n"); break;
        case manner::leaves_a_head: peer_.send(bytes + "GET / HTTP/1.1\r\nHo"); break;
        case manner::asks_in_pieces: {
            duration at = 0ms;
            for (std::size_t i = 0; i < bytes.size();) {
                const std::size_t size = 1 + world.draw(60);
                peer_.send_after(at, bytes.substr(i, size));
                at += std::chrono::microseconds(world.draw(2'000));
                i += size;
            }
            break;
        }
        case manner::finishes:
            peer_.send(bytes);
            peer_.shutdown_write();
            break;
        case manner::resets:
            peer_.send(bytes);
            peer_.after(some_time(), [](sim::peer& self) { self.reset(); });
            break;
        case manner::stops_reading:
            peer_.pause_reading();
            peer_.send(bytes);
            for (int i = 0; i < 10; ++i) peer_.after(some_time(), [](sim::peer& self) { self.read_some(3000); });
            peer_.after(40ms, [](sim::peer& self) { self.resume_reading(); });
            break;
        case manner::asks_and_waits:
        case manner::count_: peer_.send(bytes); break;
        }
    }

    /// What came is a beginning of what was to come; all of it when nothing stood in the way.
    void judge(bool strictly, std::uint64_t seed) {
        std::string_view rest = peer_.received();
        std::size_t whole = 0;
        for (;; ++whole) {
            wire_answer one;
            if (!take(rest, one)) break;
            if (whole < asked_.size() && one.content == expected_content(asked_[whole])) continue;
            // Whatever else it is says that something went wrong, and nobody is told another's answer.
            EXPECT_GE(one.status, 400) << "seed " << seed << ": " << one.content.substr(0, 50);
            if (strictly) {
                EXPECT_TRUE(how_ == manner::talks_nonsense || how_ == manner::leaves_a_head) << one.status;
                EXPECT_EQ(whole, asked_.size());
                EXPECT_EQ(one.status, how_ == manner::talks_nonsense ? 400 : 408);
            }
            if (one.closes()) break;
        }
        if (strictly && how_ != manner::resets) {
            EXPECT_GE(whole, asked_.size()) << "seed " << seed << ", manner " << static_cast<int>(how_) << ": answers are missing, "
                                            << peer_.closed_by_other() << peer_.reset_by_other() << peer_.failed();
            EXPECT_FALSE(peer_.reset_by_other());
        }
    }
    void leave() { peer_.close(); }

private:
    static bool take(std::string_view& rest, wire_answer& into) {
        const std::size_t end = rest.find("\r\n\r\n");
        if (end == rest.npos) return false;
        into.head = rest.substr(0, end + 2);
        EXPECT_TRUE(into.head.starts_with("HTTP/1.1 ")) << into.head;
        into.status = std::stoi(into.head.substr(9, 3));
        const std::size_t size = std::stoul(into.field("Content-Length"));
        if (rest.size() < end + 4 + size) return false;
        into.content = rest.substr(end + 4, size);
        rest.remove_prefix(end + 4 + size);
        return true;
    }

    manner how_;
    std::vector<std::string_view> asked_;
    sim::peer peer_;
};

/// Answers what waits for an answer, every now and then.
void answer_waiting(std::list<later_response>& waiting) {
    while (!waiting.empty()) {
        waiting.front().text(200, "later");
        waiting.pop_front();
    }
}

/// Half a second with forty visitors, the end, and what the kernel saw. `between` is called between two of them.
std::uint64_t day(const sim::options& with, bool strictly, const std::function<void(sim::simulation&)>& between) {
    sim::simulation world(with);
    std::list<later_response> waiting;
    {
        sim_server server;
        add_routes(server.app, waiting);
        server.bounds.first_byte_timeout(100ms)
            .head_timeout(100ms)
            .idle_timeout(300ms)
            .write_timeout(200ms)
            .linger_timeout(50ms)
            .drain_timeout(50ms);
        server.bounds.slice_requests_max(3).flush_bytes(30'000);
        // The watcher's own memory is not to fail.
        server.watched = strictly;
        server.start();
        std::list<visitor> visitors;
        for (int i = 0; i < 40; ++i) {
            {
                const sim::allocation_pause pause;
                visitors.emplace_back(world, static_cast<visitor::manner>(world.draw(static_cast<std::uint64_t>(visitor::manner::count_))));
            }
            between(world);
            pass(server.on, std::chrono::microseconds(world.draw(12'000)));
            answer_waiting(waiting);
        }
        for (int i = 0; i < 40; ++i) {
            pass(server.on, 10ms);
            answer_waiting(waiting);
        }
        sim::fail_allocation(0);
        {
            const sim::allocation_pause pause;
            for (visitor& each : visitors) each.judge(strictly, with.seed);
        }
        // It still serves: a fault may hit one attempt or the other.
        bool served = false;
        for (int attempt = 0; attempt < 50 && !served; ++attempt) {
            sim::peer late(sim_address);
            late.send(get("/"));
            pass(server.on, 250ms);
            served = late.received().ends_with("\r\n\r\nroot");
        }
        EXPECT_TRUE(served) << "seed " << with.seed;
        // A third of them have not left when it stops.
        int n = 0;
        for (visitor& each : visitors) {
            if (n++ % 3 != 0) each.leave();
        }
        server.serving().stop();
        for (int i = 0; i < 60 && server.serving().is_running(); ++i) {
            pass(server.on, 10ms);
            answer_waiting(waiting);
        }
        EXPECT_FALSE(server.serving().is_running()) << "seed " << with.seed;
        EXPECT_EQ(server.serving().counts().connections_open(), 0u);
        server.stop();
    }
    EXPECT_EQ(world.open_descriptors(), 0u);
    EXPECT_EQ(world.mapped_bytes(), 0u);
    return world.trace();
}

TEST(server_seeds, a_rough_network_loses_nothing) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        day(sim::options::rough(seed).with_send_buffer_bytes(9000).with_receive_buffer_bytes(5000), true, [](sim::simulation&) {});
    }
}

TEST(server_seeds, errors_of_the_system_and_failed_allocations_are_survived) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        sim::options with = sim::options::rough(seed).with_send_buffer_bytes(9000).with_receive_buffer_bytes(5000);
        for (const call_kind kind : {call_kind::accept, call_kind::recv, call_kind::send, call_kind::send_pieces, call_kind::epoll_wait}) {
            with.with_error_chance(kind, 0.03);
        }
        day(with, false, [](sim::simulation& world) {
            if (world.draw(2) == 0) sim::fail_allocation(1 + world.draw(30));
            // Any call, those that have no chance of their own among them.
            if (world.draw(2) == 0) world.fail_call(1 + world.draw(30));
        });
    }
}

TEST(server_seeds, the_same_seed_gives_the_same_trace) {
    std::vector<std::uint64_t> traces;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const auto play = [&] {
            return day(sim::options::rough(seed).with_error_chance(call_kind::send, 0.02), false, [](sim::simulation&) {});
        };
        traces.push_back(play());
        EXPECT_EQ(play(), traces.back()) << seed;
    }
    std::sort(traces.begin(), traces.end());
    EXPECT_EQ(std::unique(traces.begin(), traces.end()), traces.end()) << "seeds make no difference";
}

// --- a fault at every step ---

/// One request for `target` through everything there is, and the end of the server. A cancelled play stops the server at that point.
void one_request(step_source& steps, std::string_view target, std::string_view more, loop_options how = loop_options()) {
    std::list<later_response> waiting;
    router app;
    add_routes(app, waiting);
    loop on(how);
    http_server serving(app, options(sim_address).bounds(limits().drain_timeout(1s)));
    const auto started = serving.start_on(on);
    if (!started) {
        EXPECT_FALSE(steps.is_faultless()) << serving.what();
        return;
    }
    steps.on_cancel([&] { serving.stop(); });
    std::unique_ptr<sim::peer> first, second;
    const auto ask = [&](std::unique_ptr<sim::peer>& from) {
        const sim::allocation_pause pause;
        from = std::make_unique<sim::peer>(sim_address);
        from->send(get(target, more));
    };
    const auto passes = [&](duration length) {
        pass(on, length);
        answer_waiting(waiting);
        pass(on, 20ms);
    };
    ask(first);
    passes(300ms);
    const bool hit = steps.was_hit();
    ask(second);
    passes(300ms);
    steps.on_cancel(nullptr);
    {
        const sim::allocation_pause pause;
        const std::string wanted = "\r\n\r\n" + expected_content(target);
        if (!hit) {
            EXPECT_TRUE(first->received().ends_with(wanted)) << first->received().substr(0, 400);
        }
        // One fault does not keep the server from serving the next.
        if (steps.kind() != sim::fault::cancellation && (hit || steps.is_faultless())) {
            EXPECT_TRUE(second->received().ends_with(wanted)) << second->received().substr(0, 400);
        }
    }
    for (int i = 0; i < 100 && serving.is_running(); ++i) {
        serving.stop();
        pass(on, 2s);
    }
    EXPECT_FALSE(serving.is_running());
    EXPECT_EQ(serving.counts().connections_open(), 0u);
}

sim::step_options slow_network() { return sim::step_options(sim::options(5).with_latency(1ms, 2ms).with_send_buffer_bytes(20'000)); }

TEST(server_at_every_step, a_plain_handler) {
    sim::at_every_step("plain", [](step_source& steps) { one_request(steps, "/", ""); }, slow_network());
}

TEST(server_at_every_step, a_coroutine_handler) {
    sim::at_every_step("coroutine", [](step_source& steps) { one_request(steps, "/task", ""); }, slow_network());
}

TEST(server_at_every_step, an_answer_given_later) {
    sim::at_every_step("later", [](step_source& steps) { one_request(steps, "/later", ""); }, slow_network());
}

TEST(server_at_every_step, a_long_answer_in_a_rough_network) {
    sim::at_every_step(
        "long", [](step_source& steps) { one_request(steps, "/long", ""); },
        sim::step_options(sim::options::rough(11).with_send_buffer_bytes(9000)));
}

TEST(server_at_every_step, a_plain_handler_on_a_loop_that_may_be_taken) {
    sim::at_every_step(
        "hand-over", [](step_source& steps) { one_request(steps, "/", "", loop_options().hand_over(true)); }, slow_network());
}

TEST(server_at_every_step, an_answer_without_a_handler) {
    sim::at_every_step("missing", [](step_source& steps) { one_request(steps, "/missing", "Connection: close\r\n"); }, slow_network());
}

}  // namespace
}  // namespace martlet::server
