"""Bars with intervals and lines, as SVG that takes its colours from the page.

A plot is 420 units wide, so that its letters can be read on a telephone and two or three stand side by side on a desk.
"""

import dataclasses
import html
import math
import textwrap

WIDTH = 420
NOTE_CHARACTERS = UNIT_CHARACTERS = 62
LABEL_CHARACTERS = 26  # beside a line
COLOURS = 8  # classes c0 to c7 of the page


@dataclasses.dataclass
class Bar:
    label: str
    kind: str
    value: float | None
    low: float | None
    high: float | None
    text: str
    refusal: str


@dataclasses.dataclass
class Line:
    label: str
    kind: str
    values: list  # None where there is none


def escaped(text):
    return html.escape(str(text), quote=False)


def text_at(x, y, words, kind="", anchor=None):
    more = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}{more}>{escaped(words)}</text>'


def svg(name, title, description, height, inside):
    return "\n".join(
        [
            f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-labelledby="{name}-title {name}-text">',
            f'<title id="{name}-title">{escaped(title)}</title>',
            f'<desc id="{name}-text">{escaped(description)}</desc>',
            *inside,
            "</svg>",
        ]
    )


def nice_step(span, count):
    """1, 2 or 5 times a power of ten, so that `span` has at most `count` of them."""
    least = span / count
    power = 10 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * 0.999999)


def ticks_from_zero(top, count=4):
    step = nice_step(top, count)
    return [step * number for number in range(int(top / step + 1e-9) + 1)]


def short(number):
    """A tick of an axis: 20k rather than 20,000."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{unit}"
    return f"{number:g}"


def bars(name, title, unit, rows, mark=None):
    """Rows of a label, its figure, and a bar from 0; `mark` is a line over each bar."""
    shown = [row for row in rows if row.value is not None]
    top = 1.02 * max([row.value if row.high is None else row.high for row in shown] + ([mark] if mark else []), default=1.0) or 1.0

    def x(number):
        return WIDTH * number / top

    made, y = [], 4
    ticks = ticks_from_zero(top) if shown else []
    body = []
    for row in rows:
        kind = row.kind
        body.append(text_at(0, y + 13, row.label, f"label {kind}"))
        if row.value is None:
            for number, line in enumerate(textwrap.wrap(row.refusal, NOTE_CHARACTERS)):
                body.append(text_at(0, y + 29 + 14 * number, line, "note"))
            y += 26 + 14 * max(1, len(textwrap.wrap(row.refusal, NOTE_CHARACTERS)))
            continue
        body.append(text_at(WIDTH, y + 13, row.text, f"value {kind}", "end"))
        body.append(f'<rect class="bar {kind}" x="0" y="{y + 19}" width="{max(1.0, x(row.value)):.1f}" height="12" rx="2"/>')
        if mark is not None:
            body.append(f'<path class="mark" d="M{x(mark):.1f} {y + 16}v18"/>')
        if row.low is not None:
            middle = y + 25
            low, high = x(row.low), x(row.high)
            body.append(f'<path class="interval" d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 5}v10M{high:.1f} {middle - 5}v10"/>')
        y += 42
    for tick in ticks:
        made.append(f'<path class="grid" d="M{x(tick):.1f} {y}v4"/>')
        made.append(
            text_at(
                min(max(x(tick), 2), WIDTH - 2),
                y + 15,
                short(tick),
                "tick",
                "start" if tick == 0 else "end" if x(tick) > WIDTH - 12 else "middle",
            )
        )
    made += body
    for line in textwrap.wrap(unit, UNIT_CHARACTERS):
        y += 16
        made.append(text_at(0, y + 16, line, "tick"))
    told = "; ".join(f"{row.label}: {row.text if row.value is not None else row.refusal}" for row in rows)
    return svg(name, title, f"{unit}. {told}.", y + 24, made)


def spread_labels(wanted, least, top, bottom):
    """Heights near the wanted ones, `least` apart, between `top` and `bottom` as far as that is possible."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    placed = {}
    last = top - least
    for index in order:
        last = placed[index] = max(wanted[index], last + least)
    over = last - bottom
    if over > 0:
        next_one = bottom + least
        for index in reversed(order):
            next_one = placed[index] = min(placed[index], next_one - least)
    return [placed[index] for index in range(len(wanted))]


