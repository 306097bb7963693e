// What a corpus of HTTP/1.1 requests is sent to: `conformance-server --port N [--stream]`. With --stream the echo is a coroutine that
// pulls the content and streams its answer; without, a plain handler.
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
    app.get("/static", [](request&, response& res) { res.text(200, "a small file\n"); });

    return run(app, options("127.0.0.1:" + std::to_string(port)).quiet());
}
