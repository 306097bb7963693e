"""Requests from a seed: good ones of all shapes, then changed ones. The same seed and number give the same bytes."""

import random

METHODS = ["GET"] * 16 + ["POST"] * 16 + ["PUT"] * 6 + ["HEAD", "DELETE", "OPTIONS"] * 3 + [
    "PATCH", "TRACE", "PROPFIND", "M-SEARCH", "REPORT", "BREW", "get", "a!#$%&'*+-.^_`|~9",
]
SEGMENTS = [
    "", "a", "b", "c.d", "echo", "echo", "index.html", "a.b", "-", "0", "_", "%41", "%20", "%2F", "%2e%2e", "..", ".", "x;v=1", "a:b@c",
    "~u", "!$&'()*+,=", "%C3%A9", "long" * 20,
]
QUERIES = ["", "", "", "?", "?a=b", "?a=b&c=%20", "?a/b?c", "?{x}|^`", '?"q"', "?\\", "?[1]", "?a='b'"]
HOSTS = ["t.example"] * 8 + [
    "t.example:80", "T.Example", "127.0.0.1", "127.0.0.1:8080", "[::1]", "[::1]:8080", "a", "a_b.example", "t.example:",
    "xn--e1afmkfd.example", "%41.example", "[v1.x]",
]
HOSTS_ODD = [
    "", "a b", "a,b", "u@t.example", "t.example:8o", "t.example:80:80", "[::1", "::1", "t.example/x", "t.example:65536", "[::1]x",
    "a\\b", "t.example#", "t%zz", "<t>", "t.example?", "[12345::]", "-", "t.example:000080",
]
NAMES = [
    "Accept", "accept", "User-Agent", "X-A", "x-b", "X_C", "Cookie", "Referer", "Accept-Encoding", "Content-Type", "If-None-Match",
    "Range", "Via", "a!#$%&'*+-.^_`|~0", "TE", "X-" + "n" * 60, "1",
]
NAMES_ODD = [
    "", "X A", "X-A ", " X-A", "X(A)", "X\x80", "X:", "X\xe9A", "X\tA", "X/A", "X[A]", '"X"', "X\x00A", "X\x7fA", "Content Length",
    "X@A", "Content-Length\x0b", "\xa0X", "X{A}", "X;A", "X=A", "X,A",
]
VALUES = [
    "", "b", "a b", "a\tb", "*/*", "text/html; q=0.5, */*;q=0.1", '"quoted \\" string"', "v" * 200, "caf\xe9", "\xff\x80", "a:b", "a,,b",
    "=;=", "{json: 1}", "0", " x", "x ", "\tx\t", "gzip, br",
]
VALUES_ODD = [
    "a\x00b", "a\x01b", "a\x7fb", "a\rb", "a\nb", "a\r b", "\x0bx", "x\x0c", "\x85x", "x\xa0", "a\r\n b", "\x00", "\x1b[0m", "a\r\n\tb",
    "a\x08b",
]
SINGLETONS = ["Content-Type", "If-None-Match", "Range", "User-Agent", "Referer"]
CONNECTIONS = [
    "keep-alive", "close", "Keep-Alive", "Close", "x-a", "close, x-a", "keep-alive, close", "TE", ", close", "close,", "upgrade", "clos",
    "close close", "\tclose", "keep-alive, , TE", "",
]
LENGTHS_ODD = [
    "", "+{n}", "-{n}", "0x{n}", "{n},{n}", "{n}, {n}", "{n} {n}", "{n}.0", "{n}e0", "00{n}", "{n}_0", " {n}", "{n} ", "{n},", ",{n}",
    "{n};", "\x0b{n}", "{n}\x0c", "{m}", "{k}", "1{n}", "18446744073709551615", "18446744073709551616", "99999999999999999999999",
    "9223372036854775808", '"{n}"', "{n}, {m}", "\xa0{n}", "0{n}", "-0", "+0", "\xb2",
]
CODINGS_ODD = [
    "", "Chunked", "CHUNKED", "chunked ", "\tchunked", "chunked,", ",chunked", ", chunked", "chunked, chunked", "gzip, chunked",
    "chunked, gzip", "gzip", "identity", "identity, chunked", "chunked, identity", "xchunked", "chunkedx", "chunked;q=1", "chunked; a",
    '"chunked"', "'chunked'", "chunked\x0b", "\x0bchunked", "chunk", "x, chunked", "chunked\x00", "chunked\xa0", "\x85chunked",
    "chun ked", "chunked chunked", "trailers", "deflate", "c\x00hunked", "chunked\r\n , gzip", "(chunked)", "cHuNkEd", "gzip,chunked",
    "gzip;x=\"a,chunked\"",
]
SIZES_ODD = [
    "", "0x{n}", "+{n}", "-{n}", " {n}", "{n} ", "{n}\t", "{n}h", "0{n}", "0000000000000000{n}", "{n}_0", "{N}", "{n};", "{n};;a",
    "{n} ;a", "{n}; a", "{n};a =b", "{n};a= b", "{n};a=", '{n};a="b', '{n};a="b\\"c"', "{n};=b", "{n}\r", "{n}\n", "{n};a\n", "{n};a\rb",
    "{n};a=\x7f", "{n};a\x00", "{n};caf\xe9", '{n};a="\xe9"', "g", "{m}", "{k}", "ffffffffffffffff", "10000000000000000",
    "8000000000000000", "7fffffffffffffff", "{n},", "{n}:a", "{n}.0", "{n};a=b c", "{n};a;b;c=d", '{n};a="x\ty"', "{n};a\tb", "{n}\x0b",
    "{n}\xa0",
]
EXTENSIONS = [""] * 30 + [";a", ";a=b", ';a="b c"', ";a=b;c", ' ; a = b', ';a="\\""']
TRAILERS = ["X-T: 1", "X-T:", "x-trailer: a b", "Digest: \xe9", "X-T: \t v \t"]
TRAILERS_ODD = [
    "X T: 1", "X-T : 1", " X-T: 1", "X-T", ":x", "Content-Length: 5", "Transfer-Encoding: chunked", "Host: b", "Trailer: a",
    "Content-Type: a/b", "X-T: a\x00", "X-T: a\rb", "X-T: a\nX-U: b", "X-T: a\r\n b", "Connection: close", "X\xe9: 1",
    "Expect: 100-continue", "Cookie: a=b", "Upgrade: x",
]
VERSIONS_ODD = [
    "HTTP/1.0", "HTTP/1.2", "HTTP/1.9", "HTTP/2.0", "HTTP/0.9", "HTTP/3.0", "HTTP/1", "HTTP/1.", "HTTP/1.10", "HTTP/01.1", "HTTP/1.1.",
    "http/1.1", "HTTPS/1.1", "HTTP/1,1", "HTTP 1.1", "HTTP/ 1.1", "HTTP/1.1 ", " HTTP/1.1", "HTTP/1.1\t", "XHTTP/1.1", "HTTP/A.B", "",
    "HTTP/1.\xb9", "ICE/1.0", "RTSP/1.0", "HTTP/11", "HTTP/1.1x", "HTTP/-1.1", "HTTP/+1.1",
]
TARGETS_ODD = [
    "", "a", "*", "/a b", "//a", "/a#f", "/\xe9", "/\x7f", "/%", "/%zz", "/%00", "/a\tb", "http://", "http:///a", "ftp://a/b",
    "https://t.example/", "http://u@t.example/", "http://t.example#f", "HTTP://t.example/", "http://other/", "t.example:80", "/<a>",
    "/\\a", "/{a}", "/a|b", "/^", "/`", '/"', "/[a]", "?a", "../a", "http:/a", "http:a", "/a\x00", "/?\xe9", "/?#",
    "http://t.example:8o/", "http://[::1]/", "http://t.example?a", "/a%2", "*?", "/\x0b", "mailto:a@b", "/%4", "urn:a:b", "/?%zz",
    "/?%00",
]
METHODS_ODD = [
    "", "G T", "GET\t", " GET", "GE\x00T", "G\xe9T", "GET:", "(GET)", "GET/", "CONNECT", "HEAD", "OPTIONS", "PRI", "M" * 40, "G,T", "gET",
    "SOURCE",
]
LINE_ENDS_ODD = ["\n", "\r", "\r\r\n", "\n\r", "\r\n\r\n", " \r\n", "\r\n ", "\x0b\r\n", "\x00\r\n", "\r\x00\n", ""]
BYTES = [
    0, 1, 8, 9, 10, 11, 12, 13, 27, 31, 32, 34, 35, 37, 40, 44, 45, 47, 48, 53, 58, 59, 61, 64, 65, 91, 92, 95, 123, 127, 128, 133, 160,
    194, 255,
]


