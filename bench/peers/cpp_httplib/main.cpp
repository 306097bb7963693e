// cpp-httplib: a pool of threads, each of which has a connection for as long as it lives. peer-cpp-httplib --port N
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <httplib.h>

namespace {

// A thread is taken by a connection until it ends, so that there must be as many as connections: of the largest load, and those of checks.
constexpr int threads = 1100;

}  // namespace

int main(int count, char** words) {
    if (count != 3 || std::strcmp(words[1], "--port") != 0) {
        std::fputs("usage: peer-cpp-httplib --port N\n", stderr);
        return 2;
    }
    std::signal(SIGTERM, [](int) { ::_exit(0); });
    const int port = std::atoi(words[2]);
    httplib::Server server;
    server.new_task_queue = [] { return new httplib::ThreadPool(threads); };
    server.set_keep_alive_max_count(std::numeric_limits<std::size_t>::max());
    server.set_keep_alive_timeout(3600);
    server.set_tcp_nodelay(true);
    server.set_default_headers({{"Server", "cpp-httplib"}});
    server.Get("/plaintext",
               [](const httplib::Request&, httplib::Response& response) { response.set_content("Hello, World!", "text/plain"); });
    if (!server.bind_to_port("127.0.0.1", port)) {
        std::fputs("cannot bind\n", stderr);
        return 1;
    }
    std::printf("listening on 127.0.0.1:%d\n", port);
    std::fflush(stdout);
    return server.listen_after_bind() ? 0 : 1;
}
