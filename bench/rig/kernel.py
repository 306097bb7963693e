"""The bars on system calls a warm keep-alive request makes, counted by strace."""

import collections
import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time

from . import loads, traffic
from .process import Broken, Refused, Server
from .verdicts import FAIL, PASS, Result

REQUESTS = 10_000
CONNECTIONS = 2  # by turns, so that none reaches the requests that a server takes on one connection
BUSY_CONNECTIONS = 64  # their requests wait together
WARM_REQUESTS = 50  # on each connection
READS = {"read", "readv", "pread64", "recvfrom", "recvmsg", "recvmmsg"}
WRITES = {"write", "writev", "sendto", "sendmsg", "sendmmsg", "sendfile"}
WAITS = {"epoll_wait", "epoll_pwait", "epoll_pwait2", "restart_syscall"}
TIMERS = re.compile(r"timerfd_.*|timer_.*|setitimer|alarm|nanosleep|clock_.*|gettimeofday|time")
LINE = re.compile(r"^(?:\d+ +)?(?:<\.\.\. (\w+) resumed>|(\w+)\()")


def parse_trace(lines):
    """Counts of system calls, and of reads that found nothing, in a trace of `strace -f`."""
    calls, empty_reads = collections.Counter(), 0
    for line in lines:
        match = LINE.match(line)
        if match is None:
            continue
        resumed, begun = match.groups()
        if begun:
            if "<detached" in line:  # the call that the end of tracing interrupted
                continue
            calls[begun] += 1
        if (resumed or begun) in READS and " = -1 EAGAIN" in line:
            empty_reads += 1
    return calls, empty_reads


def judge_trace(calls, empty_reads, requests):
    """Faults of a trace of `requests` requests; none means the bar is met."""
    faults = []
    for names, what in ((READS, "reads"), (WRITES, "writes")):
        count = sum(calls[name] for name in names)
        if count != requests:
            faults.append(f"{count} {what} instead of {requests}")
    if empty_reads:
        faults.append(f"{empty_reads} reads that found nothing")
    if calls["epoll_ctl"]:
        faults.append(f"{calls['epoll_ctl']} epoll_ctl")
    timers = {name: count for name, count in calls.items() if TIMERS.fullmatch(name)}
    if timers:
        faults.append(f"timer or clock calls {timers}")
    known = READS | WRITES | WAITS | {"epoll_ctl"} | set(timers)
    others = {name: count for name, count in calls.items() if name not in known}
    if sum(others.values()) * 100 > requests:
        faults.append(f"other calls {others}")
    return faults


def attach(server, path):
    try:
        strace = subprocess.Popen(["strace", "-f", "-o", path, *(word for pid in server.pids() for word in ("-p", str(pid)))], stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise Refused(f"strace is missing: {error}") from error
    said = strace.stderr.readline()
    if "attached" not in said:
        strace.kill()
        strace.wait()
        raise Refused(f"strace may not attach ({said.strip()}): run as root, or set kernel.yama.ptrace_scope to 0")
    time.sleep(0.3)  # every thread attached
    return strace


def counted(server, work):
    """Counts of the system calls that the server makes while `work()` runs and just afterwards, and of its empty reads."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        strace = attach(server, path)
        try:
            work()
            time.sleep(0.2)  # what follows the last answer is counted too
        finally:
            strace.send_signal(signal.SIGINT)
            try:
                strace.wait(20)
            except subprocess.TimeoutExpired:
                strace.kill()
                strace.wait()
            strace.stderr.close()
        with open(path, encoding="utf-8", errors="replace") as file:
            calls, empty_reads = parse_trace(file)
    if not calls:
        raise Broken("strace wrote no call at all")
    return calls, empty_reads


def trace(binary, load, requests, open_at_once, together=False):
    """Counts of system calls, of empty reads and of requests: about `requests` of them, on warm connections. `together` sends on all of them
    before it reads an answer."""
    rounds = requests // open_at_once
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Server(binary))
        clients = [stack.enter_context(traffic.Client(server.port)) for _ in range(open_at_once)]
        request = load.request(server.port)
        for client in clients:
            client.socket.sendall(request)
            raw = client.raw_answer()
            load.check(server.name, *traffic.split_answer(raw)[:2])
        answer_bytes = len(raw)

        def one_round():
            if together:
                for client in clients:
                    client.socket.sendall(request)
                for client in clients:
                    client.exchange_bytes(b"", answer_bytes)
            else:
                for client in clients:
                    client.exchange_bytes(request, answer_bytes)

        for _ in range(WARM_REQUESTS):
            one_round()

        def every_round():
            for _ in range(rounds):
                one_round()

        calls, empty_reads = counted(server, every_round)
        for client in clients:
            client.close()
        server.stop_cleanly()
    return calls, empty_reads, rounds * open_at_once


def count_calls(context, name, open_at_once, together):
    calls, empty_reads, requests = trace(context.hello, loads.LOADS["d1"], REQUESTS, open_at_once, together)
    faults = judge_trace(calls, empty_reads, requests)
    figure = ", ".join(f"{call} {count}" for call, count in calls.most_common())
    return Result(name, FAIL if faults else PASS, f"{figure}; {empty_reads} empty reads",
                  f"{requests} reads, {requests} writes, no other but waits", faults, {"calls": dict(calls), "empty_reads": empty_reads})


def steady_state(context):
    """System calls of a warm keep-alive request: one read, one write, nothing else but waits"""
    return count_calls(context, "syscalls", CONNECTIONS, together=False)


def busy(context):
    """The same while the requests of 64 connections wait together"""
    return count_calls(context, "syscalls-64", BUSY_CONNECTIONS, together=True)