class message:
    """A request as lines, so that a change can aim at a part of it."""

    def __init__(self):
        self.method, self.target, self.version = "GET", "/", "HTTP/1.1"
        self.spaces = [" ", " "]
        self.before = ""
        self.fields = []  # of [name, behind the colon, value, behind the value]
        self.content = ""
        self.chunks = None  # of [size line, data, end], the last with no data
        self.trailers = []
        self.end = "\r\n"
        self.ends = {}  # of a line, by its number, where it is not CRLF

    def find(self, name):
        return next((field for field in self.fields if field[0].lower() == name), None)

    def text(self):
        lines = [self.method + self.spaces[0] + self.target + self.spaces[1] + self.version]
        lines += [name + colon + value + behind for name, colon, value, behind in self.fields] + [""]
        head = "".join(line + self.ends.get(number, "\r\n") for number, line in enumerate(lines))
        if self.chunks is None:
            return self.before + head + self.content
        content = "".join(size + end + data + (behind if data else "") for size, end, data, behind in self.chunks)
        return self.before + head + content + "".join(line + "\r\n" for line in self.trailers) + self.end


def target_of(rng, method):
    if method == "OPTIONS" and rng.random() < 0.4:
        return "*"
    path = "/" + "/".join(rng.choice(SEGMENTS) for _ in range(rng.randint(0, 3))) + rng.choice(QUERIES)
    return "http://t.example" + path if rng.random() < 0.06 else path


