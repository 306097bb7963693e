"""What a run of bench/run measures, in which order, how often, and how long that takes."""

import dataclasses
import statistics

from . import loads, rules, verdicts
from .subjects import CONTROL

FLOOR, HEADLINE, RIVAL = "floor", "hello", "hyper"
FAULTS_MAX = 2  # failed runs after which a row is given up
SHARES = (25, 50, 75)  # percent of the ceiling


@dataclasses.dataclass(frozen=True)
class Times:
    """Seconds of each kind of measurement."""

    warm: float
    claim: float
    pair: float
    fixed: float
    rung: float
    latency: float


@dataclasses.dataclass(frozen=True)
class Scale:
    """How much is measured. Pairs are (at least, at most): more are run until the interval is narrow."""

    times: Times
    loads: tuple
    application: bool
    claim_pairs: tuple
    pairs: tuple
    fixed_pairs: tuple
    rungs: tuple
    ladder_loads: tuple
    rounds: int  # of rungs and latencies
    latency_loads: tuple
    idle: int
    peers: tuple | None = None  # None: all


FULL = Scale(Times(0.8, 4.0, 3.0, 0.8, 1.5, 3.0), ("d1", "d16", "d1-browser", "d16-browser"), True, (10, 40), (10, 10), (5, 5),
             (1, 4, 16, 64, 256, 1024), ("d1", "d16"), 3, ("d1",), 10_000)
QUICK = Scale(Times(0.5, 2.0, 2.0, 0.5, 0.6, 1.0), ("d1", "d16"), False, (4, 6), (3, 3), (1, 1), (16, 64, 256), ("d1",), 1, ("d1",), 2000, (RIVAL,))


@dataclasses.dataclass(frozen=True)
class Row:
    """One thing that is measured `least` to `most` times. `round` and `rate` are those of one measurement."""

    kind: str
    server: str
    load: str
    against: str | None = None
    parameter: int | None = None
    least: int = 1
    most: int = 1
    claim: bool = False
    round: int = 0
    rate: float | None = None

    @property
    def id(self):
        return " ".join(str(word) for word in (self.kind, self.server, self.against and f"against {self.against}", self.load, self.parameter) if word)

    @property
    def metrics(self):
        return {"pair": ("cpu_ratio", "cpu_ns"), "fixed": ("cpu_ratio_fixed",), "rung": ("ladder", "rate_max", "memory_peak"),
                "latency": ("latency_p50", "latency_p99", "latency_p999"), "idle": ("memory_idle",)}.get(self.kind, (self.kind,))

    def described(self):
        return {key: value for key, value in dataclasses.asdict(self).items() if key not in ("round", "rate")}


def row_of(described):
    return Row(**described)


def phases(scale, subjects):
    """Rows in groups that are measured one after the other; a group is gone through in rounds, every second one in reverse."""
    ids = [name for name in subjects if name != CONTROL]
    served = {load: [name for name in ids if subjects[name].serves(loads.LOADS[load])] for load in loads.LOADS}
    chosen = list(scale.loads) + ([load.id for load in loads.LOADS.values() if load.application] if scale.application else [])
    found = [[Row("equal", name, load) for load in chosen for name in served[load]]]
    found.append([Row("equal", CONTROL, "d1")])
    found.append([Row("pair", CONTROL, "d1", FLOOR), Row("rung", CONTROL, "d1", parameter=64)])
    for load in chosen:
        rows = []
        for name in served[load]:
            if name != FLOOR:
                claim = name == HEADLINE
                rows.append(Row("pair", name, load, FLOOR, None, *(scale.claim_pairs if claim else scale.pairs), claim=claim))
        if HEADLINE in served[load] and RIVAL in served[load]:
            rows.append(Row("pair", HEADLINE, load, RIVAL, None, *scale.claim_pairs, claim=True))
        found.append(rows)
        found.append([Row("fixed", row.server, load, row.against, None, *scale.fixed_pairs) for row in rows])
    rounds = (scale.rounds, scale.rounds)
    for load in scale.ladder_loads:
        found.append([Row("rung", name, load, None, count, *rounds) for count in scale.rungs for name in served[load]])
    for load in scale.latency_loads:
        found.append([Row("latency", name, load, None, share, *rounds) for share in SHARES for name in served[load]])
    found.append([Row("idle", name, "d1", None, scale.idle) for name in served["d1"]])
    for load in chosen:
        found.append([Row("instructions", name, load) for name in served[load]])
    found.append([Row("system_calls", name, load) for load in chosen if loads.LOADS[load].depth == 1 for name in served[load]])
    return [rows for rows in found if rows]


def narrowed(groups, servers=None, wanted_loads=None, metrics=None):
    """The rows of --only, and what their verdicts need: equality before, rungs before latencies."""
    def chosen(row):
        compared = servers is None or row.server in servers or row.server == CONTROL
        if not compared or wanted_loads is not None and row.load not in wanted_loads and row.server != CONTROL:
            return False
        needed = set(metrics or ()) | ({"ladder"} if any(metric.startswith("latency") for metric in metrics or ()) else set())
        return metrics is None or row.kind == "equal" or row.server == CONTROL or bool(needed & set(row.metrics))

    kept = [[row for row in rows if chosen(row)] for rows in groups]
    others = {(row.against, row.load) for rows in kept for row in rows if row.against}
    kept[0] += [row for row in groups[0] if row.kind == "equal" and (row.server, row.load) in others and row not in kept[0]]
    return [rows for rows in kept if rows]


