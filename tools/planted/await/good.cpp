// The forms that are right on both compilers. None may be flagged.
#include "planted.hpp"

namespace planted {

task<int> named_first(std::string s) {
    auto f = [s] { return s.size(); };
    auto n = co_await call(std::move(f));
    options o{"a", 1};
    auto m = co_await use(o);
    auto t = call([s] { return s.size(); });
    auto k = co_await std::move(t);
    co_return n + m + k;
}

task<int> by_reference(std::string s) {
    auto n = co_await call([&s] { return s.size(); });
    auto m = co_await call([&] { return s.size(); });
    auto k = co_await call([] { return 1; });
    auto trivial = co_await call([n, m] { return n + m; });
    co_return n + m + k + trivial;
}

// The await is the lambda's own, and the lambda is not in one expression with another.
task<int> inner_await(std::string s) {
    auto t = call([s]() -> task<int> {
        auto n = co_await use_text(s);
        co_return n;
    });
    auto n = co_await std::move(t);
    co_return n;
}

int no_coroutine(bool c, std::string s) {
    auto t = call([s]() -> task<int> { co_return co_await number(); });
    auto u = use_text(c ? std::string("x") : s);
    auto v = use_vector({1, 2});
    auto w = use(options{"a", 1});
    auto x = use_defaults(1);
    return static_cast<int>(static_cast<bool>(t) + static_cast<bool>(u) + static_cast<bool>(v) + static_cast<bool>(w) +
                            static_cast<bool>(x));
}

task<int> classes() {
    auto n = co_await use_settings(settings().name("a"));
    auto m = co_await use_settings();
    auto k = co_await use_string_default(1);
    auto a = co_await counted_awaiter("a");
    auto p = co_await use_point(point{1, 2});
    auto t = co_await use_text("a");
    auto u = co_await use_text(std::string("a") + "b");
    co_return n + m + k + a + p + t + u;
}

task<int> scalar_conditional(bool c) {
    auto n = co_await use_point(point{c ? 1 : 2, 0});
    int m{co_await number()};
    co_return n + m;
}

task<int> conditional_apart(bool c, std::string s) {
    auto chosen = c ? std::string("x") : s;
    auto n = co_await use_text(std::move(chosen));
    if (c) {
        auto m = co_await number();
        co_return m + n;
    }
    co_return n;
}

task<int> conditions_with_variable() {
    int n = 0;
    while (co_await truth()) ++n;
    if (co_await truth()) co_return n;
    switch (co_await number()) {
    case 1: co_return 1;
    default: co_return n;
    }
}

task<int> variable_in_condition() {
    if (auto b = co_await truth()) co_return static_cast<int>(b);
    co_return 2;
}

task<int> variable_afterwards() {
    if (co_await truth()) co_return 1;
    int n = 2;
    co_return n;
}

task<int> condition_in_lambda() {
    auto f = []() -> task<int> {
        if (co_await truth()) co_return 1;
        co_return 2;
    };
    auto n = co_await f();
    co_return n;
}

task<bool> short_circuit(bool x) {
    bool b = x && co_await truth();
    bool c = co_await truth() && is_long("a");
    co_return b&& c;
}

task<int> results() {
    auto a = co_await attempt();
    if (!a) co_return 0;
    (void)co_await attempt();
    static_cast<void>(plain_attempt());
    a = plain_attempt();
    a = co_await attempt();
    auto b = plain_attempt();
    auto [x, y] = point{1, 2};
    for (auto c : co_await text()) x += c;
    b.emplace(1);
    std::optional<result<int>> kept;
    kept.emplace(1);
    co_return *a + x + y + (co_await attempt()).value();
}

template <class T>
task<int> in_template(T value) {
    auto n = co_await use_text(value);
    co_return n;
}
template task<int> in_template(std::string);

}  // namespace planted
