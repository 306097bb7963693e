// Scenarios of TCP connections.
#pragma once

#include <martlet/rt/sim/stage.hpp>

namespace martlet::inline v0::sim {

inline void edges(stage& s) {
    auto [client, server] = s.pair();
    s.watch(client);
    s.events();
    s.events();
    s.send(server, "one");
    s.events();
    s.events();
    s.send(server, "two");
    s.events();
    s.recv(client);
    s.recv(client);
    s.events();
}

inline void levels(stage& s) {
    auto [client, server] = s.pair();
    s.watch(client, kernel::poll_in);
    s.one_wait();
    s.send(server, "abcdef");
    s.one_wait();
    s.recv(client, 3);
    s.one_wait();
    s.recv(client, 3);
    s.one_wait();
}

inline void change_reports_again(stage& s) {
    auto [client, server] = s.pair();
    s.watch(client, kernel::poll_in | kernel::poll_edge);
    s.send(server, "x");
    s.events();
    s.events();
    s.change(client, kernel::poll_in | kernel::poll_edge);
    s.events();
    s.change(client, kernel::poll_out | kernel::poll_edge);
    s.events();
    s.unwatch(client);
    s.unwatch(client);
    s.send(server, "y");
    s.events();
}

inline void fin_with_data(stage& s) {
    auto [client, server] = s.pair();
    s.watch(client);
    s.events();
    s.send(server, "abc");
    s.shutdown(server, 1);
    s.events();
    s.recv(client, 2);
    s.events();
    s.recv(client);
    s.events();
    s.recv(client);
    s.recv(client);
    s.events();
}

inline void half_close(stage& s) {
    auto [client, server] = s.pair();
    s.watch(client);
    s.watch(server);
    s.events();
    s.shutdown(client, 1);
    s.events();
    s.send(client, "no");
    s.recv(server);
    s.send(server, "late");
    s.events();
    s.recv(client);
    s.shutdown(server, 1);
    s.events();
    s.recv(client);
    s.recv(server);
    s.send(server, "no");
    s.shutdown(server, 2);
}

inline void shut_reading(stage& s) {
    auto [client, server] = s.pair();
    s.watch(client);
    s.events();
    s.shutdown(client, 0);
    s.events();
    s.recv(client);
    s.send(server, "still");
    s.events();
    s.recv(client);
    s.recv(client);
}

inline void close_with_unread(stage& s) {
    auto [client, server] = s.pair();
    s.watch(client);
    s.events();
    s.send(client, "unread");
    s.events();
    s.close(server);
    s.events();
    s.recv(client);
    s.recv(client);
    s.send(client, "x");
    s.error_of(client);
    s.events();
}

inline void reset_seen_by_send(stage& s) {
    auto [client, server] = s.pair();
    s.watch(client);
    s.events();
    s.reset(server);
    s.events();
    s.send(client, "x");
    s.send(client, "x");
    s.recv(client);
    char name[128];
    unsigned length = sizeof name;
    s.say("peer_address", kernel::peer_address(client.fd, name, &length));
    s.shutdown(client, 1);
}

inline void reset_behind_data(stage& s) {
    auto [client, server] = s.pair();
    s.watch(client);
    s.events();
    s.send(server, "abc");
    s.reset(server);
    s.events();
    s.recv(client, 2);
    s.recv(client);
    s.recv(client);
    s.recv(client);
}

inline void reset_behind_fin(stage& s) {
    auto [client, server] = s.pair();
    s.watch(client);
    s.events();
    s.send(server, "abc");
    s.close(server);
    s.events();
    s.send(client, "to nobody");
    s.events();
    s.recv(client);
    s.recv(client);
    s.error_of(client);
    s.send(client, "x");
    s.recv(client);
}

inline void send_to_closed(stage& s) {
    auto [client, server] = s.pair();
    s.close(server);
    s.settle(client);
    s.send(client, "taken");
    s.send(client, "too late");
    s.send(client, "too late");
    s.recv(client);
}

inline void close_with_unsent(stage& s) {
    auto [client, server] = s.pair();
    const std::size_t sent = s.fill(server);
    s.close(server);
    const std::size_t first = s.drain(client);
    std::size_t received = first;
    // The rest follows as room is made.
    for (int i = 0; i < 200 && received < sent; ++i) {
        s.settle(client);
        received += s.drain(client);
    }
    s.say(received == sent ? "all arrived" : "bytes are missing");
    s.recv(client);
}

inline void connecting(stage& s) {
    end from = s.listener();
    end client = s.open("client");
    s.watch(client);
    s.events();
    const std::string to = stage::ipv4(stage::port_of(from));
    s.say("connect", s.connect(client, to));
    s.events();
    s.error_of(client);
    s.say("connect", s.connect(client, to));
    s.say("connect", s.connect(client, to));
    s.send(client, "early");
    end server = s.accept(from, "server");
    s.recv(server);
    s.accept(from, "none");
}

inline void refused(stage& s) {
    end from = s.listener();
    const std::string to = stage::ipv4(stage::port_of(from));
    s.close(from);
    end client = s.open("client");
    s.watch(client);
    s.events();
    s.say("connect", s.connect(client, to));
    s.events();
    s.error_of(client);
    s.error_of(client);
    s.recv(client);
    s.send(client, "x");
    end second = s.open("second");
    s.say("connect", s.connect(second, to));
    s.settle(second);
    s.recv(second);
    s.recv(second);
}

inline void unconnected(stage& s) {
    end fresh = s.open("fresh");
    s.watch(fresh);
    s.events();
    s.recv(fresh);
    s.send(fresh, "x");
    s.shutdown(fresh, 1);
    s.say("accept", kernel::accept(fresh.fd, nullptr, nullptr));
    char name[128];
    unsigned length = sizeof name;
    s.say("peer_address", kernel::peer_address(fresh.fd, name, &length));
    s.say("listen", kernel::listen(fresh.fd, 1));
    s.say("listen", kernel::listen(fresh.fd, 5));
}

inline void accept_queue(stage& s) {
    end from = s.listener();
    s.watch(from, kernel::poll_in | kernel::poll_edge);
    s.events();
    const std::string to = stage::ipv4(stage::port_of(from));
    end one = s.open("one");
    end two = s.open("two");
    s.connect(one, to);
    s.settle(one);
    s.events();
    s.connect(two, to);
    s.settle(two);
    s.send(one, "1");
    s.send(two, "2");
    s.events();
    end first = s.accept(from, "first");
    end second = s.accept(from, "second");
    s.events();
    s.accept(from, "none");
    s.recv(first);
    s.recv(second);
    s.recv(from);
    s.send(from, "x");
}

inline void reset_before_accept(stage& s) {
    end from = s.listener();
    end client = s.open("client");
    s.connect(client, stage::ipv4(stage::port_of(from)));
    s.settle(client);
    s.send(client, "abc");
    s.reset(client);
    s.watch(from, kernel::poll_in);
    s.one_wait();
    char name[128];
    unsigned length = sizeof name;
    end server("server", kernel::accept(from.fd, name, &length));
    s.say("from " + stage::host(name));
    s.watch(server);
    s.recv(server);
    s.recv(server);
    s.recv(server);
}

inline void listener_closes(stage& s) {
    end from = s.listener();
    end client = s.open("client");
    s.connect(client, stage::ipv4(stage::port_of(from)));
    s.settle(client);
    s.watch(client);
    s.events();
    s.close(from);
    s.events();
    s.recv(client);
}

inline void full_buffer(stage& s) {
    auto [client, server] = s.pair();
    s.watch(client);
    s.events();
    const std::size_t sent = s.fill(client);
    s.say(sent > 10'000 ? "took many" : "took few");
    s.events();
    std::size_t received = 0;
    for (int i = 0; i < 200 && received < sent; ++i) {
        received += s.drain(server);
        s.settle(server);
    }
    s.say(received == sent ? "all arrived" : "bytes are missing");
    s.events();
    s.send(client, "more");
    s.events();
    s.recv(server);
}

// Room is reported when a third of the buffer is free; a send takes less.
inline void little_room(stage& s) {
    auto [client, server] = s.pair();
    s.set_number(client, SOL_SOCKET, SO_SNDBUF, 256 * 1024);
    s.watch(client);
    s.events();
    s.fill(client);
    s.events();
    const std::string more(100'000, 'y');
    std::ptrdiff_t taken = -EAGAIN;
    std::string block(1000, '\0');
    for (int i = 0; i < 300 && taken < 0; ++i) {
        kernel::recv(server.fd, block.data(), block.size());
        taken = kernel::send(client.fd, more.data(), more.size());
    }
    s.say(taken > 0 && taken < 100'000 ? "some was taken" : "all or nothing was taken");
    s.events();
    for (int i = 0; i < 20; ++i) {
        s.drain(server);
        s.settle(server);
    }
    s.events();
}

inline void taken_addresses(stage& s) {
    end first = s.listener();
    const std::string taken = stage::ipv4(stage::port_of(first));
    end second = s.open("second");
    s.say("bind", s.bind(second, taken));
    s.set_flag(second, SOL_SOCKET, SO_REUSEADDR);
    s.say("bind", s.bind(second, taken));
    end any = s.open("any");
    s.say("bind any", s.bind(any, stage::ipv4(stage::port_of(first), "0.0.0.0")));
    end shared1 = s.open("shared1");
    s.set_flag(shared1, SOL_SOCKET, SO_REUSEPORT);
    s.say("bind", s.bind(shared1, stage::ipv4(0)));
    end shared2 = s.open("shared2");
    const std::string both = stage::ipv4(stage::port_of(shared1));
    s.say("bind", s.bind(shared2, both));
    s.set_flag(shared2, SOL_SOCKET, SO_REUSEPORT);
    s.say("bind", s.bind(shared2, both));
    s.say("bind twice", s.bind(shared2, both));
    s.say("listen", kernel::listen(shared1.fd, 1));
    s.say("listen", kernel::listen(shared2.fd, 1));
    s.say("bind wrong family", s.bind(any, stage::ipv6(0)));
}

inline void both_families(stage& s) {
    end from = s.open("listener", AF_INET6);
    s.say("bind", s.bind(from, stage::ipv6(0, "::")));
    kernel::listen(from.fd, 4);
    const std::uint16_t port = stage::port_of(from);
    for (const bool is_v6 : {false, true}) {
        end client = s.open("client", is_v6 ? AF_INET6 : AF_INET);
        s.connect(client, is_v6 ? stage::ipv6(port) : stage::ipv4(port));
        s.settle(client);
        char name[128];
        unsigned length = sizeof name;
        end server("server", kernel::accept(from.fd, name, &length));
        s.say("accepted from " + stage::host(name) + " in " + std::to_string(length));
        length = sizeof name;
        kernel::local_address(server.fd, name, &length);
        s.say("at " + stage::host(name) + " in " + std::to_string(length));
        length = sizeof name;
        kernel::peer_address(client.fd, name, &length);
        s.say("client sees " + stage::host(name) + " in " + std::to_string(length));
    }
}

inline void peeking(stage& s) {
    auto [client, server] = s.pair();
    s.watch(server, kernel::poll_in | kernel::poll_edge);
    s.send(client, "abc");
    s.events();
    char bytes[8];
    s.say("peek", kernel::peek(server.fd, bytes, 2));
    s.say("peek", kernel::peek(server.fd, bytes, 8));
    s.events();
    s.recv(server);
    s.say("peek", kernel::peek(server.fd, bytes, 8));
    const kernel::piece pieces[] = {{"ab", 2}, {"", 0}, {"cde", 3}};
    s.say("pieces", kernel::send_pieces(client.fd, pieces, 3));
    s.recv(server);
    s.shutdown(client, 1);
    s.settle(server);
    s.say("peek", kernel::peek(server.fd, bytes, 8));
}

}  // namespace martlet::inline v0::sim
