// connection: sends requests and reads their answers, as a machine over a byte_stream. A coroutine opens it again when it ends.
//
//   closed --(connected)--> idle --(requests sent)--> asking --(all answered)--> idle
//   idle, asking --(failed, ended)--> closed
//
// All requests that wait together go out in one write; the next ones follow when all of them are answered.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <martlet/base/buffer.hpp>
#include <martlet/base/list.hpp>
#include <martlet/base/outq.hpp>
#include <martlet/net/byte_stream.hpp>
#include <martlet/rt/event.hpp>
#include <martlet/rt/task.hpp>

#include "checker.hpp"
#include "fault.hpp"

namespace load {

class worker;
class lane_state;
struct idle_tag;

class connection : public martlet::list_hook<idle_tag> {
public:
    connection(worker& of, lane_state& in);

    /// Connects, and again whenever the connection has ended, until cancelled.
    martlet::task<> live();
    bool is_open() const noexcept { return stream_ != nullptr && !is_gone_; }
    bool is_idle() const noexcept { return is_open() && in_flight_ == 0; }
    /// Sends what the lane has to send, up to `most` requests; becomes idle when that is nothing. Only when idle. `was_waiting`: it was free
    /// when their moment came.
    void ask(martlet::time_point now, unsigned most, bool was_waiting);
    /// Fails when its oldest request was sent before `limit`.
    void expire(martlet::time_point limit);
    /// Ends it: the oldest request under way has failed by `why`, those behind it were dropped.
    void fail(fault why);
    /// Ends it with nothing under way.
    void end();

private:
    struct flight {
        martlet::time_point intended;
        martlet::time_point sent;
        std::uint32_t target;
    };
    class node final : public martlet::ready_node {
    public:
        node(function run, connection& of) noexcept : ready_node(run), of_(of) {}
        connection& of_;
    };

    void begin();
    void write();
    void read();
    bool take(martlet::buffer& from);
    bool take_answers(std::string_view bytes, std::size_t& taken, martlet::time_point now);
    void settle(const answer_step& step, martlet::time_point now);
    void peer_ended();
    void drop_rest(fault why);

    worker& worker_;
    lane_state& lane_;
    std::unique_ptr<martlet::net::byte_stream> stream_;
    martlet::outq out_;
    martlet::buffer partial_;  // the beginning of a head
    answer_checker checker_;
    std::vector<flight> flights_;  // oldest first, from first_
    unsigned first_ = 0;
    unsigned in_flight_ = 0;
    bool is_gone_ = false;
    bool was_tried_ = false;
    node reader_;
    node writer_;
    martlet::event gone_;
};

}  // namespace load
