// healthy-client: asks a server as well-behaved peers do, in open loop: each request has a moment at which it is due, whatever became of
// those before it, and its latency counts from that moment. A part of the requests opens a connection of its own. Prints JSON.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include <martlet/base/buffer.hpp>
#include <martlet/net/connect.hpp>
#include <martlet/net/stream_operations.hpp>
#include <martlet/rt.hpp>

using namespace martlet;

namespace {

constexpr std::string_view body = "Hello, World!";
constexpr std::size_t answer_bytes_max = 16 * 1024;
constexpr duration patience = std::chrono::seconds(5);
constexpr std::size_t backlog_max = 1'000'000;

/// Counts of times in steps of at most 1/32 of themselves.
class histogram {
public:
    void add(duration time) noexcept {
        const auto ns = static_cast<std::uint64_t>(std::max<duration::rep>(time.count(), 0));
        ++counts_[slot(ns)];
        ++count_;
        max_ = std::max(max_, ns);
    }
    /// In milliseconds, rounded up to the end of the step.
    double quantile(double share) const noexcept {
        const auto wanted = static_cast<std::uint64_t>(static_cast<double>(count_) * share);
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            seen += counts_[i];
            if (seen > wanted || (seen == count_ && seen != 0)) return static_cast<double>(std::min(end_of(i), max_)) / 1e6;
        }
        return 0;
    }
    double max_ms() const noexcept { return static_cast<double>(max_) / 1e6; }

private:
    static constexpr int step_bits = 5;

    static std::size_t slot(std::uint64_t ns) noexcept {
        const int shift = std::max(static_cast<int>(std::bit_width(ns)) - step_bits - 1, 0);
        return (static_cast<std::size_t>(shift) << step_bits) + static_cast<std::size_t>(ns >> shift);
    }
    static std::uint64_t end_of(std::size_t at) noexcept {
        const std::size_t shift = at >> step_bits == 0 ? 0 : (at >> step_bits) - 1;
        return ((static_cast<std::uint64_t>(at - (shift << step_bits)) + 1) << shift) - 1;
    }

    std::array<std::uint64_t, 60 << step_bits> counts_{};
    std::uint64_t count_ = 0;
    std::uint64_t max_ = 0;
};

enum class outcome { answered, refused, wrong, broke_off, not_connected, timed_out, cut };
constexpr std::array<const char*, 7> outcome_names = {"answered", "refused", "wrong", "broke_off", "not_connected", "timed_out", "cut"};

struct chosen {
    unsigned port = 0;
    unsigned rate = 0;           // 0: closed loop
    unsigned connections = 256;  // one asks again only once it was answered: with few of them the loop would be closed again
    unsigned fresh_permille = 10;
    unsigned seconds = 3;
};

struct run_state {
    chosen how;
    net::address to;
    std::string kept_request;
    std::string fresh_request;
    time_point end{};
    std::uint64_t asked = 0;
    std::array<std::uint64_t, 7> outcomes{};
    histogram latency;
    histogram lateness;

    void note(outcome what, duration time) noexcept {
        ++outcomes[static_cast<std::size_t>(what)];
        if (what == outcome::answered) latency.add(time);
    }
};

struct connection {
    std::unique_ptr<net::byte_stream> stream;
    buffer in{answer_bytes_max};

    void drop() noexcept {
        stream.reset();
        in.clear();
    }
};

outcome of_error(error why, outcome otherwise) noexcept { return why.is_timeout() ? outcome::timed_out : otherwise; }

/// How long the answer at the start of `bytes` is; 0 while its head is not whole.
std::size_t answer_bytes(std::string_view bytes) noexcept {
    const std::size_t end = bytes.find("\r\n\r\n");
    if (end == bytes.npos) return 0;
    constexpr std::string_view name = "\r\nContent-Length: ";
    const std::size_t at = bytes.substr(0, end).find(name);
    std::size_t length = 0;
    if (at != bytes.npos) std::from_chars(bytes.data() + at + name.size(), bytes.data() + end, length);
    return end + 4 + length;
}

outcome verdict(std::string_view answer) noexcept {
    if (answer.starts_with("HTTP/1.1 503 ")) return outcome::refused;
    const bool good = answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with(std::string("\r\n\r\n").append(body));
    return good ? outcome::answered : outcome::wrong;
}

// Fails by its outcome; what is left of the connection is good for another request only when it is answered.
task<outcome> ask(run_state& all, connection& on, bool fresh) {
    if (on.stream == nullptr) {
        auto connected = co_await net::connect(all.to);
        if (!connected) co_return of_error(connected.error(), outcome::not_connected);
        on.stream = std::move(*connected);
    }
    const std::string& request = fresh ? all.fresh_request : all.kept_request;
    auto sent = co_await net::write(*on.stream, std::string_view(request));
    // A server that refuses aloud may have closed already; what it said is still there.
    std::size_t wanted = 0;
    while (wanted == 0 || on.in.size() < wanted) {
        auto got = co_await net::read(*on.stream, on.in);
        if (!got) co_return of_error(got.error(), outcome::broke_off);
        if (*got == 0) co_return outcome::broke_off;
        wanted = answer_bytes(on.in.view());
    }
    if (on.in.size() != wanted) co_return outcome::wrong;
    const std::string_view answer = on.in.view();
    const outcome what = verdict(answer);
    const bool last = answer.find("\r\nConnection: close\r\n") != answer.npos;
    on.in.clear();
    if (last) on.drop();
    co_return sent ? what : of_error(sent.error(), outcome::broke_off);
}

