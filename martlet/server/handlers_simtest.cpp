// Every form of a handler, ended at every step: by its peer's FIN, close or reset, by the server's stop, by its deadline; and with an error of the
// system or a failed allocation at every step.
#include <memory>
#include <string>

#include <martlet/rt/sim/at_every_step.hpp>
#include <martlet/server/storm_testing_internal.hpp>
#include <martlet/server/visitor_testing_internal.hpp>

namespace martlet::server {
namespace {

using namespace std::chrono_literals;
using sim::step_source;
using testing::asked;
using testing::dice;
using testing::form;
using testing::get;
using testing::heard;
using testing::letters;
using testing::sim_address;
using testing::storm_routes;

/// What ends a handler.
enum class ending : std::uint8_t { fin, close, reset, stop, force };

constexpr form forms[] = {form::task,   form::early, form::children, form::later,     form::later_stream, form::expires,
                          form::waits,  form::stays, form::pulls,    form::pulls_all, form::unread,       form::echo,
                          form::stream, form::sized, form::events,   form::file,      form::upgrade};

std::string name_of(form what) { return std::string(testing::form_paths[static_cast<std::size_t>(what)].substr(1)); }

/// A request of that form in HTTP/1.1 with all that it has, and content of some size where it reads any.
asked request_for(form what) {
    const sim::allocation_pause pause;
    for (std::uint64_t seed = 1;; ++seed) {
        dice draws(seed);
        asked one(draws, 16, what);
        const bool has_enough =
            !testing::reads_content(what) || what == form::later || what == form::later_stream || one.content.size() > 2000;
        if (!one.old && !one.to_head && !one.says_close && !one.expects && has_enough) return one;
    }
}

/// One request to a server that ends it; judges what was heard, and that nothing is left.
class play {
public:
    play(const asked& what, limits bounds = {}) : what_(what), serving_(app_, options(sim_address).bounds(bounds.drain_timeout(30ms))) {}

    bool start() { return serving_.start_on(on_).has_value(); }
    void ask() {
        const sim::allocation_pause pause;
        client_ = std::make_unique<sim::peer>(sim_address);
        const std::string bytes = what_.wire();
        const std::size_t part = bytes.size() / 3 + 1;
        client_->send(bytes.substr(0, part));
        for (std::size_t i = 1; i < 3; ++i) client_->send_after(i * 2ms, bytes.substr(std::min(i * part, bytes.size()), part));
    }
    void end_by(ending how) {
        switch (how) {
        case ending::fin: client_->shutdown_write(); break;
        case ending::close: client_->close(); break;
        case ending::reset: client_->reset(); break;
        case ending::stop: serving_.stop(); break;
        case ending::force:
            serving_.stop();
            serving_.stop();
            break;
        }
        left_ = how == ending::close || how == ending::reset;
    }
    void pass(duration length) {
        for (const time_point until = on_.clock() + length; on_.clock() < until;) {
            on_.turn(std::min<duration>(5ms, until - on_.clock()));
            routes_.answer_some(true);
        }
    }
    bool serves() {
        const sim::allocation_pause pause;
        sim::peer late(sim_address);
        late.send(get("/plain?0", "Connection: close\r\n"));
        // For want of a descriptor accepting pauses for a while.
        for (int i = 0; i < 30 && !late.closed_by_other(); ++i) {
            const sim::allocation_resume under_test;
            pass(10ms);
        }
        return late.received().ends_with("\r\n\r\n/plain?0");
    }

