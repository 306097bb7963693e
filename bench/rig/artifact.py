"""The record of one run of bench/run: one JSON file with the machine, the versions, every raw run and every figure with its verdict.

Figures are made from the raw runs alone (rig/figures.py), so a record can be judged again later. `faults` says what is wrong with a record,
`Record` finds figures in it.
"""

import glob
import json
import os

FORMAT = 1
KINDS = ("full", "quick", "part")  # part: --only chose some of it
SERVER_KINDS = ("floor", "martlet", "peer", "control")
OK, INCONCLUSIVE, WITHHELD, SKIPPED = "ok", "inconclusive", "withheld", "skipped"
VERDICTS = (OK, INCONCLUSIVE, WITHHELD, SKIPPED)
METRICS = {  # unit, and what its parameter says
    "cpu_ns": ("ns", None),
    "cpu_ratio": ("ratio", None),
    "cpu_ratio_fixed": ("ratio", "requests a second that are offered to both"),
    "rate_max": ("1/s", None),
    "ladder": ("1/s", "connections"),
    "latency_p50": ("us", "percent of the ceiling"),
    "latency_p99": ("us", "percent of the ceiling"),
    "latency_p999": ("us", "percent of the ceiling"),
    "memory_peak": ("bytes", None),
    "memory_idle": ("bytes", "connections"),
    "instructions": ("instructions", None),
    "system_calls": ("calls", None),
}
TOP = {
    "format": int, "kind": str, "began": str, "ended": (str, type(None)), "hours": (int, float, type(None)), "hours_planned": (int, float),
    "void": list, "source": dict, "machine": dict, "versions": dict, "settings": dict, "servers": dict, "loads": dict, "figures": list,
    "runs": list,
}
SERVER = {"title": str, "kind": str, "version": str, "settings": str, "dates": bool, "skipped": (str, type(None))}
SERVER_MAY = {"skipped_loads": dict}  # reason by load
LOAD = {"title": str, "shape": str, "depth": int, "connections": int, "path": str}
FIGURE = {
    "metric": str, "server": str, "against": (str, type(None)), "load": (str, type(None)), "parameter": (int, float, type(None)), "unit": str,
    "value": (int, float, type(None)), "low": (int, float, type(None)), "high": (int, float, type(None)), "samples": list, "pairs": int,
    "verdict": str, "reasons": list, "detail": dict,
}


class Unusable(Exception):
    """The file is no record of a run, or one with faults; the text says which."""


def of_shape(where, thing, shape, may=()):
    """What is missing in `thing`, unknown, or of a wrong type."""
    if not isinstance(thing, dict):
        return [f"{where}: no object"]
    found = [f"{where}: '{name}' is missing" for name in shape if name not in thing]
    found += [f"{where}: '{name}' is unknown" for name in thing if name not in shape and name not in may]
    for name, types in shape.items():
        value = thing.get(name)
        wanted = types if isinstance(types, tuple) else (types,)
        if name in thing and (not isinstance(value, types) or isinstance(value, bool) and bool not in wanted):
            found.append(f"{where}: '{name}' is {value!r}")
    return found


def figure_name(figure):
    words = [figure.get("metric"), figure.get("server"), figure.get("against") and f"against {figure['against']}", figure.get("load"),
             None if figure.get("parameter") is None else f"at {figure['parameter']:g}"]
    return " ".join(str(word) for word in words if word)


def figure_faults(record, figure):
    where = figure_name(figure)
    found = of_shape(where, figure, FIGURE)
    if found:
        return found
    if figure["metric"] not in METRICS:
        found.append(f"{where}: unknown metric")
    elif figure["unit"] != METRICS[figure["metric"]][0]:
        found.append(f"{where}: unit {figure['unit']!r}")
    elif (METRICS[figure["metric"]][1] is None) != (figure["parameter"] is None):
        found.append(f"{where}: parameter {figure['parameter']!r}")
    for name in ("server", "against"):
        if figure[name] is not None and figure[name] not in record["servers"]:
            found.append(f"{where}: unknown server {figure[name]!r}")
    if figure["load"] is not None and figure["load"] not in record["loads"]:
        found.append(f"{where}: unknown load {figure['load']!r}")
    if figure["verdict"] not in VERDICTS:
        found.append(f"{where}: verdict {figure['verdict']!r}")
    shown = figure["verdict"] in (OK, INCONCLUSIVE)
    if shown != (figure["value"] is not None):
        found.append(f"{where}: {figure['verdict']} with value {figure['value']!r}")
    if figure["verdict"] != OK and not figure["reasons"]:
        found.append(f"{where}: {figure['verdict']} without a reason")
    if figure["verdict"] == OK and figure["reasons"]:
        found.append(f"{where}: ok with reasons {figure['reasons']}")
    ends = [end for end in (figure["low"], figure["high"]) if end is not None]
    if len(ends) == 1 or ends and figure["value"] is None or ends and not ends[0] <= figure["value"] <= ends[1]:
        found.append(f"{where}: interval {ends} around {figure['value']!r}")
    return found


