"""What is wrong, or only unusual, with a message: the conditions that rows of the table name. Written from the RFCs, not from the parser
that they judge, and loosely: each looks at the bytes alone."""

import ipaddress
import re
from typing import NamedTuple

TCHAR = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]"
TOKEN = re.compile(TCHAR + rb"+")
# RFC 3986: pchar without its escapes; a query may hold what browsers leave in it.
PCHAR = rb"[A-Za-z0-9\-._~!$&'()*+,;=:@]"
PATH = re.compile(rb"(?:/|" + PCHAR + rb"|%[0-9A-Fa-f]{2})*")
QUERY = re.compile(rb"[!$-;=?-~]*")
REG_NAME = rb"(?:[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2})+"
AUTHORITY = re.compile(rb"(" + REG_NAME + rb"|\[([0-9A-Fa-f:.]+)\]|\[[vV][0-9A-Fa-f]+\.[A-Za-z0-9\-._~!$&'()*+,;=:]+\])(?::([0-9]*))?")
QUOTED = rb'"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*"'
EXTENSION = re.compile(rb"(?:[ \t]*;[ \t]*" + TCHAR + rb"+(?:[ \t]*=[ \t]*(?:" + TCHAR + rb"+|" + QUOTED + rb"))?)*")
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
ONCE = {
    b"host", b"content-length", b"content-type", b"user-agent", b"referer", b"range", b"authorization", b"date",
    b"if-modified-since", b"if-unmodified-since", b"if-range", b"max-forwards", b"origin", b"proxy-authorization", b"content-range",
    b"sec-websocket-key", b"sec-websocket-version",
}
FRAMING_TRAILERS = {b"host", b"content-length", b"transfer-encoding", b"connection", b"expect", b"upgrade"}
DROPPED_TRAILERS = set(
    b"keep-alive te trailer http2-settings max-forwards authorization proxy-authorization cookie set-cookie content-encoding content-type "
    b"content-range content-language content-disposition cache-control pragma age date expires vary location range if-match if-none-match "
    b"forwarded".split()
)
NODE_METHODS = set(
    b"DELETE GET HEAD POST PUT CONNECT OPTIONS TRACE COPY LOCK MKCOL MOVE PROPFIND PROPPATCH SEARCH UNLOCK BIND REBIND UNBIND ACL REPORT "
    b"MKACTIVITY CHECKOUT MERGE M-SEARCH NOTIFY SUBSCRIBE UNSUBSCRIBE PATCH PURGE MKCALENDAR LINK UNLINK SOURCE QUERY".split()
)


class Chunks(NamedTuple):
    fault: str | None  # the first: size, cr, lf, extension, or end of a chunk
    line: bytes  # the last size line that was read
    trailers: list
    blank: bool  # there is whitespace in an extension


class View:
    """The first message of some bytes, taken apart at CRLF whatever is between."""

    def __init__(self, message, before=None):
        self.whole = message
        self.before = View(before) if before else None
        self.start = message.lstrip(b"\r\n")
        head, end, self.content = self.start.partition(b"\r\n\r\n")
        self.head_is_whole = bool(end)
        self.head = head
        self.line, *self.lines = head.split(b"\r\n")
        words = self.line.split(b" ")
        self.words = words
        self.method, self.target, self.version = words if len(words) == 3 else (words[0], words[1] if len(words) > 1 else b"", words[-1])
        self.fields = [(name.lower(), value.strip(b" \t")) for name, _, value in (line.partition(b":") for line in self.lines)]

    def values(self, name):
        return [value for known, value in self.fields if known == name]

    def list(self, name):
        return [part.strip(b" \t").lower() for value in self.values(name) for part in value.split(b",")]

    def chunks(self):
        """The content as chunks, as far as it goes."""
        rest, blank = self.content, False
        while True:
            line, end, after = rest.partition(b"\r\n")
            fault = line_fault(line) if line or end else None
            blank = blank or (fault is None or not end) and has_blank(line)
            if fault or not end:
                return Chunks(fault, line, [], blank)
            size = int(re.match(rb"[0-9A-Fa-f]+", line)[0], 16)
            if size == 0:
                lines = after.partition(b"\r\n\r\n")[0].split(b"\r\n")
                return Chunks(None, line, [] if after.startswith(b"\r\n") else lines, blank)
            rest = after[size:]
            if not rest.startswith(b"\r\n"):
                return Chunks("end" if rest and not b"\r\n".startswith(rest) else None, line, [], blank)
            rest = rest[2:]


def line_fault(line):
    """What is wrong with the size line of a chunk."""
    size = re.match(rb"[0-9A-Fa-f]*", line)[0]
    if not size or len(size) > 16:
        return "size"
    rest = line[len(size) :]
    if lone := re.search(rb"[\r\n]", rest):
        return "cr" if lone[0] == b"\r" else "lf"
    if int(size, 16) >= 1 << 63 or rest and not re.match(rb"[ \t]*;", rest):
        return "size"
    return None if EXTENSION.fullmatch(rest) else "extension"


