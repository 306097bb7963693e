// Temporaries that g++ 12 destroys twice when they stand in one full expression with co_await.
#include "planted.hpp"

namespace planted {

task<int> capturing_lambda(std::string s) {
    auto n = co_await call([s] { return s.size(); });  // finds: temporary
    co_return n;
}

task<int> capturing_lambda_coroutine(std::string s) {
    auto n = co_await call([s]() -> task<int> { co_return static_cast<int>(s.size()); });  // finds: temporary
    co_return n;
}

task<int> lambda_beside(std::string s) {
    auto n = is_long([s] { return s; }()) + co_await number();  // finds: temporary
    co_return n;
}

task<int> braced() {
    auto n = co_await use(options{"a", 1});  // finds: temporary
    co_return n;
}

task<int> designated() {
    auto n = co_await use({.name = "a"});  // finds: temporary
    co_return n;
}

task<int> empty_braces() {
    auto n = co_await use(options{});  // finds: temporary
    co_return n;
}

task<int> in_parentheses() {
    auto n = co_await use(options("a", 1));  // finds: temporary
    co_return n;
}

task<int> array() {
    auto n = co_await use_array({"a", "b"});  // finds: temporary
    co_return n;
}

task<int> aggregate_as_awaiter() {
    auto n = co_await aggregate_awaiter{"a"};  // finds: temporary
    co_return n;
}

task<int> default_argument() {
    auto n = co_await use_defaults(1);  // finds: default_argument
    co_return n;
}

template <class T>
task<int> in_template(T value) {
    auto n = co_await use(options{value, 1});  // finds: temporary
    co_return n;
}
template task<int> in_template(std::string);

class holder {
public:
    task<int> in_member() {
        auto n = co_await call([s = name_] { return s.size(); });  // finds: temporary
        co_return n;
    }

private:
    std::string name_;
};

task<int> in_return() {
    int one = 1;
    co_return one + co_await use(options{"a", 1});  // finds: temporary
}

auto in_lambda(std::string s) {
    return [s](int n) -> task<int> {
        auto m = co_await call([s, n] { return s.size() + static_cast<unsigned>(n); });  // finds: temporary
        co_return m;
    };
}

}  // namespace planted
