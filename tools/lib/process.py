"""Runs programs with a bound on their time, their output kept, and a sign of life while they take long."""

import os
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass


@dataclass
class Finished:
    status: int  # the exit status; negative: the signal that ended it
    output: str
    seconds: float
    timed_out: bool

    @property
    def ok(self):
        return self.status == 0 and not self.timed_out

    def reason(self):
        if self.timed_out:
            return f"did not end within {self.seconds:.0f} s"
        if self.status < 0:
            try:
                return f"ended by {signal.Signals(-self.status).name}"
            except ValueError:
                return f"ended by signal {-self.status}"
        return f"exit status {self.status}"


def run(command, timeout=600, environment=None, title=None, cwd=None):
    """Runs `command` in a process group of its own, which is ended when the time is up. Standard input is empty."""
    begin = time.monotonic()
    done = threading.Event()

    def show_life():
        while not done.wait(20):
            print(f"  ... {title}: {time.monotonic() - begin:.0f} s", flush=True)

    if title:
        threading.Thread(target=show_life, daemon=True).start()
    timed_out = False
    # A file, not a pipe: a grandchild that keeps the output open cannot hold us up.
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            cwd=cwd,
            start_new_session=True,
        )
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            done.set()
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        output.seek(0)
        text = output.read().decode(errors="replace")
    return Finished(process.returncode, text, time.monotonic() - begin, timed_out)


def indented(text, lines=60):
    """The end of a failing program's output, as it is shown."""
    all_lines = text.rstrip().splitlines()
    before = [f"    | ({len(all_lines) - lines} lines before)"] if len(all_lines) > lines else []
    return "\n".join(before + [f"    | {line}" for line in all_lines[-lines:]])


def show(text, lines=60):
    print(indented(text, lines), flush=True)
