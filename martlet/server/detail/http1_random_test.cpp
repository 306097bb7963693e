// Connections under everything at once, drawn from a seed: pieces, pauses, FIN, RST, answers in every form, a loop with little time a turn.
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include <martlet/rt/event.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/server/detail/testing_internal.hpp>

namespace martlet::server {
namespace {

using net::unruly_options;
using testing::bench;
using testing::client;
using testing::get;
using testing::kept_log;
using testing::letters;
using testing::wire_answer;

class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
    std::uint64_t below(std::uint64_t bound) {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_ % bound;
    }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

private:
    std::uint64_t state_;
};

constexpr std::string_view kinds[] = {"/plain", "/long", "/task", "/event", "/later", "/missing", "/throws", "/early"};

std::string expected(std::string_view target) {
    const std::string kind(target.substr(0, target.find('?')));
    if (kind == "/missing") return "404 Not Found";
    if (kind == "/throws") return "500 Internal Server Error";
    if (kind == "/long") return "200 " + letters(9000) + std::string(target);
    return "200 " + std::string(target);
}

/// One peer and what it has asked and heard.
struct visitor {
    visitor(bench& of, dice& draws, int own)
        : peer(of,
               draws.one_in(4) ? unruly_options::tame() : unruly_options(draws.below(1000) + 1).capacity_bytes(500 + draws.below(20'000))),
          number(own) {}

    client peer;
    int number;
    std::vector<std::string> asked;
    std::string unsent;
    std::string heard;
    bool finished = false;
    bool gone = false;
};

class play {
public:
    explicit play(std::uint64_t seed)
        : draws_(seed), server_(loop_options().ready_budget(1 + static_cast<unsigned>(draws_.below(draws_.one_in(2) ? 3 : 200)))) {
        add_routes();
        server_.watched = draws_.one_in(2);
        server_.bounds.slice_requests_max(1 + static_cast<std::uint32_t>(draws_.below(6)))
            .flush_bytes(100 + draws_.below(20'000))
            .requests_max(draws_.one_in(3) ? 1 + static_cast<std::uint32_t>(draws_.below(10)) : 1000);
    }

    void run() {
        for (int i = 0; i < 3; ++i) visitors_.push_back(std::make_unique<visitor>(server_, draws_, i));
        for (int step = 0; step < 60; ++step) {
            act(*visitors_[draws_.below(visitors_.size())]);
            if (draws_.one_in(3)) happen();
            for (auto turns = draws_.below(4); turns != 0; --turns) server_.on.turn(duration::zero());
        }
        end();
        for (const auto& each : visitors_) judge(*each);
    }

private:
    void add_routes() {
        const auto echo = [](request& req, response& res) { res.text(200, req.target()); };
        server_.app.get("/plain", echo);
        server_.app.get("/long", [](request& req, response& res) { res.text(200, letters(9000) + std::string(req.target())); });
        server_.app.get("/task", [](request& req, response& res) -> task<> {
            co_await yield();
            res.text(200, req.target());
        });
        server_.app.get("/event", [this](request& req, response& res) -> task<> {
            auto waited = co_await happened_.wait();
            if (!waited) co_await yield();
            res.text(200, req.target());
        });
        server_.app.get("/early", [this](request& req, response& res) -> task<> {
            res.text(200, req.target());
            auto waited = co_await happened_.wait();
            static_cast<void>(waited);
        });
        server_.app.get("/later", [this](request& req, response& res) { waiting_.emplace_back(std::string(req.target()), res.later()); });
        server_.app.get("/throws", [](request&, response&) { throw 1; });
    }

    void act(visitor& who) {
        if (who.gone) return;
        switch (draws_.below(8)) {
        case 0:
        case 1:
        case 2:
            if (who.asked.size() > 20 || who.finished) break;
            for (auto count = 1 + draws_.below(5); count != 0; --count) {
                who.asked.push_back(std::string(kinds[draws_.below(std::size(kinds))]) + "?" + std::to_string(who.number) + "." +
                                    std::to_string(who.asked.size()));
                who.unsent += get(who.asked.back());
            }
            [[fallthrough]];
        case 3:
        case 4: {
            const std::size_t size = draws_.one_in(2) ? who.unsent.size() : draws_.below(who.unsent.size() + 1);
            if (!who.finished) who.peer.send(who.unsent.substr(0, size));
            who.unsent.erase(0, size);
            break;
        }
        case 5:
        case 6: who.heard += who.peer.take(draws_.below(5000)); break;
        case 7:
            if (draws_.one_in(12)) {
                who.peer.reset();
                who.gone = true;
            } else if (draws_.one_in(8)) {
                who.peer.send(who.unsent);
                who.unsent.clear();
                who.peer.finish();
                who.finished = true;
            }
            break;
        }
    }

    /// Something that handlers wait for.
    void happen() {
        if (draws_.one_in(2)) {
            happened_.set();
            happened_.reset();
        }
        while (!waiting_.empty() && draws_.one_in(2)) {
            waiting_.front().second.text(200, waiting_.front().first);
            waiting_.pop_front();
        }
    }

    /// Everybody sends the rest, hears the rest and leaves.
    void end() {
        for (int round = 0; round < 400 && (round < 40 || server_.connections() != 0); ++round) {
            for (const auto& each : visitors_) {
                if (!each->gone && !each->finished && round == 10) {
                    each->peer.send(each->unsent);
                    each->peer.finish();
                }
                EXPECT_TRUE(each->peer.settle()) << "the loop spins";
                if (!each->gone) each->heard += each->peer.take();
            }
            happened_.set();
            happened_.reset();
            while (!waiting_.empty()) {
                waiting_.front().second.text(200, waiting_.front().first);
                waiting_.pop_front();
            }
        }
        for (const auto& each : visitors_) {
            if (!each->gone) each->heard += each->peer.take();
        }
        EXPECT_EQ(server_.connections(), 0u);
        EXPECT_EQ(server_.on.frames_live(), 0u);
        EXPECT_TRUE(server_.on.read_buffer().empty()) << "bytes are left for others to find";
    }

    void judge(const visitor& who) const {
        std::string_view rest = who.heard;
        std::size_t count = 0;
        bool closed = false;
        for (; !rest.empty(); ++count) {
            const std::size_t end = rest.find("\r\n\r\n");
            if (end == rest.npos) break;
            wire_answer one;
            one.head = rest.substr(0, end + 2);
            const std::size_t size = std::stoul(one.field("Content-Length"));
            if (rest.size() < end + 4 + size) break;
            const std::string told = one.head.substr(9, 3) + " " + std::string(rest.substr(end + 4, size));
            rest.remove_prefix(end + 4 + size);
            ASSERT_LT(count, who.asked.size());
            EXPECT_EQ(told, expected(who.asked[count]));
            EXPECT_FALSE(closed) << "an answer behind the last";
            closed = one.closes();
        }
        if (who.gone) return;
        EXPECT_EQ(rest, "") << "an answer was cut short";
        if (!closed) {
            EXPECT_EQ(count, who.asked.size()) << "answers are missing";
        }
    }

    dice draws_;
    event happened_;
    std::list<std::pair<std::string, later_response>> waiting_;
    bench server_;
    std::vector<std::unique_ptr<visitor>> visitors_;
};

TEST(http1_random, every_answer_comes_once_and_in_order_and_nothing_is_left) {
    const kept_log log;
    for (std::uint64_t seed = 1; seed <= 2000 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        play(seed).run();
    }
}

}  // namespace
}  // namespace martlet::server
