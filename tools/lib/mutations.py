"""The lists of planted bugs in tools/mutations/: how they are read, applied to a file's text, and held against what there must be."""

import hashlib
import re
from dataclasses import dataclass, field

LIMIT = re.compile(r"limit (?P<limit>[^:]+: \w+), (?P<how>removed|off)$")


class Wrong(Exception):
    """A list, or a mutation in it, is not as it must be."""


@dataclass
class Edit:
    file: str
    inside: str  # the beginning of the function, or empty
    find: list = field(default_factory=list)
    put: list = field(default_factory=list)

    def place(self, text):
        """(begin, end) of the one place in `text`. Indentation does not count."""
        begin, end = 0, len(text)
        if self.inside:
            starts = [m.start() for m in re.finditer(re.escape(self.inside), text)]
            if len(starts) != 1:
                raise Wrong(f"{self.file}: '{self.inside}' stands there {len(starts)} times")
            begin = starts[0]
            close = re.compile(r"^}", re.M).search(text, begin)
            end = close.start() if close else end
        pattern = re.compile(r"[ \t]*\n[ \t]*".join(re.escape(line) for line in self.find))
        found = list(pattern.finditer(text, begin, end))
        if len(found) != 1:
            raise Wrong(f"{self.file}: '{self.find[0]}' stands {'there' if not self.inside else 'in its function'} {len(found)} times")
        return found[0].span()

    def apply(self, text):
        begin, end = self.place(text)
        return text[:begin] + "\n".join(self.put) + text[end:]


@dataclass
class Mutation:
    name: str
    list_file: str
    line: int
    of: str = ""
    edits: list = field(default_factory=list)
    program: str = ""
    tests: str = ""
    equivalent: str = ""

    def files(self):
        return sorted({edit.file for edit in self.edits})

    def key(self, root):
        """Changes when the mutation, its killer or one of its files does."""
        digest = hashlib.sha256(repr((self.edits, self.program, self.tests)).encode())
        for name in self.files():
            path = root / name
            digest.update(path.read_bytes() if path.is_file() else b"")
        return digest.hexdigest()[:16]

    def applied(self, root):
        """{file: text with the bug}; Wrong when it does not fit any more."""
        texts = {}
        for edit in self.edits:
            path = root / edit.file
            if edit.file not in texts:
                if not path.is_file():
                    raise Wrong(f"there is no {edit.file}")
                texts[edit.file] = path.read_text()
            texts[edit.file] = edit.apply(texts[edit.file])
        for name, text in texts.items():
            if text == (root / name).read_text():
                raise Wrong(f"{name}: it changes nothing")
        return texts


def read_list(path):
    """The mutations of one file. A block is `[name]` and lines `word: text`; '#' begins a comment line."""
    made, edit, now, inside = [], None, "", ""
    for number, line in enumerate(path.read_text().splitlines(), 1):

        def wrong(why):
            return Wrong(f"{path.name}:{number}: {why}")

        if not line.strip() or line.startswith("#"):
            continue
        header = re.fullmatch(r"\[([\w.+-]+)\]", line.strip())
        if header:
            made.append(Mutation(header.group(1), path.name, number))
            edit, now, inside = None, "", ""
            continue
        word, colon, text = line.partition(":")
        text = text[1:] if text.startswith(" ") else text
        if not colon or not made:
            raise wrong("neither a comment, a [name] nor a line 'word: text'")
        last = made[-1]
        if word == "file":
            now, inside, edit = text.strip(), "", None
        elif word == "in":
            inside, edit = text.strip(), None
        elif word == "find":
            if not now:
                raise wrong("'file' must come before 'find'")
            if edit is None or edit.put:
                edit = Edit(now, inside)
                last.edits.append(edit)
            edit.find.append(text.strip())
        elif word == "put":
            if edit is None:
                raise wrong("'find' must come before 'put'")
            edit.put.append(text.strip())
        elif word == "killer":
            last.program, _, last.tests = text.strip().partition(" ")
            last.tests = last.tests.strip()
        elif word in ("of", "equivalent"):
            setattr(last, word, f"{getattr(last, word)} {text.strip()}".strip())
        else:
            raise wrong(f"'{word}' means nothing")
    for each in made:
        where = f"{each.list_file}:{each.line}: {each.name}"
        if not each.edits or any(not edit.put for edit in each.edits):
            raise Wrong(f"{where} needs 'find' and 'put' (an empty 'put:' takes the text out)")
        if not each.of:
            raise Wrong(f"{where} does not say what it is a mutation of")
        if not each.program or not each.tests:
            raise Wrong(f"{where} needs 'killer: PROGRAM TESTS'")
    return made


def read_all(folder):
    made, names = [], {}
    for path in sorted(folder.glob("*.txt")):
        if path.name == "wanted.txt":
            continue
        for each in read_list(path):
            if each.name in names:
                raise Wrong(f"{each.list_file}:{each.line}: there is another {each.name} in {names[each.name]}")
            names[each.name] = each.list_file
            made.append(each)
    return made


def limits_of(page):
    """`server: head_bytes_max` for each row of docs/limits.md."""
    section = ""
    for line in page.splitlines():
        if line.startswith("## "):
            section = line[3:].strip().lower().removeprefix("a ")
        row = re.match(r"\| `(\w+)` \|", line)
        if row:
            yield f"{section}: {row.group(1)}"


def missing(mutations, page, wanted):
    """What there must be and is not: two mutations of each limit, one of each line of `wanted`."""
    needed, excused = [], set()
    for limit in limits_of(page):
        needed += [f"limit {limit}, removed", f"limit {limit}, off"]
    for line in wanted.splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("without "):
            name, arrow, reason = line.removeprefix("without ").partition(" -- ")
            if not arrow or not reason.strip():
                raise Wrong(f"wanted.txt: '{line}' gives no reason")
            excused.add(name.strip())
        elif line.startswith("limit "):
            needed += [f"{line}, removed", f"{line}, off"]
        else:
            needed.append(line)
    there = {each.of for each in mutations}
    known = set(needed)
    problems = [f"no mutation of: {name}" for name in needed if name not in there and name not in excused]
    problems += [f"wanted.txt excuses what nobody asks for: {name}" for name in sorted(excused - known)]
    problems += [f"wanted.txt excuses what there is: {name}" for name in sorted(excused & there)]
    for each in mutations:
        kind = each.of.split(" ")[0]
        if kind in ("limit", "choice") and each.of not in known:
            problems.append(f"{each.list_file}:{each.line}: {each.name} is of an unknown {kind}: {each.of}")
    return problems
