// Coroutines with no local variable that await in a condition: g++ 12 lays their frame out wrongly.
#include "planted.hpp"

namespace planted {

task<int> in_if() {
    if (co_await truth()) co_return 1;  // finds: condition
    co_return 2;
}

task<> in_while() {
    while (co_await truth()) co_await nothing();  // finds: condition
}

task<> in_do() {
    do {  // finds: condition
        co_await nothing();
    } while (co_await truth());
}

task<> in_for() {
    for (; co_await truth();) co_await nothing();  // finds: condition
}

task<int> in_switch() {
    switch (co_await number()) {  // finds: condition
    case 1: co_return 1;
    default: co_return 2;
    }
}

task<int> inner() {
    while (true) {
        try {
            if (!co_await truth()) co_return 1;  // finds: condition
        } catch (...) {
        }
    }
}

template <class T>
task<T> in_template(T value) {
    if (co_await number() > 1) co_return value;  // finds: condition
    co_return T{};
}
template task<int> in_template(int);

class holder {
public:
    task<int> in_member() {
        if (co_await truth()) co_return n_;  // finds: condition
        co_return 0;
    }

private:
    int n_ = 1;
};

// The variable of a lambda is not the coroutine's own.
task<int> variable_elsewhere() {
    if (co_await call([] {  // finds: condition
            int n = 1;
            return n;
        }))
        co_return 1;
    co_return 2;
}

}  // namespace planted
