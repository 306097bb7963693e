// What the base costs a request: blocks, the queue, timers, scans.
#include <cstring>
#include <deque>
#include <string>

#include <benchmark/benchmark.h>

#include <martlet/base/block_source.hpp>
#include <martlet/base/metric.hpp>
#include <martlet/base/outq.hpp>
#include <martlet/base/pool.hpp>
#include <martlet/base/scan.hpp>
#include <martlet/base/timer_wheel.hpp>

namespace martlet {
namespace {

void pool_allocate_free(benchmark::State& state) {
    size_class_pool pool(malloc_pages());
    void* kept = pool.allocate(200);
    for (auto _ : state) {
        void* block = pool.allocate(200);
        benchmark::DoNotOptimize(block);
        pool.free(block, 200);
    }
    pool.free(kept, 200);
}
BENCHMARK(pool_allocate_free);

void outq_sixteen_answers(benchmark::State& state) {
    pooled_blocks blocks(malloc_pages());
    outq q(blocks);
    const std::string answer(150, 'r');
    for (auto _ : state) {
        for (int i = 0; i < 16; ++i) {
            char* to = q.cork(512);
            benchmark::DoNotOptimize(to);
            std::memcpy(to, answer.data(), 150);
            q.commit(150);
        }
        const_buffer out[8];
        benchmark::DoNotOptimize(q.gather(out));
        q.consume(q.size());
    }
    state.SetItemsProcessed(state.iterations() * 16);
}
BENCHMARK(outq_sixteen_answers);

void outq_slice(benchmark::State& state) {
    pooled_blocks blocks(malloc_pages());
    outq q(blocks);
    const bytes body = bytes::copy(std::string(8000, 'b')).value();
    for (auto _ : state) {
        benchmark::DoNotOptimize(q.append_copy("HTTP/1.1 200 OK\r\n\r\n"));
        benchmark::DoNotOptimize(q.append(slice(body)));
        const_buffer out[8];
        benchmark::DoNotOptimize(q.gather(out));
        q.consume(q.size());
    }
}
BENCHMARK(outq_slice);

void timer_arm_disarm(benchmark::State& state) {
    struct timer : timer_node {
        timer() : timer_node([](timer_node&) noexcept {}) {}
    };
    timer_wheel wheel(time_point(std::chrono::hours(5)));
    std::deque<timer> timers(1000);
    std::int64_t k = 0;
    for (auto _ : state) {
        timer& one = timers[static_cast<std::size_t>(k % 1000)];
        wheel.arm(one, time_point(std::chrono::hours(5) + std::chrono::milliseconds(5000 + k++ % 100)));
    }
    for (timer& one : timers) wheel.disarm(one);
}
BENCHMARK(timer_arm_disarm);

void counter_add(benchmark::State& state) {
    metrics::counter c("bench_total");
    metrics::shard own;
    for (auto _ : state) {
        c.add(own);
        benchmark::ClobberMemory();
    }
}
BENCHMARK(counter_add);

void scan_token(benchmark::State& state) {
    buffer b(1000);
    static_cast<void>(b.append(std::string(static_cast<std::size_t>(state.range(0)), 'a')));
    const padded_view text = b.padded();
    for (auto _ : state) {
        benchmark::DoNotOptimize(state.range(1) == 0 ? scan::find_not_in(scan::byte_class::token, text.view())
                                                     : scan::find_not_in(scan::byte_class::token, text));
    }
}
BENCHMARK(scan_token)->ArgsProduct({{8, 32, 200}, {0, 1}});

void scan_head_end(benchmark::State& state) {
    buffer b(1000);
    for (int i = 0; i < 10; ++i) static_cast<void>(b.append("Some-Field: of an ordinary request\r\n"));
    static_cast<void>(b.append("\r\n"));
    const padded_view text = b.padded();
    for (auto _ : state) {
        benchmark::DoNotOptimize(state.range(0) == 0 ? scan::find_head_end(text.view()) : scan::find_head_end(text));
    }
}
BENCHMARK(scan_head_end)->Arg(0)->Arg(1);

}  // namespace
}  // namespace martlet
