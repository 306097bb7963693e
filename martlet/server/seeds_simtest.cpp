// A storm over the whole server, from accept to drain, drawn from a seed: handlers of every form, clients of every manner, a kernel that does
// everything in pieces, errors of the system and failed allocations, limits small and large, a stop while work goes on.
//
// A seed that fails says how it is played again: MARTLET_SEED=17 server-simtest --gtest_filter='server_seeds.a_storm*'. That plays it alone and
// prints every call of the kernel that it made. MARTLET_SEED=2001-9000 plays others than the usual ones.
#include <gtest/gtest-spi.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <martlet/rt/sim/world.hpp>
#include <martlet/server/storm_testing_internal.hpp>
#include <martlet/server/visitor_testing_internal.hpp>

namespace martlet::server {
namespace {

using namespace std::chrono_literals;
using sim::call_kind;
using testing::dice;
using testing::get;
using testing::letters;
using testing::pass;
using testing::sim_address;
using testing::storm_routes;
using testing::visitor;
using testing::weather;

constexpr std::uint64_t seeds = 2000;
constexpr std::string_view unix_address = "unix:@storm";

/// Says of each connection that what is told of it makes sense, and counts. Its own memory does not fail.
class tally final : public observer {
public:
    void accepted(connection_id id) noexcept override {
        const sim::allocation_pause pause;
        ++accepted_;
        EXPECT_TRUE(open_.emplace(id, 0).second) << "accepted twice";
    }
    void head(connection_id id, const exchange& x) noexcept override {
        const sim::allocation_pause pause;
        last_target_ = x.target();
        EXPECT_EQ(running(id)++, 0) << "a head inside an exchange: " << last_target_;
    }
    void response_head(connection_id id, const exchange&, int) noexcept override {
        const sim::allocation_pause pause;
        EXPECT_EQ(running(id), 1) << "an answer to nothing";
    }
    void end(connection_id id, const exchange&, int, std::uint64_t) noexcept override {
        const sim::allocation_pause pause;
        EXPECT_EQ(running(id)--, 1) << "an end of nothing";
    }
    void closed(connection_id id, close_reason why) noexcept override {
        const sim::allocation_pause pause;
        if (id == 0) return;
        ++closed_;
        EXPECT_EQ(running(id), 0) << "closed inside an exchange: " << server::text(why) << ", the last head of all was " << last_target_;
        open_.erase(id);
    }
    std::uint64_t accepted_count() const noexcept { return accepted_; }
    void judge() const {
        EXPECT_EQ(accepted_, closed_);
        EXPECT_TRUE(open_.empty());
    }

private:
    int& running(connection_id id) {
        const auto found = open_.find(id);
        if (found != open_.end()) return found->second;
        ADD_FAILURE() << "told of a connection that is not open";
        return nobody_;
    }

    std::map<connection_id, int> open_;
    std::string last_target_;
    std::uint64_t accepted_ = 0;
    std::uint64_t closed_ = 0;
    int nobody_ = 0;
};

/// All that a seed decides beforehand.
class plan {
public:
    explicit plan(std::uint64_t seed) : draws(seed), kernel(sim::options::rough(seed)) {
        in.faults = draws.one_in(2);
        in.tight = draws.one_in(3);
        watched = draws.one_in(2);
        in.no_later = draws.one_in(4);
        loop_how.hand_over(in.no_later);
        if (draws.one_in(3)) loop_how.ready_budget(1 + static_cast<unsigned>(draws.below(4)));
        draw_kernel();
        draw_bounds();
        in.requests_max = bounds.requests_max();
        in.body_bytes_max = bounds.body_bytes_max();
    }

