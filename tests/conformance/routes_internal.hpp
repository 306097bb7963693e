// The routes that a corpus of HTTP/1.1 requests is sent to: of conformance-server, and of the same corpus run in process.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <martlet/server.hpp>
#include <tests/conformance/accept_key_internal.hpp>

namespace martlet::conformance {

using namespace martlet::server;

inline void echo_whole(request& req, response& res) { res.bytes(200, http::media::bytes, req.content()); }

inline task<> echo_streamed(request& req, response& res) {
    auto all = co_await req.read_all();
    const std::string content = std::move(all).value();
    auto body = res.stream(200, http::media::bytes);
    for (std::size_t at = 0; at < content.size(); at += 1000) {
        auto sent = co_await body.send(std::string_view(content).substr(at, 1000));
        if (!sent) co_return;
    }
}

// The handshake of a WebSocket; nothing is spoken behind it.
inline task<> open_socket(request& req, response& res) {
    const std::string_view key = req.field(http::field_id::sec_websocket_key).value_or("");
    const bool good_key = key.size() == 24 && key.ends_with("==");
    if (!good_key) {
        res.end_connection();
        res.fail(400, "Sec-WebSocket-Key must be 16 bytes in base64");
        co_return;
    }
    if (req.field(http::field_id::sec_websocket_version).value_or("") != "13") {
        static_cast<void>(res.set("Sec-WebSocket-Version", "13"));
        res.empty(426);
        co_return;
    }
    res.set("Sec-WebSocket-Accept", accept_key(key)).value();
    auto up = co_await res.upgrade("websocket");
    static_cast<void>(up.value());
    auto slept = co_await sleep_for(std::chrono::seconds(2));
    static_cast<void>(slept);
}

/// With `streams` the echo is a coroutine that pulls the content and streams its answer; without, a plain handler.
inline void add_routes(router& app, bool streams) {
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
    if (streams) {
        app.post("/small", echo_streamed, route_options().body_bytes_max(10));
    } else {
        app.post("/small", echo_whole, route_options().body_bytes_max(10));
    }
    app.get("/status/204", [](request&, response& res) { res.empty(204); });
    app.get("/status/304", [](request&, response& res) { res.empty(304); });
    app.get("/ws", open_socket);
    app.get("/static", [](request&, response& res) { res.text(200, "a small file\n"); });
}

}  // namespace martlet::conformance
