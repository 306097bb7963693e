"""The cases of tests/vectors/http1 for a server, what came back for one, and whether that is the answer asked for."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

VECTORS = Path(__file__).resolve().parent.parent / "vectors" / "http1"
# What is taken instead of the strict answer, and why; the test in memory reads the same file.
ALLOWED = VECTORS / "allowed-server-answers.jsonl"

# Statuses that say "refused", and those of them behind which nothing more of the connection can be understood.
REFUSALS = {400, 408, 411, 413, 414, 417, 421, 426, 431, 501, 505}
ENDING = {400, 408, 413, 414, 431, 501, 505}
# In place of a status: what is no answer, or is one cut short.
GARBLED = 0

REPEATED = re.compile(r"\$\{(.*?)\*(\d+)\}", re.S)
METHOD = re.compile(rb"(?:^|[\r\n])(GET|HEAD|POST|PUT|DELETE|OPTIONS|CONNECT|TRACE) ")


@dataclass
class Case:
    name: str
    request: bytes
    expected: str  # the strict answer
    permitted: list  # others that the case file allows
    taken: str | None = None  # the one of them that stands in the list of allowed answers
    content: bytes | None = None
    note: str = ""

    def __post_init__(self):
        # Of each request, whether it asks for a head only.
        self.to_head = [method == b"HEAD" for method in METHOD.findall(self.request)]

    @property
    def answers(self):
        return [self.expected] if self.taken is None else [self.expected, self.taken]


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def case_files():
    return sorted(VECTORS.glob("server-*.jsonl"))


def read_cases(path, allowed):
    cases = []
    for row in lines_of(path):
        request = REPEATED.sub(lambda found: found[1] * int(found[2]), row["request"]).encode("latin-1")
        content = row["body"].encode("latin-1") if "body" in row else None
        cases.append(Case(row["id"], request, row["expect"], row.get("allowed", []), allowed.get(row["id"]), content, row.get("note", "")))
    return cases


def read_allowed():
    """The answer taken for a case, by its id. Each has a reason."""
    rows = lines_of(ALLOWED)
    for row in rows:
        if set(row) != {"id", "answer", "reason"} or not row["reason"]:
            raise ValueError(f"{ALLOWED.name}: a line needs id, answer and reason: {row}")
    return {row["id"]: row["answer"] for row in rows}


@dataclass
class Heard:
    """What came back on one connection."""

    statuses: list = field(default_factory=list)  # interim ones included
    contents: list = field(default_factory=list)  # of the final ones
    closed: bool = False  # by the server, before the client said that it has no more to send
    whole: bool = True  # nothing is under way

    @property
    def final(self):
        return [status for status in self.statuses if status >= 200 or status in (101, GARBLED)]

    def __str__(self):
        words = [str(status) if status != GARBLED else "no whole answer" for status in self.statuses]
        return ",".join(words or ["nothing"]) + (" and closed" if self.closed else " and open")


def chunks_of(data, at):
    """(content, where it ends), or None while it is not there."""
    pieces = []
    while True:
        end = data.find(b"\r\n", at)
        if end < 0:
            return None
        size = int(data[at:end], 16)
        at = end + 4 + size
        if len(data) < at:
            return None
        if data[at - 2 : at] != b"\r\n":
            raise ValueError("a chunk that does not end")
        if size == 0:
            return b"".join(pieces), at
        pieces.append(data[end + 2 : at - 2])


def first_answer_bytes(data):
    """How long the first answer is, that to a good request for a small content; None while it is not whole."""
    end = data.find(b"\r\n\r\n")
    body = content_of(data, end + 4, data[: end + 2].lower(), 200, False) if end >= 0 and data.startswith(b"HTTP/1.1 200 ") else None
    return body and body[1]


def taken_apart(data, to_head, closed=False):
    """The answers in `data`; `to_head` says of each request whether it asks for a head only."""
    heard, at, answered = Heard(closed=closed), 0, 0
    while at < len(data):
        end = data.find(b"\r\n\r\n", at)
        line = re.match(rb"HTTP/1\.1 (\d\d\d) ", data[at : at + 13])
        if end < 0 or not line:
            heard.whole = line is None and len(data) - at >= 13
            break
        status = int(line[1])
        heard.statuses.append(status)
        head, at = data[at : end + 2].lower(), end + 4
        if status == 101:
            # Behind it another protocol speaks.
            if b"HTTP/1." in data[at:]:
                heard.statuses.append(GARBLED)
            return heard
        if status < 200:
            continue
        only_head = answered < len(to_head) and to_head[answered]
        body = content_of(data, at, head, 204 if only_head else status, closed)
        answered += 1
        if body is None:
            heard.statuses.pop()
            heard.whole = False
            break
        heard.contents.append(body[0])
        at = body[1]
    if at < len(data) if heard.whole else closed:
        heard.statuses.append(GARBLED)
    return heard


def content_of(data, at, head, status, closed):
    """(content, where it ends), or None while it is not there; without a length it ends with the connection."""
    if status in (204, 304):
        return b"", at
    if b"\r\ntransfer-encoding: chunked\r\n" in head:
        try:
            return chunks_of(data, at)
        except ValueError:
            return None
    length = re.search(rb"\r\ncontent-length: (\d+)\r\n", head)
    if not length:
        return (data[at:], len(data)) if closed else None
    end = at + int(length[1])
    return (data[at:end], end) if end <= len(data) else None


def matches(expected, heard):
    """Whether it is what `expected` says, in the language of the case files."""
    return match(expected, heard) == "whole"


def match(expected, heard):
    """"whole", "unclosed" when only the end of the connection is missing, or "no"."""
    final, interim = heard.final, 100 in heard.statuses
    if expected in ("close", "wait", "100"):
        if final or (expected == "100") != interim:
            return "no"
        if expected == "close":
            return "whole" if heard.closed else "unclosed"
        return "no" if heard.closed else "whole"
    at, must_close, must_continue = 0, False, False
    for word in expected.split(","):
        if word == "close":
            must_close = True
        elif word == "100":
            must_continue = True
        elif word.startswith("ok:"):
            count = int(word[3:])
            if len(final) < at + count or any(status in REFUSALS or status == GARBLED for status in final[at : at + count]):
                return "no"
            at += count
        else:
            if len(final) <= at or final[at] != int(word):
                return "no"
            at += 1
    if at != len(final) or (must_continue and not interim):
        return "no"
    must_close = must_close or (final and final[-1] in ENDING)
    return "whole" if heard.closed or not must_close else "unclosed"


def verdict(case, heard):
    """None when it is the strict answer or a listed one, otherwise what was wrong."""
    if not any(matches(answer, heard) for answer in case.answers):
        asked = " or ".join(case.answers)
        unlisted = next((answer for answer in case.permitted if matches(answer, heard)), None)
        more = f" (permitted as {unlisted}, but not listed in {ALLOWED.name})" if unlisted else ""
        if any(match(answer, heard) == "unclosed" for answer in case.answers):
            more = " (the connection stayed open)"
        return f"expected {asked}, got {heard}{more}"
    if case.content is not None and heard.final[:1] == [200] and heard.contents[0] != case.content:
        return f"expected the content {case.content[:80]!r}, got {heard.contents[0][:80]!r}"
    return None
