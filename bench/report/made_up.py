"""A made-up record for the tests of the report: none of its figures was measured."""

from rig import artifact, loads

SERVERS = {  # title, kind, sends Date, and by how much it is dearer than the floor with one and with 16 requests in a write
    "floor": ("the blind floor", "floor", True, 1.0, 1.0),
    "hello": ("Martlet", "martlet", True, 1.03, 1.2),
    "rows": ("Martlet's application rows", "martlet", True, 1.3, 1.3),
    "hyper": ("hyper 1.x", "peer", True, 1.05, 1.7),
    "quick": ("a peer that is quicker", "peer", False, 1.01, 1.1),
    "nginx": ("nginx", "peer", True, 1.2, 13.1),
    "node": ("Node", "peer", True, 2.6, 26.0),
    "gone": ("a peer that cannot be built", "peer", True, 0, 0),
    "control": ("the control, which lies", "control", True, 0, 0),
}
PLAINTEXT = ("d1", "d16", "d1-browser", "d16-browser")
WHY_GONE = "its compiler is missing"
WHY_NODE = "the generator was the limit: it used 91% of its processors or waited for them, at most 85%"


def figure(metric, server, load, samples, against=None, parameter=None, verdict=artifact.OK, reasons=(), detail=None):
    shown = verdict in (artifact.OK, artifact.INCONCLUSIVE)
    ordered = sorted(samples)
    wide = shown and len(samples) >= 5
    return {
        "metric": metric,
        "server": server,
        "against": against,
        "load": load,
        "parameter": parameter,
        "unit": artifact.METRICS[metric][0],
        "value": ordered[len(ordered) // 2] if shown else None,
        "low": ordered[0] if wide else None,
        "high": ordered[-1] if wide else None,
        "samples": samples,
        "pairs": len(samples),
        "verdict": verdict,
        "reasons": list(reasons),
        "detail": detail or {},
    }


def around(middle, width=0.01, count=5):
    return [round(middle * (1 + width * (number - count // 2)), 6) for number in range(count)]


def of_server(name, cost, deep, found):
    for load in PLAINTEXT:
        factor = (deep if "16" in load else cost) * (1.15 if "browser" in load and name != "floor" else 1)
        base = 450 if "16" in load else 4900
        found.append(figure("cpu_ns", name, load, around(base * factor), detail={"beside": "floor"}))
        if name != "floor":
            found.append(figure("cpu_ratio", name, load, around(factor), "floor"))
        found.append(figure("instructions", name, load, [round(160 + 1300 * (factor - 1), 2)]))
    for load, base in (("d1", 180_000), ("d16", 1_900_000)):
        factor = deep if "16" in load else cost
        for count, share in ((1, 0.2), (4, 0.5), (16, 0.8), (64, 0.97), (256, 1.0), (1024, 0.98)):
            hidden = name == "node" and count > 64
            found.append(
                figure(
                    "ladder",
                    name,
                    load,
                    around(base * share / factor, count=3),
                    parameter=count,
                    **({"verdict": artifact.WITHHELD, "reasons": [WHY_NODE]} if hidden else {}),
                )
            )
        found.append(
            figure(
                "rate_max",
                name,
                load,
                around(base / factor, count=3),
                detail={"connections": 256},
                **({"verdict": artifact.WITHHELD, "reasons": [WHY_NODE]} if name == "node" else {}),
            )
        )
        found.append(figure("memory_peak", name, load, [round(2e6 + 4e6 * (deep - 1))] * 3, detail={"connections": 64}))
    for share, late in ((25, 1.0), (50, 1.6), (75, 4.0)):
        for metric, base in (("latency_p50", 60), ("latency_p99", 190), ("latency_p999", 800)):
            found.append(
                figure(metric, name, "d1", around(base * late * cost, 0.03, 3), parameter=share, detail={"offered": 1800.0 * share / cost})
            )
    found.append(figure("memory_idle", name, "d1", [round(45 + 230 * (deep - 1) * 5, 1)], parameter=10_000))
    found.append(figure("system_calls", name, "d1", [2.0 if cost < 1.1 else 3.0]))


def record(kind="full", began="2001-01-01T10:00:00+00:00"):
    """A whole record in which one peer is better than Martlet, one worse, and one could not be built."""
    found = []
    for name, (_, _, _, cost, deep) in SERVERS.items():
        if cost and name != "rows":
            of_server(name, cost, deep, found)
    for load in ("json", "file", "form", "stream"):
        found.append(figure("cpu_ns", "floor", load, around(5000)))
        found.append(figure("cpu_ns", "rows", load, around(6500)))
        found.append(figure("cpu_ratio", "rows", load, around(1.3), "floor"))
    found.append(
        figure("cpu_ratio", "hello", "d1", around(0.98), "hyper", verdict=artifact.INCONCLUSIVE, reasons=["the interval has 1 in it"])
    )
    found.append(figure("cpu_ratio", "gone", "d1", [], "floor", verdict=artifact.SKIPPED, reasons=[WHY_GONE]))
    found.append(
        figure("cpu_ratio", "control", "d1", [], "floor", verdict=artifact.WITHHELD, reasons=["wrong while it was timed: 7 wrong hash"])
    )
    return {
        "format": artifact.FORMAT,
        "kind": kind,
        "began": began,
        "ended": began.replace("T10", "T12"),
        "hours": 2.0,
        "hours_planned": 2.1,
        "void": [],
        "source": {"commit": "0" * 40, "dirty": [], "builds": []},
        "machine": {"processor": "made up", "cpus": 2, "kernel": "0.0"},
        "versions": {"generator": "martlet 0.0.0"},
        "settings": {"rules": {"half_width_max": 0.015, "generator_busy_max": 0.85, "busy_apart_max": 0.2}, "plan": []},
        "servers": {
            name: {
                "title": title,
                "kind": server_kind,
                "version": "0.0",
                "settings": "made up",
                "dates": dates,
                "skipped": WHY_GONE if name == "gone" else None,
            }
            for name, (title, server_kind, dates, _, _) in SERVERS.items()
        },
        "loads": {
            load.id: {"title": load.title, "shape": load.shape, "depth": load.depth, "connections": load.connections, "path": load.path}
            for load in loads.LOADS.values()
        },
        "figures": found,
        "runs": [],
    }
