// tcp-gate: stands between a client and a server and does to their connections what networks and rude peers do, at a chosen byte.
// Its rules come from the command line and, while it runs, from standard input.
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <martlet/net/connect.hpp>
#include <martlet/net/listener.hpp>
#include <martlet/net/stream_operations.hpp>
#include <martlet/net/tcp_stream.hpp>
#include <martlet/rt/loop.hpp>
#include <martlet/rt/pipes.hpp>
#include <martlet/rt/scope.hpp>
#include <martlet/rt/signals.hpp>
#include <martlet/rt/sleep.hpp>
#include <martlet/rt/within.hpp>

using namespace martlet;

namespace {

constexpr std::string_view help = R"(usage: tcp-gate --to ADDRESS [--listen ADDRESS] [--buffer BYTES] [--rule RULE]...

Listens (on 127.0.0.1 and a free port, without --listen), prints "listening on ADDRESS", and connects each connection onward to ADDRESS.
Ends at SIGINT, SIGTERM or the end of standard input. --buffer sets the size of the kernel's buffers towards the server.

A RULE is for connections that are accepted after it; UP is what the client sends, DOWN what the server sends:

  up|down delay MS           each piece waits so long
  up|down pieces BYTES       passed on in pieces of so many bytes
  up|down rate BYTES         so many bytes a second
  up|down at N stall MS      once N bytes were passed on, nothing is for so long; 0 is for ever
  up|down at N half-close    a FIN behind N bytes; the rest is dropped
  up|down at N close         both connections are closed behind N bytes
  up|down at N reset         both are reset; reset-client and reset-server: one is, and the other is closed
  accept drop                connections are closed as soon as they are accepted
  clear                      no rule

On standard input each line is a rule, or "counts"; each is answered with a line that begins with "ok" or "error:".
)";

constexpr std::chrono::milliseconds for_ever = std::chrono::hours(24 * 365);

enum class deed : std::uint8_t { none, stall, half_close, close, reset, reset_client, reset_server };

/// What is done to one direction of a connection.
class course {
public:
    duration delay{0};
    std::uint64_t piece_bytes = UINT64_MAX;
    std::uint64_t bytes_per_second = 0;  // 0: no limit
    std::uint64_t at = 0;
    deed then = deed::none;
    duration stall{0};
};

class rules {
public:
    course up, down;
    bool drops = false;

    /// Empty when `line` was understood, or what is wrong with it.
    std::string add(std::string_view line);

private:
    static std::string add(course& to, const std::vector<std::string_view>& words, std::string_view line);
};

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    while (!line.empty()) {
        const std::size_t end = std::min(line.find(' '), line.size());
        if (end != 0) words.push_back(line.substr(0, end));
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    return words;
}