    dice draws;
    weather in;
    bool watched = false;
    sim::options kernel;
    limits bounds;
    loop_options loop_how;

private:
    void draw_kernel() {
        if (draws.one_in(4)) kernel = sim::options(kernel.seed);  // a smooth one
        if (draws.one_in(2)) kernel.with_latency(10us, 3ms);
        if (draws.one_in(2))
            kernel.with_send_buffer_bytes(draws.between(3000, 20'000)).with_receive_buffer_bytes(draws.between(3000, 20'000));
        if (!in.faults) return;
        const double chance = draws.one_in(2) ? 0.03 : 0.004;
        for (const call_kind kind : {call_kind::accept, call_kind::recv, call_kind::send, call_kind::send_pieces, call_kind::send_file,
                                     call_kind::epoll_wait, call_kind::epoll_add, call_kind::file_open}) {
            if (!draws.one_in(3)) kernel.with_error_chance(kind, chance);
        }
    }

    void draw_bounds() {
        bounds.slice_requests_max(1 + static_cast<std::uint32_t>(draws.below(draws.one_in(2) ? 4 : 128)))
            .flush_bytes(draws.one_in(2) ? 1 + draws.below(5000) : 64 * 1024)
            .stream_queued_bytes_max(draws.one_in(2) ? 1 + draws.below(5000) : 64 * 1024)
            .accepts_per_turn_max(1 + static_cast<std::uint32_t>(draws.below(6)))
            .event_quiet_time(draws.one_in(2) ? 2ms : 1s)
            .requests_max(draws.one_in(3) ? 1 + static_cast<std::uint32_t>(draws.below(8)) : 10'000)
            .drain_timeout(5ms + draws.time_below(300ms))
            .linger_timeout(300ms)
            .first_byte_timeout(500ms)
            .head_timeout(500ms)
            .idle_timeout(700ms)
            .write_timeout(500ms)
            .body_grace(500ms)
            .body_timeout(500ms)
            .unread_timeout(500ms);
        if (!in.tight) return;
        using set_duration = limits& (limits::*)(duration) noexcept;
        constexpr set_duration times[] = {&limits::first_byte_timeout, &limits::head_timeout,  &limits::idle_timeout,
                                          &limits::write_timeout,      &limits::body_grace,    &limits::body_timeout,
                                          &limits::unread_timeout,     &limits::linger_timeout};
        for (const set_duration set : times) {
            if (draws.one_in(3)) (bounds.*set)(5ms + draws.time_below(60ms));
        }
        if (draws.one_in(3)) bounds.handler_timeout(1ms + draws.time_below(20ms));
        if (draws.one_in(3)) bounds.connections_max(1 + static_cast<std::uint32_t>(draws.below(6)));
        if (draws.one_in(3)) bounds.refusals_per_second_max(static_cast<std::uint32_t>(draws.below(3)));
        if (draws.one_in(3)) bounds.buffered_bytes_max(64 * 1024 * draws.between(1, 4));
        if (draws.one_in(3)) bounds.body_bytes_max(draws.below(5000));
        if (draws.one_in(3)) bounds.unread_bytes_max(draws.below(5000));
        if (draws.one_in(3)) bounds.linger_bytes_max(draws.below(5000));
    }
};

/// One seed: clients come and go, the server is asked whether it still serves, others come, and it stops while they are there.
class storm {
public:
    explicit storm(std::uint64_t seed, bool whole_trace = false)
        : plan_(seed), world_(whole_trace ? plan_.kernel.with_whole_trace() : plan_.kernel) {
        world_.set_note(replay(seed));
        // To ask for a reset (SO_LINGER) does not fail on Linux: the next call does instead.
        world_.on_call([this](const sim::call_facts& facts) {
            sim::world& inside = world_.inside();
            if (facts.kind == call_kind::set_option && inside.fail_at == inside.fallible_count + 1) ++inside.fail_at;
        });
        world_.add_file(testing::storm_file, letters(testing::storm_file_bytes));
    }

    /// The command line that plays a seed again.
    static std::string replay(std::uint64_t seed) {
        return "MARTLET_SEED=" + std::to_string(seed) + " " + program_invocation_name + " --gtest_filter='server_seeds.a_storm*'";
    }

