"""The library's load generator beside wrk on the same server: what a request costs the generator, and what it costs the server."""

import json
import os
import re
import statistics
import subprocess
import tempfile

from . import traffic
from .process import Broken, Refused, Server, die_with_parent
from .verdicts import FAIL, PASS, Result

DEPTHS = (1, 16)
CONNECTIONS = 64
ROUNDS = 6
SECONDS = 2
COUNTED = (8000, 24000)  # requests of the two runs under callgrind; their difference leaves the start out
COUNTED_SECONDS = (3, 8)  # wrk can only be told how long
LIMIT = 1.0


def martlet_command(program, port, depth, *more):
    return [program, "load", f"http://127.0.0.1:{port}{traffic.PATH}", "-c", str(CONNECTIONS), "--pipeline", str(depth), "-q", "--json", "-",
            *map(str, more)]


def parse_martlet(text):
    report = json.loads(text)
    if report["faults"]["all"] or not report["right"]:
        raise Broken(f"martlet load: {report['faults']}")
    return report["right"]


def parse_wrk(text):
    result = traffic.parse_wrk(text)
    if result["errors"] or not result["requests"]:
        raise Broken(f"wrk: {result['errors'] or 'not one answer'}")
    return result["requests"]


def finish(command, parse, cpu=None):
    """Requests answered and seconds of processor time of one generator."""
    if cpu is not None:
        command = ["taskset", "-c", str(cpu), *command]
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=die_with_parent)
    except OSError as error:
        raise Refused(f"{command[0]} is missing: {error}") from error
    try:
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        if process.returncode is None:
            process.kill()
            process.wait()
        process.stdout.close()
    return parse(text), usage.ru_utime + usage.ru_stime


def counted(command, parse):
    """Requests, and instructions under callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out")
        requests, _ = finish(["valgrind", "--tool=callgrind", f"--callgrind-out-file={path}", *command], parse)
        with open(path, encoding="utf-8", errors="replace") as file:
            match = re.search(r"^(?:summary|totals): (\d+)", file.read(), re.MULTILINE)
    if match is None:
        raise Broken("callgrind wrote no total")
    return requests, int(match.group(1))


def instructions(context, martlet, depth):
    """Instructions a request costs martlet and wrk."""
    figures = []
    with Server(context.floor, len(traffic.bare_request(20000))) as server:
        for parse, commands in (
            (parse_martlet, [martlet_command(martlet, server.port, depth, "-n", count) for count in COUNTED]),
            (parse_wrk, [traffic.wrk_command(server.port, "bare", depth, CONNECTIONS, seconds) for seconds in COUNTED_SECONDS]),
        ):
            (few, short), (many, long) = [counted(command, parse) for command in commands]
            figures.append((long - short) / (many - few))
        server.stop_cleanly()
    return figures


def processor_time(context, martlet, depth):
    """Medians over rounds: martlet over wrk, of the generator and of the server; and the nanoseconds behind them."""
    server_cpu, client_cpu = context.cores()
    kinds = {"martlet": [], "wrk": []}
    for turn in range(ROUNDS):
        for name in sorted(kinds, reverse=turn % 2 == 1):
            with Server(context.floor, len(traffic.bare_request(20000)), cpu=server_cpu) as server:
                before = server.cpu_ns()
                if name == "wrk":
                    requests, seconds = finish(traffic.wrk_command(server.port, "bare", depth, CONNECTIONS, SECONDS), parse_wrk, client_cpu)
                else:
                    requests, seconds = finish(martlet_command(martlet, server.port, depth, "-d", f"{SECONDS}s"), parse_martlet, client_cpu)
                kinds[name].append((seconds * 1e9 / requests, (server.cpu_ns() - before) / requests))
                server.stop_cleanly()
    ratios = [statistics.median(mine[part] / theirs[part] for mine, theirs in zip(kinds["martlet"], kinds["wrk"])) for part in (0, 1)]
    return ratios, {name: [statistics.median(run[part] for run in runs) for part in (0, 1)] for name, runs in kinds.items()}


def load_generator(context):
    """Processor time and instructions of martlet load over wrk, on the floor server"""
    martlet = os.path.join(context.release, "martlet")
    if not os.path.exists(martlet):
        raise Refused(f"{martlet} is missing")
    figures, notes, detail, worst = [], [], {}, 0.0
    for depth in DEPTHS:
        mine, theirs = instructions(context, martlet, depth)
        (client, server), ns = processor_time(context, martlet, depth)
        worst = max(worst, mine / theirs, client)
        figures.append(f"{depth} a write: time {client:.2f}, instructions {mine / theirs:.2f}")
        notes.append(f"{depth} a write: {mine:.0f} instructions a request, wrk {theirs:.0f}; {ns['martlet'][0]:.0f} ns, wrk {ns['wrk'][0]:.0f} ns; the "
                     f"server {ns['martlet'][1]:.0f} ns under martlet load, {ns['wrk'][1]:.0f} ns under wrk, ratio {server:.2f}")
        detail[f"depth {depth}"] = {"instructions": [mine, theirs], "generator_ratio": client, "server_ratio": server, "ns": ns}
        context.progress(notes[-1])
    return Result("load-generator", PASS if worst <= LIMIT else FAIL, "; ".join(figures), f"<= {LIMIT} each", notes, detail)
