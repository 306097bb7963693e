"""Reads the template: prose whose numbers are placeholders, and directives that stand for tables and plots.

    {{cpu_ratio hello floor d1}}       a figure with its interval; `value`, `low`, `high`, `excess` or `pairs` behind it takes a part of it
    {{aim cpu_ratio hello floor d1 under 1.1}}   whether the figure keeps below, by its interval
    {{run hours}} {{machine kernel}} {{rule half_width_max}}   what the record says of itself
    {{say 16}}                         a constant: the only way to write a number that is no figure
    {{section cpu}}                    alone on a line: tables and plots
    {{with cpu_ratio hello hyper d1}}  before a paragraph: it stands only when the run has that figure, withheld or not; `with A and B`
    {{without run}}                    before a paragraph: it stands only when there is no run at all; every other one stands when there is
    {{always}}, {{always markdown}}    before a paragraph: it stands either way; the second not on the HTML page

A number in the prose that is neither is refused, and so is a placeholder of what there is not.
"""

import re

from . import sections, values
from .blocks import Bullets, Code, Heading, MarkdownOnly, Paragraph

PLACEHOLDER = re.compile(r"\{\{\s*(.*?)\s*\}\}", re.S)
GUARD = re.compile(r"\A\{\{(with |without run|always markdown|always)(.*?)\}\}\n?", re.S)
WORD = re.compile(r"(?<![\w.,/-])[-+]?[$~]?\.?\d[\w.,/%-]*")
NO_PROSE = re.compile(r"\]\([^)]*\)|`[^`\d]*[A-Za-z][^`]*`")


class Faults(Exception):
    """What is wrong with the template: lines that name file and line."""

    def __init__(self, found):
        super().__init__("\n".join(found))
        self.found = found


class Template:
    """One template, read against a record; None is no record at all."""

    def __init__(self, text, name, record):
        self.text, self.name, self.record, self.found = text, name, record, []

    def fault(self, line, text):
        self.found.append(f"{self.name}:{line}: {text}")

    def pieces(self):
        """(line, text) of each piece that empty lines part."""
        begin, piece = 1, []
        for number, line in enumerate(self.text.split("\n"), 1):
            if line.strip():
                if not piece:
                    begin = number
                piece.append(line)
            elif piece:
                yield begin, "\n".join(piece)
                piece = []
        if piece:
            yield begin, "\n".join(piece)

    def look_for_numbers(self, line, text):
        def blank(match):
            return re.sub(r"[^\n]", " ", match.group())

        bare = NO_PROSE.sub(blank, PLACEHOLDER.sub(blank, text))
        for match in WORD.finditer(bare):
            self.fault(
                line + bare.count("\n", 0, match.start()),
                f"the number '{match.group().strip('.,-')}' is typed by hand; bind it to a figure, or mark a constant as {{{{say ...}}}}",
            )

    def substitute(self, line, text):
        def value(match):
            try:
                return self.value(match.group(1).split())
            except values.Unknown as unknown:
                self.fault(line + text.count("\n", 0, match.start()), str(unknown))
                return ""

        return PLACEHOLDER.sub(value, text)

    def value(self, words):
        kind, rest = (words[0], words[1:]) if words else ("", [])
        if kind == "say":
            return " ".join(rest)
        if kind == "aim":
            return self.aim(rest)
        if kind in sections.FACTS:
            if len(rest) != 1:
                raise values.Unknown(f"'{kind}' takes one name")
            return sections.FACTS[kind](self.record, rest[0]) if self.record else ""
        wanted, form = values.reference(words, self.record)
        if self.record is None:
            return ""
        return values.sentence(self.figure(wanted, words), form)

    def figure(self, wanted, words):
        figure = values.find(self.record, wanted)
        if figure is None:
            raise values.Unknown(f"there is no figure '{' '.join(words)}' in {sections.file_name(self.record)}")
        return figure

    def aim(self, words):
        if len(words) < 4 or words[-2] != "under":
            raise values.Unknown("'aim' takes a figure, the word under, and a number")
        wanted, _ = values.reference(words[:-2], self.record)
        limit = float(words[-1])
        if self.record is None:
            return ""
        figure = self.figure(wanted, words[:-2])
        if not values.is_shown(figure):
            return f"not decided ({values.refusal_text(figure)})"
        low, high = (figure["value"] if figure[end] is None else figure[end] for end in ("low", "high"))
        return "kept" if high < limit else "missed" if low >= limit else "not decided: the interval has it inside"

    def guarded(self, line, text):
        """The piece without its guard, or None when it does not stand."""
        match = GUARD.match(text)
        if match is None:
            return (line, text) if self.record else None
        kind, words = match.group(1).strip(), match.group(2).split()
        rest = line + match.group().count("\n"), text[match.end() :]
        if kind.startswith("always") or kind == "without run":
            return rest if kind.startswith("always") or self.record is None else None
        try:
            wanted = [values.reference(name.split(), self.record)[0] for name in " ".join(words).split(" and ")]
            return rest if self.record and all(values.find(self.record, each) for each in wanted) else None
        except values.Unknown as unknown:
            self.fault(line, str(unknown))
            return None

    def block(self, line, text):
        """The blocks of one piece that stands."""
        match = PLACEHOLDER.fullmatch(text)
        words = match.group(1).split() if match else []
        if words[:1] == ["section"]:
            if len(words) != 2 or words[1] not in sections.SECTIONS:
                self.fault(line, f"there is no section '{' '.join(words[1:])}'")
                return []
            return sections.SECTIONS[words[1]](self.record)
        text = self.substitute(line, text)
        if heading := re.fullmatch(r"(#+) ([^\n]+)", text):
            return [Heading(len(heading.group(1)), heading.group(2))]
        if text.startswith("- "):
            return [Bullets([re.sub(r"\n\s+", "\n", item) for item in re.split(r"\n- ", text[2:])])]
        return [Paragraph(text)]

    def blocks(self):
        """Every block of the page. Raises Faults."""
        made, standing = [], True
        for line, text in self.pieces():
            if all(row.startswith("    ") for row in text.split("\n")):  # code stands when what is before it does
                if standing:
                    made.append(Code("\n".join(row[4:] for row in text.split("\n"))))
                continue
            self.look_for_numbers(line, text)
            kept = self.guarded(line, text)
            standing = kept is not None
            if standing:
                found = self.block(*kept)
                made += map(MarkdownOnly, found) if text.startswith("{{always markdown}}") else found
            else:
                self.names(line, text)
        if self.found:
            raise Faults(self.found)
        return made

    def names(self, line, text):
        """Of a piece that does not stand: what it names must be something that a run can have."""
        for match in PLACEHOLDER.finditer(text):
            words = match.group(1).split()
            kind = words[0] if words else ""
            at = line + text.count("\n", 0, match.start())
            if kind in ("with", "without", "always"):
                continue
            try:
                if kind == "section" and (len(words) != 2 or words[1] not in sections.SECTIONS):
                    raise values.Unknown(f"there is no section '{' '.join(words[1:])}'")
                if kind not in ("say", "section", "aim", *sections.FACTS):
                    values.reference(words, self.record)
            except values.Unknown as unknown:
                self.fault(at, str(unknown))
