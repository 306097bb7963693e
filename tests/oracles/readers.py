"""The programs that read requests: each takes many inputs at once and tells what it made of them."""

import contextlib
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS_MAX = 600


class NotThere(Exception):
    """A reader that this machine does not have, with the reason."""


class Reader:
    """One process for all inputs of a run."""

    def __init__(self, command, timeout=SECONDS_MAX):
        # A shell starts what runs in the background with SIGINT ignored, and a program keeps that.
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.command, self.timeout = command, timeout

    def read(self, inputs):
        """The greeting, and an answer to each of the inputs."""
        data = b"".join(struct.pack("<I", len(each)) + each for each in inputs)
        try:
            out, errors = self.process.communicate(data, timeout=self.timeout)
        finally:
            self.stop()
        lines = out.decode().removesuffix("\n").split("\n")
        if self.process.returncode != 0 or len(lines) != len(inputs) + 1:
            last = errors.decode(errors="replace").strip().splitlines()[-1:]
            raise RuntimeError(f"{self.command[0]} ended with {self.process.returncode} behind {len(lines)} lines: {''.join(last)}")
        return json.loads(lines[0]), [json.loads(line) for line in lines[1:]]

    def stop(self):
        """Nothing of it is left, also not what it started."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                pass
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def python_with_h11():
    # A Python in front of Debian's does not see Debian's packages.
    for python in (sys.executable, "/usr/bin/python3"):
        if Path(python).exists() and subprocess.run([python, "-c", "import h11"], capture_output=True, timeout=60).returncode == 0:
            return python
    raise NotThere("no Python with h11; Debian's package is python3-h11")


def found(program, package, *places):
    path = shutil.which(program) or next((place for place in places if Path(place).exists()), None)
    if path is None:
        raise NotThere(f"no program {program}; Debian's package is {package}")
    return path


def go_reader(build):
    go = found("go", "golang-go", "/usr/local/go/bin/go")
    program = build / "go-reader"
    made = subprocess.run([go, "build", "-o", program, "."], cwd=HERE / "go_reader", capture_output=True, text=True, timeout=300)
    if made.returncode != 0:
        raise RuntimeError(f"go build: {made.stderr.strip()[-300:]}")
    return [program]


def command_of(name, bin, build):
    if name == "martlet":
        return [bin / "request-reader"]
    if name == "h11":
        return [python_with_h11(), "-B", HERE / "h11_reader.py"]
    if name == "llhttp":
        return [found("node", "nodejs", "/usr/bin/nodejs"), HERE / "llhttp_reader.js"]
    if name == "go":
        return go_reader(build)
    return [sys.executable, "-B", HERE / "nginx_reader.py", found("nginx", "nginx", "/usr/sbin/nginx")]


def read_all(commands, inputs):
    """What each of the readers says to all of the inputs, all readers at once: {name: (greeting, answers)}. Raises the first failure."""
    answers, failures = {}, []
    readers = {name: Reader(command) for name, command in commands.items()}

    def ask(name):
        try:
            answers[name] = readers[name].read(inputs)
        except Exception as failure:  # told by the caller, with the reader's name
            failures.append(RuntimeError(f"{name}: {failure}"))

    threads = [threading.Thread(target=ask, args=(name,)) for name in readers]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for reader in readers.values():
            reader.stop()
    if failures:
        raise failures[0]
    return {name: answers[name] for name in commands}
