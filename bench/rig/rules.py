"""What makes a figure worth believing. Each rule takes measured facts and returns the reason against them, or None.

Nothing here measures. `RULES` names each rule with the metrics that it withholds.
"""

import statistics

from . import verdicts

GENERATOR_BUSY_MAX = 0.85  # of its processors
BUSY_APART_MAX = 0.20
FLAT_MIN = 0.90  # of the highest rate, which a neighbour must reach
HALF_WIDTH_MAX = 0.015
SPREAD_MAX = {"cpu_ratio": 0.10, "cpu_ratio_fixed": 0.15, "cpu_ns": 0.30, "rate_max": 0.10, "ladder": 0.15, "latency_p50": 0.30,
              "latency_p99": 0.60, "latency_p999": 1.50, "memory_peak": 0.20, "memory_idle": 0.10}
OTHERS_BUSY_MAX = 0.10  # of one processor
STEAL_MAX = 0.02
KEPT_UP_MIN = 0.99
LATE_MAX_US = 1000.0  # by which the generator may be late for one request in a hundred
ANSWERS_APART_MAX = 32


def settings():
    """The bounds, for the record."""
    return {name.lower(): value for name, value in globals().items() if name.isupper() and name.endswith(("_MAX", "_MIN", "_MAX_US"))}


def saturated_generator(used):
    """`used`: the share of the time in which it ran or was ready to run and waited for its processor."""
    if used > GENERATOR_BUSY_MAX:
        return f"the generator was the limit: it used {used:.0%} of its processors or waited for them, at most {GENERATOR_BUSY_MAX:.0%}"
    return None


def late_generator(runs):
    """Of runs at one fixed rate: what was due was not sent, or late."""
    slowest = min(runs, key=lambda run: run["rate"])
    if slowest["fell_behind"] or slowest["rate"] < KEPT_UP_MIN * slowest["offered"]:
        return f"{slowest['rate']:.0f} of {slowest['offered']:.0f} requests a second that were offered"
    late = statistics.median(run.get("late_p99_us", 0) for run in runs)
    if late > LATE_MAX_US:
        return f"the generator was late: {late:.0f} us for one request in a hundred, at most {LATE_MAX_US:.0f}"
    return None


def unequal_busy_shares(first, second):
    if abs(first - second) > BUSY_APART_MAX:
        return f"the servers were busy for {first:.0%} and {second:.0%} of the time, over {100 * BUSY_APART_MAX:.0f} points apart"
    return None


def ladder_not_flat(points):
    """Of pairs (connections, rate): the top is flat when a neighbour of the highest rung comes near it."""
    points = sorted(points)
    if len(points) < 3:
        return f"a ladder of {len(points)} rungs says nothing of its top"
    rates = [rate for _, rate in points]
    top = max(range(len(rates)), key=rates.__getitem__)
    best = max(rates[index] for index in (top - 1, top + 1) if 0 <= index < len(rates))
    if best < FLAT_MIN * rates[top]:
        return f"the ladder is not flat at the top: {rates[top]:.0f} a second with {points[top][0]} connections, beside it {best:.0f} at most"
    return None


def spread(samples):
    """How far apart the middle half of the samples lies, over their median; of fewer than four, how far apart all are."""
    if len(samples) < 2:
        return 0.0
    if len(samples) < 4:
        low, high = min(samples), max(samples)
    else:
        low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
    return (high - low) / statistics.median(samples)


def wide_spread(metric, samples):
    limit = SPREAD_MAX.get(metric)
    if limit is not None and spread(samples) > limit:
        return f"the samples lie {spread(samples):.0%} apart, at most {limit:.0%}"
    return None


def straddles(interval, is_claim):
    """Of a ratio: neither above nor below 1 for sure; of a claim, too, that its interval stayed wide."""
    if is_claim and verdicts.half_width(interval) >= HALF_WIDTH_MAX:
        return f"the interval stayed wide: half of it is {verdicts.half_width(interval):.1%}, at most {HALF_WIDTH_MAX:.1%}"
    if interval[1] <= 1.0 <= interval[2]:
        return "the interval has 1 in it"
    return None


