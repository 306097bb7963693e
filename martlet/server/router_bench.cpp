// Finding a route among 1, 100 and 1,000: literal, with a parameter, with a rest.
#include <benchmark/benchmark.h>

#include <string>
#include <string_view>

#include <martlet/server/router.hpp>

namespace {

using namespace martlet::server;

void find(benchmark::State& state, std::string_view end_of_pattern, std::string_view end_of_path) {
    router app;
    const std::string last = std::to_string(state.range(0) - 1);
    for (std::int64_t i = 0; i < state.range(0); ++i)
        app.get("/things/" + std::to_string(i) + std::string(end_of_pattern), [](request&, response&) {});
    const std::string path = "/things/" + last + std::string(end_of_path);
    path_params params;
    for (auto _ : state) {
        params.clear();
        benchmark::DoNotOptimize(app.find(path, params));
    }
}

void literal(benchmark::State& state) { find(state, "", ""); }
void long_literal(benchmark::State& state) { find(state, "/details/of/all/kinds", "/details/of/all/kinds"); }
void param(benchmark::State& state) { find(state, "/:id", "/12345"); }
void rest(benchmark::State& state) { find(state, "/*rest", "/a/b/c.css"); }
void missing(benchmark::State& state) { find(state, "/:id", "/12345/x"); }

BENCHMARK(literal)->Arg(1)->Arg(100)->Arg(1000);
BENCHMARK(long_literal)->Arg(1)->Arg(100)->Arg(1000);
BENCHMARK(param)->Arg(1)->Arg(100)->Arg(1000);
BENCHMARK(rest)->Arg(1)->Arg(100)->Arg(1000);
BENCHMARK(missing)->Arg(1)->Arg(100)->Arg(1000);

}  // namespace
