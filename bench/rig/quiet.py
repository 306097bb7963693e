"""Whether others use the machine: before a run, and while it is under way."""

import os
import time

from . import machine
from .process import Refused

LOOK_SECONDS = 2.0


def stolen_seconds():
    """Seconds since boot in which a virtual processor was ready and its host ran something else."""
    fields = machine.read("/proc/stat").splitlines()[0].split()[1:]
    return int(fields[7]) / os.sysconf("SC_CLK_TCK") if len(fields) > 7 else 0.0


class Watch:
    """What the machine did since this was made, apart from the processor time of those who say theirs."""

    def __init__(self):
        self.began, self.busy, self.stolen, self.mine = time.monotonic(), machine.busy_seconds(), stolen_seconds(), time.process_time()

    def facts(self, known_seconds=0.0):
        """`others_busy`, in processors, and `steal`, a share of all of them."""
        wall = time.monotonic() - self.began
        stolen = stolen_seconds() - self.stolen
        others = machine.busy_seconds() - self.busy - stolen - known_seconds - (time.process_time() - self.mine)
        return {"others_busy": round(max(0.0, others) / wall, 4), "steal": round(max(0.0, stolen) / wall / len(machine.cpus()), 4)}


def look(seconds=LOOK_SECONDS):
    watch = Watch()
    time.sleep(seconds)
    return watch.facts()


def wait(complaints, patience_seconds, progress, looking=look):
    """Returns the facts of the first look that `complaints` finds nothing in; refuses when none comes in time."""
    deadline = time.monotonic() + patience_seconds
    while True:
        facts = looking()
        found = complaints(facts)
        if not found:
            return facts
        if time.monotonic() >= deadline:
            raise Refused(f"{'; '.join(found)}, and it did not become quiet in {patience_seconds:.0f} s")
        progress(f"waiting for quiet: {'; '.join(found)}")