def errors(runs):
    """Any answer that was not right voids all that was measured with it."""
    failed = next((run["fault"] for run in runs if run.get("fault")), None)
    if failed:
        return f"it failed: {failed}"
    bad = {}
    for run in runs:
        for name, count in run.get("faults", {}).items():
            bad[name] = bad.get(name, 0) + count
    if bad:
        return "wrong while it was timed: " + ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(bad.items()))
    return None


def unequal_answers(checks):
    """Of the checks before timing of those who are compared."""
    for check in checks:
        if check.get("fault"):
            return f"{check['server']} does not give the equal answer: {check['fault']}"
    sizes = [check["answer_bytes"] for check in checks]
    if sizes and max(sizes) - min(sizes) > ANSWERS_APART_MAX:
        return f"answers differ by more than {ANSWERS_APART_MAX} bytes: {sizes}"
    return None


def busy_machine(facts):
    """Of one run, or one look: others had the processors, or the host had."""
    found = []
    if facts["others_busy"] > OTHERS_BUSY_MAX:
        found.append(f"others used {facts['others_busy']:.0%} of a processor, at most {OTHERS_BUSY_MAX:.0%}")
    if facts["steal"] > STEAL_MAX:
        found.append(f"the host took {facts['steal']:.1%} of the processors, at most {STEAL_MAX:.0%}")
    return "; ".join(found) or None


def too_few_quiet(quiet, wanted, disturbed):
    if quiet < wanted:
        return f"the machine was busy: {quiet} quiet runs of {wanted} wanted, {disturbed} disturbed"
    return None


def debug_build(builds):
    """Of the builds of the programs that were timed."""
    for build in builds:
        name = build["program"]
        if build["type"] is None:
            return f"{name}: nothing says how it was built"
        if build["type"] != "Release":
            return f"{name} is a {build['type'] or 'nameless'} build, not Release"
        if build["sanitizers"] or "-fsanitize" in build["flags"]:
            return f"{name} is built with sanitizers"
        if not any(flag in build["flags"].split() for flag in ("-O2", "-O3")):
            return f"{name} is built without optimisation: {build['flags'] or 'no flags'}"
    return None


def dirty_tree(source):
    if source["dirty"]:
        more = f" and {len(source['dirty']) - 3} more" if len(source["dirty"]) > 3 else ""
        return f"the tree differs from its commit: {', '.join(source['dirty'][:3])}{more}"
    return None


def control_passed(figures):
    """Of the figures of the control server, which lies: one that is not withheld makes the whole run void."""
    if not figures:
        return "the control was not measured"
    passed = [f"{figure['metric']} is {figure['verdict']}" for figure in figures if figure["verdict"] != "withheld"]
    return f"the control passed: {', '.join(passed)}" if passed else None


TIMED = ("cpu_ns", "cpu_ratio", "cpu_ratio_fixed", "rate_max", "ladder", "latency_p50", "latency_p99", "latency_p999")
LATENCIES = ("latency_p50", "latency_p99", "latency_p999")
EVERY = (*TIMED, "memory_peak", "memory_idle", "instructions", "system_calls")
RULES = {
    "saturated generator": (saturated_generator, ("rate_max", "ladder", *LATENCIES)),
    "late generator": (late_generator, LATENCIES),
    "unequal busy shares": (unequal_busy_shares, ("cpu_ratio",)),
    "ladder not flat": (ladder_not_flat, ("rate_max",)),
    "wide spread": (wide_spread, tuple(SPREAD_MAX)),
    "straddling interval": (straddles, ("cpu_ratio", "cpu_ratio_fixed")),
    "errors": (errors, EVERY),
    "unequal answers": (unequal_answers, EVERY),
    "busy machine": (busy_machine, TIMED),
    "too few quiet runs": (too_few_quiet, TIMED),
    "debug build": (debug_build, EVERY),
    "dirty tree": (dirty_tree, EVERY),
    "control passed": (control_passed, EVERY),
}


def applies(name, metric):
    return metric in RULES[name][1]
