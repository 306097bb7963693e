// Good C++ on which g++ 12 crashes: a temporary before an await in one &&. check_await: off
#include <string>

#include <martlet/rt/task.hpp>

bool look(const std::string& text);
martlet::task<bool> truth();

martlet::task<bool> rejected(bool x) {
    bool b = x && look("a") && co_await truth();
    co_return b;
}
