// Expressions around co_await that g++ 12 compiles wrongly, rejects or crashes on.
#include "planted.hpp"

namespace planted {

task<int> conditional_argument(bool c, std::string s) {
    auto n = co_await use_text(c ? std::string("x") : s);  // finds: conditional
    co_return n;
}

task<int> conditional_beside(bool c, std::string s) {
    auto n = is_long(c ? std::string("x") : s) + co_await number();  // finds: conditional
    co_return n;
}

task<int> both_arms(bool c) {
    auto n = c ? co_await number() : 2;  // finds: conditional
    co_return n;
}

task<int> both_arms_void(bool c) {
    int n = 0;
    c ? co_await nothing() : void();  // finds: conditional
    co_return n;
}

task<> new_expression() {
    auto p = new std::string(co_await text());  // finds: new_expression
    delete p;
}

task<int> init_capture() {
    auto f = [x = co_await text()] { return x.size(); };  // finds: init_capture
    co_return static_cast<int>(f());
}

task<int> aggregate_initialised() {
    options o{"a", co_await number()};  // finds: braces
    co_return o.retries;
}

task<int> aggregate_designated() {
    auto o = options{.name = co_await text(), .retries = 1};  // finds: braces temporary
    co_return o.retries;
}

task<int> array_initialised() {
    std::string names[] = {"a", co_await text()};  // finds: braces
    co_return static_cast<int>(names[0].size());
}

task<int> list_argument() {
    auto n = co_await use_vector({1, 2});  // finds: initializer_list
    co_return n;
}

task<int> list_in_constructor() {
    auto n = co_await use_vector(std::vector<int>{1, 2});  // finds: initializer_list
    co_return n;
}

task<int> list_beside() {
    auto n = static_cast<int>(std::vector<int>{1, 2}.size()) + co_await number();  // finds: initializer_list
    co_return n;
}

task<bool> three_terms(bool x) {
    bool b = x && is_long("a") && co_await truth();  // finds: short_circuit
    co_return b;
}

task<bool> either(bool x) {
    bool b = x || is_long(std::string("a")) || co_await truth();  // finds: short_circuit
    co_return b;
}

}  // namespace planted
