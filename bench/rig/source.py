"""Bars on the source: what hello world costs to compile, and the tests that count allocations."""

import glob
import os
import re
import subprocess
import tempfile
import time

from .process import Refused
from .verdicts import FAIL, PASS, Result

ROUNDS = 7
TIMES_MAX = 2.0
LINES_MAX = 90_000
STANDARD = """#include <string>
#include <vector>
#include <functional>
#include <memory>
#include <chrono>
int main() {}
"""


def hello_source(context):
    if context.hello_source:
        return context.hello_source
    found = sorted(glob.glob(os.path.join(context.root, "examples", "hello", "*.cpp")))
    if len(found) != 1:
        raise Refused(f"expected one file in examples/hello, found {len(found)}; name it with --hello-source")
    return found[0]


def compiler(context):
    return ["g++", "-std=c++23", "-O2", "-I", context.root]


def compile_seconds(context, source, folder):
    began = time.monotonic()
    done = subprocess.run([*compiler(context), "-c", source, "-o", os.path.join(folder, "out.o")], stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Refused(f"{source} does not compile: {done.stderr.strip()[:300]}")
    return time.monotonic() - began


def preprocessed_lines(context, source):
    """Lines of `g++ -E` that are no line markers; blank ones count."""
    done = subprocess.run([*compiler(context), "-E", source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
    return sum(not line.startswith("#") for line in done.stdout.splitlines())


def compile_hello(context):
    """Compile time and size of hello world against five standard headers"""
    hello = hello_source(context)
    with tempfile.TemporaryDirectory() as folder:
        standard = os.path.join(folder, "standard.cpp")
        with open(standard, "w", encoding="ascii") as file:
            file.write(STANDARD)
        times = {hello: [], standard: []}
        for _ in range(ROUNDS):
            for source, taken in times.items():
                taken.append(compile_seconds(context, source, folder))
        lines, standard_lines = preprocessed_lines(context, hello), preprocessed_lines(context, standard)
    best, standard_best = min(times[hello]), min(times[standard])
    ratio = best / standard_best
    met = ratio <= TIMES_MAX and lines <= LINES_MAX
    notes = [f"best of {ROUNDS} interleaved: hello {best:.2f} s, standard headers {standard_best:.2f} s; lines of g++ -E without line markers: "
             f"hello {lines}, standard headers {standard_lines}"]
    return Result("compile", PASS if met else FAIL, f"{ratio:.2f} times; {lines} lines", f"<= {TIMES_MAX:.1f} times; <= {LINES_MAX} lines", notes,
                  {"hello": times[hello], "standard": times[standard], "lines": lines})


def allocations(context):
    """No heap allocation in a warm keep-alive request (runs the counting tests)"""
    program = context.allocation_test
    if not os.access(program, os.X_OK):
        raise Refused(f"{program} is missing")
    command = [program, "--gtest_filter=*llocation*"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    ran = re.search(r"\[==========\] (\d+) tests? from .* ran", done.stdout)
    skipped = re.search(r"\[  SKIPPED \] (\d+) test", done.stdout)
    count = int(ran.group(1)) if ran else 0
    if count == 0 and done.returncode == 0:
        raise Refused(f"{os.path.basename(program)} has no test with 'allocation' in its name")
    if skipped:
        raise Refused(f"{skipped.group(1)} of {count} allocation tests skipped themselves in this build")
    failed = done.returncode != 0
    return Result("allocations", FAIL if failed else PASS, f"{count} tests, exit code {done.returncode}", "all pass",
                  [done.stdout.strip()[-400:]] if failed else [])
