"""What the judge must find: servers whose limits are off, and figures that are out of bounds."""

import copy
import dataclasses

import judge
from bounds import BOUNDS, KIB

BY_NAME = {bound.name: bound for bound in BOUNDS}
NO_TIMEOUTS = ("--timeouts-percent", "100000")

# name, drill, options of the server instead of the drill's, a word of the fault that must be named
SERVERS = [
    ("no_timeouts_and_few_connections", "slow_heads", (*NO_TIMEOUTS, "--connections-max", "200"), "healthy requests answered"),
    ("no_head_timeout", "slow_heads", NO_TIMEOUTS, "were told 408"),
    ("no_write_timeout", "stalled_readers", NO_TIMEOUTS, "were reset"),
    ("no_bound_on_bytes", "hoarded_bodies", (*NO_TIMEOUTS, "--unbounded"), "MiB taken"),
]


def healthy(**changed):
    seen = dict.fromkeys(("refused", "wrong", "broke_off", "not_connected", "timed_out", "cut"), 0)
    return {"asked": 10_000, "answered": 10_000, **seen, "p50_ms": 1.0, "p99_ms": 3.0, "p999_ms": 5.0, "max_ms": 9.0, "late_p99_ms": 1.0,
            "late_max_ms": 2.0, "cpu_seconds": 1.0, **changed}


def drilled_well(rig_module):
    phases = [rig_module.Phase(healthy(), 0.5, 3.0, 0.0) for _ in range(3)]
    attacker = {"opened": 1000, "not_connected": 0, "open_max": 1000, "sent_bytes": 10_000_000, "received_bytes": 100_000, "sends": 1000,
                "closed": 1000, "reset": 0, "left": 0, "still_open": 0, "unanswered": 0, "ended_ms_p50": 2000, "ended_ms_max": 2100,
                "statuses": {"408": 1000}}
    return rig_module.Drilled(*phases, attacker, 0.1, 1000 * KIB, 0, 0, 0)


# name, how a good drill is changed, the result, a word of the reason
FIGURES = [
    ("good", lambda at: None, "passed", ""),
    ("slow", lambda at: at.attacked.healthy.update(p99_ms=51), "failed", "p99 51"),
    ("slow_but_five_times", lambda at: (at.attacked.healthy.update(p99_ms=100), at.base.healthy.update(p99_ms=21)), "passed", ""),
    ("busy", lambda at: (at.attacked.healthy.update(p99_ms=999), at.base.healthy.update(p99_ms=60)), "skipped", "too busy"),
    ("late", lambda at: at.attacked.healthy.update(p99_ms=99, late_p99_ms=40), "skipped", "late itself"),
    ("crowded", lambda at: (at.attacked.healthy.update(p99_ms=99), setattr(at.attacked, "waited_seconds", 1.0)), "skipped",
     "server's processor"),
    ("busy_and_dear", lambda at: (at.base.healthy.update(p99_ms=60), setattr(at, "extra_cpu_seconds", 9)), "failed", "server's CPU"),
    ("two_in_a_thousand_lost", lambda at: at.attacked.healthy.update(answered=9980, refused=20), "failed", "9980 of 10000"),
    ("lost_afterwards", lambda at: at.after.healthy.update(answered=9980, wrong=20), "failed", "after the attack"),
    ("large", lambda at: setattr(at, "growth_bytes", 40_000 * KIB), "failed", "bytes per attacking connection"),
    ("memory_left", lambda at: setattr(at, "left_bytes", 20_000 * KIB), "failed", "MiB left"),
    ("descriptors_left", lambda at: setattr(at, "left_descriptors", 1), "failed", "descriptors left"),
    ("told_nothing", lambda at: at.attacker.update(statuses={}), "failed", "were told 408"),
    ("told_otherwise", lambda at: at.attacker.update(statuses={"408": 1000, "500": 1}), "failed", "were told {500: 1}"),
    ("ended_early", lambda at: at.attacker.update(ended_ms_p50=300), "failed", "before their time"),
    ("no_attack", lambda at: at.attacker.update(opened=0), "failed", "the attack itself failed"),
]


def run(at, run_drill, tell):
    import rig

    bad = False
    for name, change, wanted, word in FIGURES:
        drilled = copy.deepcopy(drilled_well(rig))
        change(drilled)
        result, why = judge.verdict(BY_NAME["slow_heads"], drilled)
        good = result == wanted and word in why
        bad = bad or not good
        tell("passed" if good else "failed", f"judge/{name}", f"{result} ({why}), not {wanted} for '{word}'")
    for name, drill, options, word in SERVERS:
        bound = dataclasses.replace(BY_NAME[drill])
        _, result, why = run_drill(at, bound, 2000, 6, options)
        good = result == "failed" and word in why
        bad = bad or not good
        tell("passed" if good else "failed", f"planted/{name}", f"{result} ({why}), not failed for '{word}'")
    return 1 if bad else 0
