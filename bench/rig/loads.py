"""The loads that servers are compared under: what is asked, how, and which answer is right. One definition for every measurement.

The plaintext loads are for all servers. The application loads are answered by bench-rows, each with a floor that sends the same bytes.
"""

import dataclasses
import os
import time

from . import traffic
from .process import Broken, Server

HELLO_TYPE = "text/plain"
FIELDS_SENT = 8  # of the form
FORM = "&".join(f"field{number}=value+{number}%20and+more" for number in range(FIELDS_SENT)).encode()
LINE = b"The quick brown fox jumps over the lazy dog, and this is one line of it.\n"
ITEM = b'{"id":4711,"name":"A \\"small\\" lamp, brass","price":24.95,"in_stock":true}'


def file_content(size):
    return (LINE * (size // len(LINE) + 1))[:size]


@dataclasses.dataclass(frozen=True)
class Load:
    """One kind of traffic and the answer to it."""

    id: str
    title: str
    path: str = traffic.PATH
    shape: str = "bare"  # or "browser": twelve headers
    depth: int = 1  # requests in one write
    connections: int = 64
    method: str = "GET"
    fields: tuple = ()
    body: bytes = b""
    content_type: str = HELLO_TYPE
    content: bytes = traffic.BODY
    chunked: bool = False  # the answer comes in chunks, without a Content-Length
    application: bool = False  # served by bench-rows and its floor alone

    def header_fields(self):
        """Pairs of name and value, without Host and Content-Length."""
        return (browser_fields() if self.shape == "browser" else ()) + self.fields

    def request(self, port):
        """One whole request to 127.0.0.1:`port`, as long as the one that wrk and martlet load send."""
        lines = [f"{self.method} {self.path} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
        if self.body:
            lines.append(f"Content-Length: {len(self.body)}")
        lines += [f"{name}: {value}" for name, value in self.header_fields()]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + self.body

    def generator_arguments(self, port):
        """What makes `martlet load` send this load; how long and how often is the caller's."""
        words = [f"http://127.0.0.1:{port}{self.path}", "-c", str(self.connections)]
        if self.depth > 1:
            words += ["--pipeline", str(self.depth)]
        if self.method != "GET":
            words += ["-X", self.method]
        for name, value in self.header_fields():
            words += ["-H", f"{name}: {value}"]
        if self.body:
            words += ["--body", self.body.decode("ascii")]
        return words + ["--expect-status", "200", "--expect-length", str(len(self.content))]

    def check(self, name, head, body, dated=True):
        """Fails unless the answer is whole and right; returns its Date."""
        return traffic.check_answer(name, head, body, self.content_type, self.content, self.chunked, dated)

    def served_by(self, server):
        """Whether the server of this id (see bench/README.md) answers this load."""
        return not self.application or server in APPLICATION_SERVERS


def browser_fields():
    with open(traffic.BROWSER_HEADERS, encoding="ascii") as file:
        return tuple(tuple(line.rstrip("\n").split(": ", 1)) for line in file if line.strip())


APPLICATION_SERVERS = ("floor", "rows")
LOADS = {load.id: load for load in (
    Load("d1", "one request a write"),
    Load("d16", "16 requests a write", depth=16, connections=256),
    Load("d1-browser", "one request of a browser a write", shape="browser"),
    Load("d16-browser", "16 requests of a browser a write", shape="browser", depth=16, connections=256),
    Load("json", "a small JSON object, made for each request", "/json", content_type="application/json", content=ITEM, application=True),
    Load("file", "a file of 4 KB", "/file/4k.txt", content=file_content(4096), application=True),
    Load("file-64k", "a file of 64 KB", "/file/64k.txt", content=file_content(65536), application=True),
    Load("form", f"a form of {FIELDS_SENT} fields, which are counted", "/form", method="POST", body=FORM,
         fields=(("Content-Type", "application/x-www-form-urlencoded"),), content=str(FIELDS_SENT).encode(), application=True),
    Load("stream", "eight pieces of 1 KB in chunks", "/stream", content=b"s" * 8192, chunked=True, application=True),
)}


def find(shape, depth):
    """The plaintext load of that shape and depth."""
    return next(load for load in LOADS.values() if not load.application and (load.shape, load.depth) == (shape, depth))


def check_server(load, server, dated=True, pipelines=True):
    """Fails unless the running `server` gives the right answer: once, several together if it `pipelines`, and with a Date that moves on if
    it has one."""
    request = load.request(server.port)
    with traffic.Client(server.port) as client:
        (head, body), = client.exchange(request)
        first = load.check(server.name, head, body, dated)
        count = load.depth if load.depth > 1 else 16 if pipelines else 1
        for head, body in client.exchange(request * count, count):
            load.check(server.name, head, body, dated)
        time.sleep(1.1)
        (head, body), = client.exchange(request)
        if load.check(server.name, head, body, dated) == first and dated:
            raise Broken(f"{server.name}: Date stood still for a second")


def captured_answer(load, binary):
    """The bytes of one answer of `binary` to `load`."""
    with Server(binary) as server, traffic.Client(server.port) as client:
        client.socket.sendall(load.request(server.port))
        raw = client.raw_answer()
        head, body, _ = traffic.split_answer(raw)
        load.check(server.name, head, body)
        server.stop_cleanly()
    return raw


def floor_command(load, floor, rows, folder):
    """The blind floor for a load: for an application load it sends the very bytes that `rows` answers with, kept below `folder`."""
    command = [floor, "--request-bytes", str(len(load.request(20000)))]
    if load.application:
        path = os.path.join(folder, f"{load.id}.answer")
        with open(path, "wb") as file:
            file.write(captured_answer(load, rows))
        command += ["--answer", path]
    return command
