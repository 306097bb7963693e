// A head parsed and judged: the least that a load generator sends, a browser's, and 3,200 differing ones so that branches mispredict.
// Beside it picohttpparser, which only splits a head into lines, where Debian's libh2o0.13 is installed: it has that parser inside.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include <dlfcn.h>

#include <martlet/wire/http1/parser.hpp>

namespace {

using namespace martlet;
using namespace martlet::http1;

constexpr std::string_view bare_head = "GET /plaintext HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";

constexpr std::string_view browser_head =
    "GET /articles/2024/index.html?lang=en HTTP/1.1\r\nHost: www.example.com\r\nConnection: keep-alive\r\n"
    "sec-ch-ua: \"Chromium\";v=\"124\", \"Not-A.Brand\";v=\"99\"\r\nsec-ch-ua-mobile: ?0\r\nUpgrade-Insecure-Requests: 1\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\nSec-Fetch-Site: same-origin\r\n"
    "Sec-Fetch-Mode: navigate\r\nAccept-Encoding: gzip, deflate, br\r\nAccept-Language: en-GB,en;q=0.9\r\n"
    "Cookie: session=0123456789abcdef0123456789abcdef; theme=dark\r\n\r\n";

// Numbers that are the same in each run.
class sequence {
public:
    unsigned below(unsigned end) noexcept {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<unsigned>(state_ >> 33) % end;
    }
    std::string letters(unsigned most) {
        std::string text(below(most) + 1, 'a');
        for (char& c : text) c = static_cast<char>('a' + below(26));
        return text;
    }

private:
    std::uint64_t state_ = 1;
};

std::string varied_head(sequence& numbers) {
    std::string head = "GET /" + numbers.letters(40) + (numbers.below(2) != 0 ? "?q=" + numbers.letters(30) : "") +
                       " HTTP/1.1\r\nHost: www" + std::to_string(numbers.below(1000)) + ".example.com\r\nConnection: keep-alive\r\n";
    std::vector<std::string> lines = {
        "User-Agent: curl/8.1",
        "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36",
        "Accept: */*",
        "Accept-Language: en-GB,en;q=0.9,de;q=0.8",
        "Accept-Encoding: gzip, deflate, br",
        "sec-ch-ua: \"Chromium\";v=\"124\", \"Google Chrome\";v=\"124\"",
        "Sec-Fetch-Site: same-origin",
        "Sec-Fetch-Mode: navigate",
        "Sec-Fetch-Dest: document",
        "Upgrade-Insecure-Requests: 1",
        "Cache-Control: max-age=0",
        "DNT: 1",
        "If-None-Match: \"abc\"",
        "X-Trace: 11",
        "Cookie: " + numbers.letters(200),
        "Referer: https://www.example.com/" + numbers.letters(60)};
    lines.erase(lines.begin() + numbers.below(2));
    for (int i = 0; i < 10; ++i) {
        const unsigned which = numbers.below(static_cast<unsigned>(lines.size()));
        head += lines[which] + "\r\n";
        lines.erase(lines.begin() + which);
    }
    return head + "\r\n";
}

void parse_all(benchmark::State& state, const std::vector<std::string>& heads) {
    const auto kind = static_cast<parser_kind>(state.range(0));
    buffer in(64 << 20);
    std::vector<std::size_t> starts;
    for (const std::string& head : heads) {
        starts.push_back(in.size());
        if (!in.append(head)) return state.SkipWithError("no memory");
    }
    std::vector<padded_view> views;
    for (const std::size_t start : starts) views.push_back(in.padded().from(start));

    field_record records[100];
    request_head head(records, 100);
    const head_limits limits;
    resume_state resume;
    std::size_t at = 0;
    std::int64_t bytes = 0;
    for (auto _ : state) {
        const parse_status status = parse_request(kind, views[at], limits, head, resume);
        if (!status.is_complete()) return state.SkipWithError("refused");
        bytes += static_cast<std::int64_t>(status.consumed());
        if (++at == views.size()) at = 0;
    }
    state.SetBytesProcessed(bytes);
}

struct peer_field {
    const char* name;
    std::size_t name_bytes;
    const char* value;
    std::size_t value_bytes;
};
using peer_function = int (*)(const char*, std::size_t, const char**, std::size_t*, const char**, std::size_t*, int*, peer_field*,
                              std::size_t*, std::size_t);

void parse_all_by_peer(benchmark::State& state, const std::vector<std::string>& heads) {
    void* const library = ::dlopen("libh2o.so.0.13", RTLD_NOW | RTLD_LOCAL);
    const auto parse = library != nullptr ? reinterpret_cast<peer_function>(::dlsym(library, "phr_parse_request")) : nullptr;
    if (parse == nullptr) return state.SkipWithError("needs Debian's libh2o0.13");
    std::string all;
    std::vector<std::size_t> starts;
    for (const std::string& head : heads) {
        starts.push_back(all.size());
        all += head;
    }
    starts.push_back(all.size());
    peer_field fields[100];
    std::size_t at = 0;
    std::int64_t bytes = 0;
    for (auto _ : state) {
        const char *method, *path;
        std::size_t method_bytes, path_bytes, count = std::size(fields);
        int version;
        const int used = parse(all.data() + starts[at], starts[at + 1] - starts[at], &method, &method_bytes, &path, &path_bytes, &version,
                               fields, &count, 0);
        if (used <= 0) return state.SkipWithError("refused");
        benchmark::DoNotOptimize(fields[0]);
        bytes += used;
        if (++at == heads.size()) at = 0;
    }
    state.SetBytesProcessed(bytes);
}

std::vector<std::string> varied_heads() {
    sequence numbers;
    std::vector<std::string> heads;
    for (int i = 0; i < 3200; ++i) heads.push_back(varied_head(numbers));
    return heads;
}

void bare(benchmark::State& state) { parse_all(state, {std::string(bare_head)}); }
void browser(benchmark::State& state) { parse_all(state, {std::string(browser_head)}); }
void varied(benchmark::State& state) { parse_all(state, varied_heads()); }
void bare_by_picohttpparser(benchmark::State& state) { parse_all_by_peer(state, {std::string(bare_head)}); }
void browser_by_picohttpparser(benchmark::State& state) { parse_all_by_peer(state, {std::string(browser_head)}); }
void varied_by_picohttpparser(benchmark::State& state) { parse_all_by_peer(state, varied_heads()); }

void with_each_parser(benchmark::internal::Benchmark* bench) {
    for (int kind = 0; kind <= static_cast<int>(widest_parser()); ++kind) bench->ArgName("parser")->Arg(kind);
}

BENCHMARK(bare)->Apply(with_each_parser);
BENCHMARK(browser)->Apply(with_each_parser);
BENCHMARK(varied)->Apply(with_each_parser);
BENCHMARK(bare_by_picohttpparser);
BENCHMARK(browser_by_picohttpparser);
BENCHMARK(varied_by_picohttpparser);

}  // namespace
