// The whole server on the simulated kernel, from accept to drain, under a script: peers that send, pause, finish and vanish, calls and
// allocations that fail, time that passes, a stop at any moment. The simulation reports lost wake-ups, leaks and loops that spin. Besides: an
// answer is that of its request; where nothing failed none is missing; afterwards a healthy request is served; nothing is left.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/rt/loop.hpp>
#include <martlet/rt/sim/allocation.hpp>
#include <martlet/rt/sim/peer.hpp>
#include <martlet/rt/sim/simulation.hpp>
#include <martlet/server/detail/fuzz_reading_internal.hpp>
#include <martlet/server/http_server.hpp>

namespace {

using namespace std::chrono_literals;
using namespace martlet;
using namespace martlet::server;
using namespace martlet::server::fuzzing;

constexpr std::string_view address = "127.0.0.1:80";
constexpr std::size_t peers_max = 6;
constexpr std::size_t steps_max = 60;

/// The input, read from its beginning; zeros behind its end.
class script {
public:
    script(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

    bool is_over() const { return rest_.empty(); }
    unsigned byte() {
        if (rest_.empty()) return 0;
        const auto next = static_cast<unsigned char>(rest_.front());
        rest_.remove_prefix(1);
        return next;
    }
    unsigned below(unsigned bound) { return byte() % bound; }
    std::string_view text(std::size_t bytes) {
        const std::string_view part = rest_.substr(0, bytes);
        rest_.remove_prefix(part.size());
        return part;
    }

private:
    std::string_view rest_;
};

std::string with_length(std::string_view target, std::string_view content, std::string_view more = {}) {
    return "POST " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" + std::string(more) +
           "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n" + std::string(content);
}
std::string in_chunks(std::string_view target, std::string_view last) {
    return "POST " + std::string(target) + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nyou\r\n" +
           std::string(last);
}
std::string plainly(std::string_view method, std::string_view target, std::string_view more = {}, std::string_view version = "1.1") {
    return std::string(method) + " " + std::string(target) + " HTTP/" + std::string(version) + "\r\nHost: a\r\n" + std::string(more) +
           "\r\n";
}

/// What a script asks for by number.
const std::vector<std::string>& known_requests() {
    static const std::vector<std::string> all = {
        plainly("GET", "/"),
        plainly("GET", "/exact"),
        plainly("GET", "/late"),
        plainly("GET", "/events?x"),
        plainly("GET", "/short"),
        plainly("GET", "/throws"),
        plainly("GET", "/silent"),
        plainly("GET", "/missing"),
        plainly("GET", "/number/7"),
        plainly("GET", "/group/pull"),
        plainly("GET", "/group/echo", "X-Deny: 1\r\n"),
        plainly("GET", "/raw", "Connection: upgrade\r\nUpgrade: raw\r\n"),
        plainly("GET", "/", "Connection: close\r\n"),
        plainly("GET", "/", "Connection: keep-alive\r\n", "1.0"),
        plainly("GET", "/short", {}, "1.0"),
        plainly("HEAD", "/exact"),
        plainly("OPTIONS", "/echo"),
        with_length("/echo", "hello, you"),
        with_length("/pull", "hello, you"),
        with_length("/pipe", "hello, you"),
        with_length("/late", "hello, you"),
        with_length("/nobody", "hello, you"),
        with_length("/group/pipe", "hello, you"),
        with_length("/echo", "hello, you", "Expect: 100-continue\r\n"),
        with_length("/echo", std::string(20'000, 'e')),
        with_length("/pull", std::string(20'000, 'p')),
        with_length("/pipe", std::string(50'000, 'x')),
        in_chunks("/echo", "0\r\n\r\n"),
        in_chunks("/pull", "0\r\nX-T: 1\r\n\r\n"),
        in_chunks("/pipe", "0\r\n\r\n"),
        in_chunks("/pipe", "bad\r\n"),
        in_chunks("/trailed", "0\r\n\r\n"),
        in_chunks("/nobody", "0\r\n\r\n"),
        "no request\r\n\r\n",
    };
    return all;
}

const router& routes() {
    static const std::unique_ptr<const router> all = [] {
        auto made = std::make_unique<router>();
        add_routes(*made);
        return made;
    }();
    return *all;
}

/// What the first bytes of an input choose.
class setting {
public:
    explicit setting(script& from) : world_(1 + from.byte()) {
        const unsigned network = from.byte();
        if (network & 1) world_.with_split_chance(0.4);
        if (network & 2) world_.with_short_write_chance(0.3);
        if (network & 4) world_.with_interrupt_chance(0.1);
        if (network & 8) world_.with_latency(100us, 3ms);
        if (network & 16) world_.with_send_buffer_bytes(3000).with_receive_buffer_bytes(2000);
        if (network & 32) world_.in_order();
        if (network & 64) {
            for (const auto kind : {sim::call_kind::accept, sim::call_kind::recv, sim::call_kind::send, sim::call_kind::send_pieces})
                world_.with_error_chance(kind, 0.05);
            faulty_ = true;
        }
        world_.calls_at_one_time_max = 200'000;
        bounds_.first_byte_timeout(100ms).head_timeout(100ms).idle_timeout(200ms).write_timeout(150ms).linger_timeout(50ms).unread_timeout(
            50ms);
        bounds_.body_timeout(100ms).body_grace(80ms).drain_timeout(50ms);
        const unsigned narrow = from.byte();
        if (narrow & 1) bounds_.slice_requests_max(1).flush_bytes(300);
        if (narrow & 2) bounds_.stream_queued_bytes_max(100);
        if (narrow & 4) bounds_.unread_bytes_max(100);
        if (narrow & 8) bounds_.requests_max(2);
        if (narrow & 16) bounds_.handler_timeout(60ms);
        if (narrow & 32) bounds_.connections_max(2);
        if (narrow & 64) bounds_.buffered_bytes_max(384 * 1024);
        // Those answer 503, or 504, where there would be another answer.
        faulty_ = faulty_ || (narrow & (16 | 32 | 64)) != 0;
        watched_ = (narrow & 128) != 0;
        hands_over_ = (network & 128) != 0;
    }
    const sim::options& world() const { return world_; }
    const limits& bounds() const { return bounds_; }
    bool is_faulty() const { return faulty_; }
    bool is_watched() const { return watched_; }
    bool hands_over() const { return hands_over_; }

private:
    sim::options world_;
    limits bounds_;
    bool faulty_ = false;
    bool watched_ = false;
    bool hands_over_ = false;
};

class counting final : public observer {
public:
    void head(connection_id, const exchange&) noexcept override { ++begun_; }
    void end(connection_id, const exchange&, int, std::uint64_t) noexcept override { ++ended_; }
    bool is_even() const { return begun_ == ended_; }

private:
    int begun_ = 0;
    int ended_ = 0;
};

/// A peer, what it has sent, and whether it was one that a server can do right by.
class visitor {
public:
    visitor() : peer_(address) {
        peer_.on_change([this](sim::peer& self) {
            if (self.closed_by_other() && closed_at_ == never) closed_at_ = sim::simulation::current()->now();
        });
    }

    void send(std::string_view bytes) {
        if (left_ || peer_.closed_by_other()) return;
        sent_ += bytes;
        sent_at_ = sim::simulation::current()->now();
        peer_.send(bytes);
    }
    void finish() {
        if (left_) return;
        left_ = true;
        peer_.shutdown_write();
    }
    void reset() {
        left_ = gone_ = true;
        peer_.reset();
    }
    void close() {
        left_ = gone_ = true;
        peer_.close();
    }
    void pause() {
        slow_ = true;
        peer_.pause_reading();
    }
    void read_some(std::size_t bytes) { peer_.read_some(bytes); }
    void resume() { peer_.resume_reading(); }

    /// Bytes that have gone either way.
    std::size_t moved() const { return sent_.size() - peer_.unsent() + peer_.received().size(); }

    void judge(const setting& how, bool faulty) const {
        const requests to(routes(), how.bounds(), sent_);
        const standing at{.closed = peer_.closed_by_other() || gone_,
                          .reset = peer_.reset_by_other(),
                          .hands_over = how.hands_over(),
                          .timed = true,
                          .finished = left_,
                          .faulty = faulty || gone_ || slow_ || peer_.reset_by_other()};
        const answers got(peer_.received(), to, at);
        fuzzing::judge(got, to, at);
        if (at.faulty || left_) return;
        const std::size_t whole = static_cast<std::size_t>(std::ranges::count(to.all, asked::part::whole, &asked::state));
        const bool ended = !got.all.empty() && (!got.all.back().keeps || !got.all.back().whole || got.all.back().tunnel);
        // One that was on its way when the connection was closed for want of it is nobody's fault.
        const bool crossed = closed_at_ != never && how.world().latency_max != duration::zero();
        const bool idle = closed_at_ != never && closed_at_ - sent_at_ >= how.bounds().first_byte_timeout();
        require(ended || crossed || idle || got.all.size() >= whole, "each request that is whole has been answered", peer_.received());
    }

private:
    sim::peer peer_;
    std::string sent_;
    time_point sent_at_{};
    time_point closed_at_ = never;
    bool left_ = false;  // sends no more
    bool gone_ = false;
    bool slow_ = false;
};

/// One server and its script.
class play {
public:
    play(sim::simulation& world, script& from, const setting& how)
        : world_(world), script_(from), how_(how), faulty_(how.is_faulty()), on_(loop_options().hand_over(how.hands_over())) {
        options with(address);
        with.bounds(how.bounds());
        if (how.is_watched()) with.watch(seen_);
        serving_ = std::make_unique<http_server>(routes(), with);
        const auto started = serving_->start_on(on_);
        require(started.has_value(), "the server starts", serving_->what());
    }

    void run() {
        for (std::size_t step = 0; step < steps_max && !script_.is_over(); ++step) act();
        sim::fail_allocation(0);
        world_.fail_call(0);
        come_to_rest();
        for (const auto& each : visitors_) {
            if (each != nullptr) each->judge(how_, faulty_);
        }
        if (!stopped_) serve_a_healthy_one();
        // Some have not left when it stops.
        for (std::size_t i = 0; i < visitors_.size(); i += 2) visitors_[i].reset();
        for (int i = 0; i < 100 && serving_->is_running(); ++i) {
            serving_->stop();
            pass(10ms);
        }
        require(!serving_->is_running(), "the server stops");
        require(serving_->counts().connections_open() == 0, "no connection outlives the server");
        require(seen_.is_even(), "each exchange that began has ended");
        serving_.reset();
        pass(1ms);
        require(on_.frames_live() == 0, "no frame outlives the server");
    }

private:
    void act() {
        const unsigned what = script_.byte();
        const sim::allocation_pause pause;
        switch (what % 16) {
        case 0:
        case 1:
        case 2: someone().send(known_requests()[script_.below(static_cast<unsigned>(known_requests().size()))]); break;
        case 3:
        case 4: send_in_part(); break;
        case 5: {
            visitor& to = someone();
            to.send(script_.text(script_.byte()));
            break;
        }
        case 6: someone().finish(); break;
        case 7: leave(what / 16); break;
        case 8: read(what / 16); break;
        case 9:
            faulty_ = true;
            world_.fail_call(1 + script_.below(40), 0, what / 16);
            break;
        case 10:
            faulty_ = true;
            sim::fail_allocation(1 + script_.byte());
            break;
        case 11:
            if (what / 16 != 0) {
                world_.interrupt();
            } else {
                faulty_ = stopped_ = true;
                resumed([this] { serving_->stop(); });
            }
            break;
        default: resumed([this, what] { pass(std::chrono::microseconds((1 + script_.byte()) << (what / 16 % 9))); });
        }
    }
    /// The server's own steps count among those that may fail.
    template <class F>
    void resumed(F what) {
        const sim::allocation_resume resume;
        what();
    }
    visitor& someone() {
        auto& one = visitors_[script_.below(peers_max)];
        if (one == nullptr) one = std::make_unique<visitor>();
        return *one;
    }
    void send_in_part() {
        visitor& to = someone();
        const std::string& all = known_requests()[script_.below(static_cast<unsigned>(known_requests().size()))];
        const std::size_t first = all.size() * (1 + script_.byte()) / 257;
        to.send(std::string_view(all).substr(0, first));
        resumed([this] { pass(std::chrono::microseconds(script_.byte() * 200)); });
        to.send(std::string_view(all).substr(first));
    }
    void leave(unsigned how) {
        visitor& one = someone();
        if (how % 2 == 0) {
            one.reset();
        } else {
            one.close();
        }
    }
    void read(unsigned how) {
        visitor& one = someone();
        switch (how % 3) {
        case 0: one.pause(); break;
        case 1: one.read_some(std::size_t{8} * script_.byte()); break;
        case 2: one.resume(); break;
        }
    }
    void pass(duration length) {
        const time_point until = on_.clock() + length;
        while (on_.clock() < until) on_.turn(until - on_.clock());
        for (int rounds = 0; rounds < 8; ++rounds) {
            for (int turn = 0; turn < 4; ++turn) on_.turn(duration::zero());
            if (!late_answers::of_program().give()) break;
        }
    }
    /// Small buffers and long ways take their time.
    void come_to_rest() {
        std::size_t before = 0;
        int quiet = 0;
        for (int rounds = 0; rounds < 200 && quiet < 4; ++rounds) {
            pass(50ms);
            std::size_t moved = 0;
            for (const auto& each : visitors_) moved += each != nullptr ? each->moved() : 0;
            quiet = moved == before ? quiet + 1 : 0;
            before = moved;
        }
    }
    void serve_a_healthy_one() {
        // Those that hold the server longer than any time allows are not to be waited for.
        for (auto& each : visitors_) {
            if (how_.bounds().connections_max() < 10) each.reset();
        }
        bool served = false;
        for (int attempt = 0; attempt < 40 && !served; ++attempt) {
            sim::peer late(address);
            late.send(plainly("GET", "/"));
            pass(60ms);
            served = late.received().ends_with("\r\n\r\n/");
        }
        require(served, "whatever happened, a healthy request is served afterwards");
    }

    sim::simulation& world_;
    script& script_;
    const setting& how_;
    bool faulty_;
    bool stopped_ = false;
    loop on_;
    counting seen_;
    std::unique_ptr<http_server> serving_;
    std::array<std::unique_ptr<visitor>, peers_max> visitors_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Made before anything can fail, and not counted against the script.
    static_cast<void>(routes());
    static_cast<void>(known_requests());
    static_cast<void>(late_answers::of_program());
    script from(data, size);
    const setting how(from);
    sim::simulation world(how.world());
    play(world, from, how).run();
    require(world.open_descriptors() == 0, "no descriptor is left open");
    require(world.mapped_bytes() == 0, "no page is left mapped");
    return 0;
}