def content_of(rng):
    kind = rng.randrange(4)
    size = rng.choice([0, 1, 2, 3, 5, 5, 7, 10, 16, 31, 100, 300])
    if kind == 0:
        return ("GET /x HTTP/1.1\r\nHost: x\r\n\r\n" * 12)[:size]
    if kind == 1:
        return ("0\r\n\r\n5\r\nhello\r\n" * 30)[:size]
    return "".join(chr(rng.randrange(256)) for _ in range(size)) if kind == 2 else ("hello" * 60)[:size]


def add_chunks(rng, made, content):
    made.chunks = []
    while content:
        size = rng.randint(1, len(content))
        digits = f"{size:x}"
        digits = rng.choice([digits, digits, digits.upper(), "0" + digits])
        made.chunks.append([digits + rng.choice(EXTENSIONS), "\r\n", content[:size], "\r\n"])
        content = content[size:]
    made.chunks.append([rng.choice(["0", "0", "0", "00", "0;a=b"]), "\r\n", "", ""])
    if rng.random() < 0.25:
        made.trailers = [rng.choice(TRAILERS) for _ in range(rng.randint(1, 2))]


def good(rng):
    made = message()
    made.method = rng.choice(METHODS)
    made.target = target_of(rng, made.method)
    if rng.random() < 0.03:
        made.method, made.target = "CONNECT", rng.choice(["t.example:443", "127.0.0.1:80", "[::1]:443"])
    if rng.random() < 0.08:
        made.version = "HTTP/1.0"
    for _ in range(rng.choice([0, 0, 1, 1, 2, 3, 5, 40 if rng.random() < 0.05 else 4])):
        name = rng.choice(NAMES)
        if name not in SINGLETONS or made.find(name.lower()) is None:
            colon, value = rng.choice([": ", ": ", ":", ":\t", ":  "]), rng.choice(VALUES)
            made.fields.append([name, colon, value, rng.choice(["", "", "", " ", "\t "])])
    made.fields.insert(
        rng.randint(0, len(made.fields)),
        [rng.choice(["Host", "Host", "host", "HOST"]), ": ", "t.example" if "://" in made.target else rng.choice(HOSTS), ""],
    )
    if rng.random() < 0.15:
        made.fields.append(["Connection", ": ", rng.choice(CONNECTIONS[:10]), ""])
    if rng.random() < 0.04:
        made.fields.append(["Expect", ": ", rng.choice(["100-continue", "100-Continue"]), ""])
    if rng.random() < 0.04:
        made.fields += [["Upgrade", ": ", "websocket", ""], ["Connection", ": ", "Upgrade", ""]]
    if made.method not in ("CONNECT", "TRACE") and (made.method in ("POST", "PUT", "PATCH") or rng.random() < 0.15):
        content = content_of(rng)
        if rng.random() < 0.5 and made.version == "HTTP/1.1":
            made.fields.insert(
                rng.randint(0, len(made.fields)), ["Transfer-Encoding", ": ", rng.choice(["chunked", "chunked", "Chunked"]), ""],
            )
            add_chunks(rng, made, content)
        elif rng.random() < 0.9:
            made.content = content
            made.fields.insert(
                rng.randint(0, len(made.fields)), [rng.choice(["Content-Length", "content-length"]), ": ", str(len(content)), ""],
            )
    if rng.random() < 0.03:
        made.before = "\r\n"
    return made


