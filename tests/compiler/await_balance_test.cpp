// What the compiler makes of temporaries beside co_await: each form counts constructors against destructors, on our own task type.
//
// clang must be balanced in all forms. g++ 12 destroys some temporaries twice; those are written down with what it does, so that a
// compiler that behaves otherwise is noticed. tools/check_await keeps these forms out of all other code.
// check_await: off
#include <array>
#include <string>
#include <utility>
#include <variant>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/task.hpp>

namespace {

using martlet::task;

#if defined(__clang__)
constexpr bool is_gcc = false;
#else
constexpr bool is_gcc = true;
#endif

int alive = 0;

struct tracked {
    tracked() noexcept { ++alive; }
    tracked(const tracked&) noexcept { ++alive; }
    tracked& operator=(const tracked&) noexcept = default;
    ~tracked() { --alive; }
};

// Aggregates are what this file is about.
struct options {
    tracked t;
    int n = 0;
};
struct aggregate_awaiter {
    tracked t;
    bool start(martlet::context&, std::coroutine_handle<>) noexcept { return false; }
    int finish() noexcept { return 1; }
};
class class_awaiter {
public:
    explicit class_awaiter(const tracked& t) noexcept : t_(t) {}
    bool start(martlet::context&, std::coroutine_handle<>) noexcept { return false; }
    int finish() noexcept { return 1; }

private:
    tracked t_;
};
class settings {
public:
    settings() noexcept {}
    settings& set(const tracked& t) noexcept {
        t_ = t;
        return *this;
    }

private:
    tracked t_;
};

task<int> use(const options&) { co_return 1; }
task<int> use_value(options) { co_return 1; }
task<int> use_default(options = {}) { co_return 1; }
task<int> use_tracked(tracked) { co_return 1; }
task<int> use_reference(const tracked&) { co_return 1; }
task<int> use_settings(const settings&) { co_return 1; }
task<int> use_array(const std::array<tracked, 2>&) { co_return 1; }
task<int> use_pair(const std::pair<tracked, int>&) { co_return 1; }
task<int> use_optional(const std::optional<tracked>&) { co_return 1; }
task<int> use_variant(const std::variant<int, tracked>&) { co_return 1; }
template <class F>
task<int> call(F f) {
    f();
    co_return 1;
}
task<int> number() { co_return 1; }
task<tracked> made() { co_return tracked(); }
options make_options() { return options{}; }
bool look(const tracked&) { return true; }

/// Constructors less destructors after the coroutine has finished and is destroyed.
int balance(task<int> (*form)()) {
    alive = 0;
    {
        martlet::loop loop;
        EXPECT_EQ(loop.run(form()), 1);
    }
    return alive;
}

// --- balanced on both ---

TEST(await_balance, class_with_constructor) {
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await use_settings(settings().set(tracked())); }), 0);
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await class_awaiter(tracked()); }), 0);
}

TEST(await_balance, plain_temporary) {
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await use_tracked(tracked()); }), 0);
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await use_reference(tracked()); }), 0);
}

TEST(await_balance, returned_by_a_function) {
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await use(make_options()); }), 0);
}

TEST(await_balance, aggregate_made_in_parentheses_without_values) {
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await use(options()); }), 0);
}

TEST(await_balance, standard_wrappers) {
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await use_pair(std::pair(tracked(), 1)); }), 0);
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await use_optional(tracked()); }), 0);
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await use_variant(tracked()); }), 0);
}

TEST(await_balance, named_first) {
    EXPECT_EQ(balance([]() -> task<int> {
                  options o{tracked(), 1};
                  auto n = co_await use(o);
                  tracked t;
                  auto f = [t] { return look(t); };
                  auto m = co_await call(std::move(f));
                  co_return n + m - 1;
              }),
              0);
}

TEST(await_balance, two_statements) {
    EXPECT_EQ(balance([]() -> task<int> {
                  tracked t;
                  auto child = call([t] { return look(t); });
                  co_return co_await std::move(child);
              }),
              0);
}

TEST(await_balance, lambda_that_captures_by_reference) {
    EXPECT_EQ(balance([]() -> task<int> {
                  tracked t;
                  co_return co_await call([&t] { return look(t); });
              }),
              0);
}

TEST(await_balance, result_of_an_await) {
    EXPECT_EQ(balance([]() -> task<int> {
                  auto t = co_await made();
                  co_return co_await use_reference(co_await made());
              }),
              0);
}

