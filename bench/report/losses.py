"""Where Martlet loses: every figure of the run in which another server is better, or may be."""

from . import values
from .blocks import Paragraph, Table

# What is to be kept below: (metric, server, against, load, at most, why).
AIMS = (("cpu_ratio", "hello", "floor", "d1", 1.10, "the aim of under 10 % over the floor with one request a write"),)
SURE, ONCE, PERHAPS = "yes", "yes, of one sample", "perhaps: the intervals overlap"


def ends(figure):
    """Its interval; of few samples the least and the greatest."""
    if figure["low"] is not None:
        return figure["low"], figure["high"]
    samples = figure["samples"] or [figure["value"]]
    return min(samples), max(samples)


def verdict(metric, ours, theirs):
    """How sure it is that theirs is better; None when it is not, or not in the digits that are shown."""
    lower = values.LOWER_IS_BETTER[metric]
    if (
        values.number_text(metric, ours["value"]) == values.number_text(metric, theirs["value"])
        or (ours["value"] < theirs["value"]) == lower
    ):
        return None
    (our_low, our_high), (their_low, their_high) = ends(ours), ends(theirs)
    if not (our_low > their_high if lower else our_high < their_low):
        return PERHAPS
    return ONCE if min(len(ours["samples"]), len(theirs["samples"])) < 2 else SURE


def compared(record):
    """(metric, load, parameter, ours, theirs) of each figure that a peer has like `hello`."""
    servers = record.data["servers"]
    ours = {(f["metric"], f["against"], f["load"], f["parameter"]): f for f in record.data["figures"] if f["server"] == values.HEADLINE}
    for theirs in record.data["figures"]:
        # Ratios are compared where both are held against the floor; nanoseconds of different pairs are not of the same minute.
        if servers[theirs["server"]]["kind"] != "peer" or theirs["metric"] in ("cpu_ns", "cpu_ratio_fixed", "ladder"):
            continue
        key = (theirs["metric"], theirs["against"], theirs["load"], theirs["parameter"])
        yield (*key, ours.get(key), theirs)


def direct(record):
    """Figures of Martlet held against a peer itself."""
    for figure in record.data["figures"]:
        if figure["server"] == values.HEADLINE and figure["against"] and record.data["servers"][figure["against"]]["kind"] == "peer":
            yield figure


def row(record, metric, load, parameter, ours, theirs, other, sure):
    at = (
        ""
        if parameter is None
        else f" at {parameter:g} % of the ceiling" if metric.startswith("latency") else f" with {parameter:g} connections"
    )
    what = values.METRIC_TITLES[metric] + at
    return [what, record.data["loads"][load]["title"] if load else "", ours, other, theirs, sure]


def rows(record):
    """Of the table of losses, and how many comparisons could not be made."""
    found, undecided = [], 0
    for metric, _, load, parameter, ours, theirs in compared(record):
        if not values.is_shown(ours) or not values.is_shown(theirs):
            undecided += 1
            continue
        sure = verdict(metric, ours, theirs)
        if sure:
            found.append(
                row(
                    record,
                    metric,
                    load,
                    parameter,
                    values.sentence(ours),
                    values.sentence(theirs),
                    values.server_title(record, theirs["server"]),
                    sure,
                )
            )
    for figure in direct(record):
        if not values.is_shown(figure):
            undecided += 1
        elif figure["value"] > 1:
            sure = PERHAPS.replace("the intervals overlap", "the interval has 1 in it") if ends(figure)[0] <= 1 else SURE
            found.append(
                row(
                    record,
                    "cpu_ratio",
                    figure["load"],
                    None,
                    values.sentence(figure),
                    "1",
                    values.server_title(record, figure["against"]) + ", in the same pair",
                    sure,
                )
            )
    for metric, server, against, load, limit, why in AIMS:
        figure = record.figure(metric, server, load, against)
        if values.is_shown(figure) and figure["value"] >= limit:
            found.append(
                row(
                    record,
                    metric,
                    load,
                    None,
                    values.sentence(figure),
                    values.number_text(metric, limit),
                    why,
                    SURE if ends(figure)[0] >= limit else "perhaps: the interval has it inside",
                )
            )
    return found, undecided


def section(record):
    if not any(True for _ in compared(record)) and not any(True for _ in direct(record)):
        peers = [server for server in record.data["servers"].values() if server["kind"] == "peer"]
        text = "This run has no figure of a peer" + (": each was skipped." if peers else ", so there is nobody to lose to but the floor.")
    else:
        text = None
    found, undecided = rows(record)
    made = [Paragraph(text)] if text else []
    sure, perhaps = ([each for each in found if each[-1].startswith(SURE) == wanted] for wanted in (True, False))
    columns = ["What", "Load", "Martlet", "The better one", "Its figure", "Sure"]
    if sure:
        made.append(Table("Figures in which another is better", columns, sure, cards=True))
    if perhaps:
        made.append(Table("Figures in which another may be better", columns, perhaps, folded=bool(sure), cards=True))
    if not found and not text:
        made.append(Paragraph("In no figure of this run that stands."))
    if undecided:
        made.append(
            Paragraph(
                f"{undecided} more comparisons with a peer could not be made, because one of the two figures is withheld, skipped or "
                "missing; the tables below say why."
            )
        )
    return made
