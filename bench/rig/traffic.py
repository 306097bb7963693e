"""Requests and their answers: a raw client that checks each answer, and wrk with what it really sends."""

import email.utils
import os
import re
import socket
import subprocess
import time

from .held_process import HeldProcess
from .process import Broken, Refused, die_with_parent, free_port

PATH = "/plaintext"
WRK_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "wrk")
BROWSER_HEADERS = os.path.join(WRK_FOLDER, "browser_headers.txt")
BODY = b"Hello, World!"


def bare_request(port):
    return f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()


def browser_request(port):
    with open(BROWSER_HEADERS, encoding="ascii") as file:
        fields = "".join(line.rstrip("\n") + "\r\n" for line in file)
    return f"GET {PATH} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{fields}\r\n".encode()


REQUESTS = {"bare": bare_request, "browser": browser_request}


class Client:
    """One blocking connection that reads answers by their Content-Length."""

    def __init__(self, port, source=None, timeout=20.0):
        self.socket = socket.socket()
        self.socket.settimeout(timeout)
        if source is not None:
            self.socket.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT: ports are chosen for each pair of addresses
            self.socket.bind((source, 0))
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def answers(self, count):
        """The next `count` answers as pairs of head and body."""
        found = []
        while len(found) < count:
            if split := split_answer(self.rest):
                found.append(split[:2])
                self.rest = self.rest[split[2]:]
                continue
            self.receive(f"after {len(found)} of {count} answers")
        return found

    def raw_answer(self):
        """The bytes of the next answer."""
        while not (split := split_answer(self.rest)):
            self.receive("inside an answer")
        raw, self.rest = self.rest[:split[2]], self.rest[split[2]:]
        return raw

    def receive(self, where):
        piece = self.socket.recv(262144)
        if not piece:
            raise Broken(f"the connection closed {where}")
        self.rest += piece

    def exchange(self, request, count=1):
        """Sends `request` in one write and returns its `count` answers."""
        self.socket.sendall(request)
        return self.answers(count)

    def exchange_bytes(self, request, answer_bytes):
        """Sends `request` and reads exactly `answer_bytes` bytes, unread."""
        self.socket.sendall(request)
        left = answer_bytes
        while left:
            piece = self.socket.recv(left)
            if not piece:
                raise Broken("the connection closed inside an answer")
            left -= len(piece)


