// What stands behind the gate: `chaos-server --port N --file PATH`. Short timeouts, a handler of every form, and at /counts what its observer
// was told.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <martlet/server.hpp>

using namespace martlet;
using namespace martlet::server;
using namespace std::chrono_literals;

namespace {

class tally final : public observer {
public:
    void accepted(connection_id) noexcept override { ++accepted_; }
    void closed(connection_id, close_reason) noexcept override { ++closed_; }
    void head(connection_id, const exchange&) noexcept override { ++heads_; }
    void end(connection_id, const exchange&, int, std::uint64_t) noexcept override { ++ends_; }

    std::string text() const {
        return std::to_string(accepted_.load()) + " " + std::to_string(closed_.load()) + " " + std::to_string(heads_.load()) + " " +
               std::to_string(ends_.load());
    }

private:
    std::atomic<std::uint64_t> accepted_{0}, closed_{0}, heads_{0}, ends_{0};
};

void add_routes(router& app, const std::string& file, const tally& seen) {
    app.get("/plain", [](request& req, response& res) { res.text(200, req.target()); });
    app.get("/counts", [&seen](request&, response& res) { res.text(200, seen.text()); });
    app.get("/file", [file](request&, response& res) -> task<> {
        auto sent = co_await res.file(file);
        static_cast<void>(sent);
    });
    app.post("/whole", [](request& req, response& res) { res.bytes(200, http::media::bytes, req.content()); });
    app.post("/echo", [](request& req, response& res) -> task<> {
        auto body = res.stream(200, http::media::bytes);
        for (;;) {
            auto piece = co_await req.read();
            if (piece.value().empty()) co_return;
            auto sent = co_await body.send(*piece);
            sent.value();
        }
    });
    app.get("/slow", [](request& req, response& res) -> task<> {
        auto slept = co_await sleep_for(20ms);
        slept.value();
        res.text(200, req.target());
    });
}

}  // namespace

int main(int count, char** values) {
    std::string port, file;
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string_view word = values[i];
        (word == "--port" ? port : file) = values[i + 1];
        if (word != "--port" && word != "--file") port.clear();
    }
    if (port.empty() || count % 2 == 0) {
        std::fputs("usage: chaos-server --port N --file PATH\n", stderr);
        return 2;
    }
    tally seen;
    router app;
    add_routes(app, file, seen);
    const limits bounds = limits()
                              .first_byte_timeout(700ms)
                              .head_timeout(700ms)
                              .idle_timeout(700ms)
                              .write_timeout(700ms)
                              .body_grace(700ms)
                              .body_timeout(700ms)
                              .linger_timeout(300ms)
                              .drain_timeout(1s);
    return run(app, options("127.0.0.1:" + port).bounds(bounds).watch(seen));
}
