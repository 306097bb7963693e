// attack-client DRILL --port N: does what a plan says to a server on 127.0.0.1, bounded in connections, bytes and time. Prints JSON.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <tests/attacks/attack_plans_internal.hpp>

using martlet::attacks::leaving;
using martlet::attacks::plan;

namespace {

using steady = std::chrono::steady_clock;

constexpr unsigned sources = 40;  // 127.0.0.2 and up: closed connections keep their port for a minute
constexpr std::chrono::milliseconds tick(10);
constexpr std::size_t train_bytes_min = 64 * 1024;
constexpr std::size_t sent_per_event_max = 256 * 1024;
constexpr int reads_per_event_max = 32;
constexpr std::uint64_t bytes_max = std::uint64_t{8} << 30;
constexpr std::uint64_t connections_max = 2'000'000;

std::int64_t now_ms() { return std::chrono::duration_cast<std::chrono::milliseconds>(steady::now().time_since_epoch()).count(); }

struct visitor {
    int fd = -1;
    std::string_view opening;
    std::uint64_t unit_bytes_sent = 0;
    std::int64_t began_ms = 0;
    std::int64_t sends_at_ms = 0;
    std::int64_t reads_at_ms = 0;
    std::string tail;  // of what was read, for a status that arrives in two pieces
    bool answered = false;
    bool broken = false;  // a send said so
    bool connected = false;
    bool sent_all = false;
    bool fin_sent = false;
};

struct totals {
    std::uint64_t opened = 0;
    std::uint64_t not_connected = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t received_bytes = 0;
    std::uint64_t sends = 0;
    std::uint64_t closed = 0;
    std::uint64_t reset = 0;
    std::uint64_t left = 0;
    std::uint64_t still_open = 0;
    std::uint64_t unanswered = 0;  // ended by the server without a status
    unsigned open_max = 0;
    std::map<std::string, std::uint64_t, std::less<>> statuses;
    std::vector<std::uint32_t> ages_ms;  // of connections that the server ended
};

class attack {
public:
    attack(const plan& what, unsigned port, unsigned seconds)
        : plan_(what), port_(port), end_ms_(now_ms() + std::int64_t{1000} * seconds), visitors_(what.connections) {
        while (!what.unit.empty() && train_.size() < train_bytes_min) train_ += what.unit;
        unit_bytes_max_ = what.unit.empty() ? 0 : what.units_max == 0 ? UINT64_MAX : what.units_max * what.unit.size();
        epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
        if (epoll_ < 0) {
            std::perror("epoll_create1");
            std::exit(1);
        }
    }

    totals run() {
        std::array<epoll_event, 256> events;
        std::int64_t next_tick = 0;
        while (now_ms() < end_ms_ && sum_.sent_bytes < bytes_max) {
            if (now_ms() >= next_tick) {
                next_tick = now_ms() + tick.count();
                open_some();
                do_what_is_due();
            }
            const int wait = static_cast<int>(std::max<std::int64_t>(next_tick - now_ms(), 0));
            const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), wait);
            for (int i = 0; i < count; ++i)
                handle(visitors_[events[static_cast<std::size_t>(i)].data.u32], events[static_cast<std::size_t>(i)].events);
        }
        for (visitor& each : visitors_) {
            if (each.fd < 0) continue;
            ++sum_.still_open;
            drop(each);
        }
        ::close(epoll_);
        return std::move(sum_);
    }

