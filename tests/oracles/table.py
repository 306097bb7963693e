"""The table of differences: rows of differences.jsonl, which of them explains a difference, and the page that is made of them."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import rules

HERE = Path(__file__).resolve().parent
TABLE = HERE / "differences.jsonl"

# What a row's `kind` stands for beside itself.
KINDS = {
    "stricter": ("refuses/accepts", "refuses/waits"),
    "laxer": ("accepts/refuses", "waits/refuses", "accepts/waits", "waits/accepts"),
}
SECTIONS = (
    ("laxer", "Martlet accepts, another does not"),
    ("other", "Both accept or both refuse, and do not say the same"),
    ("stricter", "Martlet refuses, another does not"),
)
PEER = re.compile(r"(\w+)(?:(<|>=)([\d.]+))?")
SIGNS = {"<": "before", ">=": "from"}
TITLES = {"h11": "h11", "llhttp": "llhttp", "go": "Go", "nginx": "nginx"}


@dataclass
class Row:
    id: str
    peers: list  # names, each perhaps with a bound: "llhttp<8"
    kind: str  # of KINDS, or of a Difference; several with "|" between
    when: str  # a condition of rules.py, several with "and" between
    rfc: str
    martlet: str
    theirs: str
    examples: list
    why: str = ""  # our reason, when we refuse
    peer_why: str = ""  # a part of theirs
    met: set = field(default_factory=set)

    def conditions(self):
        return [getattr(rules, name) for name in self.when.split(" and ")]

    def is_for(self, peer, version):
        return any(applies(each, peer, version) for each in self.peers)

    def explains(self, difference, view):
        if not any(difference.kind in KINDS.get(kind, (kind,)) for kind in self.kind.split("|")):
            return False
        if self.why and difference.why != self.why or self.peer_why and self.peer_why not in difference.peer_why:
            return False
        return all(condition(view) for condition in self.conditions())

    def inputs(self):
        return [expanded(example) for example in self.examples]


def expanded(text):
    """${X*N} stands for N times X; code points are bytes."""
    return re.sub(r"\$\{(.*?)\*(\d+)\}", lambda found: found[1] * int(found[2]), text, flags=re.S).encode("latin-1")


def applies(each, peer, version):
    name, sign, bound = PEER.fullmatch(each).groups()
    if name != peer:
        return False
    if not sign:
        return True
    numbers = [[int(part) for part in re.findall(r"\d+", text)] for text in (version, bound)]
    return numbers[0] < numbers[1] if sign == "<" else numbers[0] >= numbers[1]


def load(path=TABLE):
    return [Row(**json.loads(line)) for line in path.read_text().splitlines() if line]


def explain(rows, difference, peer, version):
    """The first row that explains it, or None."""
    view = rules.View(difference.message, difference.before)
    for row in rows:
        if row.is_for(peer, version) and row.explains(difference, view):
            return row
    return None


# --- the page ---

HEAD = """# Differences

Martlet's HTTP/1.1 codec and four that others wrote read the same requests: h11, llhttp (the parser inside Node), the server of Go's
`net/http`, and nginx. This page says where they part and by which rule. It is made from `tests/oracles/differences.jsonl` by
`tests/oracles/differences --render`.

The requests come from a seed, good ones and changed ones, alone and in pipelines, with all cases of `tests/vectors/http1` and the examples
below. Compared are, message after message, whether it is accepted, then method, target, version, fields, content, trailer fields, where the
message ends, and whether the connection goes on; of Go not where a message ends, since it reads ahead; of nginx method, target and content
as it hands them to a server behind it. A difference that no row explains fails the test, and so does a row that its examples do not show
any more. A row holds only for bytes that meet its condition, which is written apart from the parser (`tests/oracles/rules.py`).

Not compared: what follows CONNECT, where HTTP ends; with llhttp, what follows an offer to upgrade, since Node tells of no error behind it;
the content of a message that is not whole yet; of a refusal more than whether its status is a 4xx or a 5xx.

    tests/oracles/differences build/release/bin                                                   # as ./test does, h11 and llhttp
    tests/oracles/differences build/release/bin --seed 7 --count 50000 --with h11,llhttp,go,nginx
    tests/oracles/differences build/release/bin --show 7:123                                      # one request, and what each makes of it
"""


def peers_shown(peers):
    parts = [PEER.fullmatch(each).groups() for each in peers]
    return ", ".join(TITLES[name] + (f" {SIGNS[sign]} {bound}" if sign else "") for name, sign, bound in parts)


def section_of(row):
    first = row.kind.split("|")[0]
    return next((section for section, kinds in KINDS.items() if first == section or first in kinds), "other")


def page(rows):
    parts = [HEAD]
    for kind, title in SECTIONS:
        chosen = [row for row in rows if section_of(row) == kind]
        parts.append(f"\n## {title}\n")
        for row in chosen:
            parts.append(f"\n**{row.id}** ({row.rfc}). {row.martlet} {peers_shown(row.peers)}: {row.theirs}\n\n")
            parts += [f"    {json.dumps(example)}\n" for example in row.examples]
    return "".join(parts)
