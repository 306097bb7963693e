// Results that nobody looks at.
#include "planted.hpp"

namespace planted {

task<> awaited() {
    co_await attempt();  // finds: discarded_result
}

task<> awaited_void() {
    co_await attempt_nothing();  // finds: discarded_result
}

task<> in_branch(bool c) {
    int n = 0;
    if (c) co_await attempt();  // finds: discarded_result
    if (!c) {
        ++n;
    } else
        co_await attempt();  // finds: discarded_result
}

task<> in_loop(int n) {
    for (int i = 0; i < n; ++i) co_await attempt();  // finds: discarded_result
    while (n-- > 0) co_await attempt();              // finds: discarded_result
}

task<> in_case(int n) {
    switch (n) {
    case 1: co_await attempt(); break;  // finds: discarded_result
    default: co_await attempt();        // finds: discarded_result
    }
}

void not_awaited() {
    plain_attempt();  // finds: discarded_result
}

task<> in_lambda() {
    auto f = []() -> task<> {
        co_await attempt();  // finds: discarded_result
    };
    co_await f();
}

}  // namespace planted