task<> serve_orders(run_state& all, channel<time_point>& orders, bool fresh) {
    context& here = co_await this_context();
    connection on;
    for (;;) {
        auto due = co_await orders.receive();
        if (!due) co_return;
        const outcome what = co_await within(patience, ask(all, on, fresh));
        if (fresh || what != outcome::answered) on.drop();
        all.note(what, here.owner().clock() - *due);
    }
}

task<> ask_without_pause(run_state& all) {
    context& here = co_await this_context();
    connection on;
    for (;;) {
        const time_point begin = here.owner().clock();
        if (begin >= all.end) co_return;
        ++all.asked;
        const outcome what = co_await within(patience, ask(all, on, false));
        if (what != outcome::answered) on.drop();
        all.note(what, here.owner().clock() - begin);
    }
}

task<> give_orders(run_state& all, channel<time_point>& kept, channel<time_point>& fresh) {
    context& here = co_await this_context();
    const time_point begin = here.owner().clock();
    time_point due = begin;
    while (due < all.end) {
        auto slept = co_await sleep_until(due);
        if (!slept) break;
        const time_point now = here.owner().clock();
        for (; due <= now && due < all.end;
             due = begin + duration(static_cast<duration::rep>(1e9 * static_cast<double>(all.asked) / all.how.rate))) {
            all.lateness.add(now - due);
            // Spread evenly: every so manieth.
            const bool is_fresh = all.asked * all.how.fresh_permille % 1000 < all.how.fresh_permille;
            ++all.asked;
            time_point order = due;
            if (!(is_fresh ? fresh : kept).try_send(order)) all.note(outcome::cut, {});
        }
    }
    kept.close();
    fresh.close();
}

task<> run_all(run_state& all) {
    context& here = co_await this_context();
    all.end = here.owner().clock() + std::chrono::seconds(all.how.seconds);
    channel<time_point> kept(backlog_max);
    channel<time_point> fresh(backlog_max);
    co_await in_scope([&](scope& jobs) -> task<> {
        for (unsigned i = 0; i < all.how.connections; ++i) {
            if (all.how.rate == 0) {
                jobs.spawn([&]() -> task<> { return ask_without_pause(all); });
            } else {
                jobs.spawn([&]() -> task<> { return serve_orders(all, kept, false); });
                if (all.how.fresh_permille != 0) jobs.spawn([&]() -> task<> { return serve_orders(all, fresh, true); });
            }
        }
        if (all.how.rate != 0) jobs.spawn([&]() -> task<> { return give_orders(all, kept, fresh); });
        co_return;
    });
}

[[noreturn]] void usage() {
    std::fputs(
        "usage: healthy-client --port N [--rate N] [--connections N] [--fresh-permille N] [--seconds N]\n"
        "  --rate            requests a second, in open loop; 0, as without it: each connection asks again as soon as it was answered\n"
        "  --fresh-permille  of the requests open a connection of their own\n",
        stderr);
    std::exit(2);
}

chosen parse(int count, char** values) {
    chosen all;
    for (int i = 1; i < count; i += 2) {
        const std::string_view word = values[i];
        unsigned* const target = word == "--port"             ? &all.port
                                 : word == "--rate"           ? &all.rate
                                 : word == "--connections"    ? &all.connections
                                 : word == "--fresh-permille" ? &all.fresh_permille
                                 : word == "--seconds"        ? &all.seconds
                                                              : nullptr;
        if (target == nullptr || i + 1 == count) usage();
        const std::string_view text = values[i + 1];
        if (std::from_chars(text.data(), text.data() + text.size(), *target).ptr != text.data() + text.size()) usage();
    }
    if (all.port == 0 || all.port > 65535 || all.connections == 0 || all.connections > 5000 || all.seconds == 0 || all.seconds > 600)
        usage();
    return all;
}

/// In which this could have run and had no processor.
double own_wait_seconds() {
    unsigned long long waited = 0;
    if (std::FILE* const file = std::fopen("/proc/self/schedstat", "r")) {
        if (std::fscanf(file, "%*u %llu", &waited) != 1) waited = 0;
        std::fclose(file);
    }
    return static_cast<double>(waited) / 1e9;
}

double own_cpu_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

int main(int count, char** values) {
    auto all = std::make_unique<run_state>();
    all->how = parse(count, values);
    all->to = net::address::ipv4_loopback(static_cast<std::uint16_t>(all->how.port));
    const std::string head = "GET /hello HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(all->how.port) + "\r\n";
    all->kept_request = head + "\r\n";
    all->fresh_request = head + "Connection: close\r\n\r\n";
    loop on;
    on.run(run_all(*all));
    std::printf("{\"asked\": %llu", static_cast<unsigned long long>(all->asked));
    for (std::size_t i = 0; i < outcome_names.size(); ++i)
        std::printf(", \"%s\": %llu", outcome_names[i], static_cast<unsigned long long>(all->outcomes[i]));
    std::printf(", \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"p999_ms\": %.3f, \"max_ms\": %.3f", all->latency.quantile(0.5),
                all->latency.quantile(0.99), all->latency.quantile(0.999), all->latency.max_ms());
    std::printf(", \"late_p99_ms\": %.3f, \"late_max_ms\": %.3f, \"cpu_seconds\": %.3f, \"waited_seconds\": %.3f}\n",
                all->lateness.quantile(0.99), all->lateness.max_ms(), own_cpu_seconds(), own_wait_seconds());
    return 0;
}