    /// Right, or visibly a part of it, or an error.
    void judge(bool strictly) const {
        const sim::allocation_pause pause;
        std::string_view rest = client_->received();
        heard one = heard::take(rest, false);
        if (one.how == heard::extent::none) {
            EXPECT_FALSE(strictly);
            return;
        }
        if (one.status == 101) one.content = rest;
        const std::string wanted = one.status == 101 ? what_.behind : content_of(what_.what, what_.target, what_.content);
        if (one.status < 400) {
            EXPECT_TRUE(wanted.starts_with(one.content)) << one.content.substr(0, 100);
        }
        if (strictly) {
            EXPECT_EQ(one.status, status_of(what_.what));
            EXPECT_NE(one.how, heard::extent::cut);
            if (one.status < 400) {
                EXPECT_EQ(one.content, wanted);
            }
        }
        if (one.how == heard::extent::cut && !left_) {
            EXPECT_TRUE(client_->closed_by_other()) << "it stopped in the middle";
        }
        // Events go on as long as the server does.
        if (one.how == heard::extent::whole && one.status == 200 && what_.what != form::events) {
            EXPECT_EQ(one.content, wanted);
        }
    }
    void end() {
        {
            const sim::allocation_pause pause;
            if (client_ != nullptr) client_->close();
        }
        pass(40ms);
        EXPECT_EQ(on_.frames_live(), 0u) << "a handler outlives its peer";
        for (int i = 0; i < 100 && serving_.is_running(); ++i) {
            serving_.stop();
            pass(50ms);
        }
        EXPECT_FALSE(serving_.is_running());
        EXPECT_EQ(serving_.counts().connections_open(), 0u);
    }

private:
    const asked& what_;
    loop on_;
    router app_;
    storm_routes routes_{app_};
    http_server serving_;
    std::unique_ptr<sim::peer> client_;
    bool left_ = false;
};

void end_at_a_step(step_source& steps, const asked& what, ending how) {
    {
        const sim::allocation_pause pause;
        steps.world().add_file(testing::storm_file, letters(testing::storm_file_bytes));
    }
    play one(what);
    if (!one.start()) {
        EXPECT_FALSE(steps.is_faultless());
        return;
    }
    one.ask();
    steps.on_cancel([&one, how] { one.end_by(how); });
    one.pass(80ms);
    steps.on_cancel(nullptr);
    const bool hit = steps.was_hit();
    const bool stops = how == ending::stop || how == ending::force;
    if (!stops) {
        const bool served = one.serves();
        // The fault may be for this one.
        EXPECT_TRUE(served || (!hit && steps.was_hit()));
    }
    // If accepting paused, the first was late.
    if (hit) one.pass(80ms);
    one.judge(!hit && what.what != form::expires);
    one.end();
}

sim::options slow_network() {
    return sim::options(5).with_latency(300us, 1ms).with_send_buffer_bytes(6'000).with_receive_buffer_bytes(6'000);
}

void end_all(ending how) {
    for (const form what : forms) {
        const asked request = request_for(what);
        SCOPED_TRACE(name_of(what));
        sim::at_every_step(
            name_of(what), [&](step_source& steps) { end_at_a_step(steps, request, how); },
            sim::step_options(slow_network()).without_errors().without_allocations());
    }
}

TEST(handler_at_every_step, ends_with_a_fin) { end_all(ending::fin); }
TEST(handler_at_every_step, ends_with_a_close) { end_all(ending::close); }
TEST(handler_at_every_step, ends_with_a_reset) { end_all(ending::reset); }
TEST(handler_at_every_step, ends_with_the_server) { end_all(ending::stop); }
TEST(handler_at_every_step, ends_with_the_server_at_once) { end_all(ending::force); }

TEST(handler_at_every_step, survives_errors_and_failed_allocations) {
    for (const form what : forms) {
        const asked request = request_for(what);
        SCOPED_TRACE(name_of(what));
        sim::at_every_step(
            name_of(what), [&](step_source& steps) { end_at_a_step(steps, request, ending::fin); },
            sim::step_options(slow_network()).without_cancellation());
    }
}

TEST(handler_at_every_step, ends_at_its_deadline) {
    for (const form what : forms) {
        const asked request = request_for(what);
        SCOPED_TRACE(name_of(what));
        for (duration time = 500us; time < 25ms; time += 500us) {
            sim::simulation world(slow_network());
            world.add_file(testing::storm_file, letters(testing::storm_file_bytes));
            play one(request, limits().handler_timeout(time));
            ASSERT_TRUE(one.start());
            one.ask();
            one.pass(80ms);
            EXPECT_TRUE(one.serves());
            one.judge(false);
            one.end();
        }
    }
}

}  // namespace
}  // namespace martlet::server