std::optional<std::uint64_t> number_in(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (wrong != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string rules::add(std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    const std::string_view first = words.empty() ? std::string_view() : words[0];
    if (first == "clear" && words.size() == 1) {
        *this = rules();
        return {};
    }
    if (first == "accept" && words.size() == 2 && words[1] == "drop") {
        drops = true;
        return {};
    }
    if (first == "up") return add(up, words, line);
    if (first == "down") return add(down, words, line);
    return "'" + std::string(line) + "' is no rule: it begins with up, down, accept or clear";
}

std::string rules::add(course& to, const std::vector<std::string_view>& words, std::string_view line) {
    const std::string wrong = "'" + std::string(line) + "' is no rule; --help shows what there is";
    if (words.size() < 3) return wrong;
    const std::optional<std::uint64_t> number = number_in(words[2]);
    if (!number && words[1] != "at") return "'" + std::string(words[2]) + "' is no number";
    if (words.size() == 3 && words[1] == "delay") {
        to.delay = std::chrono::milliseconds(*number);
        return {};
    }
    if (words.size() == 3 && (words[1] == "pieces" || words[1] == "rate")) {
        if (*number == 0) return std::string(words[1]) + " takes a number above 0";
        (words[1] == "pieces" ? to.piece_bytes : to.bytes_per_second) = *number;
        return {};
    }
    if (words[1] != "at" || words.size() < 4) return wrong;
    if (!number) return "'" + std::string(words[2]) + "' is no number";
    constexpr std::pair<std::string_view, deed> deeds[] = {
        {"half-close", deed::half_close},     {"close", deed::close}, {"reset", deed::reset}, {"reset-client", deed::reset_client},
        {"reset-server", deed::reset_server}, {"stall", deed::stall}};
    for (const auto& [name, what] : deeds) {
        if (words[3] != name || words.size() != (what == deed::stall ? 5 : 4)) continue;
        if (what == deed::stall) {
            const std::optional<std::uint64_t> length = number_in(words[4]);
            if (!length) return "'" + std::string(words[4]) + "' is no number";
            to.stall = *length != 0 ? std::chrono::milliseconds(*length) : for_ever;
        }
        to.at = *number;
        to.then = what;
        return {};
    }
    return wrong;
}

class counts {
public:
    std::uint64_t accepted = 0;
    std::uint64_t open = 0;
    std::uint64_t up_bytes = 0;
    std::uint64_t down_bytes = 0;
};

/// A connection's two halves. Closing or resetting one ends whatever waits on it.
class link {
public:
    std::unique_ptr<net::byte_stream> client, server;

    void end(bool client_by_reset, bool server_by_reset) const {
        client_by_reset ? client->abort() : client->close();
        server_by_reset ? server->abort() : server->close();
    }
};

/// True: the direction goes on. Called once as many bytes as the rule names were passed on.
task<bool> act(const course& how, const link& both, net::byte_stream& to) {
    switch (how.then) {
    case deed::none: co_return true;
    case deed::stall: {
        auto slept = co_await sleep_for(how.stall);
        co_return slept.has_value();
    }
    case deed::half_close: to.shutdown_write(); co_return true;
    case deed::close: both.end(false, false); co_return false;
    case deed::reset: both.end(true, true); co_return false;
    case deed::reset_client: both.end(true, false); co_return false;
    case deed::reset_server: both.end(false, true); co_return false;
    }
    co_return false;
}

/// One direction, until its end or the connection's.
task<> carry(net::byte_stream& from, net::byte_stream& to, const course& how, const link& both, std::uint64_t& total) {
    buffer bytes(64 * 1024);
    std::uint64_t passed = 0;
    bool acted = how.then == deed::none;
    bool drops = false;
    for (;;) {
        if (!acted && passed == how.at) {
            acted = true;
            auto goes_on = co_await act(how, both, to);
            if (!goes_on) co_return;
            drops = how.then == deed::half_close;
        }
        if (bytes.empty()) {
            auto got = co_await net::read(from, bytes);
            if (!got) {
                // What one side learns of the other the gate passes on.
                both.end(true, true);
                co_return;
            }
            if (*got == 0) {
                if (!drops) to.shutdown_write();
                co_return;
            }
        }
        if (drops) {
            bytes.clear();
            continue;
        }
        std::uint64_t size = std::min<std::uint64_t>(bytes.size(), how.piece_bytes);
        if (!acted) size = std::min(size, how.at - passed);
        duration wait = how.delay;
        if (how.bytes_per_second != 0) wait += std::chrono::nanoseconds(1'000'000'000 * size / how.bytes_per_second);
        if (wait != duration::zero()) {
            auto slept = co_await sleep_for(wait);
            if (!slept) co_return;
        }
        auto sent = co_await net::write(to, bytes.view().substr(0, size));
        if (!sent) {
            both.end(true, true);
            co_return;
        }
        bytes.consume(size);
        passed += size;
        total += size;
    }
}

class gate {
public:
    gate(loop& on, net::listener from, net::address onward, net::stream_options how) noexcept
        : on_(on), from_(std::move(from)), onward_(onward), how_(how) {}

    rules present;
    counts seen;

    task<> accept_all() {
        net::acceptor line;
        if (const auto opened = line.open(on_, from_); !opened) co_return;
        co_await in_scope([this, &line](scope& connections) -> task<> {
            for (;;) {
                auto got = co_await line.accept();
                if (!got) co_return;
                ++seen.accepted;
                if (present.drops) continue;
                auto stream = std::make_unique<net::socket_stream>();
                const auto opened = stream->open(on_, std::move(got->socket), got->peer);
                if (!opened) continue;
                connections.spawn([this, client = std::move(stream), how = present]() mutable -> task<> {
                    ++seen.open;
                    co_await pass(std::move(client), how);
                    --seen.open;
                });
            }
        });
    }

private:
    task<> pass(std::unique_ptr<net::byte_stream> client, rules how) {
        link both;
        both.client = std::move(client);
        auto reached = co_await net::connect(onward_, how_);
        if (!reached) {
            both.client->abort();
            co_return;
        }
        both.server = std::move(*reached);
        co_await in_scope([this, &both, &how](scope& directions) -> task<> {
            directions.spawn([this, &both, &how]() -> task<> { return carry(*both.client, *both.server, how.up, both, seen.up_bytes); });
            directions.spawn(
                [this, &both, &how]() -> task<> { return carry(*both.server, *both.client, how.down, both, seen.down_bytes); });
            co_return;
        });
    }

    loop& on_;
    net::listener from_;
    net::address onward_;
    net::stream_options how_;
};

std::string answer_to(gate& of, std::string_view line) {
    if (line == "counts") {
        return "ok accepted " + std::to_string(of.seen.accepted) + " open " + std::to_string(of.seen.open) + " up " +
               std::to_string(of.seen.up_bytes) + " down " + std::to_string(of.seen.down_bytes);
    }
    const std::string wrong = of.present.add(line);
    return wrong.empty() ? "ok" : "error: " + wrong;
}

task<> obey_standard_input(loop& on, gate& of) {
    pipe_reader in;
    const auto opened = in.open(on, descriptor(0));
    if (!opened) {
        // A file or a device: nothing to wait for, so only a signal ends the gate.
        auto slept = co_await sleep_for(for_ever);
        static_cast<void>(slept);
        co_return;
    }
    std::string text;
    char block[4096];
    for (;;) {
        auto got = co_await in.read(block);
        if (!got || *got == 0) co_return;
        text.append(block, *got);
        for (std::size_t end; (end = text.find('\n')) != text.npos; text.erase(0, end + 1)) {
            std::puts(answer_to(of, std::string_view(text).substr(0, end)).c_str());
        }
        std::fflush(stdout);
    }
}

task<> run_until_told(loop& on, gate& of, signal_set& signals) {
    co_await in_scope([&](scope& jobs) -> task<> {
        jobs.spawn([&]() -> task<> { return of.accept_all(); });
        jobs.spawn([&]() -> task<> {
            auto number = co_await signals.next();
            if (number) jobs.cancel();
        });
        co_await obey_standard_input(on, of);
        jobs.cancel();
    });
}

int complain(std::string_view what) {
    std::fprintf(stderr, "tcp-gate: %.*s\n", static_cast<int>(what.size()), what.data());
    return 2;
}

/// What the command line asks for.
class asked {
public:
    std::string to;
    std::string listen = "127.0.0.1:0";
    net::stream_options how;
    rules first;

    /// Empty, or what is wrong.
    std::string read(int count, char** values) {
        for (int i = 1; i < count; ++i) {
            const std::string_view word = values[i];
            if (word != "--to" && word != "--listen" && word != "--buffer" && word != "--rule")
                return "unknown option " + std::string(word);
            if (i + 1 == count) return std::string(word) + " takes a value";
            const std::string_view value = values[++i];
            if (word == "--to") {
                to = value;
            } else if (word == "--listen") {
                listen = value;
            } else if (word == "--rule") {
                if (std::string wrong = first.add(value); !wrong.empty()) return wrong;
            } else {
                const auto bytes = number_in(value);
                if (!bytes || *bytes == 0) return "--buffer takes a number of bytes above 0";
                how.send_buffer_bytes(*bytes).receive_buffer_bytes(*bytes);
            }
        }
        return to.empty() ? "--to says where to; --help tells more" : std::string();
    }
};

}  // namespace

int main(int count, char** values) {
    if (count == 2 && std::string_view(values[1]) == "--help") {
        std::fputs(help.data(), stdout);
        return 0;
    }
    asked what;
    if (const std::string wrong = what.read(count, values); !wrong.empty()) return complain(wrong);
    const auto onward = net::address::parse(what.to);
    const auto here = net::address::parse(what.listen);
    if (!onward || !here) return complain("'" + (onward ? what.listen : what.to) + "' is no address");
    try {
        loop on;
        signal_set signals(on, SIGINT, SIGTERM);
        auto listening = net::listener::open(*here);
        if (!listening) return complain("cannot listen on " + what.listen + ": " + std::string(listening.error().text()));
        const auto where = listening->local_address();
        std::printf("listening on %s\n", where.value().text().c_str());
        std::fflush(stdout);
        gate passes(on, std::move(*listening), *onward, what.how);
        passes.present = what.first;
        on.run(run_until_told(on, passes, signals));
        return 0;
    } catch (const std::exception& e) {
        return complain(e.what());
    }
}
