"""Whether what was seen of a drill keeps its bounds: faults, and why time could not be judged."""

import bounds

# Beyond it the generator itself is so late that latencies say nothing of the server.
LATE_MS_MAX = 25
# Of a phase the server may have waited for its processor, which nobody else should use.
WAITED_SHARE_MAX = 0.1


def of_healthy(drilled):
    """(faults that hold anyway, faults of time, why time cannot be judged)"""
    faults, slow, busy = [], [], []
    base, attacked, after = drilled.base.healthy, drilled.attacked.healthy, drilled.after.healthy
    for title, seen in (("", attacked), ("after the attack ", after)):
        if seen["answered"] < bounds.ANSWERED_SHARE_MIN * seen["asked"]:
            kinds = {kind: seen[kind] for kind in ("refused", "wrong", "broke_off", "not_connected", "timed_out", "cut") if seen[kind]}
            text = f"{title}{seen['answered']} of {seen['asked']} healthy requests answered: {kinds}"
            # On a machine that gives nobody time all run out of it.
            (slow if kinds.keys() <= {"timed_out", "cut"} else faults).append(text)
    allowed = max(bounds.P99_MS_MAX, bounds.P99_TIMES_MAX * base["p99_ms"])
    if attacked["p99_ms"] > allowed:
        slow.append(f"p99 {attacked['p99_ms']:.1f} ms, {allowed:.0f} allowed")
    unattacked = max(base["p99_ms"], after["p99_ms"])
    if unattacked > bounds.P99_MS_MAX:
        busy.append(f"p99 is {unattacked:.0f} ms without an attack")
    if attacked["late_p99_ms"] > LATE_MS_MAX:
        busy.append(f"the healthy client is {attacked['late_p99_ms']:.0f} ms late itself")
    waited = max(phase.waited_seconds / phase.seconds for phase in (drilled.base, drilled.attacked))
    if waited > WAITED_SHARE_MAX:
        busy.append(f"others had the server's processor while it could have run, {waited:.0%} of the time")
    return faults, slow, busy


def cpu_ms(bound, drilled):
    """(what the attack cost, what it may cost, of what)"""
    sent, opened = drilled.attacker["sent_bytes"] / 1e6, drilled.attacker["opened"]
    if bound.cpu_ms_per_mb:
        return 1e3 * drilled.extra_cpu_seconds / max(sent, 1e-6), bound.cpu_ms_per_mb, "MB"
    return 1e3 * drilled.extra_cpu_seconds / max(opened, 1), bound.cpu_ms_per_connection, "connection"


def of_cost(bound, drilled):
    faults = []
    cost, allowed, unit = cpu_ms(bound, drilled)
    if cost > allowed:
        faults.append(f"{cost:.3f} ms of the server's CPU per attacker {unit}, {allowed} allowed")
    each = drilled.growth_bytes / max(drilled.attacker["open_max"], 1)
    if each > bound.connection_bytes:
        faults.append(f"{each:.0f} bytes per attacking connection, {bound.connection_bytes} allowed")
    if drilled.growth_bytes > bounds.HELD_BYTES_MAX:
        faults.append(f"{drilled.growth_bytes >> 20} MiB taken, {bounds.HELD_BYTES_MAX >> 20} allowed")
    if drilled.left_bytes > bound.left_bytes:
        faults.append(f"{drilled.left_bytes >> 20} MiB left afterwards, {bound.left_bytes >> 20} allowed")
    if drilled.left_descriptors > 0:
        faults.append(f"{drilled.left_descriptors} descriptors left afterwards")
    return faults


def of_told(bound, drilled):
    """What attackers were told, and how their connections ended."""
    faults, seen = [], drilled.attacker
    statuses = {int(status): count for status, count in seen["statuses"].items()}
    strange = {status: count for status, count in statuses.items() if status not in bound.told + bound.besides}
    if strange:
        faults.append(f"attackers were told {strange}")
    ended = seen["closed"] + seen["reset"]
    told = sum(statuses.get(status, 0) for status in bound.told)
    if bound.told and (not ended or told < bounds.TOLD_SHARE_MIN * ended):
        faults.append(f"{told} of {ended} ended connections were told {' or '.join(map(str, bound.told))}")
    if bound.ends and (not seen[bound.ends] or seen[bound.ends] < bounds.TOLD_SHARE_MIN * ended):
        faults.append(f"{seen[bound.ends]} of {ended} ended connections were {bound.ends}")
    if bound.ends_after_ms and ended and seen["ended_ms_p50"] < bound.ends_after_ms:
        faults.append(f"connections ended after {seen['ended_ms_p50']} ms, before their time of {bound.ends_after_ms}")
    if bound.answer_bytes_max and seen["received_bytes"] > bound.answer_bytes_max * sum(statuses.values()):
        faults.append(f"{seen['received_bytes']} bytes in {sum(statuses.values())} answers")
    if not seen["opened"] or seen["not_connected"] > seen["opened"] // 10:
        faults.append(f"the attack itself failed: {seen['opened']} connections, {seen['not_connected']} not made")
    return faults


def verdict(bound, drilled):
    """("passed" or "failed" or "skipped", why)"""
    faults, slow, busy = of_healthy(drilled)
    faults += of_cost(bound, drilled) + of_told(bound, drilled) + list(drilled.faults)
    if faults or (slow and not busy):
        return "failed", "; ".join(faults + slow)
    if busy and slow:
        return "skipped", f"the machine is too busy: {'; '.join(busy)} (processor time and memory are within their bounds)"
    return "passed", ""
