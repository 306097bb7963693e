// The smallest server: one route. The address to listen on may be given as an argument.
#include <martlet/server.hpp>

using namespace martlet;

int main(int argc, char** argv) {
    server::router app;
    app.get("/", [](server::request&, server::response& res) { res.text(200, "Hello, World!\n"); });
    return server::run(app, server::options(argc > 1 ? argv[1] : "127.0.0.1:8080"));
}
