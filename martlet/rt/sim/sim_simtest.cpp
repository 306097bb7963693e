// The simulated kernel beyond what Linux can show: virtual time, seeds, faults, peers, and the rules whose breach it reports.
#include <cerrno>
#include <csignal>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <sys/wait.h>

#include <martlet/rt/sim/allocation.hpp>
#include <martlet/rt/sim/at_every_step.hpp>
#include <martlet/rt/sim/peer.hpp>
#include <martlet/rt/sim/simulation.hpp>
#include <martlet/rt/sim/stage.hpp>

#include <gtest/gtest.h>

namespace martlet::inline v0::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t edges_of_all = kernel::poll_in | kernel::poll_out | kernel::poll_read_hangup | kernel::poll_edge;

end listen_at(std::uint16_t port, int backlog = 16) {
    end made("listener", kernel::socket_open(AF_INET, SOCK_STREAM, 0));
    const std::string at = stage::ipv4(port);
    EXPECT_EQ(kernel::bind(made.fd, at.data(), static_cast<unsigned>(at.size())), 0);
    EXPECT_EQ(kernel::listen(made.fd, backlog), 0);
    return made;
}

/// A call of operator new that no optimiser may leave out.
// The block passes through a volatile: a compiler may leave out an allocation whose block nobody sees.
void allocate_once() {
    void* volatile block = ::operator new(8);
    ::operator delete(block);
}

descriptor accept_one(const end& from) { return descriptor(kernel::accept(from.fd, nullptr, nullptr)); }

int wait(const descriptor& epoll, int timeout_ms) {
    kernel::poll_event found[8];
    return kernel::epoll_wait(epoll, found, 8, timeout_ms);
}

TEST(simulated_time, passes_only_in_waits) {
    simulation world;
    const descriptor epoll(kernel::epoll_open());
    const std::int64_t start = kernel::monotonic_ns();
    EXPECT_EQ(kernel::monotonic_ns(), start);
    EXPECT_EQ(wait(epoll, 0), 0);
    EXPECT_EQ(kernel::monotonic_ns(), start);
    EXPECT_EQ(wait(epoll, 250), 0);
    EXPECT_EQ(kernel::monotonic_ns() - start, 250'000'000);
    const std::int64_t wall = kernel::realtime_ns();
    world.advance(1h);
    EXPECT_EQ(kernel::realtime_ns() - wall, std::chrono::nanoseconds(1h).count());
}

