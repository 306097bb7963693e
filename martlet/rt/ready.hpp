// What the loop runs: an intrusive node with a function, queued first in, first out.
#pragma once

#include <martlet/base/list.hpp>

namespace martlet::inline v0 {

struct ready_tag;

/// Something that the loop runs: from its ready list, or from its flush list just before it waits. It is in one list at most, once.
class ready_node : public list_hook<ready_tag> {
public:
    using function = void (*)(ready_node&) noexcept;

    explicit ready_node(function run) noexcept : run_(run) {}

    /// Called by the loop, which has taken the node off its list. The node may destroy itself.
    void run() noexcept { run_(*this); }

private:
    function run_;
};

/// A ready node of something that waits on a stream or descriptor, and is told when that is closed under it.
class waiting_node : public ready_node {
public:
    waiting_node(function run, function closed) noexcept : ready_node(run), closed_(closed) {}

    /// Called once, by what it waits on, which forgets it: it need not exist any longer when this node's owner goes on.
    void closed() noexcept { closed_(*this); }

private:
    function closed_;
};

}  // namespace martlet::inline v0
