// bench-hello: the library with a router and one text route, every check, limit and timeout on.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <martlet/server.hpp>

using namespace martlet;

int main(int argc, char** argv) {
    std::string port = "8080";
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--port") == 0 && i + 1 < argc) {
            port = argv[++i];
        } else {
            const bool asked = std::strcmp(argv[i], "--help") == 0;
            std::fprintf(asked ? stdout : stderr, "bench-hello [--port N]: answers GET /plaintext on 127.0.0.1, with one thread.\n");
            return asked ? 0 : 2;
        }
    }
    server::router app;
    app.get("/plaintext", [](server::request&, server::response& res) { res.text(200, "Hello, World!"); });
    return server::run(app, server::options("127.0.0.1:" + port));
}