def has_blank(line):
    bare = re.sub(QUOTED, b"", line)
    return b" " in bare or b"\t" in bare


def authority_is_good(text):
    found = AUTHORITY.fullmatch(text)
    if not found or int(found[3] or b"0") > 65535:
        return False
    try:
        return found[2] is None or bool(ipaddress.IPv6Address(found[2].decode()))
    except ValueError:
        return False


def host_of_target(target):
    found = re.match(rb"(?i)https?://([^/?#]*)", target)
    return found[1] if found else None


def path_of_target(target):
    """Path and query of an origin or absolute target; None of others."""
    found = re.match(rb"(?i)(?:https?://[^/?#]*([/?].*|$)|(/.*))", target, re.S)
    return (found[1] or found[2] or b"") if found else None


def path_is_good(text):
    path, _, query = text.partition(b"?")
    return bool(PATH.fullmatch(path) and b"%00" not in path and QUERY.fullmatch(query))


# --- conditions: each takes a View ---


def lines_of(v):
    """Of the head, and behind the last chunk."""
    return [v.line, *v.lines, *v.chunks().trailers]


def bare_lf(v):
    return any(b"\n" in line for line in lines_of(v))


def bare_cr(v):
    return any(b"\r" in line for line in lines_of(v))


def control(v):
    return any(CONTROL.search(line) for line in lines_of(v))


def folded(v):
    return any(line[:1] in (b" ", b"\t") for line in [*v.lines, *v.chunks().trailers])


def no_head_end(v):
    return not v.head_is_whole


def no_line_end(v):
    """The head, or the trailer section, is not whole."""
    lines = v.chunks().trailers
    return not v.head_is_whole or bool(lines) and v.content.endswith(b"\r\n".join(lines))


def empty_line_first(v):
    return v.whole.startswith(b"\r\n") or v.whole == b"\r"


def empty_lines_first(v):
    return v.whole.startswith(b"\r\n\r")


def lone_line_end_first(v):
    """CR or LF by itself before the request line."""
    return bool(re.match(rb"(?:\r\n)*(?:\n|\r(?!\n))", v.whole))


def spaces_in_line(v):
    return len(v.words) != 3 or b"" in v.words


def bad_method(v):
    return not TOKEN.fullmatch(v.method)


def long_method(v):
    return len(v.method) > 32 and bool(TOKEN.match(v.method))


def method_unknown_to_node(v):
    return bool(TOKEN.match(v.method)) and v.method not in NODE_METHODS


def method_not_upper(v):
    return bool(TOKEN.fullmatch(v.method)) and not re.fullmatch(rb"[A-Z_\-]+", v.method)


def is_connect(v):
    return v.method == b"CONNECT"


def is_trace(v):
    return v.method == b"TRACE"


def is_pri(v):
    return v.method == b"PRI"


def asterisk(v):
    return v.target == b"*"


def fragment(v):
    return b"#" in v.target


def target_escape(v):
    return bool(re.search(rb"%(?![0-9A-Fa-f]{2})|%00", v.target.partition(b"?")[0]))


def target_high_byte(v):
    return bool(re.search(rb"[\x80-\xff]", v.target))


def target_byte(v):
    text = path_of_target(v.target)
    return text is not None and not path_is_good(text)


def dot_segments(v):
    path = (path_of_target(v.target) or b"").partition(b"?")[0].lower().replace(b"%2e", b".").replace(b"%2f", b"/")
    return b".." in path.split(b"/")


def target_authority(v):
    host = host_of_target(v.target)
    return host is not None and not authority_is_good(host) or v.method == b"CONNECT" and not authority_is_good(v.target)


def target_host_escape(v):
    return v.method == b"CONNECT" and b"%" in v.target


def target_port_missing(v):
    return v.method == b"CONNECT" and not re.search(rb":\d+$", v.target)


def target_no_form(v):
    return v.target != b"*" and path_of_target(v.target) is None


def target_wrong_form(v):
    return (v.target == b"*" and v.method != b"OPTIONS") or (v.method == b"CONNECT" and (v.target.startswith(b"/") or b"://" in v.target))


def target_absolute(v):
    return host_of_target(v.target) is not None


def https_target(v):
    return v.target.lower().startswith(b"https://")


def host_differs(v):
    return host_of_target(v.target) is not None and [host_of_target(v.target).lower()] != [value.lower() for value in v.values(b"host")]


def bad_version(v):
    return not re.fullmatch(rb"HTTP/[0-9]\.[0-9]", v.version)


def other_major(v):
    return bool(re.search(rb" HTTP/[02-9]\.[0-9](?:[\r\n]|$)", v.line))


def later_minor(v):
    return bool(re.fullmatch(rb"HTTP/1\.[2-9]", v.version))


def version_1_0(v):
    return v.version == b"HTTP/1.0"


def long_line(v):
    return len(v.line) > 8192


def long_field(v):
    return any(len(line) > 16384 for line in v.lines)


def long_head(v):
    return len(v.head) + 4 > 32768


def many_fields(v):
    return len(v.lines) > 100 or len(v.chunks().trailers) > 32


