"""The parts of the page that are made from figures alone: tables, each with the plots that show the same."""

import os

from rig import artifact

from . import losses, plots, values
from .blocks import Bullets, Heading, Paragraph, Plots, Table, Tiles

PLAINTEXT = "/plaintext"
HEADLINES = ("hello", "rows")
SHARES = (25, 50, 75)
PERCENTILES = (("latency_p50", "the request in the middle"), ("latency_p99", "99 % of requests"), ("latency_p999", "99.9 % of requests"))


def file_name(record):
    return os.path.basename(record.path) if record.path else "the record"


def kind_of(record, name):
    return record.data["servers"][name]["kind"]


def style(record, name):
    """The class of a server's rows, bars and lines."""
    return "headline" if name in HEADLINES else kind_of(record, name)


def colour(record, name):
    """The class of a server's line: a peer has the same in every plot."""
    peers = [other for other in record.data["servers"] if style(record, other) not in ("headline", "floor", "control")]
    return f"c{peers.index(name) % plots.COLOURS}" if name in peers else style(record, name)


def value_or_none(figure):
    return figure["value"] if values.is_shown(figure) else None


def refusals_once(cells):
    """The cells of a row; a reason that the cell before gave is not said again."""
    return [
        (
            text
            if not text.startswith(("withheld: ", "skipped: ")) or number == 0 or text != cells[number - 1]
            else f"{text.split(':')[0]} for the same reason"
        )
        for number, text in enumerate(cells)
    ]


def compared(record, metrics, load=None):
    """The servers that have one of these figures, in the run's order, without the control."""
    have = {f["server"] for f in record.data["figures"] if f["metric"] in metrics and (load is None or f["load"] == load)}
    return [name for name in record.data["servers"] if name in have and kind_of(record, name) != "control"]


def loads_of(record, *metrics):
    have = {f["load"] for f in record.data["figures"] if f["metric"] in metrics and kind_of(record, f["server"]) != "control"}
    return [load for load in record.data["loads"] if load in have]


def bar(record, name, figure, text=None):
    return plots.Bar(
        values.server_title(record, name),
        style(record, name),
        figure["value"] if figure else None,
        figure["low"] if figure else None,
        figure["high"] if figure else None,
        text or (values.sentence(figure) if figure else ""),
        values.refusal_text(figure) if figure else "not in this run",
    )


def by_value(figure_of, better_first=False):
    """Sorts servers by their figure; those without one stand last."""

    def key(name):
        figure = figure_of(name)
        shown = values.is_shown(figure)
        return not shown, (-figure["value"] if better_first else figure["value"]) if shown else 0

    return key


def cpu_of_load(record, load):
    """A plot and a table of processor time under one load."""

    def ratio(name):
        return record.figure("cpu_ratio", name, load, values.FLOOR)

    names = compared(record, ("cpu_ratio", "cpu_ns"), load)
    names.sort(key=by_value(lambda name: {"value": 0} if name == values.FLOOR else ratio(name)))
    rows, bars = [], []
    for name in names:
        title, cost, figure = values.server_title(record, name), record.figure("cpu_ns", name, load), ratio(name)
        if name == values.FLOOR:
            rows.append([title, values.cell(cost), "1", "", cost["pairs"] if cost else "", "the measure"])
            bars.append(plots.Bar(title, style(record, name), 1.0, None, None, "1", ""))
        elif figure is None:
            rows.append([title, values.cell(cost), values.cell(None), "", "", ""])
        else:
            multiple = values.number_text("cpu_ratio", figure["value"]) if values.is_shown(figure) else values.refusal_text(figure)
            rows.append([title, values.cell(cost), multiple, values.interval_text(figure), figure["pairs"], values.verdict_text(figure)])
            bars.append(bar(record, name, figure))
    title = values.load_title(record, load)
    drawn = plots.bars(
        f"cpu-{load}", f"Processor time a request, {title}", "multiples of the floor, with 95 % intervals; less is better", bars, mark=1.0
    )
    return [
        Plots([(title[:1].upper() + title[1:], drawn)]),
        Table(
            f"Processor time a request, {title}",
            ["Server", ">Time a request", ">Multiple of the floor", ">95 % interval", ">Pairs", "Verdict"],
            rows,
            [style(record, name) for name in names],
            folded=True,
        ),
    ]


def cpu(record):
    """Processor time a request and as a multiple of the floor, a plot and a table for each load."""
    made, found = [], loads_of(record, "cpu_ratio", "cpu_ns")
    for heading, is_plain in (("Every server, 13 bytes of text", True), ("Martlet's application rows", False)):
        chosen = [load for load in found if (record.data["loads"][load]["path"] == PLAINTEXT) == is_plain]
        if chosen:
            made += [Heading(3, heading), *join_plots([block for load in chosen for block in cpu_of_load(record, load)])]
    return made + claims(record) + at_one_rate(record) or [nothing("processor time")]