TEST(simulated_time, jumps_to_the_next_happening) {
    simulation world;
    const descriptor epoll(kernel::epoll_open());
    const descriptor event(kernel::eventfd_open());
    kernel::epoll_add(epoll, event, kernel::poll_in, nullptr);
    world.after(30ms, [&] { kernel::eventfd_signal(event); });
    const time_point start = world.now();
    EXPECT_EQ(wait(epoll, -1), 1);
    EXPECT_EQ(world.now() - start, 30ms);
    EXPECT_EQ(wait(epoll, 10'000), 1);
    EXPECT_EQ(world.now() - start, 30ms);
}

/// A play with every kind of chance in it. Both sides send a lot to each other and close.
std::uint64_t rough_play(std::uint64_t seed, bool& whole) {
    simulation world(options::rough(seed).with_send_buffer_bytes(5'000).with_receive_buffer_bytes(3'000));
    const end from = listen_at(8080);
    peer client("127.0.0.1:8080");
    std::string request;
    for (int i = 0; i < 40'000; ++i) request += static_cast<char>('a' + i % 23);
    client.send(request);
    client.shutdown_write();
    const descriptor epoll(kernel::epoll_open());
    kernel::epoll_add(epoll, from.fd, kernel::poll_in | kernel::poll_edge, nullptr);
    while (wait(epoll, -1) <= 0) {
    }
    const descriptor server = accept_one(from);
    kernel::epoll_add(epoll, server, edges_of_all, nullptr);
    std::string got;
    std::size_t echoed = 0;
    bool ended = false;
    bool is_shut = false;
    for (int turns = 0; turns < 100'000 && !(client.closed_by_other() && ended); ++turns) {
        char block[1000];
        for (std::ptrdiff_t n; !ended && (n = kernel::recv(server, block, sizeof block)) != -EAGAIN;) {
            if (n == 0) ended = true;
            if (n > 0) got.append(block, static_cast<std::size_t>(n));
        }
        for (std::ptrdiff_t n; echoed < got.size() && (n = kernel::send(server, got.data() + echoed, got.size() - echoed)) > 0;)
            echoed += static_cast<std::size_t>(n);
        if (ended && echoed == got.size() && !std::exchange(is_shut, true)) kernel::shutdown(server, 1);
        // Were an edge lost, this would be reported as a lost wake-up.
        wait(epoll, -1);
    }
    whole = got == request && client.received() == request;
    return world.trace();
}

TEST(simulation, same_seed_same_trace) {
    std::vector<std::uint64_t> traces;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        bool whole = false;
        const std::uint64_t first = rough_play(seed, whole);
        ASSERT_TRUE(whole) << "seed " << seed;
        ASSERT_EQ(rough_play(seed, whole), first) << "seed " << seed;
        traces.push_back(first);
    }
    std::sort(traces.begin(), traces.end());
    EXPECT_EQ(std::unique(traces.begin(), traces.end()), traces.end()) << "two seeds gave the same play";
}

TEST(simulation, draws_order_and_randomness_from_the_seed) {
    const auto order = [](std::uint64_t seed) {
        simulation world((options(seed)));
        const descriptor epoll(kernel::epoll_open());
        std::vector<descriptor> events;
        for (int i = 0; i < 6; ++i) {
            events.emplace_back(kernel::eventfd_open());
            kernel::epoll_add(epoll, events.back(), kernel::poll_in,
                              reinterpret_cast<void*>(std::uintptr_t{1} + static_cast<std::uintptr_t>(i)));
            kernel::eventfd_signal(events.back());
        }
        kernel::poll_event found[8];
        std::string seen;
        const int count = kernel::epoll_wait(epoll, found, 8, 0);
        for (int i = 0; i < count; ++i) seen += static_cast<char>('0' + reinterpret_cast<std::uintptr_t>(found[i].tag));
        unsigned char random[4];
        kernel::random_bytes(random, sizeof random);
        return seen + "," + std::to_string(random[0]) + "," + std::to_string(random[3]);
    };
    EXPECT_EQ(order(1), order(1));
    EXPECT_NE(order(1), order(2));
}

TEST(simulated_network, resets_arrive_behind_what_was_on_its_way) {
    simulation world(options(3).with_latency(1ms, 5ms).with_split_chance(0.5));
    const end from = listen_at(80);
    peer client("127.0.0.1:80");
    world.advance(1s);
    client.send("0123456789");
    client.reset();
    world.advance(1s);
    const descriptor server = accept_one(from);
    std::string got;
    char block[4];
    std::ptrdiff_t n;
    while ((n = kernel::recv(server, block, sizeof block)) > 0) got.append(block, static_cast<std::size_t>(n));
    EXPECT_EQ(n, -ECONNRESET);
    EXPECT_EQ(got, "0123456789");
}

TEST(simulated_network, connects_wait_for_room_in_the_queue) {
    simulation world;
    const end from = listen_at(80, 0);
    peer first("127.0.0.1:80");
    peer second("127.0.0.1:80");
    EXPECT_TRUE(first.is_connected());
    EXPECT_FALSE(second.is_connected());
    const descriptor served = accept_one(from);
    world.advance(2s);
    EXPECT_TRUE(second.is_connected());
    peer third("127.0.0.1:80");
    world.advance(10min);
    EXPECT_TRUE(third.failed());
}

TEST(simulated_network, refuses_where_nobody_listens) {
    simulation world;
    peer lonely("127.0.0.1:80");
    EXPECT_TRUE(lonely.failed());
    peer local("unix:/nobody");
    EXPECT_TRUE(local.failed());
}

TEST(simulated_network, has_peers_that_listen) {
    simulation world(options(1).with_latency(1ms, 2ms));
    std::unique_ptr<peer> served;
    peer_listener server("127.0.0.1:5432", [&](peer accepted) {
        served = std::make_unique<peer>(std::move(accepted));
        served->on_change([](peer& self) {
            if (self.received() == "ping") {
                self.receive();
                self.send("pong");
                self.after(5ms, [](peer& later) { later.shutdown_write(); });
            }
        });
    });
    stage s;
    end client = s.open("client");
    EXPECT_EQ(s.connect(client, stage::ipv4(5432)), -EINPROGRESS);
    s.settle(client);
    s.send(client, "ping");
    s.watch(client);
    s.events();
    s.recv(client);
    s.recv(client);
    EXPECT_EQ(s.log, "client sends: 4\nevents: client=in|out|read_hangup\nclient receives: 'pong'\nclient receives: 0\n");
    client.fd.close();
    world.advance(1s);
    EXPECT_TRUE(served->closed_by_other());
    EXPECT_FALSE(served->reset_by_other());
}

TEST(simulated_network, paused_peers_fill_the_buffers) {
    simulation world(options(1).with_send_buffer_bytes(10'000).with_receive_buffer_bytes(20'000));
    stage s;
    end from = listen_at(80);
    peer client("127.0.0.1:80");
    client.pause_reading();
    end server("server", accept_one(from).release());
    EXPECT_EQ(s.fill(server), 30'000u);
    client.read_some(100);
    EXPECT_EQ(client.received().size(), 100u);
    client.resume_reading();
    EXPECT_EQ(client.received().size(), 30'000u);
}

TEST(simulated_network, peers_read_in_order_what_comes_while_they_read) {
    // Nothing takes time, so room made by a read brings more within it.
    simulation world(options().with_receive_buffer_bytes(3'000));
    const end from = listen_at(8080);
    peer reader("127.0.0.1:8080");
    const descriptor one = accept_one(from);
    std::string sent;
    for (int i = 0; sent.size() < 40'000; ++i) sent += std::to_string(i) + " ";
    EXPECT_EQ(kernel::send(one, sent.data(), sent.size()), static_cast<std::ptrdiff_t>(sent.size()));
    EXPECT_EQ(reader.received(), sent);
}

TEST(simulated_network, peers_get_pieces_in_order_that_arrive_at_once) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        simulation world(options(seed).with_split_chance(0.7).with_send_buffer_bytes(100));
        const end from = listen_at(8080);
        peer client("127.0.0.1:8080");
        const descriptor server = accept_one(from);
        std::string all;
        for (char c = ' '; c < 'z'; ++c) all += c;
        const std::ptrdiff_t sent = kernel::send(server, all.data(), all.size());
        ASSERT_GT(sent, 0);
        client.send(all);
        world.advance(1ms);
        EXPECT_EQ(client.received(), all.substr(0, static_cast<std::size_t>(sent))) << seed;
        char block[200];
        std::string got;
        for (std::ptrdiff_t n; (n = kernel::recv(server, block, sizeof block)) > 0;) got.append(block, static_cast<std::size_t>(n));
        EXPECT_EQ(got, all) << seed;
    }
}

TEST(simulated_network, loses_datagrams_when_told_to) {
    simulation world(options(1).with_loss_chance(0.5));
    stage s;
    end one = s.open("one", AF_INET, SOCK_DGRAM);
    end two = s.open("two", AF_INET, SOCK_DGRAM);
    EXPECT_EQ(s.bind(one, stage::ipv4(53)), 0);
    EXPECT_EQ(s.connect(two, stage::ipv4(53)), 0);
    int received = 0;
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(kernel::send(two.fd, "x", 1), 1);
        char byte;
        received += kernel::recv(one.fd, &byte, 1) == 1;
    }
    EXPECT_GT(received, 20);
    EXPECT_LT(received, 80);
}

TEST(simulated_descriptors, are_limited_and_reused) {
    simulation world(options(1).with_descriptors_max(3));
    descriptor first(kernel::eventfd_open());
    descriptor second(kernel::eventfd_open());
    int ends[2];
    EXPECT_EQ(kernel::pipe_open(ends, true), -EMFILE);
    EXPECT_EQ(world.open_descriptors(), 2u);
    const int number = first.number();
    first.close();
    const descriptor again(kernel::epoll_open());
    EXPECT_EQ(again.number(), number);
}

TEST(simulated_signals, reach_who_waits_for_them) {
    simulation world;
    const int numbers[] = {SIGTERM, SIGHUP};
    char mask[128];
    const descriptor signals(kernel::signals_open(numbers, 2, mask));
    const descriptor epoll(kernel::epoll_open());
    kernel::epoll_add(epoll, signals, kernel::poll_in | kernel::poll_edge, nullptr);
    world.raise(SIGUSR1);
    EXPECT_EQ(wait(epoll, 10), 0);
    world.raise(SIGTERM);
    world.raise(SIGTERM);
    EXPECT_EQ(wait(epoll, -1), 1);
    EXPECT_EQ(kernel::signals_next(signals), SIGTERM);
    EXPECT_EQ(kernel::signals_next(signals), -EAGAIN);
    kernel::signals_restore(mask);
}

TEST(simulated_process, lives_by_its_script) {
    simulation world;
    world.add_process("/bin/cat", process_script().echoes().exits_with(3));
    int in[2];
    int out[2];
    kernel::pipe_open(in, true);
    kernel::pipe_open(out, true);
    descriptor child_in(in[0]);
    descriptor to_child(in[1]);
    const descriptor from_child(out[0]);
    descriptor child_out(out[1]);
    kernel::process_start what{};
    what.path = "/bin/cat";
    what.input = &child_in;
    what.output = &child_out;
    int pid = 0;
    const descriptor process(kernel::process_open(what, &pid));
    ASSERT_TRUE(process.is_open());
    child_in.close();
    child_out.close();
    EXPECT_EQ(kernel::write(to_child, "hello", 5), 5);
    to_child.close();
    const descriptor epoll(kernel::epoll_open());
    kernel::epoll_add(epoll, process, kernel::poll_in, nullptr);
    int status = 0;
    EXPECT_EQ(kernel::process_reap(process, &status), 0);
    EXPECT_EQ(wait(epoll, -1), 1);
    EXPECT_EQ(kernel::process_reap(process, &status), 1);
    EXPECT_EQ(WEXITSTATUS(status), 3);
    char bytes[8] = {};
    EXPECT_EQ(kernel::read(from_child, bytes, 8), 5);
    EXPECT_STREQ(bytes, "hello");
    EXPECT_EQ(kernel::read(from_child, bytes, 8), 0);
    what.path = "/bin/missing";
    what.input = what.output = nullptr;
    EXPECT_EQ(kernel::process_open(what, &pid), -ENOENT);
}

TEST(simulated_process, dies_by_a_signal) {
    simulation world;
    world.add_process("/bin/sleep", process_script().runs_for(1h));
    kernel::process_start what{};
    what.path = "/bin/sleep";
    int pid = 0;
    const descriptor process(kernel::process_open(what, &pid));
    EXPECT_EQ(kernel::process_signal(process, SIGKILL), 0);
    int status = 0;
    EXPECT_EQ(kernel::process_reap(process, &status), 1);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGKILL);
    EXPECT_EQ(kernel::process_signal(process, SIGKILL), -ESRCH);
}

TEST(simulated_memory, gives_aligned_zeroed_pages_and_counts_them) {
    simulation world;
    auto* pages = static_cast<char*>(kernel::map_pages(128 * 1024));
    ASSERT_NE(pages, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pages) % (64 * 1024), 0u);
    EXPECT_EQ(pages[0] | pages[128 * 1024 - 1], 0);
    EXPECT_EQ(world.mapped_bytes(), 128u * 1024);
    kernel::unmap_pages(pages, 128 * 1024);
    EXPECT_EQ(world.mapped_bytes(), 0u);
    fail_allocation(1);
    EXPECT_EQ(kernel::map_pages(64 * 1024), nullptr);
    EXPECT_TRUE(allocation_failed());
}

TEST(fault, fails_the_chosen_call) {
    simulation world;
    world.fail_call(2, EMFILE);
    descriptor first(kernel::eventfd_open());
    EXPECT_TRUE(first.is_open());
    EXPECT_EQ(world.fitting_errors(), 0u);
    EXPECT_EQ(kernel::epoll_open(), -EMFILE);
    EXPECT_GT(world.fitting_errors(), 0u);
    const descriptor epoll(kernel::epoll_open());
    EXPECT_TRUE(epoll.is_open());
}

TEST(fault, leaves_a_true_state_behind) {
    simulation world;
    stage s;
    end from = listen_at(80);
    peer client("127.0.0.1:80");
    end server("server", accept_one(from).release());
    s.watch(server);
    s.events();
    world.fail_call(1, ECONNRESET);
    s.recv(server);
    s.events();
    s.recv(server);
    s.send(server, "x");
    EXPECT_TRUE(client.reset_by_other());
    peer other("127.0.0.1:80");
    end second("second", accept_one(from).release());
    s.watch(second);
    s.events();
    world.fail_call(1, EAGAIN);
    s.send(second, "x");
    s.events();
    s.send(second, "x");
    EXPECT_EQ(s.log,
              "events: server=out\nserver receives: ECONNRESET\nevents: server=in|out|hangup|read_hangup\nserver receives: 0\nserver "
              "sends: EPIPE\n"
              "events: second=out\nsecond sends: EAGAIN\nevents: second=out\nsecond sends: 1\n");
}

TEST(fault, happens_by_chance) {
    simulation world(options(5).with_error_chance(call_kind::eventfd_open, 0.5));
    int failed = 0;
    for (int i = 0; i < 100; ++i) failed += !descriptor(std::max(kernel::eventfd_open(), -1)).is_open();
    EXPECT_GT(failed, 20);
    EXPECT_LT(failed, 80);
}

TEST(fault, fails_the_chosen_allocation) {
    simulation world;
    const std::uint64_t before = allocations();
    fail_allocation(2);
    allocate_once();
    EXPECT_THROW(allocate_once(), std::bad_alloc);
    allocate_once();
    EXPECT_EQ(allocations() - before, 3u);
    fail_allocation(1);
    // The simulation's own needs do not count.
    const descriptor event(kernel::eventfd_open());
    EXPECT_FALSE(allocation_failed());
    EXPECT_EQ(::operator new(8, std::nothrow), nullptr);
    EXPECT_TRUE(allocation_failed());
}

TEST(at_every_step_itself, covers_every_point_once) {
    int cancelled = 0;
    int failed = 0;
    int out_of_memory = 0;
    const coverage covered = at_every_step("three kinds", [&](step_source& steps) {
        if (steps.cancel_now()) ++cancelled;
        const int number = kernel::epoll_open();
        if (number < 0) {
            ++failed;
            return;
        }
        const descriptor epoll(number);
        steps.on_cancel([&] { ++cancelled; });
        wait(epoll, 1);
        try {
            allocate_once();
        } catch (const std::bad_alloc&) {
            ++out_of_memory;
        }
        allocate_once();
    });
    EXPECT_EQ(covered.cancellations, 2u);
    EXPECT_EQ(cancelled, 2);
    // Three ways to refuse an epoll, and EINTR.
    EXPECT_EQ(covered.errors, 4u);
    EXPECT_EQ(failed, 3);
    EXPECT_EQ(covered.allocations, 2u);
    EXPECT_EQ(out_of_memory, 1);
}

using rules_DeathTest = ::testing::Test;

TEST(rules_DeathTest, lost_wake_up) {
    EXPECT_DEATH(
        {
            simulation world;
            const descriptor epoll(kernel::epoll_open());
            wait(epoll, -1);
        },
        "lost wake-up: the loop waits for ever and nothing can happen");
}

TEST(rules_DeathTest, descriptor_left_open) {
    EXPECT_DEATH(
        {
            simulation world;
            [[maybe_unused]] const int leaked = kernel::eventfd_open();
        },
        "every descriptor is closed before the simulation ends: 1 left open");
}

TEST(rules_DeathTest, call_on_a_closed_descriptor) {
    EXPECT_DEATH(
        {
            simulation world;
            const descriptor event(kernel::eventfd_open());
            const descriptor twice(event.number());
        },
        "a kernel call takes an open descriptor|only an open descriptor is closed");
}

TEST(rules_DeathTest, unblocked_sigpipe) {
    EXPECT_DEATH(
        {
            simulation world;
            world.add_file("/f", "content");
            const descriptor file(kernel::file_open("/f", kernel::open_mode::read));
            stage s;
            auto pair = s.unix_pair();
            pair.first.fd.close();
            std::int64_t offset = 0;
            kernel::send_file(pair.second.fd, file, &offset, 3);
        },
        "SIGPIPE is blocked");
}

TEST(rules_DeathTest, spinning) {
    EXPECT_DEATH(
        {
            options with;
            with.calls_at_one_time_max = 1000;
            simulation world(with);
            const descriptor epoll(kernel::epoll_open());
            for (int i = 0; i < 2000; ++i) wait(epoll, 0);
        },
        "this one spins");
}

TEST(rules_DeathTest, blocking_read) {
    EXPECT_DEATH(
        {
            simulation world;
            int ends[2];
            kernel::pipe_open(ends, false);
            const descriptor out(ends[0]);
            const descriptor in(ends[1]);
            char byte;
            kernel::read(out, &byte, 1);
        },
        "nothing but epoll_wait blocks");
}

TEST(rules_DeathTest, no_simulation) { EXPECT_DEATH(kernel::eventfd_open(), "no simulation lives on this thread"); }

}  // namespace
}  // namespace martlet::inline v0::sim
