"""What a request may cost: instructions and system calls, held against the figures in bench/gate.json.

Both are counted and not timed, so a busy machine says the same as a quiet one.
"""

import dataclasses
import json
import os
import subprocess

from . import closing, instructions, kernel, loads, machine
from .process import Refused

REQUESTS = 2000  # under strace, and batches under callgrind with one request a write
BATCHES = 300  # with 16
CONNECTIONS_CLOSED = 500
CONNECTIONS = 2
NEEDED = ("avx2", "bmi1", "bmi2", "fma", "movbe", "f16c", "abm")  # x86-64-v3, for which the profile preset compiles
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
TOLERANCES = {"instructions": 0.02, "system-calls": 0.01}
BARS = {"instructions-d16": instructions.LIMIT, "instructions-d16-browser": instructions.BROWSER_LIMIT}
# On a busy machine a connection and its request, or one's end and the next one, come in the same turn.
CLOSING_TOLERANCE = 0.08
# A thread of the pool opens the file: how often it and the loop wake each other is not the same each time.
FILE_TOLERANCES = {"instructions": 0.05, "system-calls": 0.15}


@dataclasses.dataclass(frozen=True)
class Expected:
    """A recorded figure. `bar` is a limit that no recording moves."""

    figure: float
    tolerance: float
    bar: float | None = None


def judge(expected, measured, same_tools):
    """(word, text) for a measured figure. What was recorded with other tools says nothing but the bar."""
    shown = f"{measured:.6g}"
    if expected.bar is not None and measured > expected.bar:
        return FAILED, f"{shown} a request, the bar is {expected.bar:g}"
    if not same_tools:
        return (PASSED, f"{shown}, the bar is {expected.bar:g}") if expected.bar is not None else (SKIPPED, "")
    if measured > expected.figure * (1 + expected.tolerance):
        return FAILED, f"{shown} a request, over the recorded {expected.figure:g} by more than {expected.tolerance:.0%}"
    if measured < expected.figure * (1 - expected.tolerance):
        return FAILED, f"{shown} a request, which is better than the recorded {expected.figure:g}: keep it with bench/gate --record"
    return PASSED, f"{shown}, recorded {expected.figure:g}"


def tools():
    """What a count of instructions depends on besides the source."""
    libc = os.confstr("CS_GNU_LIBC_VERSION") or "unknown"
    return {"compiler": machine.first_line(["g++", "--version"]), "libc": libc, "valgrind": machine.first_line(["valgrind", "--version"])}


def need_processor():
    flags = next((line.split(":", 1)[1].split() for line in machine.read("/proc/cpuinfo", "").splitlines() if line.startswith("flags")), [])
    missing = [name for name in NEEDED if name not in flags]
    if missing:
        raise Refused(f"the figures are those of x86-64-v3, and this processor has no {', '.join(missing)}")


def need_strace():
    try:
        subprocess.run(["strace", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError) as error:
        raise Refused(f"strace is missing: {error}") from error


def count_instructions(binary, load):
    instructions.need_valgrind()
    need_processor()
    return instructions.per_request(binary, load, BATCHES if load.depth > 1 else REQUESTS)


def count_system_calls(binary, load):
    """All but those that wait, a request."""
    need_strace()
    calls, _, requests = kernel.trace(binary, load, REQUESTS, CONNECTIONS)
    return sum(count for name, count in calls.items() if name not in kernel.WAITS) / requests


def count_closing_instructions(binary, load):
    instructions.need_valgrind()
    need_processor()
    return closing.instructions_each(binary, load, CONNECTIONS_CLOSED)


def count_closing_calls(binary, load):
    need_strace()
    return sum(closing.calls_each(binary, load, CONNECTIONS_CLOSED).values())


def cases():
    """Name, load and counting function of each figure."""
    for load in loads.LOADS.values():
        yield f"instructions-{load.id}", load, count_instructions
    yield "instructions-close", loads.LOADS["d1"], count_closing_instructions
    for load in loads.LOADS.values():
        if load.application or load.id == "d1":  # several requests in one write take the same calls
            yield f"system-calls-{load.id}", load, count_system_calls
    yield "system-calls-close", loads.LOADS["d1"], count_closing_calls


def tolerance_of(name):
    if name == "instructions-close":
        return CLOSING_TOLERANCE
    kind = next(each for each in TOLERANCES if name.startswith(each))
    return (FILE_TOLERANCES if name.startswith(f"{kind}-file") else TOLERANCES)[kind]


def read(path):
    """The tools and the expected figures by name."""
    with open(path, encoding="utf-8") as file:
        kept = json.load(file)
    return kept["tools"], {row["name"]: Expected(row["figure"], row["tolerance"], row.get("bar")) for row in kept["figures"]}


def write(path, expected):
    rows = [{"name": name, **{key: value for key, value in dataclasses.asdict(each).items() if value is not None}}
            for name, each in expected.items()]
    with open(path, "w", encoding="utf-8") as file:
        file.write('{\n "tools": ' + json.dumps(tools()) + ',\n "figures": [\n  ' + ",\n  ".join(json.dumps(row) for row in rows) + "\n ]\n}\n")


def rounded(figure):
    return round(figure, 3) if figure < 100 else round(figure)