# --- changes of a part ---


def numbers(rng, text, n, radix):
    shown = {16: "{:x}", 10: "{}"}[radix]
    return text.replace("{n}", shown.format(n)).replace("{N}", shown.format(n).upper()).replace("{m}", shown.format(n + 1)).replace(
        "{k}", shown.format(max(0, n - 1)),
    )


def change_length(rng, made):
    field = made.find("content-length")
    if field is None:
        field = ["Content-Length", ": ", str(len(made.content)), ""]
        made.fields.insert(rng.randint(0, len(made.fields)), field)
        if rng.random() < 0.4:
            return
    field[2] = numbers(rng, rng.choice(LENGTHS_ODD), len(made.content), 10)


def change_coding(rng, made):
    field = made.find("transfer-encoding")
    if field is None:
        field = ["Transfer-Encoding", ": ", "chunked", ""]
        made.fields.insert(rng.randint(0, len(made.fields)), field)
        if rng.random() < 0.4:
            return
    field[2] = rng.choice(CODINGS_ODD)


def change_chunk(rng, made):
    if made.chunks is None:
        if made.find("transfer-encoding") is None:
            made.fields.append(["Transfer-Encoding", ": ", "chunked", ""])
        if made.find("content-length") is not None:
            made.fields.remove(made.find("content-length"))
        add_chunks(rng, made, made.content or "hello")
    chunk = rng.choice(made.chunks)
    what = rng.randrange(6)
    if what < 3:
        chunk[0] = numbers(rng, rng.choice(SIZES_ODD), len(chunk[2]), 16)
    elif what == 3:
        chunk[rng.choice([1, 3])] = rng.choice(LINE_ENDS_ODD)
    elif what == 4:
        made.trailers.insert(rng.randint(0, len(made.trailers)), rng.choice(TRAILERS_ODD))
    else:
        made.end = rng.choice(LINE_ENDS_ODD)


