// What a corpus of HTTP/1.1 requests is sent to: `conformance-server --port N [--stream]`. With --stream the echo is a coroutine that
// pulls the content and streams its answer; without, a plain handler.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <martlet/server.hpp>
#include <tests/conformance/routes_internal.hpp>

using namespace martlet;
using namespace martlet::server;

namespace {

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
    conformance::add_routes(app, streams);

    return run(app, options("127.0.0.1:" + std::to_string(port)).quiet());
}