private:
    bool is_paced() const { return plan_.send_every_ms != 0; }

    void open_some() {
        unsigned left = plan_.opened_per_tick_max;
        for (std::size_t i = 0; i < visitors_.size() && left != 0; ++i) {
            visitor& each = visitors_[i];
            if (each.fd >= 0 || sum_.opened >= connections_max) continue;
            --left;
            if (!open(each, static_cast<std::uint32_t>(i))) break;
        }
    }

    bool open(visitor& of, std::uint32_t index) {
        const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0) return false;
        const int on = 1;
        ::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (plan_.receive_buffer_bytes != 0) ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &plan_.receive_buffer_bytes, sizeof(int));
        sockaddr_in here{};
        here.sin_family = AF_INET;
        here.sin_addr.s_addr = htonl(static_cast<std::uint32_t>(INADDR_LOOPBACK + 1 + sum_.opened % sources));
        sockaddr_in there{};
        there.sin_family = AF_INET;
        there.sin_port = htons(static_cast<std::uint16_t>(port_));
        there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const bool bound = ::bind(fd, reinterpret_cast<sockaddr*>(&here), sizeof here) == 0;
        if (!bound || (::connect(fd, reinterpret_cast<sockaddr*>(&there), sizeof there) != 0 && errno != EINPROGRESS)) {
            ++sum_.not_connected;
            ::close(fd);
            return false;
        }
        of = visitor();
        of.fd = fd;
        of.opening = plan_.openings.empty() ? std::string_view() : std::string_view(plan_.openings[sum_.opened % plan_.openings.size()]);
        of.began_ms = now_ms();
        ++sum_.opened;
        ++open_;
        sum_.open_max = std::max(sum_.open_max, open_);
        epoll_event wanted{};
        wanted.events = EPOLLOUT;
        wanted.data.u32 = index;
        ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &wanted);
        return true;
    }

    void drop(visitor& of) {
        ::close(of.fd);
        of.fd = -1;
        --open_;
    }

    void leave(visitor& of) {
        if (plan_.leaves == leaving::reset) {
            const linger now{1, 0};
            ::setsockopt(of.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        }
        ++sum_.left;
        drop(of);
    }

    void ended(visitor& of, bool by_reset) {
        ++(by_reset ? sum_.reset : sum_.closed);
        sum_.ages_ms.push_back(static_cast<std::uint32_t>(now_ms() - of.began_ms));
        if (!of.answered) ++sum_.unanswered;
        drop(of);
    }

    void handle(visitor& of, std::uint32_t events) {
        if (of.fd < 0) return;
        if (!of.connected && !settle(of)) return;
        if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && plan_.reads && plan_.read_every_ms == 0 && !read_all(of)) return;
        if ((events & (EPOLLHUP | EPOLLERR)) != 0 && (!plan_.reads || plan_.read_every_ms != 0)) {
            // Nobody reads, but that it is over shows.
            ended(of, true);
            return;
        }
        if ((events & EPOLLOUT) != 0) send(of);
    }

    bool settle(visitor& of) {
        int code = 0;
        socklen_t length = sizeof code;
        ::getsockopt(of.fd, SOL_SOCKET, SO_ERROR, &code, &length);
        if (code != 0) {
            ++sum_.not_connected;
            drop(of);
            return false;
        }
        of.connected = true;
        of.sends_at_ms = now_ms() + plan_.send_every_ms;
        of.reads_at_ms = now_ms() + plan_.read_every_ms;
        return true;
    }

    void watch(const visitor& of, bool writing) {
        epoll_event wanted{};
        wanted.events = (plan_.reads && plan_.read_every_ms == 0 ? EPOLLIN : 0u) | (writing ? EPOLLOUT : 0u);
        wanted.data.u32 = static_cast<std::uint32_t>(&of - visitors_.data());
        ::epoll_ctl(epoll_, EPOLL_CTL_MOD, of.fd, &wanted);
    }

    // What is not paced goes as far as the socket takes it.
    void send(visitor& of) {
        std::size_t budget = sent_per_event_max;
        while (budget != 0) {
            const std::string_view next = next_piece(of, budget);
            if (next.empty()) break;
            const std::ptrdiff_t sent = send_once(of, next);
            if (sent < 0) return;
            budget -= std::min(budget, static_cast<std::size_t>(sent));
            if (static_cast<std::size_t>(sent) < next.size()) return;
        }
        if (!next_piece(of, 1).empty()) return;
        of.sent_all = true;
        switch (plan_.leaves) {
        case leaving::reset:
        case leaving::close: leave(of); return;
        case leaving::fin_at_once:
            if (!of.fin_sent) ::shutdown(of.fd, SHUT_WR);
            of.fin_sent = true;
            break;
        case leaving::never: break;
        }
        watch(of, false);
    }

    std::string_view next_piece(const visitor& of, std::size_t most) const {
        if (!of.opening.empty()) return of.opening.substr(0, most);
        if (is_paced() || of.unit_bytes_sent >= unit_bytes_max_) return {};
        return units(of, most);
    }

    std::string_view units(const visitor& of, std::size_t most) const {
        const std::string_view rest = std::string_view(train_).substr(of.unit_bytes_sent % train_.size());
        return rest.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(most, unit_bytes_max_ - of.unit_bytes_sent)));
    }

    // -1: the connection has ended.
    std::ptrdiff_t send_once(visitor& of, std::string_view piece) {
        const ssize_t sent = ::send(of.fd, piece.data(), piece.size(), MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EAGAIN) return 0;
            // What the server said before it went is still to be read.
            of.broken = true;
            if (!plan_.reads || read_all(of)) ended(of, true);
            return -1;
        }
        ++sum_.sends;
        sum_.sent_bytes += static_cast<std::uint64_t>(sent);
        if (!of.opening.empty()) {
            of.opening.remove_prefix(static_cast<std::size_t>(sent));
        } else {
            of.unit_bytes_sent += static_cast<std::uint64_t>(sent);
        }
        return sent;
    }

    // False: the connection has ended.
    bool read(visitor& of, std::size_t most) {
        static std::array<char, 64 * 1024> room;
        const ssize_t got = ::recv(of.fd, room.data(), std::min(most, room.size()), 0);
        if (got < 0 && errno == EAGAIN) return true;
        if (got <= 0) {
            ended(of, got < 0 || of.broken);
            return false;
        }
        sum_.received_bytes += static_cast<std::uint64_t>(got);
        look_for_statuses(of, std::string_view(room.data(), static_cast<std::size_t>(got)));
        return true;
    }

    bool read_all(visitor& of) {
        std::uint64_t before = 0;
        for (int left = reads_per_event_max; left != 0; --left) {
            before = sum_.received_bytes;
            if (!read(of, 64 * 1024)) return false;
            if (sum_.received_bytes - before < 64 * 1024) break;
        }
        return true;
    }

    // No status fits into the 11 bytes that are kept of what came before, so each is counted once.
    void look_for_statuses(visitor& of, std::string_view bytes) {
        constexpr std::string_view mark = "HTTP/1.1 ";
        of.tail += bytes;
        const std::string_view text = of.tail;
        for (std::size_t at = text.find(mark); at != text.npos && at + 12 <= text.size(); at = text.find(mark, at + 1)) {
            const std::string_view status = text.substr(at + mark.size(), 3);
            const auto known = sum_.statuses.find(status);
            ++(known != sum_.statuses.end() ? known->second : sum_.statuses[std::string(status)]);
            of.answered = true;
        }
        of.tail.erase(0, of.tail.size() - std::min<std::size_t>(of.tail.size(), 11));
    }

    void do_what_is_due() {
        if (!is_paced() && plan_.read_every_ms == 0) return;
        const std::int64_t now = now_ms();
        for (visitor& each : visitors_) {
            if (each.fd < 0 || !each.connected) continue;
            if (is_paced() && each.opening.empty() && now >= each.sends_at_ms && each.unit_bytes_sent < unit_bytes_max_) {
                each.sends_at_ms = now + plan_.send_every_ms;
                if (send_once(each, units(each, plan_.send_bytes)) < 0) continue;
            }
            if (plan_.read_every_ms != 0 && now >= each.reads_at_ms) {
                each.reads_at_ms = now + plan_.read_every_ms;
                if (!read(each, plan_.read_bytes)) continue;
            }
        }
    }

    const plan& plan_;
    unsigned port_;
    std::int64_t end_ms_;
    std::vector<visitor> visitors_;
    std::string train_;  // units without end are sent from here
    std::uint64_t unit_bytes_max_ = 0;
    int epoll_ = -1;
    unsigned open_ = 0;
    totals sum_;
};

