"""Bars on what connections leave behind: memory of idle ones, and all of what many short ones took."""

import os
import re
import subprocess

from . import machine, traffic
from .process import Broken, Refused, Server
from .verdicts import FAIL, PASS, Result

IDLE_FIRST = 200
IDLE_MORE = 10_000
IDLE_BYTES_MAX = 300
REST_BYTES_MAX = 2 * 1024 * 1024
AFTER_BYTES_MAX = 512 * 1024
CHURN_FIRST = 10_000
CHURN_ALL = 100_000
CHURN_GROWTH_MAX = 1024 * 1024


def kib(count):
    return f"{count / 1024:.0f} KB"


def open_idle(server, count, already):
    """Opens `count` connections that each make one request and stay; 4,000 to a source address, so that ports suffice."""
    request = traffic.bare_request(server.port)
    clients = []
    for index in range(already, already + count):
        client = traffic.Client(server.port, source=f"127.0.0.{2 + index // 4000}")
        clients.append(client)
        (head, body), = client.exchange(request)
        if body != traffic.BODY or " 200" not in head.split("\r\n")[0]:
            raise Broken(f"connection {index + 1} got {head!r}")
    return clients


def idle(context):
    """Memory of 10,000 idle keep-alive connections, at rest and after they close"""
    wanted = IDLE_FIRST + IDLE_MORE + 200
    if machine.raise_descriptor_limit(wanted) < wanted:
        raise Refused(f"needs {wanted} descriptors: raise the hard limit (ulimit -Hn)")
    clients = []
    with Server(context.hello, len(traffic.bare_request(20000))) as server:
        rest = server.settle()
        try:
            clients += open_idle(server, IDLE_FIRST, 0)
            few, descriptors = server.settle(), server.descriptors()
            clients += open_idle(server, IDLE_MORE, IDLE_FIRST)
            many = server.settle()
            if server.descriptors() - descriptors != IDLE_MORE:
                raise Broken(f"{server.descriptors() - descriptors} of {IDLE_MORE} connections stayed open")
        finally:
            for client in clients:
                client.close()
        left = server.wait_descriptors(descriptors - IDLE_FIRST)
        after = server.settle(10)
        server.stop_cleanly()
    each = (many["own"] - few["own"]) / IDLE_MORE
    kept = after["own"] - rest["own"]
    faults = []
    if each > IDLE_BYTES_MAX:
        faults.append(f"an idle connection takes {each:.0f} bytes")
    if rest["pss"] >= REST_BYTES_MAX:
        faults.append(f"at rest {kib(rest['pss'])} Pss")
    if kept > AFTER_BYTES_MAX:
        faults.append(f"{kib(kept)} more than at rest after they closed")
    if left > descriptors - IDLE_FIRST:
        faults.append(f"{left - descriptors + IDLE_FIRST} descriptors left open")
    stages = {"rest": rest, "200 open": few, "10,200 open": many, "closed": after}
    notes = faults + ["Pss (of it the process's own): " + ", ".join(f"{name} {kib(at['pss'])} ({kib(at['own'])})" for name, at in stages.items())]
    return Result("idle", FAIL if faults else PASS, f"{each:.0f} bytes each; rest {kib(rest['pss'])}; after close {kib(kept)} above rest",
                  f"<= {IDLE_BYTES_MAX} bytes; < {kib(REST_BYTES_MAX)}; <= {kib(AFTER_BYTES_MAX)}", notes, stages)


def churn_run(context, server, count, seed):
    command = [context.churn, "--port", str(server.port), "--connections", str(count), "--seed", str(seed)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    match = re.search(r"opened (\d+) answered (\d+) reset (\d+) failed (\d+)", done.stdout)
    if match is None or done.returncode != 0:
        raise Broken(f"bench-churn: {done.stdout.strip()[-300:]!r}, exit code {done.returncode}")
    return [int(word) for word in match.groups()]


def churn(context):
    """100,000 connections opened, used and closed, a third of them reset at a random byte"""
    if not os.access(context.churn, os.X_OK):
        raise Refused(f"{context.churn} is missing")
    machine.raise_descriptor_limit(4096)
    with Server(context.hello, len(traffic.bare_request(20000))) as server:
        before = server.descriptors()
        churn_run(context, server, CHURN_FIRST, 1)
        server.wait_descriptors(before)
        early = server.settle()
        context.progress(f"churn: {CHURN_FIRST} connections, own memory {kib(early['own'])}")
        opened, answered, resets, _ = churn_run(context, server, CHURN_ALL - CHURN_FIRST, 2)
        left = server.wait_descriptors(before)
        late = server.settle()
        with traffic.Client(server.port) as client:
            (head, body), = client.exchange(traffic.bare_request(server.port))
            traffic.check_answer(server.name, head, body)
        server.stop_cleanly()
    faults = []
    if left > before:
        faults.append(f"{left - before} descriptors left open")
    growth = late["own"] - early["own"]
    if growth > CHURN_GROWTH_MAX:
        faults.append(f"its memory grew by {kib(growth)}")
    notes = faults + [f"of the last {opened}: {answered} answered, {resets} reset; descriptors {before} before, {left} after; "
                      f"Pss {kib(early['pss'])} after 10,000 and {kib(late['pss'])} after 100,000, own {kib(early['own'])} and {kib(late['own'])}"]
    return Result("churn", FAIL if faults else PASS, f"grew by {kib(growth)} from 10,000 to 100,000; {left - before} descriptors left",
                  f"alive; growth <= {kib(CHURN_GROWTH_MAX)}; 0 left", notes, {"early": early, "late": late, "before": before, "left": left})
