// What the planted files await and pass. Nothing here runs: the files are searched, not built.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <martlet/base/result.hpp>
#include <martlet/rt/task.hpp>

namespace planted {

using martlet::result;
using martlet::task;

struct options {
    std::string name;
    int retries = 0;
};
struct point {
    int x = 0;
    int y = 0;
};
class settings {
public:
    settings() noexcept {}
    settings& name(std::string value) {
        name_ = std::move(value);
        return *this;
    }

private:
    std::string name_;
};
struct aggregate_awaiter {
    std::string name;
    bool start(martlet::context&, std::coroutine_handle<>) { return false; }
    int finish() { return 1; }
};
class counted_awaiter {
public:
    explicit counted_awaiter(std::string name) : name_(std::move(name)) {}
    bool start(martlet::context&, std::coroutine_handle<>) { return false; }
    int finish() { return 1; }

private:
    std::string name_;
};

template <class F>
task<int> call(F) {
    co_return 1;
}
task<int> number();
task<bool> truth();
task<std::string> text();
task<> nothing();
task<result<int>> attempt();
task<result<void>> attempt_nothing();
result<int> plain_attempt();
task<int> use(const options& o);
task<int> use_defaults(int n, options o = {});
task<int> use_string_default(int n, std::string s = "x");
task<int> use_settings(const settings& s = settings());
task<int> use_text(std::string s);
task<int> use_view(std::string_view s);
task<int> use_point(point p);
task<int> use_array(const std::array<std::string, 2>& a);
task<int> use_vector(const std::vector<int>& v);
bool is_long(const std::string& s);

}  // namespace planted