def nothing(what):
    return Paragraph(f"This run has no figures of {what}.")


def ratio_rows(record, figures):
    rows = []
    for figure in figures:
        value = values.number_text("cpu_ratio", figure["value"]) if values.is_shown(figure) else values.refusal_text(figure)
        rows.append(
            [
                values.server_title(record, figure["server"]),
                values.server_title(record, figure["against"]),
                values.load_title(record, figure["load"]),
                *([values.significant(figure["parameter"])] if figure["parameter"] else []),
                value,
                values.interval_text(figure),
                figure["pairs"],
                values.verdict_text(figure),
            ]
        )
    return rows


def claims(record):
    found = [f for f in record.data["figures"] if f["metric"] == "cpu_ratio" and f["against"] != values.FLOOR]
    if not found:
        return []
    return [
        Heading(3, "Processor time: against a peer in the same pair"),
        Table(
            "Processor time a request as a multiple of another server's in the same pair",
            ["Server", "Held against", "Load", ">Multiple", ">95 % interval", ">Pairs", "Verdict"],
            ratio_rows(record, found),
        ),
    ]


def at_one_rate(record):
    found = [f for f in record.data["figures"] if f["metric"] == "cpu_ratio_fixed" and kind_of(record, f["server"]) != "control"]
    if not found:
        return []
    return [
        Heading(3, "Processor time: at one rate for both"),
        Table(
            "Processor time a request where the two were not equally busy, so that both were offered one rate",
            ["Server", "Held against", "Load", ">Requests a second", ">Multiple", ">95 % interval", ">Pairs", "Verdict"],
            ratio_rows(record, found),
        ),
    ]


def rates(record):
    """The highest rates, and the ladder of connections that they are taken from."""
    made = []
    for load in loads_of(record, "rate_max", "ladder"):
        title = record.data["loads"][load]["title"]
        names = compared(record, ("rate_max", "ladder"), load)
        rungs = sorted({f["parameter"] for f in record.of_metric("ladder", load) if kind_of(record, f["server"]) != "control"})
        made.append(Heading(3, f"Rates: {title}"))
        lines = [
            plots.Line(
                values.server_title(record, name),
                colour(record, name),
                [value_or_none(record.figure("ladder", name, load, None, rung)) for rung in rungs],
            )
            for name in names
        ]
        ranked = sorted(names, key=by_value(lambda name: record.figure("rate_max", name, load), better_first=True))
        bars = [bar(record, name, record.figure("rate_max", name, load)) for name in ranked]
        made.append(
            Plots(
                [
                    (
                        "The ladder: requests a second by connections",
                        plots.lines(
                            f"ladder-{load}",
                            f"Requests a second by connections, {title}",
                            "connections",
                            [f"{rung:g}" for rung in rungs],
                            lines,
                            lambda number: values.significant(number),
                            from_zero=True,
                        ),
                    ),
                    ("The highest rate", plots.bars(f"rate-{load}", f"Highest rate, {title}", "requests a second; more is better", bars)),
                ]
            )
        )
        rows = []
        for name in ranked:
            figure = record.figure("rate_max", name, load)
            at = figure["detail"].get("connections", "") if values.is_shown(figure) else ""
            rows.append([values.server_title(record, name), values.cell(figure), values.interval_text(figure) if figure else "", at])
        made.append(
            Table(
                f"Highest rate in requests a second, {title}",
                ["Server", ">Highest rate", ">95 % interval", ">Connections"],
                rows,
                [style(record, name) for name in ranked],
                folded=True,
            )
        )
        rows = [
            [
                values.server_title(record, name),
                *refusals_once([values.cell(record.figure("ladder", name, load, None, rung)) for rung in rungs]),
            ]
            for name in names
        ]
        made.append(
            Table(
                f"Requests a second by connections, {title}",
                ["Server", *(f">{rung:g}" for rung in rungs)],
                rows,
                [style(record, name) for name in names],
                folded=True,
            )
        )
    return made or [nothing("rates")]


