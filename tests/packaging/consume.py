#!/usr/bin/env python3
"""Installs the release build below build/package and uses it as a stranger would: each case configures, builds and runs tests/packaging/consumer."""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WORK = ROOT / "build/package"
PREFIX = WORK / "prefix"
CONSUMER = ROOT / "tests/packaging/consumer"


def run(*command, expect=0):
    """Runs a command; ends this program with its output when the status is not the expected one. `expect` None: any but 0."""
    finished = subprocess.run([str(w) for w in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if (finished.returncode == 0) if expect is None else (finished.returncode != expect):
        sys.exit(f"{' '.join(str(w) for w in command)}\n{finished.stdout}\nstatus {finished.returncode}")
    return finished.stdout


def configure(name, compiler, *definitions, expect=0):
    directory = WORK / name
    shutil.rmtree(directory, ignore_errors=True)
    command = ["cmake", "-G", "Ninja", "-S", CONSUMER, "-B", directory, f"-DCMAKE_CXX_COMPILER={compiler}"]
    if shutil.which("ccache"):
        os.environ["CCACHE_DIR"] = str(ROOT / "build/ccache")
        command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    return directory, run(*command, *definitions, expect=expect)


def build_and_run(directory):
    run("cmake", "--build", directory, "--target", "consumer")
    said = run(directory / "consumer")
    if "127.0.0.1:" not in said:
        sys.exit(f"the consumer does not say where it listened: {said}")


def install():
    shutil.rmtree(PREFIX, ignore_errors=True)
    run("cmake", "--install", ROOT / "build/release", "--prefix", PREFIX)
    installed = {str(path.relative_to(PREFIX)) for path in PREFIX.rglob("*") if path.is_file()}
    for expected in ("include/martlet/server.hpp", "include/martlet/server/router.hpp", "include/martlet/rt/task.hpp"):
        if expected not in installed:
            sys.exit(f"{expected} was not installed")
    for name in installed:
        if name.endswith(("_internal.hpp", "_test.hpp", ".cpp")) or "/sim/" in name:
            sys.exit(f"{name} was installed and should not be")


def find_package(compiler):
    directory, _ = configure(f"find-{compiler}", compiler, f"-DCMAKE_PREFIX_PATH={PREFIX}", "-DCOMPONENTS=server")
    build_and_run(directory)


def missing_component():
    _, output = configure("missing", "g++", f"-DCMAKE_PREFIX_PATH={PREFIX}", "-DCOMPONENTS=server;no_such_part", expect=None)
    if "no_such_part" not in output:
        sys.exit(f"the message does not name the missing component:\n{output}")


def add_subdirectory():
    directory, _ = configure("subdirectory", "g++", f"-DMARTLET_SOURCE={ROOT}")
    build_and_run(directory)
    leftovers = [path.name for path in directory.rglob("*-test")]
    if leftovers:
        sys.exit(f"the consumer's build made our tests: {leftovers}")


CASES = {
    "install": install,
    "find_package_gcc": lambda: find_package("g++"),
    "find_package_clang": lambda: find_package("clang++-19"),
    "missing_component": missing_component,
    "add_subdirectory": add_subdirectory,
}


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("case", choices=CASES)
    WORK.mkdir(parents=True, exist_ok=True)
    CASES[arguments.parse_args().case]()


if __name__ == "__main__":
    main()
