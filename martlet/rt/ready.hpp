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

}  // namespace martlet::inline v0
