// The server that the drills attack: attacks-server --port N [--timeouts-percent N] [--connections-max N] [--descriptors-max N]
// [--file PATH] [--unbounded]. All limits are the defaults but those that an option changes.
#include <sys/resource.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include <martlet/server.hpp>

using namespace martlet;
using server::request;
using server::response;

namespace {

constexpr std::size_t big_bytes = 256 * 1024;
constexpr std::size_t piece_bytes = 16 * 1024;
constexpr int pieces = 1024;

struct chosen {
    unsigned port = 0;
    unsigned timeouts_percent = 100;
    unsigned connections_max = 0;
    unsigned descriptors_max = 0;
    std::string file;
    bool unbounded = false;
};

[[noreturn]] void usage() {
    std::fputs(
        "usage: attacks-server --port N [--timeouts-percent N] [--connections-max N] [--descriptors-max N] [--file PATH] [--unbounded]\n"
        "  --timeouts-percent  of the default of each timeout, so that a drill need not last a minute\n"
        "  --descriptors-max   the process may open so many\n"
        "  --unbounded         without the limits on bytes: what the judge of the drills has to find\n",
        stderr);
    std::exit(2);
}

unsigned number(std::string_view text) {
    unsigned value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) usage();
    return value;
}

chosen parse(int count, char** values) {
    chosen all;
    for (int i = 1; i < count; ++i) {
        const std::string_view word = values[i];
        if (word == "--unbounded") {
            all.unbounded = true;
            continue;
        }
        if (i + 1 == count) usage();
        const std::string_view value = values[++i];
        if (word == "--port") {
            all.port = number(value);
        } else if (word == "--timeouts-percent") {
            all.timeouts_percent = number(value);
        } else if (word == "--connections-max") {
            all.connections_max = number(value);
        } else if (word == "--descriptors-max") {
            all.descriptors_max = number(value);
        } else if (word == "--file") {
            all.file = value;
        } else {
            usage();
        }
    }
    if (all.port == 0 || all.port > 65535 || all.timeouts_percent == 0) usage();
    return all;
}

server::limits bounds_of(const chosen& how) {
    server::limits all;
    const auto scaled = [&how](duration time) { return time / 100 * how.timeouts_percent; };
    all.first_byte_timeout(scaled(all.first_byte_timeout()));
    all.head_timeout(scaled(all.head_timeout()));
    all.idle_timeout(scaled(all.idle_timeout()));
    all.write_timeout(scaled(all.write_timeout()));
    all.body_grace(scaled(all.body_grace()));
    all.body_timeout(scaled(all.body_timeout()));
    if (how.connections_max != 0) all.connections_max(how.connections_max);
    if (how.unbounded) {
        all.body_bytes_max(std::uint64_t{1} << 40);
        all.buffered_bytes_max(std::uint64_t{1} << 40);
        all.unsent_bytes_max(std::size_t{1} << 30);
    }
    return all;
}

void limit_descriptors(unsigned most) {
    if (most == 0) return;
    const rlimit bound{most, most};
    if (::setrlimit(RLIMIT_NOFILE, &bound) != 0) {
        std::perror("setrlimit");
        std::exit(1);
    }
}

task<> count_pieces(request& req, response& res) {
    std::uint64_t count = 0;
    for (;;) {
        const auto piece = (co_await req.read()).value();
        if (piece.empty()) break;
        count += piece.size();
    }
    res.text(200, std::to_string(count));
}

task<> not_read(request&, response& res) {
    res.text(200, "not read");
    co_return;
}

task<> stream(request&, response& res) {
    static const std::string piece(piece_bytes, 's');
    auto body = res.stream(200, http::media::bytes);
    for (int i = 0; i < pieces; ++i) {
        auto sent = co_await body.send(std::string_view(piece));
        if (!sent) co_return;
    }
}

void form_size(request& req, response& res) {
    const auto form = req.form().value();
    res.text(200, std::to_string(form.size()));
}

void last_of_query(request& req, response& res) { res.text(200, req.query_value<std::string>("last", "none").value()); }

}  // namespace

int main(int count, char** values) {
    const chosen how = parse(count, values);
    limit_descriptors(how.descriptors_max);
    static const std::string big(big_bytes, 'b');

    server::router app;
    app.get("/hello", [](request&, response& res) { res.text(200, "Hello, World!"); });
    app.get("/big", [](request&, response& res) { res.text(200, std::string_view(big)); });
    app.get("/stream", stream);
    app.get("/query", last_of_query);
    app.get("/file", [&how](request&, response& res) -> task<> {
        auto sent = co_await res.file(how.file);
        sent.value();
    });
    app.post("/count", [](request& req, response& res) { res.text(200, std::to_string(req.content().size())); });
    app.post("/pull", count_pieces);
    app.post("/nobody", not_read);
    app.post("/form", form_size);
    return server::run(app, server::options("127.0.0.1:" + std::to_string(how.port)).bounds(bounds_of(how)));
}
