// Bytes to one connection with every form of handler behind it: whole, in pieces and byte by byte they get the same answers, each of which a
// client can read and is that of its request; behind a refusal nothing is answered; handlers see contents whole or their failure; nothing is
// left. Over the stream that does all that a stream may, in simulated time.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <martlet/net/test_stream.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/sim/simulation.hpp>
#include <martlet/server/detail/fuzz_reading_internal.hpp>
#include <martlet/server/detail/shared.hpp>
#include <martlet/server/detail/worker.hpp>

namespace {

using namespace martlet;
using namespace martlet::server;
using namespace martlet::server::fuzzing;

/// Each exchange that began has ended, and the connection has.
class counting final : public observer {
public:
    void accepted(connection_id) noexcept override { ++open_; }
    void head(connection_id, const exchange&) noexcept override { ++begun_; }
    void end(connection_id, const exchange&, int, std::uint64_t) noexcept override { ++ended_; }
    void closed(connection_id, close_reason) noexcept override { --open_; }
    bool is_even() const { return open_ == 0 && begun_ == ended_; }

private:
    int open_ = 0;
    int begun_ = 0;
    int ended_ = 0;
};

/// What the first bytes of an input choose.
class choices {
public:
    static constexpr std::size_t bytes = 4;
    explicit choices(const std::uint8_t* data) : how_(data[0]), narrow_(data[1]), seed_(data[2] + 1u), step_(data[3] + 1u) {
        const std::uint32_t n = narrow_ >> 6;
        if (narrow_ & 1)
            bounds_.request_line_bytes_max(40 + 20 * n).head_bytes_max(200 + 100 * n).fields_max(static_cast<std::uint16_t>(2 + 4 * n));
        if (narrow_ & 2) bounds_.body_bytes_max(10 + 30 * n);
        if (narrow_ & 4) bounds_.requests_max(1 + n);
        if (narrow_ & 8) bounds_.slice_requests_max(1 + n).flush_bytes(50 + 200 * n);
        if (narrow_ & 16) bounds_.unread_bytes_max(8 + 30 * n);
        if (narrow_ & 32) bounds_.stream_queued_bytes_max(1 + 100 * n);
    }

    enum class ending { finish, reset, silence, stop };
    ending end() const { return static_cast<ending>(how_ & 3); }
    bool is_watched() const { return (how_ & 4) != 0; }
    loop_options loop() const { return loop_options().hand_over((how_ & 8) != 0).ready_budget((how_ & 16) != 0 ? 1 : 1024); }
    bool is_unruly() const { return (how_ & 32) != 0; }
    const limits& bounds() const { return bounds_; }
    std::uint64_t seed() const { return seed_; }
    std::size_t step() const { return step_; }

private:
    unsigned how_;
    unsigned narrow_;
    std::uint64_t seed_;
    std::size_t step_;
    limits bounds_;
};

const router& routes() {
    static const std::unique_ptr<const router> all = [] {
        auto made = std::make_unique<router>();
        add_routes(*made);
        return made;
    }();
    return *all;
}

/// Sizes of pieces. One is enough for all.
class pieces {
public:
    static pieces all() { return pieces(0, 0); }
    static pieces of(std::size_t bytes) { return pieces(bytes, 0); }
    static pieces drawn(std::size_t bytes_max, std::uint64_t seed) { return pieces(bytes_max, seed); }
    std::size_t next() {
        if (most_ == 0) return std::string_view::npos;
        if (state_ == 0) return most_;
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return 1 + (state_ >> 33) % most_;
    }

private:
    pieces(std::size_t most, std::uint64_t seed) : most_(most), state_(seed) {}
    std::size_t most_;
    std::uint64_t state_;
};

/// One connection from its beginning to its end.
class conversation {
public:
    conversation(loop& on, const choices& how, const net::unruly_options& stream)
        : loop_(on), common_(routes(), how.bounds(), how.is_watched() ? &seen_ : nullptr) {
        work_ = std::make_unique<server::detail::worker>(loop_, common_);
        peer_ = std::make_unique<net::test_peer>(loop_, stream);
        work_->serve(peer_->stream());
    }

    void say(std::string_view bytes, pieces sizes) {
        // What is sent to a connection that has ended resets it, and takes away what was not read.
        while (!bytes.empty() && !is_closed()) {
            const std::string_view piece = bytes.substr(0, sizes.next());
            bytes.remove_prefix(piece.size());
            peer_->send(piece);
            hear();
        }
    }
    const std::string& heard() const { return heard_; }
    bool is_closed() const { return peer_->saw_end() || peer_->saw_reset(); }
    standing at() const { return {.closed = is_closed(), .reset = peer_->saw_reset(), .hands_over = loop_.allows_hand_over()}; }

    void end(choices::ending how) {
        switch (how) {
        case choices::ending::finish: peer_->finish(); break;
        case choices::ending::reset: peer_->reset(); break;
        case choices::ending::silence:
            // Longer than any time that a peer has.
            pass(std::chrono::minutes(5));
            break;
        case choices::ending::stop:
            work_->drain(loop_.clock() + std::chrono::seconds(1), [](void*) noexcept {}, nullptr);
            pass(std::chrono::minutes(5));
            break;
        }
        hear();
    }
    std::size_t connections() const { return work_->connections(); }