def latency(record):
    """Latencies by share of the ceiling."""
    made = []
    for load in loads_of(record, *(metric for metric, _ in PERCENTILES)):
        title = record.data["loads"][load]["title"]
        names = compared(record, [metric for metric, _ in PERCENTILES], load)
        shares = sorted({f["parameter"] for f in record.of_metric("latency_p50", load)}) or SHARES
        made.append(Heading(3, f"Latency: {title}"))
        drawn = []
        for metric, what in PERCENTILES:
            lines = [
                plots.Line(
                    values.server_title(record, name),
                    colour(record, name),
                    [value_or_none(record.figure(metric, name, load, None, share)) for share in shares],
                )
                for name in names
            ]
            drawn.append(
                (
                    f"Latency of {what}, by the share of each server's own ceiling",
                    plots.lines(
                        f"{metric}-{load}",
                        f"Latency of {what}, {title}",
                        "% of the ceiling",
                        [f"{share:g}" for share in shares],
                        lines,
                        lambda number: values.number_text("latency_p50", number),
                    ),
                )
            )
        made.append(Plots(drawn))
        rows, styles = [], []
        for name in names:
            for share in shares:
                figures = [record.figure(metric, name, load, None, share) for metric, _ in PERCENTILES]
                offered = figures[0]["detail"].get("offered") if figures[0] else None
                rows.append(
                    [
                        values.server_title(record, name),
                        f"{share:g} %",
                        values.significant(offered) if offered else "",
                        *refusals_once([*map(values.cell, figures)]),
                    ]
                )
                styles.append(style(record, name))
        made.append(
            Table(
                f"Latency from the moment each request was due, {title}",
                ["Server", ">Of its ceiling", ">Requests a second", ">50 %", ">99 %", ">99.9 %"],
                rows,
                styles,
                folded=True,
            )
        )
    return made or [nothing("latency")]


def memory(record):
    made = []
    for metric, what in (("memory_idle", "Memory of an idle connection"), ("memory_peak", "Most memory while the ladder was climbed")):
        for load in loads_of(record, metric):
            figures = {f["server"]: f for f in record.of_metric(metric, load)}
            names = sorted(compared(record, (metric,), load), key=by_value(figures.get))
            counts = sorted({f["parameter"] or f["detail"].get("connections", 0) for f in figures.values()})
            caption = f"{what}, {record.data['loads'][load]['title']}, {' and '.join(f'{count:,.0f}' for count in counts)} connections"
            made.append(
                Plots(
                    [
                        (
                            caption,
                            plots.bars(
                                f"{metric}-{load}", caption, "bytes; less is better", [bar(record, name, figures[name]) for name in names]
                            ),
                        )
                    ]
                )
            )
            made.append(
                Table(
                    caption,
                    ["Server", ">Memory", ">95 % interval", "Verdict"],
                    [
                        [
                            values.server_title(record, name),
                            values.cell(figures[name]),
                            values.interval_text(figures[name]),
                            values.verdict_text(figures[name]),
                        ]
                        for name in names
                    ],
                    [style(record, name) for name in names],
                    folded=True,
                )
            )
    return join_plots(made) if made else [nothing("memory")]


def join_plots(blocks):
    """Neighbouring plots stand side by side: first all plots, then all tables."""
    drawn = [pair for block in blocks if isinstance(block, Plots) for pair in block.drawn]
    return [Plots(drawn), *(block for block in blocks if not isinstance(block, Plots))] if drawn else blocks


def counted(metric, heading, text):
    """A section of one metric: a table with a column for each load, a plot for each."""

    def section(record):
        found = loads_of(record, metric)
        if not found:
            return [nothing(text)]
        names = compared(record, (metric,))
        drawn = []
        for load in found:
            ranked = sorted(compared(record, (metric,), load), key=by_value(lambda name, load=load: record.figure(metric, name, load)))
            title = record.data["loads"][load]["title"]
            drawn.append(
                (
                    title[:1].upper() + title[1:],
                    plots.bars(
                        f"{metric}-{load}",
                        f"{heading}, {title}",
                        f"{text}; less is better",
                        [bar(record, name, record.figure(metric, name, load)) for name in ranked],
                    ),
                )
            )
        rows = [[values.server_title(record, name), *(served(record, metric, name, load) for load in found)] for name in names]
        return [
            Heading(3, heading),
            Plots(drawn),
            Table(
                f"{text[:1].upper()}{text[1:]}",
                ["Server", *(f">`{load}`" for load in found)],
                rows,
                [style(record, name) for name in names],
                folded=True,
            ),
        ]

    return section


def served(record, metric, name, load):
    figure = record.figure(metric, name, load)
    return values.cell(figure) if figure else "not served" if record.data["loads"][load]["path"] != PLAINTEXT else values.cell(None)


TILES = (  # what stands large on top of the HTML page
    ("cpu_ratio", "hello", "floor", "d1", "times the bare socket loop, one request a write"),
    ("cpu_ratio", "hello", "floor", "d16", "times the bare socket loop, 16 requests a write"),
    ("cpu_ratio", "hello", "hyper", "d1", "times hyper, one request a write"),
    ("cpu_ratio", "hello", "hyper", "d16", "times hyper, 16 requests a write"),
    ("instructions", "hello", None, "d16", "instructions a request, 16 requests a write"),
    ("memory_idle", "hello", None, "d1", "for an idle connection"),
)


