// What the kernel does, written down once over the seam and played twice: against Linux and against the simulation. Both must give the
// logs that stand here, which were taken from Linux.
#pragma once

#include <string>

#include <martlet/rt/sim/scenarios_other.hpp>
#include <martlet/rt/sim/scenarios_tcp.hpp>

namespace martlet::inline v0::sim {

struct scenario {
    const char* name;
    void (*play)(stage&);
    const char* expected;
};

/// The log of one play, a line each step.
inline std::string log_of(const scenario& which) {
    stage here;
    which.play(here);
    return here.log;
}

inline const scenario all_scenarios[] = {
    {"edges", &edges, R"(events: client=out
events: none
server sends: 3
events: client=in|out
events: none
server sends: 3
events: client=in|out
client receives: 'onetwo'
client receives: EAGAIN
events: none
)"},
    {"levels", &levels, R"(events: none
server sends: 6
events: client=in
client receives: 'abc'
events: client=in
client receives: 'def'
events: none
)"},
    {"change_reports_again", &change_reports_again, R"(server sends: 1
events: client=in
events: none
change client: 0
events: client=in
change client: 0
events: client=out
unwatch client: 0
unwatch client: ENOENT
server sends: 1
events: none
)"},
    {"fin_with_data", &fin_with_data, R"(events: client=out
server sends: 3
server shuts 1: 0
events: client=in|out|read_hangup
client receives: 'ab'
events: none
client receives: 'c'
events: none
client receives: 0
client receives: 0
events: none
)"},
    {"half_close", &half_close, R"(events: client=out server=out
client shuts 1: 0
events: client=out server=in|out|read_hangup
client sends: EPIPE
server receives: 0
server sends: 4
events: client=in|out
client receives: 'late'
server shuts 1: 0
events: client=in|out|hangup|read_hangup server=in|out|hangup|read_hangup
client receives: 0
server receives: 0
server sends: EPIPE
server shuts 2: ENOTCONN
)"},
    {"shut_reading", &shut_reading, R"(events: client=out
client shuts 0: 0
events: client=in|out|read_hangup
client receives: 0
server sends: 5
events: client=in|out|read_hangup
client receives: 'still'
client receives: 0
)"},
    {"close_with_unread", &close_with_unread, R"(events: client=out
client sends: 6
events: none
server closes
events: client=in|out|error|hangup|read_hangup
client receives: ECONNRESET
client receives: 0
client sends: EPIPE
client has error: 0
events: none
)"},
    {"reset_seen_by_send", &reset_seen_by_send, R"(events: client=out
server resets
events: client=in|out|error|hangup|read_hangup
client sends: ECONNRESET
client sends: EPIPE
client receives: 0
peer_address: ENOTCONN
client shuts 1: ENOTCONN
)"},
    {"reset_behind_data", &reset_behind_data, R"(events: client=out
server sends: 3
server resets
events: client=in|out|error|hangup|read_hangup
client receives: 'ab'
client receives: 'c'
client receives: ECONNRESET
client receives: 0
)"},
    {"reset_behind_fin", &reset_behind_fin, R"(events: client=out
server sends: 3
server closes
events: client=in|out|read_hangup
client sends: 9
events: client=in|out|error|hangup|read_hangup
client receives: 'abc'
client receives: 0
client has error: EPIPE
client sends: EPIPE
client receives: 0
)"},
    {"send_to_closed", &send_to_closed, R"(server closes
client sends: 5
client sends: EPIPE
client sends: EPIPE
client receives: 0
)"},
    {"close_with_unsent", &close_with_unsent, R"(server is full: EAGAIN
server closes
all arrived
client receives: 0
)"},
    {"connecting", &connecting, R"(events: client=out|hangup
connect: EINPROGRESS
events: client=out
client has error: 0
connect: 0
connect: EISCONN
client sends: 5
server receives: 'early'
accept: EAGAIN
)"},
    {"refused", &refused, R"(listener closes
events: client=out|hangup
connect: EINPROGRESS
events: client=in|out|error|hangup|read_hangup
client has error: ECONNREFUSED
client has error: 0
client receives: 0
client sends: EPIPE
connect: EINPROGRESS
second receives: ECONNREFUSED
second receives: 0
)"},
    {"unconnected", &unconnected, R"(events: fresh=out|hangup
fresh receives: ENOTCONN
fresh sends: EPIPE
fresh shuts 1: ENOTCONN
accept: EINVAL
peer_address: ENOTCONN
listen: 0
listen: 0
)"},
    {"accept_queue", &accept_queue, R"(events: none
events: listener=in
one sends: 1
two sends: 1
events: listener=in
events: none
accept: EAGAIN
first receives: '1'
second receives: '2'
listener receives: ENOTCONN
listener sends: EPIPE
)"},
    {"reset_before_accept", &reset_before_accept, R"(client sends: 3
client resets
events: listener=in
from 127.0.0.1
server receives: 'abc'
server receives: ECONNRESET
server receives: 0
)"},
    {"listener_closes", &listener_closes, R"(events: client=out
listener closes
events: client=in|out|error|hangup|read_hangup
client receives: ECONNRESET
)"},
    {"full_buffer", &full_buffer, R"(events: client=out
client is full: EAGAIN
took many
events: none
all arrived
events: client=out
client sends: 4
events: none
server receives: 'more'
)"},
    {"little_room", &little_room, R"(events: client=out
client is full: EAGAIN
events: none
some was taken
events: none
events: client=out
)"},
    {"taken_addresses", &taken_addresses, R"(bind: EADDRINUSE
bind: EADDRINUSE
bind any: EADDRINUSE
bind: 0
bind: EADDRINUSE
bind: 0
bind twice: EINVAL
listen: 0
listen: 0
bind wrong family: EAFNOSUPPORT
)"},
    {"both_families", &both_families, R"(bind: 0
accepted from ::ffff:127.0.0.1 in 28
at ::ffff:127.0.0.1 in 28
client sees 127.0.0.1 in 16
accepted from ::1 in 28
at ::1 in 28
client sees ::1 in 28
)"},
    {"peeking", &peeking, R"(client sends: 3
events: server=in
peek: 2
peek: 3
events: none
server receives: 'abc'
peek: EAGAIN
pieces: 5
server receives: 'abcde'
client shuts 1: 0
peek: 0
)"},
    {"unix_stream", &unix_stream, R"(events: client=out server=out
client sends: 3
events: server=in|out
server receives: 'ab'
server receives: 'c'
server receives: EAGAIN
events: client=out
server sends: 4
server shuts 1: 0
events: client=in|out|read_hangup server=out
client receives: 'last'
client receives: 0
server sends: EPIPE
client sends: 5
events: server=in|out
server receives: 'still'
server closes
events: client=in|out|hangup|read_hangup
client receives: 0
client sends: EPIPE
client sends: EPIPE
)"},
    {"unix_close_with_unread", &unix_close_with_unread, R"(events: client=out
client sends: 6
server sends: 6
events: client=in|out
server closes
events: client=in|out|error|hangup|read_hangup
client receives: 'before'
client receives: ECONNRESET
client receives: 0
client sends: EPIPE
events: none
)"},
    {"unix_full", &unix_full, R"(events: client=out
client is full: EAGAIN
events: none
all arrived
events: client=out
client sends: 4
server receives: 'more'
server shuts 0: 0
events: client=out
client sends: EPIPE
)"},
    {"unix_connecting", &unix_connecting, R"(events: early=out|hangup
early receives: EINVAL
early sends: ENOTCONN
connect: ECONNREFUSED
connect: ENOENT
bind: 0
connect: ECONNREFUSED
listen: 0
bind: EADDRINUSE
connect: 0
connect: EISCONN
connect: 0
connect: EAGAIN
events: none
listener closes
events: early=in|out|error|hangup|read_hangup
early receives: ECONNRESET
early receives: 0
)"},
    {"datagrams", &datagrams, R"(events: one=out
one receives: EAGAIN
two sends: EDESTADDRREQ
send_to: 5
send_to: 0
events: one=in|out
recv_from: 3
from 127.0.0.1, truncated
recv_from: 0
whole
one receives: EAGAIN
too big: EMSGSIZE
connect: 0
two sends: 9
one receives: 'connected'
events: one=out two=out
one closes
two sends: 9
events: two=out|error
two sends: ECONNREFUSED
two sends: 5
events: two=out|error
two receives: ECONNREFUSED
two receives: EAGAIN
)"},
    {"pipes", &pipes, R"(pipe: 0
events: in=out
read: EAGAIN
write: 3
events: out=in
read: 2
read: 1
pages: 16
write: EAGAIN
events: out=in
read: 8192
events: in=out
in closes
events: out=in|hangup
read: 0
)"},
    {"unix_file", &unix_file, R"(nothing there: ENOENT
mode: ENOENT
remove: ENOENT
bind: 0
stat: 0
a socket
open: ENXIO
mode: 0
mode is: 416
bind: EADDRINUSE
connect: 0
remove: 0
bind: 0
another file
connect: ECONNREFUSED
connect: 0
client sends: 3
early sends: 3
at first receives: 'one'
at second receives: 'two'
second closes
connect: ECONNREFUSED
remove: 0
connect: ENOENT
)"},
    {"pipe_without_reader", &pipe_without_reader, R"(events: in=out
out closes
events: in=out|error
pending: 0
write: EPIPE
pending: 1
pending: 0
)"},
    {"eventfds", &eventfds, R"(events: none
events: wake=in
events: none
events: wake=in
read: 8
count: 2
read: EAGAIN
events: none
)"},
    {"epoll_rules", &epoll_rules, R"(watch wake: EEXIST
events: wake=out
change other: ENOENT
unwatch other: ENOENT
change other: EINVAL
events: other=in
other closes
events: none
nest: 0
outer wait: 0
outer wait: 1
events: wake=in|out
outer wait: 0
brief wait: 0
brief wait: 0
brief wait: 1
events: wake=in|out
seen: 5
none starves
)"},
    {"files", &files, R"(write: 10
write_at: 2
write_at: 1
read_at: EBADF
sync: 0
write: 3
stat: 0
size: 16
a file
content 012AB56789__Zend
read_at: 0
write: EBADF
read: 4
read: 12
read: 0
watch file: EPERM
missing: ENOENT
send_file: 2
offset: 5
client receives: 'AB'
send_file: 11
offset: 16
send_file: 0
server shuts 1: 0
send_file: EPIPE
offset: 0
)"},
    {"socket_facts", &socket_facts, R"(type: 0
1
listening: 0
0
domain: 0
2
send buffer: 0
40000
no delay: 0
no delay: 0
1
out receives: ENOTSOCK
bind: ENOTSOCK
)"},
};

}  // namespace martlet::inline v0::sim
