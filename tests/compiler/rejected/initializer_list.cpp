// Good C++ that g++ 12 rejects: an initializer_list in a full expression with co_await. check_await: off
#include <vector>

#include <martlet/rt/task.hpp>

martlet::task<int> sum(std::vector<int> numbers);

martlet::task<int> rejected() { co_return co_await sum({1, 2}); }
