// bench-churn: a client that opens, uses and closes many connections to 127.0.0.1, and resets a share of them at a random byte
// of the exchange: of the requests while they are sent, or of the answers while they arrive.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr unsigned sources = 40;  // 127.0.0.2 and up: closed connections keep their port for a minute
constexpr unsigned run_seconds_max = 240;

struct options {
    unsigned port = 0;
    unsigned connections = 100'000;
    unsigned open_at_once = 64;
    unsigned reset_percent = 33;
    unsigned seed = 1;
};

struct totals {
    unsigned opened = 0;
    unsigned answered = 0;
    unsigned reset = 0;
    unsigned failed = 0;
};

struct visit {
    int fd = -1;
    unsigned requests = 0;
    bool resets = false;
    std::size_t request_bytes = 0;  // to send before a reset
    std::size_t answer_bytes = 0;   // to read before a reset, or in all
};

[[noreturn]] void usage(int code) {
    std::fprintf(code == 0 ? stdout : stderr,
                 "usage: bench-churn --port N [--connections N] [--open-at-once N] [--reset-percent N] [--seed N]\n"
                 "Opens, uses and closes connections to 127.0.0.1:N; ends after %u seconds at the latest.\n",
                 run_seconds_max);
    std::exit(code);
}

options parse(int argc, char** argv) {
    options chosen;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--help") usage(0);
        unsigned* target = name == "--port"            ? &chosen.port
                           : name == "--connections"   ? &chosen.connections
                           : name == "--open-at-once"  ? &chosen.open_at_once
                           : name == "--reset-percent" ? &chosen.reset_percent
                           : name == "--seed"          ? &chosen.seed
                                                       : nullptr;
        if (target == nullptr || i + 1 == argc) usage(2);
        const std::string_view text = argv[++i];
        if (std::from_chars(text.data(), text.data() + text.size(), *target).ptr != text.data() + text.size()) usage(2);
    }
    if (chosen.port == 0 || chosen.port > 65535 || chosen.connections > 1'000'000 || chosen.open_at_once == 0 || chosen.open_at_once > 500)
        usage(2);
    return chosen;
}

int connect_from(unsigned source, unsigned port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    const int on = 1;
    const timeval patience{10, 0};
    ::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + source % sources);
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(static_cast<std::uint16_t>(port));
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(fd, reinterpret_cast<sockaddr*>(&here), sizeof here) != 0 ||
        ::connect(fd, reinterpret_cast<sockaddr*>(&there), sizeof there) != 0) {
        ::close(fd);
        return -1;
    }
    return fd;
}

bool send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

// Reads exactly `bytes` bytes, the last ones into `tail`.
bool receive_all(int fd, std::size_t bytes, std::string& tail) {
    char buffer[4096];
    tail.clear();
    while (bytes != 0) {
        const ssize_t got = ::recv(fd, buffer, bytes < sizeof buffer ? bytes : sizeof buffer, 0);
        if (got <= 0) return false;
        tail.assign(buffer, static_cast<std::size_t>(got));
        bytes -= static_cast<std::size_t>(got);
    }
    return true;
}

void close_with_reset(int fd) {
    const linger now{1, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    ::close(fd);
}

// Bytes of one answer, from a first exchange.
std::size_t answer_bytes(const options& chosen, std::string_view request) {
    const int fd = connect_from(0, chosen.port);
    if (fd < 0 || !send_all(fd, request)) return 0;
    std::string seen;
    char buffer[4096];
    std::size_t head = std::string::npos;
    while ((head = seen.find("\r\n\r\n")) == std::string::npos) {
        const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
        if (got <= 0) return 0;
        seen.append(buffer, static_cast<std::size_t>(got));
    }
    ::close(fd);
    const std::size_t field = seen.find("Content-Length: ");
    if (field == std::string::npos) return 0;
    return head + 4 + static_cast<std::size_t>(std::atoi(seen.c_str() + field + 16));
}

class churn {
public:
    churn(const options& chosen, std::string request, std::size_t answer)
        : chosen_(chosen), request_(std::move(request)), answer_(answer), random_(chosen.seed) {}

    totals run() {
        for (unsigned done = 0; done < chosen_.connections;) {
            const unsigned count = std::min(chosen_.open_at_once, chosen_.connections - done);
            std::vector<visit> group;
            for (unsigned i = 0; i < count; ++i) group.push_back(open(done + i));
            for (visit& each : group) send(each);
            for (visit& each : group) finish(each);
            done += count;
            if (totals_.failed > 100) break;
        }
        return totals_;
    }

private:
    std::size_t below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }

    visit open(unsigned index) {
        visit made;
        made.fd = connect_from(index / 64, chosen_.port);
        if (made.fd < 0) {
            ++totals_.failed;
            return made;
        }
        ++totals_.opened;
        made.requests = 1 + static_cast<unsigned>(below(3));
        made.resets = below(100) < chosen_.reset_percent;
        const std::size_t whole = made.requests * request_.size();
        made.request_bytes = whole;
        made.answer_bytes = made.requests * answer_;
        if (made.resets) {
            const std::size_t at = below(whole + made.answer_bytes);
            made.request_bytes = std::min(at, whole);
            made.answer_bytes = at - made.request_bytes;
        }
        return made;
    }

    void fail(visit& at) {
        ++totals_.failed;
        ::close(at.fd);
        at.fd = -1;
    }

    void send(visit& at) {
        if (at.fd < 0) return;
        std::string bytes;
        for (unsigned i = 0; i < at.requests; ++i) bytes += request_;
        if (!send_all(at.fd, std::string_view(bytes).substr(0, at.request_bytes))) fail(at);
    }

    void finish(visit& at) {
        if (at.fd < 0) return;
        std::string tail;
        if (!receive_all(at.fd, at.answer_bytes, tail)) return fail(at);
        if (at.resets) {
            ++totals_.reset;
            close_with_reset(at.fd);
            return;
        }
        if (!tail.ends_with("Hello, World!")) return fail(at);
        ++totals_.answered;
        ::close(at.fd);
    }

    options chosen_;
    std::string request_;
    std::size_t answer_;
    std::mt19937 random_;
    totals totals_;
};

}  // namespace

int main(int argc, char** argv) {
    const options chosen = parse(argc, argv);
    ::alarm(run_seconds_max);
    const std::string request = "GET /plaintext HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(chosen.port) + "\r\n\r\n";
    const std::size_t answer = answer_bytes(chosen, request);
    if (answer == 0) {
        std::fprintf(stderr, "no answer with a Content-Length from 127.0.0.1:%u\n", chosen.port);
        return 1;
    }
    const totals sum = churn(chosen, request, answer).run();
    std::printf("opened %u answered %u reset %u failed %u\n", sum.opened, sum.answered, sum.reset, sum.failed);
    return sum.failed == 0 ? 0 : 1;
}
