"""The pieces of the page, each as Markdown and as HTML."""

import dataclasses
import html
import re

INLINE = re.compile(r"`(?P<code>[^`]+)`|\[(?P<text>[^\]]+)\]\((?P<target>[^)]+)\)|\*\*(?P<strong>[^*]+)\*\*")

NUMBER = ' class="number"'


def inline(text):
    """Code, links and emphasis of one piece of Markdown as HTML."""
    made, end = [], 0
    for match in INLINE.finditer(text):
        made.append(html.escape(text[end : match.start()], quote=False))
        if match["code"]:
            made.append(f"<code>{html.escape(match['code'], quote=False)}</code>")
        elif match["strong"]:
            made.append(f"<strong>{html.escape(match['strong'], quote=False)}</strong>")
        else:
            made.append(f'<a href="{html.escape(match["target"])}">{html.escape(match["text"], quote=False)}</a>')
        end = match.end()
    return "".join(made) + html.escape(text[end:], quote=False)


@dataclasses.dataclass
class Heading:
    level: int
    text: str

    @property
    def anchor(self):
        return re.sub(r"[^a-z0-9]+", "-", self.text.lower()).strip("-")

    def markdown(self):
        return f"{'#' * self.level} {self.text}"

    def html(self):
        return f'<h{self.level} id="{self.anchor}">{inline(self.text)}</h{self.level}>'


@dataclasses.dataclass
class Paragraph:
    text: str

    def markdown(self):
        return self.text

    def html(self):
        return f"<p>{inline(self.text)}</p>"


@dataclasses.dataclass
class Code:
    text: str

    def markdown(self):
        return "\n".join(f"    {line}".rstrip() for line in self.text.split("\n"))

    def html(self):
        return f'<pre tabindex="0"><code>{html.escape(self.text, quote=False)}</code></pre>'


@dataclasses.dataclass
class Bullets:
    items: list

    def markdown(self):
        return "\n".join("- " + item.replace("\n", "\n  ") for item in self.items)

    def html(self):
        return "<ul>\n" + "\n".join(f"<li>{inline(item)}</li>" for item in self.items) + "\n</ul>"


@dataclasses.dataclass
class Table:
    """Columns that begin with `>` are right-aligned. `kinds` is a class for each row, as `martlet`."""

    caption: str
    columns: list
    rows: list
    kinds: list = dataclasses.field(default_factory=list)
    folded: bool = False  # in HTML, where a plot shows the same
    cards: bool = False  # on a narrow screen each row is a card

    def markdown(self):
        def line(cells):
            return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

        lines = [f"{self.caption}:", "", line(column.lstrip(">") for column in self.columns)]
        lines.append(line("---:" if column.startswith(">") else "---" for column in self.columns))
        return "\n".join(lines + [line(row) for row in self.rows])

    def cell(self, number, text, column):
        classes = ["number"] if column.startswith(">") else []
        if str(text).startswith(("withheld", "skipped", "not in this run", "inconclusive")):
            classes.append("note")
        mark = f' class="{" ".join(classes)}"' if classes else ""
        if self.cards:
            mark += f' role="{"cell" if number else "rowheader"}" data-label="{html.escape(column.lstrip(">"))}"'
        name, scope = ("th", ' scope="row"') if number == 0 else ("td", "")
        return f"<{name}{scope}{mark}>{inline(str(text))}</{name}>"

    def html(self):
        # As cards a table would lose its roles.
        roles, row_role = (' class="cards" role="table"', ' role="row"') if self.cards else ("", "")
        head = "".join(
            f'<th scope="col"{NUMBER if column.startswith(">") else ""}>{inline(column.lstrip(">"))}</th>' for column in self.columns
        )
        lines = [
            f'<div class="table" tabindex="0" role="region" aria-label="{html.escape(self.caption)}"><table{roles}>',
            f"<caption>{inline(self.caption)}</caption>",
            f"<thead><tr>{head}</tr></thead>",
            "<tbody>",
        ]
        for at, row in enumerate(self.rows):
            kind = self.kinds[at] if at < len(self.kinds) else ""
            cells = "".join(self.cell(number, text, column) for number, (text, column) in enumerate(zip(row, self.columns)))
            mark = f' class="{kind}"' if kind else ""
            lines.append(f"<tr{row_role}{mark}>{cells}</tr>")
        text = "\n".join([*lines, "</tbody>", "</table></div>"])
        return f"<details>\n<summary>As a table: {inline(self.caption)}</summary>\n{text}\n</details>" if self.folded else text


@dataclasses.dataclass
class Plots:
    """Plots side by side, in HTML only."""

    drawn: list  # (caption, svg)

    def markdown(self):
        return None

    def html(self):
        figures = [f"<figure>\n{svg}\n<figcaption>{inline(caption)}</figcaption>\n</figure>" for caption, svg in self.drawn]
        return '<div class="plots">\n' + "\n".join(figures) + "\n</div>"


@dataclasses.dataclass
class Tiles:
    """A few figures that stand large, in HTML only: (what, figure, text, small print)."""

    shown: list

    def markdown(self):
        return None

    def html(self):
        def tile(what, figure, text, small):
            parts = ((what, "what"), (figure, "figure"), (text, "text"), (small, "small"))
            return "<li>" + "".join(f'<span class="{kind}">{inline(words)}</span>' for words, kind in parts if words) + "</li>"

        return '<ul class="tiles">\n' + "\n".join(tile(*each) for each in self.shown) + "\n</ul>"


@dataclasses.dataclass
class MarkdownOnly:
    """What would make no sense on the HTML page."""

    block: object

    def markdown(self):
        return self.block.markdown()

    def html(self):
        return ""


def markdown(blocks):
    return "\n\n".join(text for block in blocks if (text := block.markdown()) is not None) + "\n"


def body(blocks):
    return "\n".join(block.html() for block in blocks)
