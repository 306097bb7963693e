"""One drill: a server on one processor, healthy clients and an attacker on another, and what /proc says of the server meanwhile."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from bench.rig import machine  # noqa: E402
from bench.rig.process import Broken, Refused, Server, die_with_parent  # noqa: E402, F401

FILE_BYTES = 64 * 1024
BASE_SECONDS = 3
# The server and the healthy clients come before the attacker, who would otherwise starve the clients on their common processor.
BEFORE_OTHERS = -10


def processors():
    """(of the server, of everybody else)"""
    cpus = machine.cpus()
    if len(cpus) < 2:
        raise Refused("needs two processors, one for the server alone")
    return cpus[0], cpus[-1]


def prefer(pid):
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, pid, BEFORE_OTHERS)


class AttackedServer(Server):
    def __init__(self, bin_folder, file, options=()):
        super().__init__(os.path.join(bin_folder, "attacks-server"), cpu=processors()[0])
        self.command += ["--file", file, *options]

    def __enter__(self):
        super().__enter__()
        prefer(self.pid)
        return self

    def begin_peak(self):
        with open(f"/proc/{self.pid}/clear_refs", "w", encoding="ascii") as file:
            file.write("5")

    def peak_bytes(self):
        """The most memory that was resident since begin_peak()."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))

    def waited_ns(self):
        """Nanoseconds that its threads waited for a processor, for one another too."""
        total = 0
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{thread}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[1])
        return total

    def resident_bytes(self):
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Client:
    """A program on the clients' processor that prints one line of JSON."""

    def __init__(self, bin_folder, name, *arguments, preferred=False):
        cpu = processors()[1]
        command = ["taskset", "-c", str(cpu), os.path.join(bin_folder, name), *map(str, arguments)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        if preferred:
            prefer(self.process.pid)

    def result(self, seconds):
        try:
            output, _ = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise Broken(f"{self.process.args[3]} did not end in time") from None
        if self.process.returncode != 0:
            raise Broken(f"{self.process.args[3:]} ended with {self.process.returncode}")
        return json.loads(output)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()


@dataclass
class Phase:
    """What healthy clients saw in some seconds, and what the server spent."""

    healthy: dict
    cpu_seconds: float
    seconds: float
    # In which the server could have run and had no processor.
    waited_seconds: float

    @property
    def cpu_per_request(self):
        return self.cpu_seconds / max(self.healthy["answered"], 1)


@dataclass
class Drilled:
    base: Phase
    attacked: Phase
    after: Phase
    attacker: dict
    extra_cpu_seconds: float
    growth_bytes: int
    left_bytes: int
    left_descriptors: int
    kernel_bytes: int
    faults: list = field(default_factory=list)


def tcp_memory_bytes():
    """Of all sockets of the machine."""
    with open("/proc/net/sockstat", encoding="ascii") as file:
        words = next(line.split() for line in file if line.startswith("TCP:"))
    return int(words[words.index("mem") + 1]) * os.sysconf("SC_PAGE_SIZE")


class Rig:
    def __init__(self, bin_folder, stack):
        self.bin = str(bin_folder)
        self.stack = stack
        self.folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="attacks-"))
        self.file = os.path.join(self.folder, "file.bin")
        with open(self.file, "wb") as file:
            file.write(b"f" * FILE_BYTES)

    def program(self, stack, name, *arguments, preferred=False):
        client = Client(self.bin, name, *arguments, preferred=preferred)
        stack.callback(client.kill)
        return client

    def ceiling(self):
        """Requests a second that the server answers in one second of its processor's time, and what was seen."""
        with contextlib.ExitStack() as stack:
            server = stack.enter_context(AttackedServer(self.bin, self.file))
            before, began = server.cpu_ns(), time.monotonic()
            seen = self.program(stack, "healthy-client", "--port", server.port, "--seconds", BASE_SECONDS, preferred=True).result(30)
            busy = (server.cpu_ns() - before) / 1e9
            server.stop_cleanly()
        if seen["answered"] != seen["asked"] or busy == 0:
            raise Broken(f"without an attack {seen['answered']} of {seen['asked']} were answered")
        return seen["answered"] / busy, seen, busy / (time.monotonic() - began)

    def phase(self, server, rate, fresh_permille, seconds, attack=None):
        """Healthy clients for some seconds, and perhaps an attack of which the clients see beginning and end."""
        with contextlib.ExitStack() as stack:
            before, waited, began = server.cpu_ns(), server.waited_ns(), time.monotonic()
            arguments = ("--port", server.port, "--rate", int(rate), "--fresh-permille", fresh_permille, "--seconds", seconds)
            healthy = self.program(stack, "healthy-client", *arguments, preferred=True)
            attacker, kernel = None, 0
            if attack is not None:
                time.sleep(0.3)
                client = self.program(stack, "attack-client", attack, "--port", server.port, "--seconds", seconds - 1)
                while client.process.poll() is None and time.monotonic() - began < seconds + 30:
                    kernel = max(kernel, tcp_memory_bytes())
                    time.sleep(0.1)
                attacker = client.result(30)
            seen = healthy.result(seconds + 30)
            seconds = time.monotonic() - began
            return Phase(seen, (server.cpu_ns() - before) / 1e9, seconds, (server.waited_ns() - waited) / 1e9), attacker, kernel

    def drill(self, name, rate, seconds, options=(), fresh_permille=10):
        with AttackedServer(self.bin, self.file, options) as server:
            base, _, _ = self.phase(server, rate, fresh_permille, BASE_SECONDS)
            descriptors, rest = server.wait_descriptors(0, 0.3), server.resident_bytes()
            server.begin_peak()
            kernel_before = tcp_memory_bytes()
            attacked, attacker, kernel = self.phase(server, rate, fresh_permille, seconds, name)
            peak = server.peak_bytes()
            left_descriptors = server.wait_descriptors(descriptors, 5) - descriptors
            time.sleep(0.3)
            left = server.resident_bytes() - rest
            after, _, _ = self.phase(server, rate, fresh_permille, BASE_SECONDS)
            server.stop_cleanly()
        extra = attacked.cpu_seconds - attacked.healthy["answered"] * min(base.cpu_per_request, after.cpu_per_request)
        return Drilled(base, attacked, after, attacker, max(extra, 0.0), max(peak - rest, 0), left, left_descriptors,
                       max(kernel - kernel_before, 0))


def end_on_signals():
    """SIGTERM unwinds like SIGINT, so that everything that was started is ended."""
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    signal.signal(signal.SIGINT, signal.default_int_handler)
