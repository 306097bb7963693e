#include "connection.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <martlet/net/connect.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/within.hpp>

#include "lane.hpp"
#include "worker.hpp"

namespace load {

using namespace martlet;

namespace {

constexpr std::size_t partial_bytes_max = 256 * 1024;
constexpr unsigned reads_per_turn_max = 16;
constexpr duration first_pause = std::chrono::milliseconds(10);
constexpr duration longest_pause = std::chrono::seconds(1);

fault fault_of(const error& why) noexcept { return why.is_system(ECONNRESET) || why.is_system(EPIPE) ? fault::reset : fault::other; }

}  // namespace

connection::connection(worker& of, lane_state& in)
    : worker_(of),
      lane_(in),
      out_(of.loop_.blocks()),
      partial_(partial_bytes_max),
      flights_(of.plan_.depth),
      reader_([](ready_node& ready) noexcept { static_cast<node&>(ready).of_.read(); }, *this),
      writer_([](ready_node& ready) noexcept { static_cast<node&>(ready).of_.write(); }, *this) {}

task<> connection::live() {
    duration pause = first_pause;
    for (;;) {
        auto turn = co_await worker_.connecting_.acquire();
        if (!turn) co_return;
        auto opened = co_await within(worker_.plan_.timeout, net::connect(lane_.where));
        *turn = permit();
        if (!opened) {
            if (opened.error().is_cancelled()) co_return;
            worker_.connect_tried(&opened.error(), !std::exchange(was_tried_, true));
            auto slept = co_await sleep_for(pause);
            if (!slept) co_return;
            pause = std::min(2 * pause, longest_pause);
            continue;
        }
        pause = first_pause;
        stream_ = std::move(*opened);
        worker_.connect_tried(nullptr, !std::exchange(was_tried_, true));
        begin();
        auto gone = co_await gone_.wait();
        if (!gone) end();
        stream_.reset();
        gone_.reset();
        if (!gone) co_return;
    }
}

void connection::begin() {
    is_gone_ = false;
    checker_.reset();
    stream_->arm(direction::reading, &reader_);
    if (worker_.has_begun_) ask(worker_.loop_.clock(), worker_.plan_.depth, false);
}

void connection::ask(time_point now, unsigned most, bool was_waiting) {
    if (list_hook<idle_tag>::is_linked()) list_hook<idle_tag>::unlink();
    const std::uint64_t number = lane_.next();
    const unsigned count = lane_.claim(now, std::min(most, static_cast<unsigned>(flights_.size())));
    if (count == 0) {
        worker_.rest(*this, lane_);
        return;
    }
    first_ = 0;
    in_flight_ = count;
    worker_.in_flight_ += count;
    for (unsigned i = 0; i < count; ++i) {
        const time_point intended = lane_.is_open_loop() ? lane_.due_of(number + i) : now;
        flights_[i] = {intended, now, lane_.sequence.next()};
        worker_.note_sent(flights_[i].target, intended, now, was_waiting);
        if (!out_.append(slice::of_static(worker_.plan_.targets[flights_[i].target].request))) return fail(fault::other);
    }
    write();
}

void connection::write() {
    switch (stream_->try_write(out_)) {
    case net::io::blocked: stream_->arm(direction::writing, &writer_); break;
    case net::io::failed: fail(fault_of(stream_->failure())); break;
    case net::io::moved:
    case net::io::ended: break;
    }
}

void connection::read() {
    for (unsigned i = 0; i < reads_per_turn_max; ++i) {
        buffer& into = partial_.empty() ? worker_.loop_.read_buffer() : partial_;
        switch (stream_->try_read(into)) {
        case net::io::blocked: return stream_->arm(direction::reading, &reader_);
        case net::io::ended: return peer_ended();
        case net::io::failed: return fail(fault_of(stream_->failure()));
        case net::io::moved: break;
        }
        if (!take(into)) return;
    }
    worker_.loop_.ready(reader_);
}

// False when the connection has ended with what was read.
bool connection::take(buffer& from) {
    const time_point now = worker_.loop_.clock();
    std::size_t taken = 0;
    const bool goes_on = take_answers(from.view(), taken, now);
    bool is_kept = true;
    if (!goes_on) {
        from.clear();
    } else if (&from == &partial_) {
        partial_.consume(taken);
    } else {
        if (taken != from.size()) [[unlikely]]
            is_kept = partial_.append(from.view().substr(taken));
        from.clear();
    }
    if (!is_kept) fail(fault::other);
    if (goes_on && is_kept && in_flight_ == 0) ask(now, worker_.plan_.depth, false);
    return is_open();
}

bool connection::take_answers(std::string_view bytes, std::size_t& taken, time_point now) {
    while (taken < bytes.size()) {
        if (in_flight_ == 0) {
            fail(fault::surplus);
            return false;
        }
        const std::uint32_t target = flights_[first_].target;
        const answer_step step = checker_.feed(bytes.substr(taken), worker_.models_[target]);
        taken += step.consumed;
        worker_.tally_.of_targets[target].bytes_received += step.consumed;
        if (step.now == answer_step::state::more) return true;
        if (step.now == answer_step::state::broken) {
            fail(*step.wrong);
            return false;
        }
        settle(step, now);
        if (!step.keep_alive) {
            ++worker_.tally_.connections_ended;
            drop_rest(fault::dropped);
            end();
            return false;
        }
    }
    return true;
}

void connection::settle(const answer_step& step, time_point now) {
    const flight& oldest = flights_[first_];
    ++first_;
    --in_flight_;
    worker_.count(oldest.target, oldest.intended, step, now);
}

void connection::peer_ended() {
    answer_step step;
    if (in_flight_ == 0) {
        ++worker_.tally_.connections_ended;
        return end();
    }
    if (!checker_.end_of_input(worker_.models_[flights_[first_].target], step)) return fail(fault::closed_early);
    settle(step, worker_.loop_.clock());
    ++worker_.tally_.connections_ended;
    drop_rest(fault::dropped);
    end();
}

void connection::expire(time_point limit) {
    if (is_open() && in_flight_ != 0 && flights_[first_].sent < limit) fail(fault::timeout);
}

void connection::fail(fault why) {
    if (in_flight_ == 0) ++worker_.tally_.connection_faults[index_of(why)];
    drop_rest(why);
    end();
}

void connection::drop_rest(fault why) {
    for (; in_flight_ != 0; ++first_, --in_flight_) {
        worker_.count(flights_[first_].target, flights_[first_].intended, why);
        why = fault::dropped;
    }
}

// The stream itself goes when the coroutine runs: it may be in the middle of a call now.
void connection::end() {
    if (!is_open()) return;
    is_gone_ = true;
    in_flight_ = 0;
    list_hook<idle_tag>::unlink();
    reader_.unlink();
    writer_.unlink();
    stream_->abort();
    out_.clear();
    partial_.release();
    worker_.closed();
    gone_.set();
}

}  // namespace load
