"""The bar on instructions a pipelined request takes, counted by callgrind."""

import os
import re
import subprocess
import tempfile

from . import traffic
from .process import Broken, Refused, Server
from .verdicts import PASS, FAIL, Result

DEPTH = 16
BATCHES = 300  # the longer run stays below the requests that a server takes on one connection
LIMIT = 530
BROWSER_LIMIT = 1550
START_SECONDS = 60


def total(binary, shape, batches):
    """Instructions the whole process ran for `batches` batches of 16 requests on one connection."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "callgrind.out")
        prefix = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={path}"]
        request_bytes = len(traffic.REQUESTS[shape](20000))
        with Server(binary, request_bytes, prefix=prefix, start_seconds=START_SECONDS) as server:
            request = traffic.REQUESTS[shape](server.port)
            with traffic.Client(server.port) as client:
                answers = client.exchange(request * DEPTH, DEPTH)
                for head, body in answers:
                    traffic.check_answer(server.name, head, body)
                answer_bytes = sum(len(head) + 4 + len(body) for head, body in answers)
                for _ in range(batches):
                    client.exchange_bytes(request * DEPTH, answer_bytes)
            server.stop_cleanly()
        with open(path, encoding="utf-8", errors="replace") as file:
            match = re.search(r"^(?:summary|totals): (\d+)", file.read(), re.MULTILINE)
    if match is None:
        raise Broken("callgrind wrote no total")
    return int(match.group(1))


def per_request(binary, shape):
    """The difference between a long and a short run, so that the start cancels out."""
    short, long = total(binary, shape, BATCHES), total(binary, shape, 2 * BATCHES)
    return (long - short) / (BATCHES * DEPTH)


def need_valgrind():
    try:
        subprocess.run(["valgrind", "--version"], stdout=subprocess.DEVNULL, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError) as error:
        raise Refused(f"valgrind is missing: {error}") from error


def pipelined_browser(context):
    """Instructions of a request with twelve headers, 16 pipelined, by callgrind"""
    need_valgrind()
    measured = per_request(context.profiled_hello, "browser")
    return Result("instructions-browser", PASS if measured <= BROWSER_LIMIT else FAIL, f"{measured:.0f} a request", f"<= {BROWSER_LIMIT}", [],
                  {"browser": measured})


def pipelined(context):
    """Instructions of a bare request, 16 pipelined, by callgrind"""
    need_valgrind()
    figures = {}
    for binary in dict.fromkeys([context.profiled_hello, *context.profiled("bench-floor", "bench-render")]):
        if binary != context.profiled_hello and not os.path.exists(binary):
            continue
        for shape in traffic.REQUESTS:
            figures[os.path.basename(binary), shape] = per_request(binary, shape)
            context.progress(f"instructions: {os.path.basename(binary)} {shape} {figures[os.path.basename(binary), shape]:.0f}")
    measured = figures[os.path.basename(context.profiled_hello), "bare"]
    notes = ["for information: " + ", ".join(f"{name} {shape} {figure:.0f}" for (name, shape), figure in figures.items())]
    return Result("instructions", PASS if measured <= LIMIT else FAIL, f"{measured:.0f} a request", f"<= {LIMIT}", notes,
                  {f"{name} {shape}": figure for (name, shape), figure in figures.items()})
