// A response head parsed and judged: the least, and one as a site sends it.
#include <benchmark/benchmark.h>

#include <string_view>

#include <martlet/wire/http1/response_parser.hpp>

namespace {

using namespace martlet::http1;

constexpr std::string_view bare_head = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n";

constexpr std::string_view site_head =
    "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 5120\r\n"
    "Connection: keep-alive\r\nServer: example\r\nCache-Control: private, max-age=0\r\nETag: W/\"1400-0123456789abcdef\"\r\n"
    "Vary: Accept-Encoding, Origin\r\nStrict-Transport-Security: max-age=31536000; includeSubDomains\r\nX-Request-ID: 0123456789abcdef\r\n"
    "Set-Cookie: session=0123456789abcdef0123456789abcdef; Path=/; Secure; HttpOnly\r\nX-RateLimit-Remaining: 4999\r\n\r\n";

void parse(benchmark::State& state, std::string_view bytes) {
    field_record records[100];
    response_head head(records, 100);
    const head_limits limits;
    response_resume resume;
    for (auto _ : state) {
        const auto status = parse_response(bytes, limits, response_context(martlet::http::method::get), head, resume);
        if (!status.is_complete()) return state.SkipWithError("refused");
        benchmark::DoNotOptimize(head.framing().bytes());
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes.size() * state.iterations()));
}

void bare_response(benchmark::State& state) { parse(state, bare_head); }
void site_response(benchmark::State& state) { parse(state, site_head); }

BENCHMARK(bare_response);
BENCHMARK(site_response);

}  // namespace
