"""Starting, watching and stopping one server under test; everything is read from /proc."""

import contextlib
import ctypes
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import time


class Refused(Exception):
    """A bar cannot be judged here; the text says why and what would help."""


class Broken(Exception):
    """The server under test did something a bar must fail for."""


def die_with_parent():
    """For preexec_fn: the child is killed when this process ends, however it ends."""
    ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG


def free_port():
    """A free port of five digits below the ephemeral range, so that requests to all servers have one length."""
    for _ in range(200):
        port = random.randint(20000, 32000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise Refused("found no free port between 20000 and 32000")


def session_of(pid):
    """The session of a process; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[3])
    except OSError:
        return 0


class Server:
    """One fresh server, for use in a `with`; it is stopped at the end, by force if need be.

    `binary` is a program or a whole command, to which `--port N` is added. What it starts belongs to it: its processor time and memory are
    those of its session.
    """

    def __init__(self, binary, request_bytes=0, cpu=None, prefix=(), start_seconds=10, name=None):
        words = [binary] if isinstance(binary, str) else list(binary)
        if shutil.which(words[0]) is None:
            raise Refused(f"{words[0]} is missing")
        self.binary = words[0]
        self.name = name or os.path.basename(words[0])
        self.port = free_port()
        self.command = [*prefix, *words, "--port", str(self.port)]
        if request_bytes and isinstance(binary, str) and "floor" in os.path.basename(binary):
            self.command += ["--request-bytes", str(request_bytes)]
        if cpu is not None:
            self.command = ["taskset", "-c", str(cpu), *self.command]
        self.start_seconds = start_seconds
        self.process = None
        self.exit_code = None

    @property
    def pid(self):
        return self.process.pid

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        preexec_fn=die_with_parent, start_new_session=True)
        try:
            self.wait_listening()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def wait_listening(self):
        deadline = time.monotonic() + self.start_seconds
        seen = b""
        while time.monotonic() < deadline:
            readable, _, _ = select.select([self.process.stdout], [], [], 0.2)
            if readable:
                piece = os.read(self.process.stdout.fileno(), 4096)
                seen += piece
                if f"listening on 127.0.0.1:{self.port}".encode() in seen:
                    return
                if not piece:
                    break
        raise Broken(f"{self.name} did not say 'listening on 127.0.0.1:{self.port}' in {self.start_seconds} s")

    def stop(self):
        """Ends the server with SIGTERM and keeps its exit code; 10 s later with SIGKILL."""
        if self.process is None or self.exit_code is not None:
            return self.exit_code
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.exit_code = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            self.exit_code = "ignored SIGTERM for 10 s"
        with contextlib.suppress(ProcessLookupError):  # what it left behind
            os.killpg(self.pid, signal.SIGKILL)
        self.process.stdout.close()
        return self.exit_code

    def stop_cleanly(self):
        if self.process.poll() is not None:
            raise Broken(f"{self.name} died with exit code {self.process.returncode}")
        if self.stop() != 0:
            raise Broken(f"{self.name} did not end with 0 on SIGTERM: {self.exit_code}")

    def pids(self):
        """The server and every process that it started."""
        found = [self.pid]
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != self.pid and session_of(name) == self.pid:
                found.append(int(name))
        return found

    def cpu_ns(self):
        """Nanoseconds all threads ran, also those that ended, by the scheduler's counter."""
        total = 0
        for pid in self.pids():
            with contextlib.suppress(OSError):  # it ended meanwhile
                total += time.clock_gettime_ns((~pid << 3) | 2)  # the clock of that process: CPUCLOCK_SCHED
        return total

    def threads(self):
        return sum(len(os.listdir(f"/proc/{pid}/task")) for pid in self.pids())

    def descriptors(self):
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.pids())

    def memory(self):
        """Pss and private bytes, from smaps_rollup."""
        figures = {}
        for pid in self.pids():
            with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:  # it ended meanwhile
                for line in file:
                    words = line.split()
                    if len(words) == 3 and words[2] == "kB":
                        name = words[0].rstrip(":")
                        figures[name] = figures.get(name, 0) + int(words[1]) * 1024
        return figures

    def peak_bytes(self):
        """The most memory that was resident, of each process, together."""
        total = 0
        for pid in self.pids():
            with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
                total += next((int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:")), 0)
        return total

    def own_bytes(self):
        """Bytes of memory the process has for itself: Pss of what is no file.

        The rest of Pss, shared library pages, changes whenever any other process maps or unmaps them.
        """
        figures = self.memory()
        return figures["Pss_Anon"] + figures["Pss_Shmem"]

    def settle(self, seconds=3.0):
        """Waits until the process's own memory has not moved for half a second, at most `seconds`; returns all figures and own bytes."""
        deadline = time.monotonic() + seconds
        last, since = self.own_bytes(), time.monotonic()
        while time.monotonic() < deadline and time.monotonic() - since < 0.5:
            time.sleep(0.1)
            now = self.own_bytes()
            if now != last:
                last, since = now, time.monotonic()
        return {"pss": self.memory()["Pss"], "own": last}

    def wait_descriptors(self, most, seconds=10.0):
        """Waits until at most `most` descriptors are open; returns how many are."""
        deadline = time.monotonic() + seconds
        while self.descriptors() > most and time.monotonic() < deadline:
            time.sleep(0.05)
        return self.descriptors()