    ~conversation() {
        // Who speaks another protocol has only this to end it: no time holds there.
        peer_->reset();
        peer_.reset();
        for (int turn = 0; turn < 1000 && work_->connections() != 0; ++turn) {
            loop_.turn(duration::zero());
            late_answers::of_program().give();
        }
        require(work_->connections() == 0, "a connection ends with its peer");
        require(loop_.read_buffer().empty(), "no bytes are left for others to find");
        require(common_.held.held() < 2 * server::detail::buffered_bytes_share::step_bytes && work_->held.held() == 0,
                "what was held is given back");
        require(seen_.is_even(), "each exchange and each connection that began has ended");
        work_.reset();
        for (int turn = 0; turn < 10; ++turn) loop_.turn(duration::zero());
        require(loop_.frames_live() == 0, "no frame outlives the server");
    }

private:
    void pass(duration length) {
        const time_point until = loop_.clock() + length;
        while (loop_.clock() < until && work_->connections() != 0) {
            loop_.turn(until - loop_.clock());
            hear();
        }
    }
    void hear() {
        for (;;) {
            require(peer_->settle(), "the loop comes to rest");
            const std::string part = peer_->take();
            heard_ += part;
            if (!late_answers::of_program().give() && part.empty()) return;
        }
    }

    loop& loop_;
    counting seen_;
    server::detail::shared common_;
    std::unique_ptr<server::detail::worker> work_;
    std::unique_ptr<net::test_peer> peer_;
    std::string heard_;
};

/// What the answers are compared by.
struct reply {
    std::vector<told> all;
    std::string raw;
    bool closed = false;
};

reply talk(loop& on, std::string_view bytes, const requests& to, const choices& how, pieces sizes, const net::unruly_options& stream) {
    conversation one(on, how, stream);
    one.say(bytes, sizes);
    const answers got(one.heard(), to, one.at());
    judge(got, to, one.at());
    if (!one.is_closed()) {
        // All that could be answered has been, but for what waits for its content.
        const std::size_t whole = static_cast<std::size_t>(std::ranges::count(to.all, asked::part::whole, &asked::state));
        const bool raw = !got.all.empty() && got.all.back().tunnel;
        require(raw || got.all.size() >= whole, "each request that is whole has been answered");
        require(raw || to.refused() == 0, "what is no request ends the connection");
    }
    const reply made{.all = got.all, .raw = got.raw, .closed = one.is_closed()};
    one.end(how.end());
    if (how.end() != choices::ending::reset) judge(answers(one.heard(), to, one.at()), to, one.at());
    // A handler that reads on for good is not its peer's to end.
    const bool raw = !made.all.empty() && made.all.back().tunnel;
    require(raw || one.connections() == 0, "a connection ends in time");
    return made;
}

/// A peer that waits for 100 is told an answer at once, and then nobody knows whether its content comes: the connection may end there.
/// Content that nobody reads counts against its limit only where it did not come with its head.
bool may_end_behind(const requests& to, std::size_t answered, const limits& bounds) {
    if (answered == 0 || answered > to.all.size()) return false;
    const asked& last = to.all[answered - 1];
    const bool unread = !last.expected.is_collected() && !last.expected.reads();
    return last.waits_for_100 || (unread && last.content.size() > bounds.unread_bytes_max());
}

void compare(const reply& a, const reply& b, const requests& to, const limits& bounds) {
    const std::size_t both = std::min(a.all.size(), b.all.size());
    for (std::size_t i = 0; i < both; ++i) {
        told x = a.all[i];
        told y = b.all[i];
        // What the head of an answer says of the connection depends on how much of an unread content had come.
        if (i < to.all.size() && !to.all[i].expected.reads()) x.keeps = y.keeps;
        const bool piped = i < to.all.size() && to.all[i].expected.is_piped() && to.all[i].state != asked::part::whole;
        if (piped) x.content = y.content;
        require(x == y, "splitting changes no answer", x.fields + x.content + "\n--\n" + y.fields + y.content);
    }
    if (a.all.size() != b.all.size() || a.closed != b.closed)
        require(may_end_behind(to, both, bounds), "splitting changes neither the number of answers nor the end",
                std::to_string(a.all.size()) + (a.closed ? " closed, " : " open, ") + std::to_string(b.all.size()) +
                    (b.closed ? " closed" : " open"));
    const bool raw = a.all.size() == b.all.size() && !a.all.empty() && a.all.back().tunnel;
    if (raw) require(a.raw == b.raw, "splitting changes nothing of another protocol");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < choices::bytes) return 0;
    const choices how(data);
    const std::string_view bytes(reinterpret_cast<const char*>(data) + choices::bytes, size - choices::bytes);
    const sim::simulation world{sim::options(how.seed())};
    loop on(how.loop());
    const requests to(routes(), how.bounds(), bytes);
    const auto tame = net::unruly_options::tame().capacity_bytes(1 << 20);
    const reply whole = talk(on, bytes, to, how, pieces::all(), tame);
    if (!whole.all.empty() && whole.all.back().tunnel) {
        require(whole.raw == bytes.substr(to.all[whole.all.size() - 1].end), "another protocol gets what is behind its request");
    }
    const auto stream = how.is_unruly() ? net::unruly_options(how.seed()).capacity_bytes(200 + 40 * how.step()) : tame;
    compare(talk(on, bytes, to, how, pieces::drawn(how.step(), how.seed()), stream), whole, to, how.bounds());
    // Byte by byte, as far as that is quick.
    compare(talk(on, bytes, to, how, pieces::of(1 + bytes.size() / 400), tame), whole, to, how.bounds());
    if (to.refused() != 0 && whole.closed) {
        const std::string more = std::string(bytes) + "\r\nX: y\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";
        compare(talk(on, more, requests(routes(), how.bounds(), more), how, pieces::all(), tame), whole, to, how.bounds());
    }
    return 0;
}