    std::uint64_t run(void (*also)() = [] {}) {
        tally seen;
        {
            const std::unique_ptr<loop> made = make_loop();
            loop& on = *made;
            router app;
            storm_routes routes(app);
            on_ = &on;
            routes_ = &routes;
            options how(sim_address);
            how.listen(unix_address).bounds(plan_.bounds);
            if (plan_.watched) how.watch(seen);
            http_server serving(app, how);
            if (start(serving)) {
                first_wave(serving);
                also();
                ask_whether_it_serves();
                last_wave(serving);
            }
            routes.answer_some(true);
            EXPECT_EQ(on.frames_live(), 0u) << "frames outlive the server";
        }
        seen.judge();
        EXPECT_EQ(world_.open_descriptors(), 0u);
        EXPECT_EQ(world_.mapped_bytes(), 0u);
        return world_.trace();
    }
    std::string trace_text() const { return world_.trace_text(); }

private:
    // With faults both may take more than one attempt.
    std::unique_ptr<loop> make_loop() const {
        for (int attempt = 0; attempt < 20; ++attempt) {
            try {
                return std::make_unique<loop>(plan_.loop_how);
            } catch (const std::system_error&) {
                EXPECT_TRUE(plan_.in.faults);
            }
        }
        return std::make_unique<loop>(plan_.loop_how);
    }
    bool start(http_server& serving) {
        for (int attempt = 0; attempt < 20; ++attempt) {
            if (serving.start_on(*on_).has_value()) return true;
        }
        ADD_FAILURE() << "the server does not start: " << serving.what();
        return false;
    }

    void add_visitor(std::list<visitor>& to) {
        const sim::allocation_pause pause;
        to.emplace_back(plan_.draws, plan_.draws.one_in(3) ? unix_address : sim_address, numbers_, !plan_.in.tight);
    }

    /// What an allocation or a call to come shall do.
    void arm_faults() {
        if (!plan_.in.faults) return;
        if (plan_.draws.one_in(2)) sim::fail_allocation(1 + plan_.draws.below(40));
        // Any call, those that have no chance of their own among them.
        if (plan_.draws.one_in(2)) world_.fail_call(1 + plan_.draws.below(40));
    }

    void go_on(duration length) {
        pass(*on_, length);
        routes_->answer_some(plan_.draws.one_in(2));
    }

    void first_wave(http_server& serving) {
        std::list<visitor> visitors;
        const std::uint64_t count = plan_.draws.between(1, 12);
        for (std::uint64_t i = 0; i < count; ++i) {
            add_visitor(visitors);
            arm_faults();
            go_on(plan_.draws.time_below(12ms));
        }
        for (int i = 0; i < 100; ++i) {
            go_on(10ms);
            if (i < 30) arm_faults();
        }
        sim::fail_allocation(0);
        const sim::allocation_pause pause;
        for (visitor& each : visitors) each.judge(plan_.in);
        for (visitor& each : visitors) each.leave();
        // What lingers, and handlers that nobody hears.
        for (int i = 0; i < 100 && (serving.counts().connections_open() != 0 || on_->frames_live() != 0); ++i) go_on(10ms);
        EXPECT_EQ(serving.counts().connections_open(), 0u) << "connections outlive their clients";
        EXPECT_EQ(on_->frames_live(), 0u) << "handlers outlive their clients";
    }

    void ask_whether_it_serves() {
        // An error of the system, or a timeout of a few milliseconds, may hit one attempt or the other.
        const int attempts = plan_.in.is_calm() ? 1 : 50;
        std::string heard;
        for (int attempt = 0; attempt < attempts; ++attempt) {
            sim::peer late(sim_address);
            late.send(get("/plain?0", "Connection: close\r\n"));
            pass(*on_, 250ms);
            heard = late.received();
            if (heard.ends_with("\r\n\r\n/plain?0")) return;
        }
        ADD_FAILURE() << "it serves no more: " << heard;
    }

