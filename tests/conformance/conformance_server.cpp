// What a corpus of HTTP/1.1 requests is sent to: `conformance-server --port N [--stream]`. With --stream the echo is a coroutine that
// pulls the content and streams its answer; without, a plain handler.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <martlet/server.hpp>

using namespace martlet;
using namespace martlet::server;

namespace {

void echo_whole(request& req, response& res) { res.bytes(200, http::media::bytes, req.content()); }

task<> echo_streamed(request& req, response& res) {
    auto all = co_await req.read_all();
    const std::string content = std::move(all).value();
    auto body = res.stream(200, http::media::bytes);
    for (std::size_t at = 0; at < content.size(); at += 1000) {
        auto sent = co_await body.send(std::string_view(content).substr(at, 1000));
        if (!sent) co_return;
    }
}

/// The handshake of a WebSocket as far as HTTP goes: nothing is spoken behind it, and the key is not answered.
task<> open_socket(request& req, response& res) {
    const std::string_view key = req.field(http::field_id::sec_websocket_key).value_or("");
    const bool good_key = key.size() == 24 && key.ends_with("==");
    if (!good_key || req.field(http::field_id::sec_websocket_version).value_or("") != "13") {
        static_cast<void>(res.set("Sec-WebSocket-Version", "13"));
        res.empty(426);
        co_return;
    }
    auto up = co_await res.upgrade("websocket");
    static_cast<void>(up.value());
    auto slept = co_await sleep_for(std::chrono::seconds(2));
    static_cast<void>(slept);
}

int usage() {
    std::fputs("usage: conformance-server --port N [--stream]\n", stderr);
    return 2;
}

}  // namespace

int main(int count, char** values) {
    int port = -1;
    bool streams = false;
    for (int i = 1; i < count; ++i) {
        const std::string_view word = values[i];
        if (word == "--port" && i + 1 < count) {
            port = std::atoi(values[++i]);
        } else if (word == "--stream") {
            streams = true;
        } else {
            return usage();
        }
    }
    if (port < 0) return usage();

    router app;
    app.get("/", [](request&, response& res) { res.text(200, "root"); });
    app.post("/", [](request&, response& res) { res.text(200, "root"); });
    for (const http::method each :
         {http::method::get, http::method::post, http::method::put, http::method::patch, http::method::delete_, http::method::options}) {
        if (streams) {
            app.add(each, "/echo", echo_streamed);
        } else {
            app.add(each, "/echo", echo_whole);
        }
        app.add(each, "/nobody", [](request&, response& res) -> task<> {
            res.text(200, "not read");
            co_return;
        });
    }
    app.get("/status/204", [](request&, response& res) { res.empty(204); });
    app.get("/status/304", [](request&, response& res) { res.empty(304); });
    app.get("/ws", open_socket);
    app.get("/static", [](request&, response& res) { res.text(200, "a small file\n"); });

    return run(app, options("127.0.0.1:" + std::to_string(port)).quiet());
}
