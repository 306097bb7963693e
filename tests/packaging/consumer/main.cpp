// The smallest program that shows that headers, archives and what they link to have arrived: a server that starts, tells where, and stops.
#include <cstdio>

#include <martlet/server.hpp>

using namespace martlet;

int main() {
    server::router app;
    app.get("/", [](server::request&, server::response& res) { res.text(200, "Hello, World!\n"); });
    server::http_server served(app, server::options("127.0.0.1:0"));
    if (!served.start()) {
        std::fprintf(stderr, "%s\n", served.what().c_str());
        return 1;
    }
    std::printf("%s\n", served.addresses().front().c_str());
    served.stop();
    served.wait();
    return 0;
}
