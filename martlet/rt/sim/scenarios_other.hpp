// Scenarios of Unix sockets, datagrams, pipes, eventfds, files, and of epoll itself.
#pragma once

#include <martlet/rt/sim/stage.hpp>

namespace martlet::inline v0::sim {

inline void unix_stream(stage& s) {
    auto [client, server] = s.unix_pair();
    s.watch(client);
    s.watch(server);
    s.events();
    s.send(client, "abc");
    s.events();
    s.recv(server, 2);
    s.recv(server);
    s.recv(server);
    s.events();
    s.send(server, "last");
    s.shutdown(server, 1);
    s.events();
    s.recv(client);
    s.recv(client);
    s.send(server, "no");
    s.send(client, "still");
    s.events();
    s.recv(server);
    s.close(server);
    s.events();
    s.recv(client);
    s.send(client, "no");
    s.send(client, "no");
}

inline void unix_close_with_unread(stage& s) {
    auto [client, server] = s.unix_pair();
    s.watch(client);
    s.events();
    s.send(client, "unread");
    s.send(server, "before");
    s.events();
    s.close(server);
    s.events();
    s.recv(client);
    s.recv(client);
    s.recv(client);
    s.send(client, "x");
    s.events();
}

inline void unix_full(stage& s) {
    auto [client, server] = s.unix_pair();
    s.watch(client);
    s.events();
    const std::size_t sent = s.fill(client);
    s.events();
    const std::size_t received = s.drain(server);
    s.say(received == sent ? "all arrived" : "bytes are missing");
    s.events();
    s.send(client, "more");
    s.recv(server);
    s.shutdown(server, 0);
    s.events();
    s.send(client, "x");
}

inline void unix_connecting(stage& s) {
    end from = s.open("listener", AF_UNIX);
    const std::string name = stage::local_name(std::string_view("\0martlet-scenario-2", 19));
    end early = s.open("early", AF_UNIX);
    s.watch(early);
    s.events();
    s.recv(early);
    s.send(early, "x");
    s.say("connect", s.connect(early, name));
    s.say("connect", s.connect(early, stage::local_name("/nonexistent/martlet")));
    s.say("bind", s.bind(from, name));
    s.say("connect", s.connect(early, name));
    s.say("listen", kernel::listen(from.fd, 1));
    end second = s.open("second", AF_UNIX);
    s.say("bind", s.bind(second, name));
    s.say("connect", s.connect(early, name));
    s.say("connect", s.connect(early, name));
    s.say("connect", s.connect(second, name));
    end third = s.open("third", AF_UNIX);
    s.say("connect", s.connect(third, name));
    s.events();
    s.close(from);
    s.events();
    s.recv(early);
    s.recv(early);
}

inline void datagrams(stage& s) {
    end one = s.open("one", AF_INET, SOCK_DGRAM);
    end two = s.open("two", AF_INET, SOCK_DGRAM);
    s.bind(one, stage::ipv4(0));
    const std::string to = stage::ipv4(stage::port_of(one));
    s.watch(one);
    s.events();
    s.recv(one);
    s.send(two, "no address");
    s.say("send_to", kernel::send_to(two.fd, "hello", 5, to.data(), static_cast<unsigned>(to.size())));
    s.say("send_to", kernel::send_to(two.fd, "", 0, to.data(), static_cast<unsigned>(to.size())));
    s.events();
    char bytes[100];
    char from[128];
    unsigned length = sizeof from;
    bool truncated = false;
    s.say("recv_from", kernel::recv_from(one.fd, bytes, 3, from, &length, &truncated));
    s.say("from " + stage::host(from) + (truncated ? ", truncated" : ""));
    length = sizeof from;
    s.say("recv_from", kernel::recv_from(one.fd, bytes, 100, from, &length, &truncated));
    s.say(truncated ? "truncated" : "whole");
    s.recv(one);
    const std::string big(70'000, 'x');
    s.say("too big", kernel::send_to(two.fd, big.data(), big.size(), to.data(), static_cast<unsigned>(to.size())));
    s.say("connect", s.connect(two, to));
    s.send(two, "connected");
    s.recv(one);
    s.watch(two);
    s.events();
    s.close(one);
    s.send(two, "to nobody");
    s.events();
    s.send(two, "learns it");
    s.send(two, "again");
    s.events();
    s.recv(two);
    s.recv(two);
}

inline void pipes(stage& s) {
    int ends[2];
    s.say("pipe", kernel::pipe_open(ends, true));
    end out("out", ends[0]);
    end in("in", ends[1]);
    s.watch(out);
    s.watch(in);
    s.events();
    char bytes[100];
    s.say("read", kernel::read(out.fd, bytes, 10));
    s.say("write", kernel::write(in.fd, "abc", 3));
    s.events();
    s.say("read", kernel::read(out.fd, bytes, 2));
    s.say("read", kernel::read(out.fd, bytes, 10));
    const std::string page(4096, 'x');
    std::ptrdiff_t written;
    int pages = 0;
    while ((written = kernel::write(in.fd, page.data(), page.size())) > 0) ++pages;
    s.say("pages", pages);
    s.say("write", written);
    s.events();
    std::string block(8192, '\0');
    s.say("read", kernel::read(out.fd, block.data(), block.size()));
    s.events();
    s.close(in);
    s.events();
    for (int i = 0; i < 7; ++i) kernel::read(out.fd, block.data(), block.size());
    s.say("read", kernel::read(out.fd, block.data(), block.size()));
}

// A name in the file system stands for the socket that was bound to it, and for it alone.
inline void unix_file(stage& s) {
    const char* const path = "/tmp/martlet-scenario-socket";
    kernel::path_remove(path);
    const std::string name = stage::local_name(path);
    kernel::file_facts facts;
    s.say("nothing there", kernel::path_stat(path, &facts));
    s.say("mode", kernel::path_set_mode(path, 0600));
    s.say("remove", kernel::path_remove(path));
    end first = s.open("first", AF_UNIX);
    s.say("bind", s.bind(first, name));
    kernel::listen(first.fd, 4);
    s.say("stat", kernel::path_stat(path, &facts));
    s.say(facts.is_socket && !facts.is_regular && !facts.is_directory ? "a socket" : "something else");
    s.say("open", kernel::file_open(path, kernel::open_mode::read));
    s.say("mode", kernel::path_set_mode(path, 0640));
    kernel::path_stat(path, &facts);
    s.say("mode is", facts.mode);
    const std::uint64_t inode = facts.inode;
    end second = s.open("second", AF_UNIX);
    s.say("bind", s.bind(second, name));
    end client = s.open("client", AF_UNIX);
    s.say("connect", s.connect(client, name));
    // The name goes to another; who is connected stays so.
    s.say("remove", kernel::path_remove(path));
    s.say("bind", s.bind(second, name));
    kernel::path_stat(path, &facts);
    s.say(facts.inode != inode ? "another file" : "the same file");
    end early = s.open("early", AF_UNIX);
    s.say("connect", s.connect(early, name));
    kernel::listen(second.fd, 4);
    s.say("connect", s.connect(early, name));
    end at_first = s.accept(first, "at first");
    end at_second = s.accept(second, "at second");
    s.send(client, "one");
    s.send(early, "two");
    s.recv(at_first);
    s.recv(at_second);
    // A close leaves the file, and nobody behind it.
    s.close(second);
    end late = s.open("late", AF_UNIX);
    s.say("connect", s.connect(late, name));
    s.say("remove", kernel::path_remove(path));
    s.say("connect", s.connect(late, name));
}

inline void pipe_without_reader(stage& s) {
    int ends[2];
    kernel::pipe_open(ends, true);
    end out("out", ends[0]);
    end in("in", ends[1]);
    s.watch(in);
    s.events();
    s.close(out);
    s.events();
    char mask[128];
    s.say("pending", kernel::sigpipe_block(mask));
    s.say("write", kernel::write(in.fd, "x", 1));
    char inner[128];
    s.say("pending", kernel::sigpipe_block(inner));
    kernel::signals_restore(inner);
    kernel::sigpipe_consume();
    s.say("pending", kernel::sigpipe_block(inner));
    kernel::signals_restore(inner);
    kernel::signals_restore(mask);
}

inline void eventfds(stage& s) {
    end wake("wake", kernel::eventfd_open());
    s.watch(wake, kernel::poll_in | kernel::poll_edge);
    s.events();
    kernel::eventfd_signal(wake.fd);
    s.events();
    s.events();
    kernel::eventfd_signal(wake.fd);
    s.events();
    std::uint64_t count = 0;
    s.say("read", kernel::read(wake.fd, &count, sizeof count));
    s.say("count", static_cast<std::int64_t>(count));
    s.say("read", kernel::read(wake.fd, &count, sizeof count));
    kernel::eventfd_drain(wake.fd);
    s.events();
}

inline void epoll_rules(stage& s) {
    end wake("wake", kernel::eventfd_open());
    s.watch(wake);
    s.watch(wake);
    s.events();
    end other("other", kernel::eventfd_open());
    s.change(other, kernel::poll_in);
    s.unwatch(other);
    s.watch(other, kernel::poll_in | kernel::poll_edge | kernel::poll_exclusive);
    s.change(other, kernel::poll_in);
    kernel::eventfd_signal(other.fd);
    s.events();
    // Closing takes it off.
    kernel::eventfd_signal(other.fd);
    s.close(other);
    s.events();
    // An epoll can be watched itself.
    end outer("outer", kernel::epoll_open());
    s.say("nest", kernel::epoll_add(outer.fd, s.epoll(), kernel::poll_in, &outer));
    kernel::poll_event found;
    s.say("outer wait", kernel::epoll_wait(outer.fd, &found, 1, 0));
    kernel::eventfd_signal(wake.fd);
    s.say("outer wait", kernel::epoll_wait(outer.fd, &found, 1, 15));
    s.events();
    s.say("outer wait", kernel::epoll_wait(outer.fd, &found, 1, 0));
    s.say("brief wait", kernel::epoll_wait_briefly(outer.fd, &found, 1, 0));
    s.say("brief wait", kernel::epoll_wait_briefly(outer.fd, &found, 1, 1'500'000));
    kernel::eventfd_signal(wake.fd);
    s.say("brief wait", kernel::epoll_wait_briefly(outer.fd, &found, 1, 15'000'000));
    s.events();
    // More are ready than one wait takes.
    end many[5] = {end("m0", kernel::eventfd_open()), end("m1", kernel::eventfd_open()), end("m2", kernel::eventfd_open()),
                   end("m3", kernel::eventfd_open()), end("m4", kernel::eventfd_open())};
    const descriptor few(kernel::epoll_open());
    for (end& one : many) {
        kernel::epoll_add(few, one.fd, kernel::poll_in, &one);
        kernel::eventfd_signal(one.fd);
    }
    kernel::poll_event three[3];
    std::map<void*, int> seen;
    for (int round = 0; round < 5; ++round) {
        const int count = kernel::epoll_wait(few, three, 3, 0);
        for (int i = 0; i < count; ++i) ++seen[static_cast<void*>(three[i].tag)];
    }
    const bool fair = std::all_of(seen.begin(), seen.end(), [](const auto& one) { return one.second >= 2; });
    s.say("seen", static_cast<std::int64_t>(seen.size()));
    s.say(fair ? "none starves" : "one starves");
}

inline void files(stage& s) {
    const char* const path = "/tmp/martlet-scenario-file";
    {
        const descriptor out(kernel::file_open(path, kernel::open_mode::write_truncate));
        s.say("write", kernel::write(out, "0123456789", 10));
        s.say("write_at", kernel::file_write_at(out, "AB", 2, 3));
        s.say("write_at", kernel::file_write_at(out, "Z", 1, 12));
        char byte;
        s.say("read_at", kernel::file_read_at(out, &byte, 1, 0));
        s.say("sync", kernel::file_sync(out));
    }
    {
        const descriptor more(kernel::file_open(path, kernel::open_mode::append));
        s.say("write", kernel::write(more, "end", 3));
    }
    end file("file", kernel::file_open(path, kernel::open_mode::read));
    kernel::file_facts facts;
    s.say("stat", kernel::file_stat(file.fd, &facts));
    s.say("size", facts.size);
    s.say(facts.is_regular && !facts.is_directory ? "a file" : "something else");
    char bytes[32] = {};
    const std::ptrdiff_t got = kernel::file_read_at(file.fd, bytes, sizeof bytes, 0);
    for (std::ptrdiff_t i = 0; i < got; ++i) {
        if (bytes[i] == '\0') bytes[i] = '_';
    }
    s.say("content " + std::string(bytes, static_cast<std::size_t>(std::max<std::ptrdiff_t>(got, 0))));
    s.say("read_at", kernel::file_read_at(file.fd, bytes, 5, 100));
    s.say("write", kernel::write(file.fd, "x", 1));
    s.say("read", kernel::read(file.fd, bytes, 4));
    s.say("read", kernel::read(file.fd, bytes, 32));
    s.say("read", kernel::read(file.fd, bytes, 32));
    s.watch(file);
    s.say("missing", kernel::file_open("/nonexistent/martlet", kernel::open_mode::read));

    auto [client, server] = s.pair();
    std::int64_t offset = 3;
    s.say("send_file", kernel::send_file(server.fd, file.fd, &offset, 2));
    s.say("offset", offset);
    s.recv(client);
    s.say("send_file", kernel::send_file(server.fd, file.fd, &offset, 1000));
    s.say("offset", offset);
    s.say("send_file", kernel::send_file(server.fd, file.fd, &offset, 1000));
    s.shutdown(server, 1);
    char mask[128];
    kernel::sigpipe_block(mask);
    offset = 0;
    s.say("send_file", kernel::send_file(server.fd, file.fd, &offset, 10));
    s.say("offset", offset);
    kernel::sigpipe_consume();
    kernel::signals_restore(mask);
}

inline void socket_facts(stage& s) {
    auto [client, server] = s.pair();
    const auto fact = [&](const char* name, end& of, int option) {
        int value = -1;
        unsigned length = sizeof value;
        s.say(name, kernel::option(of.fd, SOL_SOCKET, option, &value, &length));
        s.say(std::to_string(value));
    };
    fact("type", client, SO_TYPE);
    fact("listening", client, SO_ACCEPTCONN);
    fact("domain", server, SO_DOMAIN);
    s.set_number(client, SOL_SOCKET, SO_SNDBUF, 20'000);
    fact("send buffer", client, SO_SNDBUF);
    int on = 1;
    unsigned length = sizeof on;
    s.say("no delay", kernel::set_option(client.fd, IPPROTO_TCP, 1, &on, sizeof on));
    on = 0;
    s.say("no delay", kernel::option(client.fd, IPPROTO_TCP, 1, &on, &length));
    s.say(std::to_string(on));
    int ends[2];
    kernel::pipe_open(ends, true);
    end out("out", ends[0]);
    end in("in", ends[1]);
    s.recv(out);
    s.say("bind", s.bind(in, stage::ipv4(0)));
}

}  // namespace martlet::inline v0::sim