TEST(await_balance, exception_out_of_a_child) {
    EXPECT_EQ(balance([]() -> task<int> {
                  auto child = []() -> task<int> {
                      tracked t;
                      throw 1;
                      co_return 1;
                  };
                  try {
                      co_return co_await child();
                  } catch (int n) {
                      co_return n;
                  }
              }),
              0);
}

TEST(await_balance, conditional_of_scalar_type_with_awaits) {
    EXPECT_EQ(balance([]() -> task<int> {
                  bool c = alive == 0;
                  co_return c ? co_await use_tracked(tracked()) : co_await use_reference(tracked());
              }),
              0);
}

// --- destroyed twice by g++ 12 ---

TEST(await_balance, lambda_that_captures_a_value) {
    EXPECT_EQ(balance([]() -> task<int> {
                  tracked t;
                  co_return co_await call([t] { return look(t); });
              }),
              is_gcc ? -1 : 0);
}

TEST(await_balance, braced_aggregate) {
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await use(options{}); }), is_gcc ? -1 : 0);
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await use(options{tracked(), 1}); }), is_gcc ? -1 : 0);
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await use_value(options{tracked(), 1}); }), is_gcc ? -1 : 0);
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await use({.t = tracked(), .n = 1}); }), is_gcc ? -1 : 0);
}

TEST(await_balance, aggregate_made_in_parentheses) {
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await use(options(tracked(), 1)); }), is_gcc ? -1 : 0);
}

TEST(await_balance, default_argument) {
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await use_default(); }), is_gcc ? -1 : 0);
}

TEST(await_balance, array_of_values) {
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await use_array({tracked(), tracked()}); }), is_gcc ? -2 : 0);
}

TEST(await_balance, aggregate_as_awaiter) {
    EXPECT_EQ(balance([]() -> task<int> { co_return co_await aggregate_awaiter{}; }), is_gcc ? -1 : 0);
}

TEST(await_balance, temporary_beside_the_await) {
    EXPECT_EQ(balance([]() -> task<int> { co_return static_cast<int>(look(options{}.t)) - 1 + co_await number(); }), is_gcc ? -1 : 0);
}

TEST(await_balance, conditional_as_argument) {
    EXPECT_EQ(balance([]() -> task<int> {
                  tracked t;
                  bool c = alive > 0;
                  co_return co_await use_tracked(c ? tracked() : t);
              }),
              is_gcc ? -1 : 0);
}

TEST(await_balance, conditional_of_class_type_with_awaits) {
    EXPECT_EQ(balance([]() -> task<int> {
                  tracked u;
                  bool c = alive > 0;
                  tracked t = c ? co_await made() : u;
                  co_return static_cast<int>(look(t));
              }),
              is_gcc ? -1 : 0);
    EXPECT_EQ(balance([]() -> task<int> {
                  bool c = alive > 0;
                  co_return co_await use_reference(c ? co_await made() : co_await made());
              }),
              is_gcc ? -1 : 0);
}

TEST(await_balance, init_capture) {
    EXPECT_EQ(balance([]() -> task<int> {
                  auto f = [t = co_await made()] { return look(t); };
                  co_return static_cast<int>(f());
              }),
              is_gcc ? -1 : 0);
}

TEST(await_balance, new_expression) {
    EXPECT_EQ(balance([]() -> task<int> {
                  auto* t = new tracked(co_await made());
                  delete t;
                  co_return 1;
              }),
              is_gcc ? -1 : 0);
}

TEST(await_balance, aggregate_initialised) {
    EXPECT_EQ(balance([]() -> task<int> {
                  options o{tracked(), co_await number()};
                  co_return o.n;
              }),
              is_gcc ? -1 : 0);
}

// --- frames laid out wrongly by g++ 12 ---

task<bool> truth() { co_return true; }

task<int> awaits_in_condition() {
    if (co_await truth()) co_return 1;
    co_return 2;
}

task<int> awaits_in_condition_with_variable() {
    if (co_await truth()) co_return 1;
    int n = alive;
    co_return n;
}

/// Whether the coroutine gives 1, asked in a process of its own: it may end that.
bool runs_well(task<int> (*form)()) {
    auto child = ::fork();
    if (child == 0) {
        // Its last words would only confuse.
        ::close(2);
        martlet::loop loop;
        ::_exit(loop.run(form()) == 1 ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(await_balance, condition_without_local_variable) { EXPECT_EQ(runs_well(awaits_in_condition), !is_gcc); }

TEST(await_balance, condition_with_local_variable) { EXPECT_TRUE(runs_well(awaits_in_condition_with_variable)); }

}  // namespace
