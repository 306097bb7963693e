"""Makes the pages from the newest record, and says where the pages that stand differ from that."""

import difflib
import glob
import os
import statistics

from rig import artifact, plan

from . import blocks, page, sections, template

TEMPLATE = os.path.join("bench", "report", "benchmarks.md.in")
ARTIFACTS = os.path.join("bench", "artifacts")
PAGES = (os.path.join("docs", "benchmarks.md"), os.path.join("docs", "benchmarks.html"))
PLANNED = {  # the figures that a row of the plan must have
    "pair": ("cpu_ratio",),
    "rung": ("ladder",),
    "latency": ("latency_p50", "latency_p99", "latency_p999"),
    "idle": ("memory_idle",),
    "instructions": ("instructions",),
    "system_calls": ("system_calls",),
}
SHOWN = 110  # characters of a line that differs


def newest(root):
    """The record that the pages are made from: the newest full run, or the newest of any kind; None without one."""
    path = artifact.newest(os.path.join(root, ARTIFACTS), ("full",)) or artifact.newest(os.path.join(root, ARTIFACTS), artifact.KINDS)
    return artifact.read(path) if path else None


def made(root, record):
    """The text of each page by its path. Raises template.Faults."""
    with open(os.path.join(root, TEMPLATE), encoding="utf-8") as file:
        text = file.read()
    found = template.Template(text, TEMPLATE, record).blocks()
    source = os.path.join(ARTIFACTS, sections.file_name(record)) if record else "no record"
    note = f"made by bench/render from {TEMPLATE} and {source}; not to be edited"
    markdown = f"<!-- {note} -->\n\n{blocks.markdown(found)}"
    return dict(zip(PAGES, (markdown, page.page(found, note))))


def short(line, other=""):
    """The part of a line where it differs from another one."""
    same = next((at for at, (mine, theirs) in enumerate(zip(line, other)) if mine != theirs), min(len(line), len(other)))
    begin = max(0, same - 40) if len(line) > SHOWN else 0
    return f"{'...' if begin else ''}{line[begin : begin + SHOWN]}{'...' if len(line) > begin + SHOWN else ''}"


def differences(name, stands, wanted):
    """One line for each line of `stands` that is not as it is to be, with file and line."""
    stands, wanted, found = stands.split("\n"), wanted.split("\n"), []
    for kind, first, last, begin, end in difflib.SequenceMatcher(None, stands, wanted, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        for offset in range(max(last - first, end - begin)):
            here = stands[first + offset] if first + offset < last else None
            right = wanted[begin + offset] if begin + offset < end else None
            at = f"{name}:{min(first + offset, len(stands) - 1) + 1}"
            if here is None:
                found.append(f"{at}: missing: {short(right)}")
            elif right is None:
                found.append(f"{at}: does not belong here: {short(here)}")
            else:
                found.append(f"{at}: says    {short(here, right)}\n{' ' * len(at)}  must be {short(right, here)}")
    return found


def record_faults(root):
    """Of every record: that it is one, that nothing planned was left out, and that each figure is the median of its own samples."""
    found = []
    for path in sorted(glob.glob(os.path.join(root, ARTIFACTS, "*.json"))):
        name = os.path.relpath(path, root)
        try:
            data = artifact.load(path)
        except artifact.Unusable as unusable:
            found.append(str(unusable).replace(path, name))
            continue
        faults = artifact.faults(data)
        found += [f"{name}: {fault}" for fault in faults]
        if not faults and data["ended"] is not None:
            found += [f"{name}: {fault}" for fault in planned_faults(data)]
            found += [
                f"{name}:{line_of(path, figure)}: {artifact.figure_name(figure)} is {figure['value']!r}, its samples say {middle!r}"
                for figure in data["figures"]
                if figure["value"] is not None
                and (middle := median(figure["samples"])) is not None
                and abs(middle - figure["value"]) > 1e-9 * abs(middle)
            ]
    return found


def planned_faults(data):
    """What was planned and has no figure, and pairs whose samples are not those of the raw runs."""
    record, standing, found = artifact.Record(data), plan.Standing(data["runs"]), []
    for described in data["settings"].get("plan", []):
        row = plan.row_of(described)
        for metric in PLANNED.get(row.kind, ()):
            figure = record.figure(metric, row.server, row.load, row.against, row.parameter)
            if figure is None:
                found.append(f"{row.id} was planned and has no figure {metric}")
            elif row.kind == "pair" and figure["samples"] != standing.ratios(row):
                found.append(f"{artifact.figure_name(figure)} has other samples than the raw runs")
    return found


def median(samples):
    numbers = [sample for sample in samples if isinstance(sample, (int, float))]
    return statistics.median(numbers) if numbers else None


def line_of(path, figure):
    """The line of a record that a figure stands in."""
    words = [
        f'"metric": "{figure["metric"]}"',
        f'"server": "{figure["server"]}"',
        f'"load": "{figure["load"]}"',
        f'"value": {figure["value"]}',
    ]
    with open(path, encoding="utf-8") as file:
        return next((number for number, line in enumerate(file, 1) if all(word in line for word in words)), 1)


def check(root):
    """What is wrong with records, template and pages; each begins with a file."""
    found = record_faults(root)
    record = newest(root)
    try:
        pages = made(root, record)
    except template.Faults as faults:
        return found + faults.found
    for name, wanted in pages.items():
        path = os.path.join(root, name)
        if not os.path.exists(path):
            found.append(f"{name}:1: is missing; bench/render makes it")
            continue
        with open(path, encoding="utf-8") as file:
            stands = file.read()
        first = wanted.split("\n", 2)[0 if name.endswith(".md") else 1]
        if stands != wanted and first not in stands:
            at = next((number for number, line in enumerate(stands.split("\n"), 1) if line.startswith("<!-- made by")), 1)
            source = os.path.join(ARTIFACTS, sections.file_name(record)) if record else "no record"
            found.append(f"{name}:{at}: is not made from {source}, the newest; bench/render makes it anew")
        else:
            found += differences(name, stands, wanted)
    return found
