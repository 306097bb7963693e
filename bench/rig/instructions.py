"""The bar on instructions a pipelined request takes, counted by callgrind."""

import os
import re
import subprocess
import tempfile

from . import loads, traffic
from .process import Broken, Refused, Server
from .verdicts import PASS, FAIL, Result

DEPTH = 16
BATCHES = 300  # the longer run stays below the requests that a server takes on one connection
LIMIT = 530
BROWSER_LIMIT = 1550
START_SECONDS = 60


def counted(binary, load, work):
    """Instructions the whole process ran while `work(server)` used it, its start and end among them."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "callgrind.out")
        prefix = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={path}"]
        with Server(binary, len(load.request(20000)), prefix=prefix, start_seconds=START_SECONDS) as server:
            work(server)
            server.stop_cleanly()
        with open(path, encoding="utf-8", errors="replace") as file:
            match = re.search(r"^(?:summary|totals): (\d+)", file.read(), re.MULTILINE)
    if match is None:
        raise Broken("callgrind wrote no total")
    return int(match.group(1))


def total(binary, load, batches):
    """Instructions the whole process ran for `batches` batches of load.depth requests on one connection."""
    def work(server):
        request = load.request(server.port) * load.depth
        with traffic.Client(server.port) as client:
            answer_bytes = 0
            client.socket.sendall(request)
            for _ in range(load.depth):
                raw = client.raw_answer()
                load.check(server.name, *traffic.split_answer(raw)[:2])
                answer_bytes += len(raw)
            for _ in range(batches):
                client.exchange_bytes(request, answer_bytes)

    return counted(binary, load, work)


def per_request(binary, load, batches=BATCHES):
    """The difference between a long and a short run, so that the start cancels out."""
    short, long = total(binary, load, batches), total(binary, load, 2 * batches)
    return (long - short) / (batches * load.depth)


def need_valgrind():
    try:
        subprocess.run(["valgrind", "--version"], stdout=subprocess.DEVNULL, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError) as error:
        raise Refused(f"valgrind is missing: {error}") from error


def pipelined_browser(context):
    """Instructions of a request with twelve headers, 16 pipelined, by callgrind"""
    need_valgrind()
    measured = per_request(context.profiled_hello, loads.find("browser", DEPTH))
    return Result("instructions-browser", PASS if measured <= BROWSER_LIMIT else FAIL, f"{measured:.0f} a request", f"<= {BROWSER_LIMIT}", [],
                  {"browser": measured})


def pipelined(context):
    """Instructions of a bare request, 16 pipelined, by callgrind"""
    need_valgrind()
    figures = {}
    for binary in dict.fromkeys([context.profiled_hello, *context.profiled("bench-floor", "bench-floor-search", "bench-render")]):
        if binary != context.profiled_hello and not os.path.exists(binary):
            continue
        for shape in traffic.REQUESTS:
            figures[os.path.basename(binary), shape] = per_request(binary, loads.find(shape, DEPTH))
            context.progress(f"instructions: {os.path.basename(binary)} {shape} {figures[os.path.basename(binary), shape]:.0f}")
    measured = figures[os.path.basename(context.profiled_hello), "bare"]
    notes = ["for information: " + ", ".join(f"{name} {shape} {figure:.0f}" for (name, shape), figure in figures.items())]
    return Result("instructions", PASS if measured <= LIMIT else FAIL, f"{measured:.0f} a request", f"<= {LIMIT}", notes,
                  {f"{name} {shape}": figure for (name, shape), figure in figures.items()})
