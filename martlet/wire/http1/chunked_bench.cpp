// A chunked content decoded: large chunks, of which only the framing is looked at, and the smallest, which are nothing else.
#include <benchmark/benchmark.h>

#include <string>

#include <martlet/wire/http1/chunked.hpp>

namespace {

using namespace martlet::http1;

void decode(benchmark::State& state) {
    const auto chunk_bytes = static_cast<std::size_t>(state.range(0));
    std::string wire;
    for (std::size_t content = 0; content < 65536 / 4; content += chunk_bytes) {
        char head[chunk_head_bytes_max];
        wire.append(head, encode_chunk_head(head, chunk_bytes));
        wire.append(chunk_bytes, 'x');
        wire += chunk_end;
    }
    wire += last_chunk;
    const content_limits limits;
    for (auto _ : state) {
        chunked_decoder decoder(limits);
        std::string_view left = wire;
        while (decoder.state() == content_state::more) {
            const content_step step = decoder.feed(left);
            benchmark::DoNotOptimize(step.content.data());
            left.remove_prefix(step.consumed);
        }
        if (decoder.state() != content_state::complete) return state.SkipWithError("refused");
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(wire.size() * state.iterations()));
    state.SetItemsProcessed(static_cast<std::int64_t>(65536 / 4 / chunk_bytes * state.iterations()));
}

BENCHMARK(decode)->ArgName("chunk")->Arg(1)->Arg(16)->Arg(1024)->Arg(16384);

}  // namespace