def tiles(record):
    made = []
    for metric, server, against, load, text in TILES:
        wanted = {"metric": metric, "server": server, "against": against, "load": load}
        figure = values.find(record, wanted)
        if figure is not None:
            shown = values.is_shown(figure)
            what = "processor time" if metric == "cpu_ratio" else ""
            made.append(
                (
                    what,
                    values.number_text(metric, figure["value"]) if shown else figure["verdict"],
                    text,
                    "; ".join(filter(None, (values.interval_text(figure), *figure["reasons"]))),
                )
            )
    return [Tiles(made)] if made else []


def loads_table(record):
    rows = [
        [
            f"`{name}`",
            load["title"],
            load["path"],
            "twelve fields, as a browser sends" if load["shape"] == "browser" else "Host alone",
            load["depth"],
            load["connections"],
        ]
        for name, load in record.data["loads"].items()
    ]
    return [Table("What was asked", ["Load", "What", "Path", "Header fields", ">Requests in a write", ">Connections"], rows)]


def servers(record):
    rows = []
    for server in record.data["servers"].values():
        note = f"skipped: {server['skipped']}" if server["skipped"] else server["version"]
        rows.append([server["title"], note, server["settings"], "yes" if server["dates"] else "no"])
    return [
        Table(
            "Who was measured",
            ["Server", "Version", "In which form", "Sends Date"],
            rows,
            [style(record, name) for name in record.data["servers"]],
        )
    ]


def control(record):
    found = [f for f in record.data["figures"] if kind_of(record, f["server"]) == "control"]
    if not found:
        return [nothing("the control")]
    rows = [[values.METRIC_TITLES[f["metric"]], values.cell(f)] for f in found]
    return [Table("Figures of the control, each of which must be withheld", ["What", "Figure"], rows)]


def machine(record):
    def text(value):
        return (
            " ".join(str(part) for part in value)
            if isinstance(value, list)
            else "yes" if value is True else "no" if value is False else str(value)
        )

    rows = [[name.replace("_", " "), text(value)] for name, value in record.data["machine"].items() if not isinstance(value, dict)]
    rows += [[f"{name.replace('_', ' ')} at the end", text(value)] for name, value in record.data["machine"].get("at_end", {}).items()]
    return [Table("The machine", ["What", "Value"], rows)]


def about(record):
    """Which record this is, and how many of its figures stand."""
    count = {
        verdict: sum(f["verdict"] == verdict and kind_of(record, f["server"]) != "control" for f in record.data["figures"])
        for verdict in artifact.VERDICTS
    }
    stretches = len(record.data["source"].get("stretches", ()))
    kind = {"full": "a full run", "quick": "a quick run, which says little", "part": "a run of some rows only"}[record.data["kind"]]
    found = [
        f"From `bench/artifacts/{file_name(record)}`: {kind}, begun {record.data['began']}, {record.data['hours']:.2g} hours"
        + (f" in {stretches} stretches of the same source." if stretches > 1 else "."),
        f"Commit `{record.data['source']['commit'][:12]}`"
        + (", with changes that are in no commit." if record.data["source"]["dirty"] else "."),
        f"Figures: {count['ok']} that stand, {count['inconclusive']} inconclusive, {count['withheld']} withheld, {count['skipped']} skipped.",
    ]
    return [Bullets(found)]


def of_rules(record, name):
    rules = record.data["settings"]["rules"]
    if name not in rules or isinstance(rules[name], dict):
        raise values.Unknown(f"there is no rule '{name}'")
    value = rules[name]
    return f"{100 * value:.3g} %" if value <= 1 and not name.endswith("_bytes_max") else values.significant(value)


def of_machine(record, name):
    if name not in record.data["machine"]:
        raise values.Unknown(f"the machine's '{name}' is not in {file_name(record)}")
    return str(record.data["machine"][name])


def of_run(record, name):
    facts = {
        "kind": record.data["kind"],
        "began": record.data["began"],
        "hours": f"{record.data['hours']:.2g}",
        "file": file_name(record),
        "commit": record.data["source"]["commit"][:12],
        "generator": str(record.data["versions"].get("generator", "not said")),
    }
    if name not in facts:
        raise values.Unknown(f"a run has no '{name}'")
    return facts[name]


FACTS = {"rule": of_rules, "machine": of_machine, "run": of_run}
SECTIONS = {
    "about": about,
    "tiles": tiles,
    "losses": losses.section,
    "cpu": cpu,
    "rates": rates,
    "latency": latency,
    "memory": memory,
    "loads": loads_table,
    "servers": servers,
    "machine": machine,
    "control": control,
    "instructions": counted("instructions", "Instructions", "instructions a request in the server's own code, by callgrind"),
    "system_calls": counted("system_calls", "System calls", "system calls a request, all but those that wait"),
}