def control_faults(record):
    """The control must be measured and withheld everywhere: a run in which it passes says nothing."""
    controls = [name for name, server in record["servers"].items() if server["kind"] == "control"]
    if record["ended"] is None or record["kind"] == "part" and not controls:
        return []
    found = []
    for control in controls or ["control"]:
        rows = [figure for figure in record["figures"] if figure["server"] == control]
        if not rows:
            found.append(f"the control {control!r} was not measured")
        found += [f"the control passed: {figure_name(figure)}" for figure in rows if figure["verdict"] != WITHHELD]
    return found


def faults(record):
    """What is wrong with a record; empty when nothing is. A void one has faults too."""
    found = of_shape("record", record, TOP)
    if found:
        return found
    if record["format"] != FORMAT:
        return [f"format {record['format']}, this program knows {FORMAT}"]
    if record["kind"] not in KINDS:
        found.append(f"kind {record['kind']!r}")
    if not isinstance(record["source"].get("commit"), str) or not isinstance(record["source"].get("dirty"), list):
        found.append("source needs 'commit' and 'dirty'")
    for name, server in record["servers"].items():
        found += of_shape(f"server {name}", server, SERVER, SERVER_MAY)
        if server.get("kind") not in SERVER_KINDS:
            found.append(f"server {name}: kind {server.get('kind')!r}")
    for name, load in record["loads"].items():
        found += of_shape(f"load {name}", load, LOAD)
    seen = set()
    if not found:
        for figure in record["figures"]:
            found += figure_faults(record, figure)
            name = figure_name(figure)
            if name in seen:
                found.append(f"{name}: twice")
            seen.add(name)
    if not found:
        found += control_faults(record)
    return found + [f"void: {reason}" for reason in record["void"]]


class Record:
    """A record that was read, and its figures by what they say."""

    def __init__(self, data, path=None):
        self.data, self.path = data, path
        self.figures = {figure_name(figure): figure for figure in data["figures"]}

    def figure(self, metric, server, load=None, against=None, parameter=None):
        """The figure, or None when the run has none of it."""
        return self.figures.get(figure_name({"metric": metric, "server": server, "against": against, "load": load, "parameter": parameter}))

    def of_metric(self, metric, load=None):
        """Every figure of a metric, in the order of the servers."""
        order = list(self.data["servers"])
        rows = [figure for figure in self.data["figures"] if figure["metric"] == metric and (load is None or figure["load"] == load)]
        return sorted(rows, key=lambda figure: order.index(figure["server"]))


def load(path):
    """The JSON of a record, finished or not, unchecked but for being a record of this format."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError) as error:
        raise Unusable(f"{path}: {error}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise Unusable(f"{path}: no record of format {FORMAT}")
    return data


def read(path, void_too=False):
    """A whole record. Raises Unusable for one with faults and for one that has not ended; a void one is given on demand."""
    data = load(path)
    found = [fault for fault in faults(data) if not (void_too and (fault.startswith("void: ") or fault.startswith("the control")))]
    if found:
        raise Unusable(f"{path}: " + "; ".join(found[:5]))
    if data["ended"] is None:
        raise Unusable(f"{path}: the run has not ended; bench/run --resume {path} goes on with it")
    return Record(data, path)


def write(record, path):
    """Writes it in one step, so that who stops the run leaves a whole file; a figure or run stands in a line of its own."""
    lines = []
    for name, value in record.items():
        if name in ("figures", "runs"):
            rows = ",\n  ".join(json.dumps(row, sort_keys=True) for row in value)
            lines.append(f' "{name}": [\n  {rows}\n ]' if rows else f' "{name}": []')
        else:
            lines.append(f' "{name}": ' + json.dumps(value, indent=1).replace("\n", "\n "))
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    part = f"{path}.part"
    with open(part, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
    os.replace(part, path)


def newest(folder, kinds=("full", "quick")):
    """The path of the record that began last among those of the first kind that has any; None when there is none."""
    found = {kind: [] for kind in kinds}
    for path in glob.glob(os.path.join(folder, "*.json")):
        try:
            record = read(path)
        except Unusable:
            continue
        if record.data["kind"] in found:
            found[record.data["kind"]].append((record.data["began"], path))
    return next((max(found[kind])[1] for kind in kinds if found[kind]), None)