def scale(numbers, from_zero, top, bottom):
    """(height of a number, ticks): linear from 0, or by multiples."""
    if from_zero:
        most = max(numbers) * 1.05
        return (lambda number: bottom - (bottom - top) * number / most), ticks_from_zero(most)
    low, high = math.log10(min(numbers)) - 0.06, math.log10(max(numbers)) + 0.06
    ticks = [step * 10**power for power in range(math.floor(low), math.ceil(high) + 1) for step in (1, 2, 5)]
    return (lambda number: bottom - (bottom - top) * (math.log10(number) - low) / (high - low)), [
        t for t in ticks if low <= math.log10(t) <= high
    ]


def told_of(series, marks, text_of):
    """Every point of a plot in words."""

    def point(mark, value):
        return f"{text_of(value)} at {mark}" if value is not None else f"withheld at {mark}"

    return "; ".join(f"{line.label}: {', '.join(map(point, marks, line.values))}" for line in series)


def drawn_line(line, points, label_at, label_height):
    """One line through `points`, which has None where it breaks, and its name."""
    path, begun = [], False
    for point in points:
        if point is not None:
            path.append(f"{'L' if begun else 'M'}{point[0]:.1f} {point[1]:.1f}")
        begun = point is not None
    radius = 4 if line.kind == "headline" else 3
    there = [point for point in points if point is not None]
    end = there[-1]
    return [
        f'<path class="line {line.kind}" d="{"".join(path)}"/>',
        *(f'<circle class="dot {line.kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>' for x, y in there),
        f'<path class="leader {line.kind}" d="M{end[0] + 5:.1f} {end[1]:.1f}L{label_at - 4} {label_height:.1f}"/>',
        text_at(label_at, label_height + 4, textwrap.shorten(line.label, LABEL_CHARACTERS, placeholder="..."), f"label {line.kind}"),
    ]


def lines(name, title, unit, marks, series, text_of, from_zero=False):
    """A line for each server over the evenly spaced `marks`, with its name at its end."""
    numbers = [number for line in series for number in line.values if number]
    told = told_of(series, marks, text_of)
    if not numbers:
        said = [text_at(0, 22, "No figure of this plot stands;", "note"), text_at(0, 40, "the table below says why.", "note")]
        return svg(name, title, f"No figure of it stands. {told}.", 60, said)
    drawn = [line for line in series if any(value is not None for value in line.values)]
    missing = [line.label for line in series if line not in drawn]
    left, right, top = 46, WIDTH - 150, 12
    bottom = top + max(210, 16 * len(drawn))
    height_of, ticks = scale(numbers, from_zero, top, bottom)

    def x(index):
        return left + 8 + (right - left - 16) * (index / (len(marks) - 1) if len(marks) > 1 else 0.5)

    made = []
    for tick in ticks:
        text = short(tick) if from_zero else text_of(tick).replace(".00", "").replace(".0 ", " ")
        made.append(f'<path class="grid" d="M{left} {height_of(tick):.1f}H{right}"/>')
        made.append(text_at(left - 6, height_of(tick) + 4, text, "tick", "end"))
    for index, mark in enumerate(marks):
        made.append(text_at(x(index), bottom + 18, mark, "tick", "middle"))
    made.append(text_at((left + right) / 2, bottom + 35, unit, "tick", "middle"))
    points = [[None if value is None else (x(index), height_of(value)) for index, value in enumerate(line.values)] for line in drawn]
    ends = [next(point[1] for point in reversed(of_line) if point is not None) for of_line in points]
    heights = spread_labels(ends, 15, top + 4, bottom)
    for number in sorted(range(len(drawn)), key=lambda number: drawn[number].kind == "headline"):
        made += drawn_line(drawn[number], points[number], right + 12, heights[number])
    y = bottom + 40
    for line in textwrap.wrap("No point that stands: " + ", ".join(missing) + "." if missing else "", NOTE_CHARACTERS):
        y += 15
        made.append(text_at(0, y, line, "note"))
    return svg(name, title, f"by {unit}. {told}.", y + 8, made)