def split_answer(data):
    """Head, body and length of the whole answer that `data` begins with; None when it is not all there."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = data[:end].decode("latin-1")
    match = re.search(r"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
    if match is not None:
        after = end + 4 + int(match.group(1))
        return (head, data[end + 4:after], after) if len(data) >= after else None
    if re.search(r"\r\ntransfer-encoding: *chunked", head, re.IGNORECASE) is None:
        raise Broken(f"an answer without Content-Length: {head!r}")
    return split_chunks(head, data, end + 4)


def split_chunks(head, data, at):
    body = []
    while (line := data.find(b"\r\n", at)) >= 0:
        try:
            size = int(data[at:line].split(b";")[0], 16)
        except ValueError:
            raise Broken(f"a chunk of size {data[at:line]!r}") from None
        at = line + 2 + size + 2  # without trailers the last chunk ends like the others
        if len(data) < at:
            return None
        if data[at - 2:at] != b"\r\n":
            raise Broken(f"a chunk of {size} bytes does not end where it should")
        if size == 0:
            return head, b"".join(body), at
        body.append(data[line + 2:at - 2])
    return None


def fields_of(head):
    status, *lines = head.split("\r\n")
    fields = {}
    for line in lines:
        name, _, value = line.partition(":")
        fields[name.lower()] = value.strip()
    return status, fields


def check_answer(name, head, body, content_type="text/plain", content=BODY, chunked=False, dated=True):
    """Fails unless the answer is whole and has that content, without more the hello world of every program; returns its Date.

    Not `dated`: it may have none.
    """
    status, fields = fields_of(head)
    faults = []
    if not re.fullmatch(r"HTTP/1\.1 200( .*)?", status):
        faults.append(f"status line {status!r}")
    if fields.get("content-type", "").split(";")[0].strip() != content_type:
        faults.append(f"Content-Type {fields.get('content-type')!r}")
    if fields.get("content-length") != (None if chunked else str(len(content))) or body != content:
        faults.append(f"body {body[:80]!r} of {len(body)} bytes with Content-Length {fields.get('content-length')!r}")
    if not fields.get("server"):
        faults.append("no Server")
    date = fields.get("date", "")
    if not dated and not date:
        date = email.utils.formatdate(usegmt=True)
    try:
        stamp = email.utils.parsedate_to_datetime(date).timestamp()
        if not date.endswith(" GMT") or len(date) != 29 or abs(stamp - time.time()) > 3:
            faults.append(f"Date {date!r} is not now")
    except (TypeError, ValueError):
        faults.append(f"Date {date!r}")
    if faults:
        raise Broken(f"{name}: " + "; ".join(faults))
    return date


def check_equal(servers, shape):
    """Checks each running server with one request, 16 pipelined ones and the Date a second later; returns bytes an answer takes."""
    sizes = {}
    first_dates = {}
    for server in servers:
        request = REQUESTS[shape](server.port)
        with Client(server.port) as client:
            (head, body), = client.exchange(request)
            first_dates[server] = check_answer(server.name, head, body)
            sizes[server.name] = len(head) + 4 + len(body)
            for head, body in client.exchange(request * 16, 16):
                check_answer(server.name, head, body)
                if len(head) + 4 + len(body) != sizes[server.name]:
                    raise Broken(f"{server.name}: answers of different lengths")
            if client.rest:
                raise Broken(f"{server.name}: more bytes than answers: {client.rest[:80]!r}")
    time.sleep(1.2)
    for server in servers:
        with Client(server.port) as client:
            (head, body), = client.exchange(REQUESTS[shape](server.port))
            if check_answer(server.name, head, body) == first_dates[server]:
                raise Broken(f"{server.name}: Date stood still for a second")
    if max(sizes.values()) - min(sizes.values()) > 32:
        raise Broken(f"answers differ by more than 32 bytes: {sizes}")
    return sizes


def wrk_command(port, shape, depth, connections, seconds):
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s"]
    if depth > 1 or shape != "bare":
        command += ["-s", os.path.join(WRK_FOLDER, "pipeline.lua")]
    command.append(f"http://127.0.0.1:{port}{PATH}")
    if depth > 1 or shape != "bare":
        command += ["--", str(depth)] + ([shape, BROWSER_HEADERS] if shape != "bare" else [])
    return command


def wrk_request_bytes(shape, depth):
    """Length of one request as wrk really sends it, seen by a listener that never answers."""
    port = free_port()
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(8)
        listener.settimeout(10)
        try:
            wrk = subprocess.Popen(wrk_command(port, shape, depth, 1, 2), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   preexec_fn=die_with_parent)
        except OSError as error:
            raise Refused(f"wrk is missing: {error}") from error
        seen = b""
        try:
            deadline = time.monotonic() + 5
            while not seen and time.monotonic() < deadline:  # wrk first connects once only to see that somebody listens
                peer, _ = listener.accept()
                with peer:
                    peer.settimeout(0.5)
                    try:
                        while piece := peer.recv(65536):
                            seen += piece
                    except TimeoutError:
                        pass
        finally:
            wrk.kill()
            wrk.wait()
    parts = seen.split(b"\r\n\r\n")
    if len(parts) != depth + 1 or parts[-1] or len(set(parts[:-1])) != 1:
        raise Broken(f"wrk sent {len(parts) - 1} requests instead of {depth} equal ones")
    return len(parts[0]) + 4


def parse_wrk(text):
    """Requests, seconds and errors from wrk's report."""
    units = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
    match = re.search(r"^\s*(\d+) requests in ([\d.]+)(us|ms|s|m|h),", text, re.MULTILINE)
    if match is None:
        raise Broken(f"wrk gave no result: {text.strip()[-300:]!r}")
    errors = re.search(r"Socket errors: .*", text)
    statuses = re.search(r"Non-2xx or 3xx responses: \d+", text)
    return {
        "requests": int(match.group(1)),
        "seconds": float(match.group(2)) * units[match.group(3)],
        "errors": " ".join(found.group(0) for found in (errors, statuses) if found),
    }


class Load(HeldProcess):
    """One running wrk, pinned to a processor."""

    def __init__(self, port, shape, depth, connections, seconds, cpu):
        super().__init__(wrk_command(port, shape, depth, connections, seconds), [cpu], stderr=subprocess.STDOUT)

    def result(self):
        """Waits for the end; requests and the seconds of processor time that wrk used."""
        text, _, _, cpu_seconds = self.ended()
        result = parse_wrk(text)
        if result["errors"]:
            raise Broken(f"under wrk: {result['errors']}")
        if not result["requests"]:
            raise Broken("under wrk: not one answer")
        return {**result, "cpu_seconds": cpu_seconds}
