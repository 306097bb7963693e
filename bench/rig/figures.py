"""From the raw runs of a record to its figures, each with its verdict. Nothing is measured here; the rules are in rig/rules.py."""

import dataclasses
import statistics

from . import rules, verdicts
from .artifact import INCONCLUSIVE, METRICS, OK, SKIPPED, WITHHELD
from .plan import FLOOR, HEADLINE, Standing, row_of


def used_by_generator(runs):
    return statistics.median(run["client_busy"] + run["client_waited"] for run in runs)


class Maker:
    """Makes the figures of one record."""

    def __init__(self, record):
        self.record, self.made = record, []
        self.standing = Standing(record["runs"])
        self.rows = [row_of(described) for described in record["settings"]["plan"]]
        self.everywhere = [reason for reason in (rules.debug_build(record["source"]["builds"]), rules.dirty_tree(record["source"])) if reason]

    def skipped(self, row):
        """Why a row was not to be measured."""
        for name in filter(None, (row.server, row.against)):
            server = self.record["servers"][name]
            if reason := server["skipped"] or server.get("skipped_loads", {}).get(row.load):
                return reason
        for run in self.standing.of(row):
            if run.get("refused"):
                return run["fault"]
        return None

    def add(self, metric, row, samples, reasons, interval=None, parameter=None, doubt=None, value=None, detail=None, against=None):
        """One figure; `reasons` withhold it, `doubt` makes it inconclusive."""
        skipped = self.skipped(row)
        reasons = list(dict.fromkeys(reason for reason in reasons if reason))
        if skipped:
            verdict, reasons = SKIPPED, [skipped]
        else:
            reasons = self.everywhere + reasons
            verdict = WITHHELD if reasons else INCONCLUSIVE if doubt else OK
            if verdict == INCONCLUSIVE:
                reasons = [doubt]
        shown = verdict in (OK, INCONCLUSIVE)
        if shown and value is None:
            value = statistics.median(samples)
        if shown and interval is None and len(samples) >= 5:
            interval = verdicts.median_interval(samples)[1:]
        low, high = interval if shown and interval else (None, None)
        self.made.append({
            "metric": metric, "server": row.server, "against": against, "load": row.load, "parameter": parameter, "unit": METRICS[metric][0],
            "value": value if shown else None, "low": low, "high": high, "samples": samples, "pairs": len(samples), "verdict": verdict,
            "reasons": reasons, "detail": detail or {},
        })

    def common(self, row, metric):
        """Reasons that any row can have: unequal answers, errors, a busy machine, nothing measured."""
        checks = [run for name in filter(None, (row.server, row.against))
                  for run in self.record["runs"] if (run["kind"], run["server"], run["load"]) == ("equal", name, row.load)]
        runs, good = self.standing.of(row), self.standing.good(row)
        found = [rules.unequal_answers(checks) if checks else "its answers were not checked"]
        found.append(rules.errors(runs))
        if not runs:
            found.append(None if found[0] else "not measured")
        elif not any(found) and rules.applies("too few quiet runs", metric):
            found.append(rules.too_few_quiet(len(good), row.least, sum(1 for run in runs if run["disturbed"])))
        elif not any(found) and not good:
            found.append("not measured")
        return found

    def pair(self, row):
        good = self.standing.good(row)
        samples = self.standing.ratios(row)
        reasons, doubt, detail, interval = self.common(row, "cpu_ratio"), None, {}, None
        if samples:
            median = {name: {key: statistics.median(run["sides"][name][key] for run in good) for key in ("ns", "server_busy", "client_busy")}
                      for name in (row.server, row.against)}
            detail = {"medians": median, "claim": row.claim}
            reasons.append(rules.unequal_busy_shares(median[row.server]["server_busy"], median[row.against]["server_busy"]))
            reasons.append(rules.wide_spread("cpu_ratio", samples))
            whole = verdicts.median_interval(samples)
            interval, doubt = whole[1:], rules.straddles(whole, row.claim)
        self.add("cpu_ratio", row, samples, reasons, interval, doubt=doubt, detail=detail, against=row.against)
        if row.against == FLOOR:
            self.cost(row, row.server, good)
            if row.server == HEADLINE or row.load not in self.floors:
                self.floors[row.load] = (row, good)

    def cost(self, row, server, good):
        samples = [run["sides"][server]["ns"] for run in good]
        reasons = self.common(row, "cpu_ns") + ([rules.wide_spread("cpu_ns", samples)] if samples else [])
        other = row.server if server == row.against else row.against
        self.add("cpu_ns", dataclasses.replace(row, server=server, against=other), samples, reasons, detail={"beside": other})

    def fixed(self, row):
        runs = self.standing.of(row)
        if not runs and not self.skipped(row):
            return  # the turns were comparable
        good, samples = self.standing.good(row), self.standing.ratios(row)
        reasons = self.common(row, "cpu_ratio_fixed") + ([rules.late_generator(good)] if good else [])
        interval = doubt = None
        if samples:
            reasons.append(rules.wide_spread("cpu_ratio_fixed", samples))
            whole = verdicts.median_interval(samples)
            interval, doubt = whole[1:], rules.straddles(whole, False)
        if runs:
            self.add("cpu_ratio_fixed", row, samples, reasons, interval, parameter=runs[0]["parameter"], doubt=doubt, against=row.against)

    def rung(self, row):
        good = self.standing.good(row)
        samples = [run["rate"] for run in good]
        reasons = self.common(row, "ladder")
        if samples:
            reasons += [rules.saturated_generator(used_by_generator(good)), rules.wide_spread("ladder", samples)]
        self.add("ladder", row, samples, reasons, parameter=row.parameter,
                 detail={"client_busy": [run["client_busy"] for run in good], "server_busy": [run["server_busy"] for run in good]})
        self.ladders.setdefault((row.server, row.load), []).append((row, good))

    def ceiling(self, rows):
        """The highest rung of one server, and the most memory of the rung with the load's own connections."""
        first = rows[0][0]
        measured = [(row, good) for row, good in rows if good]
        reasons = [reason for row, _ in rows for reason in self.common(row, "rate_max")]
        samples, detail = [], {}
        if measured:
            points = [(row.parameter, statistics.median(run["rate"] for run in good)) for row, good in measured]
            top, good = max(measured, key=lambda each: statistics.median(run["rate"] for run in each[1]))
            samples = [run["rate"] for run in good]
            reasons += [rules.saturated_generator(used_by_generator(good)), rules.ladder_not_flat(points),
                        rules.wide_spread("rate_max", samples)]
            detail = {"connections": top.parameter, "base": self.standing.base(first.server, first.load)}
        self.add("rate_max", first, samples, reasons, detail=detail)
        own = self.record["loads"][first.load]["connections"]
        for row, good in rows:
            if row.parameter == own:
                peaks = [run["memory_peak"] for run in good]
                reasons = self.common(row, "memory_peak") + ([rules.wide_spread("memory_peak", peaks)] if peaks else ["not measured on a quiet machine"])
                self.add("memory_peak", row, peaks, reasons, detail={"connections": own})

    def latency(self, row):
        good = self.standing.good(row)
        for metric, key in (("latency_p50", "p50_us"), ("latency_p99", "p99_us"), ("latency_p999", "p999_us")):
            samples = [run[key] for run in good if key in run]
            reasons = self.common(row, metric)
            if self.standing.base(row.server, row.load) is None:
                reasons = [reason for reason in reasons if reason != "not measured"] + ["there is no ceiling to take a share of"]
            if good:
                reasons += [rules.saturated_generator(used_by_generator(good)), rules.wide_spread(metric, samples), rules.late_generator(good)]
            self.add(metric, row, samples, reasons, parameter=row.parameter, detail={"offered": good[0]["offered"]} if good else {})

    def counted(self, row, metric, parameter=None):
        good = self.standing.good(row)
        detail = {"calls": good[0]["calls"]} if good and "calls" in good[0] else {}
        self.add(metric, row, [run["value"] for run in good], self.common(row, metric), parameter=parameter, detail=detail)

    def figures(self):
        self.floors, self.ladders = {}, {}
        for row in self.rows:
            if row.kind in ("pair", "fixed", "rung", "latency"):
                getattr(self, row.kind)(row)
            elif row.kind == "idle":
                self.counted(row, "memory_idle", row.parameter)
            elif row.kind != "equal":
                self.counted(row, row.kind)
        for row, good in self.floors.values():
            self.cost(row, FLOOR, good)
        for rows in self.ladders.values():
            self.ceiling(rows)
        return self.made


def settle(record):
    """Makes the figures of `record` from its runs, and says whether it is void."""
    record["figures"] = Maker(record).figures()
    controls = [name for name, server in record["servers"].items() if server["kind"] == "control"]
    record["void"] = []
    if controls and record["ended"] is not None:
        passed = rules.control_passed([figure for figure in record["figures"] if figure["server"] in controls])
        record["void"] = [passed] if passed else []
    return record
