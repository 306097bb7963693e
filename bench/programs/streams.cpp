// bench-streams: bodies that come and go in pieces, and event streams that wait, on one loop.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include <martlet/rt.hpp>
#include <martlet/server.hpp>

using namespace martlet;
using server::request;
using server::response;

namespace {

/// Wakes every stream, again and again: each waits for the event of the present round.
class rounds {
public:
    std::shared_ptr<event> present() const { return present_; }
    void next() { std::exchange(present_, std::make_shared<event>())->set(); }

private:
    std::shared_ptr<event> present_ = std::make_shared<event>();
};

task<> sink(request& req, response& res) {
    std::uint64_t count = 0;
    for (;;) {
        const auto piece = (co_await req.read()).value();
        if (piece.empty()) break;
        count += piece.size();
    }
    res.text(200, std::to_string(count));
}

task<> many_bytes(request& req, response& res) {
    static const std::string piece(64 * 1024, 'x');
    auto left = req.param<std::uint64_t>("count").value();
    auto body = res.stream(200, http::media::bytes, left);
    while (left != 0) {
        const auto size = std::min<std::uint64_t>(left, piece.size());
        auto sent = co_await body.send(std::string_view(piece).substr(0, size));
        if (!sent) co_return;
        left -= size;
    }
}

}  // namespace

int main(int argc, char** argv) {
    std::string port = "8080";
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--port") == 0 && i + 1 < argc) {
            port = argv[++i];
        } else {
            const bool asked = std::strcmp(argv[i], "--help") == 0;
            std::fprintf(asked ? stdout : stderr,
                         "bench-streams [--port N]: POST /sink, GET /bytes/N, GET /events, POST /tell on 127.0.0.1.\n");
            return asked ? 0 : 2;
        }
    }
    rounds told;
    server::router app;
    app.get("/plaintext", [](request&, response& res) { res.text(200, "Hello, World!"); });
    app.post("/sink", sink, server::route_options().body_bytes_max(1ull << 40));
    app.get("/bytes/:count", many_bytes);
    app.post("/tell", [&told](request&, response& res) {
        told.next();
        res.text(200, "told");
    });
    app.get("/events", [&told](request&, response& res) -> task<> {
        auto feed = res.sse();
        for (;;) {
            const auto round = told.present();
            auto waited = co_await round->wait();
            if (!waited) co_return;
            auto sent = co_await feed.send("told");
            if (!sent) co_return;
        }
    });
    return server::run(app, server::options("127.0.0.1:" + port));
}