def seconds(row, times):
    """About how long one measurement takes, starts and ends included."""
    return {
        "equal": 1.3,
        "pair": 2 * times.warm + (times.claim if row.claim else times.pair) + 0.5,
        "fixed": 2 * times.warm + 4 * times.fixed + 0.7,
        "rung": times.warm + times.rung + 0.3,
        "latency": times.warm + times.latency + 0.3,
        "idle": 1 + (row.parameter or 0) / 2500,
        "instructions": 2.5,
        "system_calls": 1.8,
    }[row.kind]


def estimate(rows, times, done=None):
    """Seconds at least and at most of the rows; done(row) is how often each was measured."""
    least = most = 0.0
    for row in rows:
        had = done(row) if done else 0
        one = seconds(row, times)
        least += max(0, row.least - had) * (one if row.kind != "fixed" else 0)  # those are run only when busy shares differ
        most += max(0, row.most - had) * one
    return least, most


class Standing:
    """What the runs so far say about each row: whether it wants another one, and at which rate."""

    def __init__(self, runs):
        self.runs = {}
        for run in runs:
            self.add(run)

    def add(self, run):
        self.runs.setdefault(run["row"], []).append(run)

    def of(self, row):
        return self.runs.get(row.id, [])

    def good(self, row):
        """The runs that count: whole, and on a quiet machine."""
        return [run for run in self.of(row) if not run.get("fault") and not run.get("faults") and not run["disturbed"]]

    def ratios(self, row):
        return [run["sides"][row.server]["ns"] / run["sides"][row.against]["ns"] for run in self.good(row)]

    def narrow(self, row):
        """Of pairs: the interval needs no more of them."""
        return row.kind != "pair" or verdicts.half_width(verdicts.median_interval(self.ratios(row))) < rules.HALF_WIDTH_MAX

    def unequal(self, row):
        """Whether one of the compared servers failed the check before timing."""
        checks = [run for name in filter(None, (row.server, row.against)) for run in self.runs.get(Row("equal", name, row.load).id, [])]
        return row.kind != "equal" and any(run.get("fault") for run in checks)

    def wants(self, row):
        runs, good = self.of(row), self.good(row)
        failed = sum(1 for run in runs if run.get("fault") or run.get("faults"))
        if self.unequal(row) or failed >= (1 if row.kind in ("equal", "instructions", "system_calls", "idle") else FAULTS_MAX):
            return False
        if len(runs) >= row.most + (row.most + 1) // 2 or row.kind == "fixed" and self.fixed_rate(row) is None:
            return False
        if row.kind == "latency" and self.base(row.server, row.load) is None:
            return False
        return len(good) < row.least or len(good) < row.most and not self.narrow(row)

    def fixed_rate(self, row):
        """Half of what the slower one did in the turns, when the busy shares are too far apart to compare those; None otherwise."""
        of_pair = dataclasses.replace(row, kind="pair")
        runs = self.good(of_pair)
        if not runs:
            return None
        busy, rate = [], []
        for name in (row.server, row.against):
            sides = [run["sides"][name] for run in runs]
            busy.append(statistics.median(side["server_busy"] for side in sides))
            rate.append(statistics.median(side["server_busy"] * 1e9 / side["ns"] for side in sides))
        return rounded(min(rate) / 2) if rules.unequal_busy_shares(*busy) else None

    def base(self, server, load):
        """The ceiling that fixed rates are shares of: the highest rate of a rung. Where the generator was the limit, the rate at which it would
        have been busy for as long as it may."""
        rates = [run["rate"] * min(1.0, rules.GENERATOR_BUSY_MAX / max(run["client_busy"] + run["client_waited"], 0.01))
                 for runs in self.runs.values() for run in runs
                 if (run["kind"], run["server"], run["load"]) == ("rung", server, load) and not (run.get("fault") or run["faults"] or run["disturbed"])]
        return max(rates) if rates else None

    def ready(self, row):
        """The row with the round and the rate of its next measurement."""
        rate = None
        if row.kind == "fixed":
            rate = self.fixed_rate(row)
        elif row.kind == "latency":
            rate = rounded(self.base(row.server, row.load) * row.parameter / 100)
        return dataclasses.replace(row, round=len(self.of(row)), rate=rate, parameter=rate if row.kind == "fixed" else row.parameter)


def rounded(rate):
    """To two digits, and at least 10."""
    return max(10.0, float(f"{rate:.2g}"))


def walk(groups, standing):
    """The next measurement, again and again until no row wants one. It depends on the runs alone, so a stopped run goes on where it was."""
    for rows in groups:
        turn = 0
        while wanting := [row for row in rows if standing.wants(row)]:
            for row in reversed(wanting) if turn % 2 else wanting:
                if standing.wants(row):
                    yield row, standing.ready(row)
            turn += 1