def long_trailers(v):
    return sum(len(line) + 2 for line in v.chunks().trailers) > 8192 - 2


def long_extensions(v):
    """The content up to the last chunk has a long extension, or many."""
    lines = re.findall(rb"(?:^|\r\n)[0-9A-Fa-f]+(;[^\r\n]*)", v.content)
    return any(len(line) > 256 for line in lines) or sum(map(len, lines)) > 16384


def tiny_chunks(v):
    return len(re.findall(rb"(?:^|\r\n)1\r\n", v.content)) * 4 > 262144


def huge_chunk(v):
    """The last size that can be read, so large that a further digit does not fit."""
    size = re.match(rb"[0-9A-Fa-f]{1,16}", v.chunks().line)
    return bool(size) and int(size[0], 16) >= 1 << 55


def no_host(v):
    return not v.values(b"host")


def two_hosts(v):
    return len(v.values(b"host")) > 1


def host_empty(v):
    return v.values(b"host") == [b""]


def host_syntax(v):
    return any(value and not authority_is_good(value) for value in v.values(b"host"))


def host_comma(v):
    return any(b"," in value for value in v.values(b"host"))


def target_comma(v):
    return b"," in (host_of_target(v.target) or b"")


def host_dots(v):
    return any(b".." in value for value in v.values(b"host"))


def two_lengths(v):
    return len(v.values(b"content-length")) > 1


def twice(v):
    names = [name for name, _ in v.fields if name in ONCE]
    return len(names) != len(set(names))


def bad_name(v):
    return any(not TOKEN.fullmatch(line.partition(b":")[0]) or b":" not in line for line in [*v.lines, *v.chunks().trailers])


def bad_length(v):
    return any(not re.fullmatch(rb"[0-9]{1,20}", value) or int(value) >= 1 << 64 for value in v.values(b"content-length"))


def length_list(v):
    return any(re.fullmatch(rb"[0-9]*([ \t]*,[ \t]*[0-9]*)+", value) for value in v.values(b"content-length"))


def huge_length(v):
    return any(re.fullmatch(rb"[0-9]+", value) and int(value) >= 1 << 63 for value in v.values(b"content-length"))


def length_and_coding(v):
    return bool(v.values(b"content-length") and v.values(b"transfer-encoding"))


def coding_in_1_0(v):
    return bool(version_1_0(v) and v.values(b"transfer-encoding"))


def bad_coding(v):
    codings = v.list(b"transfer-encoding")
    known = [coding for coding in codings if TOKEN.fullmatch(coding) and coding != b"identity"]
    return known != codings or b"chunked" in codings[:-1] or codings.count(b"chunked") > 1


def unknown_coding(v):
    return any(coding != b"chunked" for coding in v.list(b"transfer-encoding"))


def other_coding(v):
    """Transfer-Encoding is there and is not "chunked" with spaces around it."""
    found = re.finditer(rb"(?im)(?:^|(?<=\r))[ \t]*transfer-encoding(.*?)\r?$", v.start + b"\r\n")
    lines = [each[1].lower() for each in found]
    return bool(lines) and (not re.fullmatch(rb": *chunked *", b",".join(lines)) or folded(v))


def tab_around_value(v):
    return any(re.match(rb"(?i)(?:transfer-encoding|host|content-length):(?: *\t|.*\t *$)", line, re.S) for line in v.lines)


def expectation(v):
    return any(value.lower() != b"100-continue" for value in v.values(b"expect"))


def chunk_size(v):
    return v.chunks().fault == "size"


def chunk_line_lf(v):
    return v.chunks().fault == "lf"


def chunk_line_cr(v):
    return v.chunks().fault == "cr"


def chunk_extension(v):
    return v.chunks().fault == "extension"


def chunk_end(v):
    return v.chunks().fault == "end"


def chunk_blank(v):
    return v.chunks().blank


def framing_trailer(v):
    return any(line.partition(b":")[0].lower() in FRAMING_TRAILERS for line in v.chunks().trailers)


def close_beside_keep_alive(v):
    return b"close" in v.list(b"connection") and b"keep-alive" in v.list(b"connection")


def close_before_tab(v):
    return any(re.match(rb"(?i)connection:.*close[ \t]*\t[ \t]*$", line, re.S) for line in v.lines)


def close_in_words(v):
    """The message before says close, but not as an option by itself."""
    options = v.before.list(b"connection") if v.before else []
    return b"close" not in options and any(b"close" in option for option in options)


def keep_alive_in_second_line(v):
    """The message before is of HTTP/1.0 and says so."""
    lines = v.before.values(b"connection") if v.before and version_1_0(v.before) else []
    return any(b"keep-alive" in line.lower() for line in lines[1:]) and b"keep-alive" not in lines[0].lower()


def list_twice(v):
    return any(len(v.values(name)) > 1 for name in (b"expect", b"if-none-match", b"if-match"))


def keep_alive_1_0(v):
    return version_1_0(v) and b"keep-alive" in v.list(b"connection")


def dropped_trailer(v):
    return any(line.partition(b":")[0].lower() in DROPPED_TRAILERS for line in v.chunks().trailers)
