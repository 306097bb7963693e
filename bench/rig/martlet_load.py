"""`martlet load` as the generator of every timed run: it can be held still and let go on, and it checks each answer whole."""

import contextlib
import hashlib
import json
import os

from .held_process import HeldProcess
from .process import Broken, Refused


class Generator(HeldProcess):
    """One running `martlet load`, pinned to processors. Without `rate` a closed loop."""

    def __init__(self, program, load, port, cpus, seconds, rate=None, warmup_seconds=0.0, connections=None):
        if not os.access(program, os.X_OK):
            raise Refused(f"{program} is missing")
        words = load.generator_arguments(port)
        if connections is not None:
            words[words.index("-c") + 1] = str(connections)
        words += ["--expect-hash", hashlib.sha256(load.content).hexdigest(), "-d", f"{round(1000 * (seconds + warmup_seconds))}ms"]
        if warmup_seconds:
            words += ["--warmup", f"{round(1000 * warmup_seconds)}ms"]
        if rate is not None:
            words += ["--rate", f"{rate:.0f}"]
        threads = min(len(cpus), connections or load.connections)
        self.processors = len(cpus)
        super().__init__([program, "load", *words, "-t", str(threads), "-q", "--json", "-"], cpus)

    def result(self):
        """Waits for the end; the facts of the run, with faults counted and not judged."""
        text, said, code, cpu_seconds = self.ended()
        with contextlib.suppress(ValueError):
            return facts_of(json.loads(text), cpu_seconds)
        raise Broken(f"martlet load ended with {code}: {(said or text).strip()[-200:]!r}")


def facts_of(report, cpu_seconds):
    latency = report["latency_ns"]
    facts = {
        "requests": report["right"],
        "faults": {name: count for name, count in report["faults"].items() if count and name != "all"} | (
            {"warm-up": report["warmup_faults"]} if report["warmup_faults"] else {}),
        "seconds": report["window_s"],
        "rate": report["answers_per_s"],
        "client_busy": report["client"]["busy"],
        "client_waited": report["client"]["waited"],
        "client_seconds": cpu_seconds,
        "fell_behind": report["fell_behind"],
        "late_p99_us": report["client"]["lag_ns"].get("p99", 0) / 1000,
        "queued": report["queued"],
    }
    for name, key in (("p50", "p50"), ("p99", "p99"), ("p999", "p99_9")):
        if key in latency:
            facts[f"{name}_us"] = latency[key] / 1000
    if not report["right"] and not facts["faults"]:
        facts["faults"] = {"no answer": 1}
    return facts
