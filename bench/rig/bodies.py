"""Bars on large bodies and on many open event streams: what a server keeps in memory for them, and whether it still answers."""

import socket
import statistics
import time

from . import machine, traffic
from .process import Broken, Refused, Server
from .verdicts import FAIL, PASS, Result

BODY_BYTES = 1024 * 1024 * 1024
BODY_GROWTH_MAX = 4 * 1024 * 1024
PIECE_BYTES = 1024 * 1024
STREAMS = 5_000
STREAM_FIRST = 100
ANSWER_SECONDS_MAX = 0.050
ANSWERS = 200


def kib(count):
    return f"{count / 1024:.0f} KB"


class Peak:
    """The most of its own memory that a server had, seen once for each so many megabytes."""

    def __init__(self, server):
        self.server = server
        self.most = 0
        self.calls = 0

    def look(self):
        self.calls += 1
        if self.calls % 16 == 0:
            self.most = max(self.most, self.server.own_bytes())


def read_head(connection):
    """The head of an answer, and what came behind it already."""
    got = b""
    while b"\r\n\r\n" not in got:
        piece = connection.recv(65536)
        if not piece:
            raise Broken(f"the connection ended inside a head: {got[:200]!r}")
        got += piece
    head, rest = got.split(b"\r\n\r\n", 1)
    return head.decode("latin-1"), rest


def connect(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=60)


def upload(server, chunked):
    """Sends BODY_BYTES to /sink, which answers with their number; returns the peak."""
    peak = Peak(server)
    piece = bytes(PIECE_BYTES)
    framing = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {BODY_BYTES}"
    with connect(server) as connection:
        connection.sendall(f"POST /sink HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{framing}\r\n\r\n".encode())
        framed = f"{PIECE_BYTES:x}\r\n".encode() + piece + b"\r\n" if chunked else piece
        for _ in range(BODY_BYTES // PIECE_BYTES):
            connection.sendall(framed)
            peak.look()
        if chunked:
            connection.sendall(b"0\r\n\r\n")
        head, rest = read_head(connection)
        while len(rest) < len(str(BODY_BYTES)):
            rest += connection.recv(4096)
    if " 200" not in head.split("\r\n")[0] or rest.decode() != str(BODY_BYTES):
        raise Broken(f"{server.name} answered an upload of {BODY_BYTES} bytes with {head.splitlines()[0]!r} {rest[:80]!r}")
    return peak.most


def download(server):
    """Reads /bytes/N to its end and returns the peak."""
    peak = Peak(server)
    with connect(server) as connection:
        connection.sendall(f"GET /bytes/{BODY_BYTES} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
        head, rest = read_head(connection)
        if f"Content-Length: {BODY_BYTES}" not in head:
            raise Broken(f"{server.name}: no Content-Length of {BODY_BYTES} in {head!r}")
        left = BODY_BYTES - len(rest)
        room = bytearray(PIECE_BYTES)
        while left > 0:
            got = connection.recv_into(room)
            if got == 0:
                raise Broken(f"{server.name}: the body ended {left} bytes too early")
            left -= got
            peak.look()
    return peak.most


def bodies(context):
    """Memory while 1 GB comes in with a length, 1 GB in chunks, and 1 GB goes out"""
    with Server(context.streams) as server:
        with connect(server) as warm:
            warm.sendall(f"POST /sink HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 1\r\n\r\nx".encode())
            read_head(warm)
        before = server.settle()["own"]
        growth = {}
        for name, run in (("up", lambda: upload(server, False)), ("up in chunks", lambda: upload(server, True)), ("down", lambda: download(server))):
            growth[name] = run() - before
            context.progress(f"bodies: 1 GB {name}, {kib(growth[name])} more memory at most")
        server.stop_cleanly()
    most = max(growth.values())
    figure = ", ".join(f"{name} {kib(grown)}" for name, grown in growth.items())
    return Result("bodies", PASS if most < BODY_GROWTH_MAX else FAIL, f"{figure} more at most", f"< {kib(BODY_GROWTH_MAX)}", [], growth)


def open_streams(server, count, already, held):
    request = f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAccept: text/event-stream\r\n\r\n".encode()
    for index in range(already, already + count):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=30, source_address=(f"127.0.0.{2 + index // 4000}", 0))
        held.append(connection)
        connection.sendall(request)
        head, _ = read_head(connection)
        if "text/event-stream" not in head:
            raise Broken(f"stream {index + 1} got {head!r}")


def answer_seconds(server):
    """How long a request takes on a connection of its own, from connect to the end of the answer."""
    began = time.monotonic()
    with traffic.Client(server.port) as client:
        (head, body), = client.exchange(traffic.bare_request(server.port))
    traffic.check_answer(server.name, head, body)
    return time.monotonic() - began


def event_streams(context):
    """Memory of 5,000 open event streams on one loop, and how soon a new request is answered beside them"""
    wanted = STREAMS + 300
    if machine.raise_descriptor_limit(wanted) < wanted:
        raise Refused(f"needs {wanted} descriptors: raise the hard limit (ulimit -Hn)")
    held = []
    with Server(context.streams) as server:
        try:
            open_streams(server, STREAM_FIRST, 0, held)
            few = server.settle()["own"]
            open_streams(server, STREAMS - STREAM_FIRST, STREAM_FIRST, held)
            many = server.settle()["own"]
            times = sorted(answer_seconds(server) for _ in range(ANSWERS))
            # The same while an event goes out to all of them.
            with traffic.Client(server.port) as client:
                client.exchange(f"POST /tell HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 0\r\n\r\n".encode())
            busy = sorted(answer_seconds(server) for _ in range(ANSWERS))
            for connection in held:
                got = connection.recv(4096)
                if b"data: told" not in got:
                    raise Broken(f"a stream got {got[:100]!r} instead of the event")
        finally:
            for connection in held:
                connection.close()
        server.stop_cleanly()
    each = (many - few) / (STREAMS - STREAM_FIRST)
    slowest = max(times[-1], busy[-1])
    notes = [f"a new request: median {statistics.median(times) * 1000:.1f} ms, slowest {times[-1] * 1000:.1f} ms of {ANSWERS}; while an event goes to all: "
             f"median {statistics.median(busy) * 1000:.1f} ms, slowest {busy[-1] * 1000:.1f} ms"]
    return Result("event-streams", PASS if slowest <= ANSWER_SECONDS_MAX else FAIL,
                  f"{each:.0f} bytes each; a new request answered within {slowest * 1000:.1f} ms", f"<= {ANSWER_SECONDS_MAX * 1000:.0f} ms", notes,
                  {"few": few, "many": many, "times": times, "busy": busy})