    void last_wave(http_server& serving) {
        std::list<visitor> visitors;
        const std::uint64_t count = plan_.draws.between(1, 6);
        for (std::uint64_t i = 0; i < count; ++i) {
            add_visitor(visitors);
            if (plan_.draws.one_in(2)) visitors.back().be_polite();
            arm_faults();
            go_on(plan_.draws.time_below(6ms));
        }
        sim::fail_allocation(0);
        const time_point begin = on_->clock();
        const bool is_forced = plan_.draws.one_in(5);
        serving.stop();
        if (is_forced) serving.stop();
        while (serving.is_running() && on_->clock() - begin < 2s) {
            pass(*on_, 1ms);
            routes_->answer_some(true);
        }
        EXPECT_FALSE(serving.is_running()) << "the server does not stop";
        // Timers are kept in milliseconds, and what waits to be answered is asked every now and then.
        EXPECT_LE(on_->clock() - begin, (is_forced ? duration::zero() : plan_.bounds.drain_timeout()) + 10ms) << "stopping takes too long";
        EXPECT_EQ(serving.counts().connections_open(), 0u);
        // What was written before the end still arrives.
        for (visitor& each : visitors) each.look();
        pass(*on_, 300ms);
        const sim::allocation_pause pause;
        weather end = plan_.in;
        end.stopping = true;
        for (visitor& each : visitors) each.judge(end);
    }

    plan plan_;
    sim::simulation world_;
    loop* on_ = nullptr;
    storm_routes* routes_ = nullptr;
    std::uint64_t numbers_ = 0;
};

/// `also` is called in the middle of it.
std::uint64_t play(std::uint64_t seed, void (*also)() = [] {}) {
    SCOPED_TRACE("play it again: " + storm::replay(seed));
    return storm(seed).run(also);
}

/// What MARTLET_SEED chooses: one seed, or a range of them as FIRST-LAST.
class chosen {
public:
    chosen() {
        const char* const text = std::getenv("MARTLET_SEED");
        if (text == nullptr) return;
        char* behind = nullptr;
        first = last = std::strtoull(text, &behind, 10);
        if (*behind == '-') last = std::strtoull(behind + 1, nullptr, 10);
        by_hand = true;
    }
    std::uint64_t first = 1;
    std::uint64_t last = seeds;
    bool by_hand = false;
};

TEST(server_seeds, a_storm_leaves_a_server_that_serves_and_stops) {
    const chosen range;
    if (range.by_hand && range.first == range.last) {
        storm one(range.first, true);
        one.run();
        std::printf("%s", one.trace_text().c_str());
        return;
    }
    for (std::uint64_t seed = range.first; seed <= range.last && !HasFailure(); ++seed) play(seed);
}

TEST(server_seeds, the_same_seed_gives_the_same_trace) {
    std::vector<std::uint64_t> traces;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        traces.push_back(play(seed));
        EXPECT_EQ(play(seed), traces.back()) << seed;
    }
    std::sort(traces.begin(), traces.end());
    EXPECT_EQ(std::unique(traces.begin(), traces.end()), traces.end()) << "seeds make no difference";
}

TEST(server_seeds, a_seed_that_fails_says_how_it_is_played_again) {
    EXPECT_NONFATAL_FAILURE(play(7, [] { ADD_FAILURE() << "planted"; }), "MARTLET_SEED=7 ");
}

// As it is when an assertion of the server ends the program.
TEST(server_seeds_DeathTest, a_seed_that_aborts_says_so_too) {
    EXPECT_DEATH(play(7, [] { MARTLET_ASSERT(false, "planted"); }), "planted(.|\n)*seed 7, .*MARTLET_SEED=7 ");
}

}  // namespace
}  // namespace martlet::server
