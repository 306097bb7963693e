"""Bars on CPU per request: the library over the blind floor, in interleaved pairs of fresh processes.

A pair is two fresh servers on one processor, each with a wrk of its own on the other. The two take turns of a tenth of a second, in the
order ABBA: while one wrk runs, the other is stopped. So both see the same neighbours, clock and kernel, and only what the
servers themselves cost is left in the ratio.
"""

import contextlib
import os
import time

from . import machine, traffic
from .process import Refused, Server
from .verdicts import INFORMATION, Result, half_width, judge_ratio, median_interval

WARM_SECONDS = 1
PAIR_SECONDS = 5
TURN_SECONDS = 0.1
PAIRS_MIN = 10
PAIRS_MAX = 40
HALF_WIDTH_MAX = 0.015


def take_turns(loads, seconds):
    """Lets two held loads run by turns; returns the seconds that each ran."""
    ran = [0.0, 0.0]
    deadline = time.monotonic() + seconds
    turn = 0
    while time.monotonic() < deadline:
        chosen = (0, 1, 1, 0)[turn % 4]
        turn += 1
        began = time.monotonic()
        loads[chosen].go_on()
        time.sleep(TURN_SECONDS)
        loads[chosen].hold()
        ran[chosen] += time.monotonic() - began
    return ran


def one_pair(binaries, shape, depth, connections, request_bytes, cores):
    """Nanoseconds a request costs on each of two fresh servers, after a warm-up that is thrown away."""
    server_cpu, client_cpu = cores
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(binary, request_bytes, cpu=server_cpu)) for binary in binaries]

        def start(seconds):
            loads = []
            for server in servers:
                loads.append(traffic.Load(server.port, shape, depth, connections, seconds, client_cpu))
                stack.callback(loads[-1].kill)
            return loads

        for load in start(WARM_SECONDS):
            load.result()
        machine_before, began = machine.busy_seconds(), time.monotonic()
        before = [server.cpu_ns() for server in servers]
        loads = start(PAIR_SECONDS)
        for load in loads:
            load.hold()
        ran = take_turns(loads, PAIR_SECONDS - 0.3)
        results = []
        for index, load in enumerate(loads):  # the last turns, still one after the other
            since = time.monotonic()
            load.go_on()
            results.append(load.result())
            ran[index] += time.monotonic() - since
        cpu = [server.cpu_ns() - start_ns for server, start_ns in zip(servers, before)]
        all_busy, wall = machine.busy_seconds() - machine_before, time.monotonic() - began
        for server in servers:
            server.stop_cleanly()
    others = all_busy - sum(cpu) / 1e9 - sum(result["cpu_seconds"] for result in results)
    return [{
        "ns": cpu[index] / results[index]["requests"],
        "requests": results[index]["requests"],
        "server_busy": cpu[index] / 1e9 / ran[index],
        "client_busy": results[index]["cpu_seconds"] / ran[index],
        "others_busy": max(0.0, others) / wall,
    } for index in range(2)]


def check_programs(binaries, shape, depth):
    """The request length of wrk, the equality of both programs' answers; returns length and answer sizes."""
    length = traffic.wrk_request_bytes(shape, depth)
    expected = len(traffic.REQUESTS[shape](20000))
    if shape == "bare" and length != expected:
        raise Refused(f"wrk's bare request has {length} bytes, the checks send {expected}")
    sizes = {}
    for binary in dict.fromkeys(binaries):
        with Server(binary, expected) as server:
            sizes[server.name] = traffic.check_equal([server], shape)[server.name]
            server.stop_cleanly()
    if max(sizes.values()) - min(sizes.values()) > 32:
        raise Refused(f"answers differ by more than 32 bytes, so the loads are not equal: {sizes}")
    return length, sizes


def mean(runs, key):
    return sum(run[key] for run in runs) / len(runs)


def ratio_bar(context, name, shape, depth, connections, limit):
    """Measures context.hello over context.floor and judges the median ratio of the pairs against `limit` (None: information)."""
    cores = context.cores()
    request_bytes, sizes = check_programs([context.floor, context.hello], shape, depth)
    load = (shape, depth, connections, request_bytes, cores)
    floors, hellos, ratios = [], [], []
    interval = None
    while len(ratios) < context.pairs_max:
        order = [(context.floor, floors), (context.hello, hellos)]
        if len(ratios) % 2:
            order.reverse()
        for (_, runs), run in zip(order, one_pair([binary for binary, _ in order], *load)):
            runs.append(run)
        ratios.append(hellos[-1]["ns"] / floors[-1]["ns"])
        context.progress(f"{name}: pair {len(ratios)}, floor {floors[-1]['ns']:.0f} ns, hello {hellos[-1]['ns']:.0f} ns, "
                         f"ratio {ratios[-1]:.3f}")
        if len(ratios) >= context.pairs_min:
            interval = median_interval(ratios)
            if half_width(interval) < HALF_WIDTH_MAX:
                break
    interval = interval or median_interval(ratios)
    median, low, high = interval
    figure = f"{median:.3f} [{low:.3f}, {high:.3f}] over {len(ratios)} pairs"
    notes = [
        f"{os.path.basename(context.hello)} {mean(hellos, 'ns'):.0f} ns, {os.path.basename(context.floor)} {mean(floors, 'ns'):.0f} ns a request; "
        f"servers busy {mean(hellos, 'server_busy'):.0%} and {mean(floors, 'server_busy'):.0%}, "
        f"wrk {mean(hellos, 'client_busy'):.0%} and {mean(floors, 'client_busy'):.0%}; answers of {sizes} bytes"
    ]
    if abs(mean(hellos, "server_busy") - mean(floors, "server_busy")) > 0.15:
        notes.append("the busy shares differ by more than 15 points: batching may differ, compare with care")
    if half_width(interval) >= HALF_WIDTH_MAX:
        notes.append(f"the interval stayed wide: half-width {half_width(interval):.1%}")
    foreign = (mean(hellos, "others_busy") + mean(floors, "others_busy")) / 2
    if foreign > 0.1:
        notes.append(f"other processes used {foreign:.0%} of a processor meanwhile")
    detail = {"floor": floors, "hello": hellos, "ratios": ratios, "request_bytes": request_bytes, "cores": cores}
    status = INFORMATION if limit is None else judge_ratio(interval, limit, HALF_WIDTH_MAX)
    return Result(name, status, figure, "-" if limit is None else f"median <= {limit:.2f}", notes, detail)


def d1(context):
    """CPU per request over the floor, one request per write, 64 connections"""
    return ratio_bar(context, "cpu-d1", "bare", 1, 64, 1.04)


def d16(context):
    """CPU per request over the floor, 16 pipelined, 256 connections"""
    return ratio_bar(context, "cpu-d16", "bare", 16, 256, 1.25)


def d1_browser(context):
    """CPU per request over the floor with twelve headers, 64 connections (information)"""
    return ratio_bar(context, "cpu-d1-browser", "browser", 1, 64, None)


def d16_browser(context):
    """CPU per request over the floor with twelve headers, 16 pipelined, 256 connections"""
    return ratio_bar(context, "cpu-d16-browser", "browser", 16, 256, 1.42)
