"""One run of bench/run: what is planned is measured step by step, kept after each, and judged at the end; a stopped one can go on."""

import datetime
import glob
import os
import re
import time

from . import artifact, figures, loads, machine, plan, provenance, quiet, rules, sampling
from .process import Broken, Refused

PATIENCE_SECONDS = 20.0  # after a disturbed measurement
SAME = ("tree", "dirty", "builds")  # of the source, when a run goes on


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def clock_and_temperature():
    """What of it the machine shows."""
    megahertz = re.findall(r"^cpu MHz\s*: ([\d.]+)", machine.read("/proc/cpuinfo", ""), re.MULTILINE)
    zones = [machine.read(path, "") for path in sorted(glob.glob("/sys/class/thermal/thermal_zone*/temp"))]
    return {"clock_mhz": [round(float(value)) for value in megahertz] or "not shown",
            "temperature_c": [int(zone) / 1000 for zone in zones if zone.isdigit()] or "not shown"}


def machine_facts(cores):
    flags = re.search(r"^flags\s*:(.*)$", machine.read("/proc/cpuinfo", ""), re.MULTILINE)
    described = {key: value for key, value in machine.describe().items() if key not in ("wrk",)}
    return {**described, "virtual": bool(flags and " hypervisor" in flags.group(1)), "server_cpu": cores["server"], "generator_cpus": cores["clients"],
            "shared_core": cores["shared_core"], "somaxconn": machine.read("/proc/sys/net/core/somaxconn"), **clock_and_temperature()}


def new_record(kind, scale, groups, subjects, source, cores, generator_version):
    rows = [row for rows in groups for row in rows]
    used = dict.fromkeys(name for row in rows for name in (row.server, row.against) if name)
    times = {name: value for name, value in vars(scale.times).items()}
    hours = plan.estimate(rows, scale.times)[1] / 3600
    return {
        "format": artifact.FORMAT, "kind": kind, "began": now(), "ended": None, "hours": 0.0, "hours_planned": round(hours, 2), "void": [],
        "source": source, "machine": machine_facts(cores),
        "versions": {**{name: subjects[name].version for name in used}, "generator": generator_version},
        "settings": {"rules": rules.settings(), "seconds": times, "plan": [row.described() for row in rows]},
        "servers": {name: subjects[name].description() for name in used},
        "loads": {name: {"title": load.title, "shape": load.shape, "depth": load.depth, "connections": load.connections, "path": load.path}
                  for name, load in loads.LOADS.items() if any(row.load == name for row in rows)},
        "figures": [], "runs": [],
    }


def peers_of(record):
    return {name: record["versions"].get(name) for name, server in record["servers"].items() if server["kind"] == "peer"}


def resumable(record, source, cores, fresh):
    """What forbids to go on with a record here; `fresh` is what would be begun instead."""
    found = [f"its {key} was {record['source'].get(key)!r}" for key in SAME if record["source"].get(key) != source.get(key)]
    for key, value in (("processor", machine.processor()), ("server_cpu", cores["server"]), ("generator_cpus", cores["clients"])):
        if record["machine"].get(key) != value:
            found.append(f"its {key} was {record['machine'].get(key)!r}")
    if record["settings"]["plan"] != fresh["settings"]["plan"]:
        found.append("it had another plan: give the same options and peers")
    found += [f"{name} was {version}" for name, version in peers_of(record).items() if peers_of(fresh).get(name) != version]
    if record["settings"]["rules"] != rules.settings():
        found.append("it was judged by other bounds")
    return found


class Session:
    """Measures what a record still lacks."""

    def __init__(self, record, groups, bench, path, say, commit=None):
        self.record, self.groups, self.bench, self.path, self.say, self.commit = record, groups, bench, path, say, commit or record["source"]["commit"]
        self.standing = plan.Standing(record["runs"])
        self.before, self.began = record["hours"], time.monotonic()

    def save(self):
        self.record["hours"] = round(self.before + (time.monotonic() - self.began) / 3600, 4)
        artifact.write(self.record, self.path)

    def left(self):
        """Seconds of what is still wanted, at least and at most."""
        least = most = 0.0
        for rows in self.groups:
            for row in rows:
                if row.kind != "fixed" and not self.standing.wants(row):
                    continue
                low, high = plan.estimate([row], self.bench.times, lambda each: len(self.standing.good(each)))
                least, most = least + low, most + high
        return least, most

    def measure(self, row, asked):
        run = {"row": row.id, "kind": row.kind, "server": row.server, "against": row.against, "load": row.load, "parameter": asked.parameter,
               "round": asked.round}
        began = time.monotonic()
        try:
            run.update(sampling.MEASURE[row.kind](self.bench, asked, loads.LOADS[row.load]))
        except Refused as reason:
            run.update(fault=str(reason), refused=True)
        except (Broken, OSError) as fault:
            run.update(fault=f"{type(fault).__name__}: {fault}")
        run["took"] = round(time.monotonic() - began, 2)
        noise = rules.busy_machine(run) if "others_busy" in run else None
        run["disturbed"] = [noise] if noise else []
        return run

    def run(self):
        self.record["source"].setdefault("stretches", []).append({"began": now(), "commit": self.commit})
        for row, asked in plan.walk(self.groups, self.standing):
            run = self.measure(row, asked)
            self.record["runs"].append(run)
            self.standing.add(run)
            self.save()
            least, most = self.left()
            self.say(f"{row.id} #{asked.round + 1}: {outcome(run)}; left {duration(least)} to {duration(most)}")
            if run["disturbed"]:
                try:
                    quiet.wait(lambda facts: [text for text in (rules.busy_machine(facts),) if text], PATIENCE_SECONDS, self.say)
                except Refused:
                    pass
        self.record["ended"] = now()
        self.record["machine"]["at_end"] = {"load_average": round(machine.load_average(), 2), **clock_and_temperature()}
        figures.settle(self.record)
        self.save()
        return self.record


def duration(seconds):
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.0f} s"


def outcome(run):
    if run.get("fault"):
        return run["fault"]
    if run.get("faults"):
        return f"wrong answers {run['faults']}"
    noise = f" (disturbed: {run['disturbed'][0]})" if run["disturbed"] else ""
    if "sides" in run:
        (one, first), (two, second) = ((name, run["sides"][name]["ns"]) for name in (run["server"], run["against"]))
        return f"{one} {first:.0f} ns, {two} {second:.0f} ns, ratio {first / second:.3f}{noise}"
    if run["kind"] == "equal":
        return f"equal, {run['answer_bytes']} bytes"
    if run["kind"] == "latency":
        return f"{run['p50_us']:.0f} us in the middle at {run['rate']:.0f} a second{noise}" if "p50_us" in run else "no answer"
    if run["kind"] == "rung":
        return f"{run['rate']:.0f} a second, generator {run['client_busy']:.0%} busy{noise}"
    return f"{run['value']:.6g}"


def preconditions(source):
    """What withholds every figure, known before anything is measured."""
    return [reason for reason in (rules.debug_build(source["builds"]), rules.dirty_tree(source)) if reason]


def source_with_builds(root, chosen, generator):
    from . import subjects
    return {**provenance.source_facts(root), "builds": subjects.builds(chosen, generator)}