def change_field(rng, made):
    what = rng.randrange(7)
    field = rng.choice(made.fields) if made.fields else ["X", ": ", "y", ""]
    at = rng.randint(0, len(made.fields))
    if what == 0:
        field[0] = rng.choice(NAMES_ODD)
    elif what == 1:
        made.fields.insert(at, [rng.choice(NAMES_ODD), ": ", "x", ""])
    elif what == 2:
        field[2] = rng.choice(VALUES_ODD)
    elif what == 3:
        made.fields.insert(at, list(field))
    elif what == 4:
        field[1] = rng.choice([" : ", "", "\t:", ":\x0b", ":\x00", " ", "::", ":\r\n ", ";", ":\xa0"])
    elif what == 5:
        name = rng.choice(["Connection", "Expect", "Upgrade", "Keep-Alive"])
        made.fields.insert(at, [name, ": ", rng.choice(CONNECTIONS + ["100-continue", "200-ok", "100-continue, x"]), ""])
    elif made.fields:
        made.fields.remove(field)


def change_host(rng, made):
    field = made.find("host")
    what = rng.randrange(4)
    if field is None or what == 0:
        made.fields.insert(rng.randint(0, len(made.fields)), ["Host", ": ", rng.choice(HOSTS + HOSTS_ODD), ""])
    elif what == 1:
        made.fields.remove(field)
    else:
        field[2] = rng.choice(HOSTS_ODD)


def change_line(rng, made):
    what = rng.randrange(6)
    if what == 0:
        made.version = rng.choice(VERSIONS_ODD)
    elif what < 3:
        made.target = rng.choice(TARGETS_ODD)
    elif what == 3:
        made.spaces[rng.randrange(2)] = rng.choice(["  ", "\t", "", "\x0b", " \t", "\xa0", "\r"])
    elif what == 4:
        made.method = rng.choice(METHODS_ODD)
    else:
        made.before = rng.choice(["\r\n", "\n", "\r\n\r\n", " ", "\r", "\t", "\x00", "\r\n "])


def change_line_end(rng, made):
    made.ends[rng.randint(0, len(made.fields) + 1)] = rng.choice(LINE_ENDS_ODD)


CHANGES = [
    change_length, change_length, change_coding, change_coding, change_chunk, change_chunk, change_chunk, change_field, change_field,
    change_host, change_line, change_line, change_line_end,
]


def change_bytes(rng, text):
    """A byte changed, removed, doubled, put in or swapped with its neighbour; near a line's end more often than elsewhere."""
    if len(text) < 2:
        return text
    at = rng.randrange(len(text) - 1)
    if rng.random() < 0.3:
        ends = [i for i, c in enumerate(text[:-1]) if c in "\r\n:; "]
        at = rng.choice(ends) if ends else at
    what = rng.randrange(6)
    byte = chr(rng.choice(BYTES))
    if what == 0:
        return text[:at] + byte + text[at + 1 :]
    if what == 1:
        return text[:at] + text[at + 1 :]
    if what == 2:
        return text[:at] + text[at] + text[at:]
    if what == 3:
        return text[:at] + byte + text[at:]
    if what == 4:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text[:at] + chr(ord(text[at]) ^ 1 << rng.randrange(8)) + text[at + 1 :]


def request(seed, number):
    """One connection's bytes: a request or a pipeline of several; a quarter of them as they should be."""
    rng = random.Random(f"{seed}:{number}")
    pipeline = [good(rng) for _ in range(rng.choice([1, 1, 1, 2, 2, 3]))]
    changes = rng.choice([0, 1, 1, 1, 1, 2, 2, 3])
    of_bytes = 0
    for _ in range(changes):
        if rng.random() < 0.25:
            of_bytes += 1
        else:
            rng.choice(CHANGES)(rng, rng.choice(pipeline))
    text = "".join(each.text() for each in pipeline)
    for _ in range(of_bytes):
        text = change_bytes(rng, text)
    if rng.random() < 0.04:
        text = text[: rng.randint(1, len(text))] + rng.choice(["", "\r\n\r\n"])
    if rng.random() < 0.05:
        text += rng.choice(["\r\n", "\n", "x", "\x00", "GET"])
    return text.encode("latin-1")
