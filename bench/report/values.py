"""How a figure reads, and how the template names one."""

from rig import artifact, loads, plan, subjects

HEADLINE, FLOOR = "hello", "floor"
LOWER_IS_BETTER = {metric: metric not in ("rate_max", "ladder") for metric in artifact.METRICS}
METRIC_TITLES = {
    "cpu_ns": "processor time a request",
    "cpu_ratio": "processor time a request, as a multiple",
    "cpu_ratio_fixed": "processor time a request at one rate for both, as a multiple",
    "rate_max": "highest rate",
    "ladder": "rate",
    "latency_p50": "latency of the request in the middle",
    "latency_p99": "latency of 99 %",
    "latency_p999": "latency of 99.9 %",
    "memory_peak": "most memory",
    "memory_idle": "memory of an idle connection",
    "instructions": "instructions a request",
    "system_calls": "system calls a request",
}
FORMS = ("value", "low", "high", "excess", "pairs")


class Unknown(Exception):
    """The template names what there is not; the text says what."""


def significant(number, digits=3):
    """`number` with that many significant digits, thousands apart, never in powers of ten."""
    if number == 0:
        return "0"
    whole = len(str(int(abs(number)))) if abs(number) >= 1 else 0
    if whole >= digits:
        return f"{round(number, digits - whole):,.0f}"
    lead = 0
    while not whole and lead < 12 and abs(number) * 10 ** (lead + 1) < 1:
        lead += 1
    return f"{number:,.{digits - whole + lead}f}"


def time_text(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(ns) >= size:
            return f"{significant(ns / size)} {unit}"
    return f"{significant(ns)} ns"


def number_text(metric, number):
    """A number of that metric with its unit."""
    unit = artifact.METRICS[metric][0]
    if unit == "ratio":
        return f"{number:.3f}" if number < 2 else significant(number)
    if unit == "ns":
        return time_text(number)
    if unit == "us":
        return time_text(number * 1000)
    if unit == "1/s":
        return significant(number)
    if metric == "memory_peak":
        return f"{significant(number / 1e6)} MB"
    if metric == "memory_idle":
        return f"{number:,.0f} bytes"
    if unit == "calls":
        return f"{number:.2f}"
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}"


def is_shown(figure):
    return figure is not None and figure["value"] is not None


def interval_text(figure):
    if not is_shown(figure) or figure["low"] is None:
        return ""
    return f"{number_text(figure['metric'], figure['low'])} to {number_text(figure['metric'], figure['high'])}"


def refusal_text(figure):
    """`withheld: reason`, or `skipped: reason`; empty for a figure that has a value."""
    return "" if is_shown(figure) else f"{figure['verdict']}: {'; '.join(figure['reasons'])}"


def verdict_text(figure):
    """`ok`, `inconclusive: reason`, or that there is none."""
    if figure["verdict"] == artifact.INCONCLUSIVE:
        return f"inconclusive: {'; '.join(figure['reasons'])}"
    return figure["verdict"]


def cell(figure):
    """A figure in a table of many: its value or why there is none."""
    if figure is None:
        return "not in this run"
    if not is_shown(figure):
        return refusal_text(figure)
    doubt = ", inconclusive" if figure["verdict"] == artifact.INCONCLUSIVE else ""
    return number_text(figure["metric"], figure["value"]) + doubt


def sentence(figure, form=None):
    """A figure within a sentence."""
    if not is_shown(figure):
        return f"({refusal_text(figure)})"
    if form == "pairs":
        return str(figure["pairs"])
    if form in ("low", "high"):
        if figure[form] is None:
            raise Unknown(f"{artifact.figure_name(figure)} has no interval")
        return number_text(figure["metric"], figure[form])
    if form == "excess":
        if figure["unit"] != "ratio":
            raise Unknown(f"{artifact.figure_name(figure)} is no ratio")
        excess = 100 * (figure["value"] - 1)
        text = f"{abs(excess):.1f} % {'more' if excess >= 0 else 'less'}"
    else:
        text = number_text(figure["metric"], figure["value"])
    if form == "value":
        return text
    inside = interval_text(figure) if form is None else ""
    doubt = "inconclusive" if figure["verdict"] == artifact.INCONCLUSIVE else ""
    more = "; ".join(part for part in (inside, doubt) if part)
    return f"{text} ({more})" if more else text


def known_servers(record):
    try:
        from rig.peers import PEERS
    except ImportError:
        PEERS = {}
    return set(record.data["servers"] if record else ()) | set(subjects.LADDER) | set(PEERS) | {plan.RIVAL, subjects.CONTROL}


def reference(words, record):
    """(metric, what to look for, form) of `cpu_ratio hello floor d1`: metric, server, what it is held against, load, `at N`, form."""
    if not words or words[0] not in artifact.METRICS:
        raise Unknown(f"there is no metric '{words[0] if words else ''}'")
    servers, known_loads = known_servers(record), set(loads.LOADS) | set(record.data["loads"] if record else ())
    wanted, form, rest = {"metric": words[0]}, None, list(words[1:])
    while rest:
        word = rest.pop(0)
        if word == "at" and rest:
            try:
                wanted["parameter"] = float(rest.pop(0))
            except ValueError as error:
                raise Unknown(f"'at' without a number in '{' '.join(words)}'") from error
        elif word in FORMS:
            form = word
        elif word in servers and "against" not in wanted:
            wanted["against" if "server" in wanted else "server"] = word
        elif word in known_loads and "load" not in wanted:
            wanted["load"] = word
        else:
            raise Unknown(f"'{word}' in '{' '.join(words)}' is no server, load or form")
    if "server" not in wanted:
        raise Unknown(f"'{' '.join(words)}' names no server")
    wanted.setdefault("against", None)
    return wanted, form


def find(record, wanted):
    """The one figure that is meant, or None. Raises Unknown when there are several."""
    found = [figure for figure in record.data["figures"] if all(figure[key] == value for key, value in wanted.items())]
    if len(found) > 1:
        raise Unknown(f"'{' '.join(str(value) for value in wanted.values() if value)}' is {len(found)} figures; name the load or 'at N'")
    return found[0] if found else None


def server_title(record, name):
    server = record.data["servers"][name]
    return server["title"] + ("" if server["dates"] else " (sends no Date)")


def load_title(record, name):
    load = record.data["loads"][name]
    return f"{load['title']}, {load['connections']} connections"
