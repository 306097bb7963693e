"""What it takes to parse a head: the library's parsers, the scalar oracle, and one that others wrote."""

import json
import os
import subprocess

from .process import Broken, Refused
from .verdicts import INFORMATION, Result

NAMES = {"varied/parser:0": "scalar", "varied/parser:1": "sse2", "varied/parser:2": "avx2", "varied_by_picohttpparser": "picohttpparser"}


def heads(context):
    """CPU time to parse 3,200 differing heads of browsers, beside the scalar parser and picohttpparser (information)"""
    program = os.path.join(context.release, "http1-bench")
    if not os.access(program, os.X_OK):
        raise Refused(f"{program} is missing: it needs Debian's libbenchmark-dev")
    command = [program, "--benchmark_filter=^varied", "--benchmark_format=json", "--benchmark_repetitions=5", "--benchmark_enable_random_interleaving=true",
               "--benchmark_report_aggregates_only=true"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=300, check=False)
    if done.returncode:
        raise Broken(f"http1-bench ended with {done.returncode}")
    figures, notes = {}, []
    for row in json.loads(done.stdout)["benchmarks"]:
        name = NAMES.get(row["run_name"].removesuffix("/repeats:5"))
        if name is None:
            continue
        if row.get("error_occurred"):
            notes.append(f"{name}: {row['error_message']}")
        elif row.get("aggregate_name") == "median":
            figures[name] = row["cpu_time"]
    if not figures:
        raise Broken("http1-bench gave no figures")
    return Result("parser", INFORMATION, ", ".join(f"{name} {figure:.0f} ns" for name, figure in figures.items()) + " a head", "-", notes, figures)
