"""A pinned load generator that can be held still and let go on, and says at its end what processor time it used."""

import os
import signal
import subprocess

from .process import Refused, die_with_parent


class HeldProcess:
    """One running command; `kill` ends it and gives its pipes back, whatever became of it."""

    def __init__(self, command, cpus, stderr=subprocess.PIPE):
        pinned = ["taskset", "-c", ",".join(map(str, cpus)), *command]
        try:
            self.process = subprocess.Popen(pinned, stdout=subprocess.PIPE, stderr=stderr, text=True, preexec_fn=die_with_parent)
        except OSError as error:
            raise Refused(f"taskset is missing: {error}") from error

    def hold(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        if self.process.returncode is None:
            self.process.kill()
            self.process.wait()
        for pipe in filter(None, (self.process.stdout, self.process.stderr)):
            pipe.close()

    def ended(self):
        """Waits for the end: what it printed, what it printed to the other pipe, its exit code, and its seconds of processor time."""
        text = self.process.stdout.read()
        said = self.process.stderr.read() if self.process.stderr else ""
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return text, said, self.process.returncode, usage.ru_utime + usage.ru_stime