void raise_descriptor_limit() {
    rlimit bound{};
    if (::getrlimit(RLIMIT_NOFILE, &bound) != 0) return;
    bound.rlim_cur = bound.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &bound);
}

void print(const totals& sum, std::vector<std::uint32_t> ages) {
    const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::printf(
        "{\"opened\": %llu, \"not_connected\": %llu, \"open_max\": %u, \"sent_bytes\": %llu, \"received_bytes\": %llu, \"sends\": %llu",
        number(sum.opened), number(sum.not_connected), sum.open_max, number(sum.sent_bytes), number(sum.received_bytes), number(sum.sends));
    std::printf(", \"closed\": %llu, \"reset\": %llu, \"left\": %llu, \"still_open\": %llu, \"unanswered\": %llu", number(sum.closed),
                number(sum.reset), number(sum.left), number(sum.still_open), number(sum.unanswered));
    std::sort(ages.begin(), ages.end());
    std::printf(", \"ended_ms_p50\": %u, \"ended_ms_max\": %u, \"statuses\": {", ages.empty() ? 0 : ages[ages.size() / 2],
                ages.empty() ? 0 : ages.back());
    const char* separator = "";
    for (const auto& [status, count] : sum.statuses) {
        std::printf("%s\"%s\": %llu", separator, status.c_str(), number(count));
        separator = ", ";
    }
    std::printf("}}\n");
}

[[noreturn]] void usage() {
    std::fputs("usage: attack-client DRILL --port N [--seconds N] [--connections N]\n       attack-client --list\n", stderr);
    std::exit(2);
}

}  // namespace

int main(int count, char** values) {
    std::vector<plan> plans = martlet::attacks::all_plans();
    if (count < 2) usage();
    const std::string_view name = values[1];
    if (name == "--list") {
        for (const plan& each : plans) std::printf("%.*s\n", static_cast<int>(each.name.size()), each.name.data());
        return 0;
    }
    const auto found = std::find_if(plans.begin(), plans.end(), [name](const plan& each) { return each.name == name; });
    if (found == plans.end()) usage();
    unsigned port = 0;
    unsigned seconds = 8;
    for (int i = 2; i < count; i += 2) {
        const std::string_view word = values[i];
        unsigned* const target = word == "--port"          ? &port
                                 : word == "--seconds"     ? &seconds
                                 : word == "--connections" ? &found->connections
                                                           : nullptr;
        if (target == nullptr || i + 1 == count) usage();
        const std::string_view text = values[i + 1];
        if (std::from_chars(text.data(), text.data() + text.size(), *target).ptr != text.data() + text.size()) usage();
    }
    if (port == 0 || port > 65535 || seconds == 0 || seconds > 120 || found->connections > 50'000) usage();
    raise_descriptor_limit();
    ::alarm(seconds + 30);
    const totals sum = attack(*found, port, seconds).run();
    print(sum, sum.ages_ms);
    return 0;
}
