"""A peer that follows a script, the client under test as a process, and the judge of what passed between them."""

import contextlib
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import time

# A bound for a machine under load, not what anything takes.
PATIENCE_SECONDS = 20
WARM = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwarm"
SECOND = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond"


class Broken(Exception):
    """The client under test, or the conversation with it, is no longer of use."""


# --- cases ---


def expanded(text):
    """${X*N} stands for N times X."""
    return re.sub(r"\$\{([^}]*)\*(\d+)\}", lambda found: found[1] * int(found[2]), text)


def read_cases(path):
    with open(path, encoding="ascii") as file:
        cases = [json.loads(line) for line in file]
    for case in cases:
        case["bytes"] = expanded(case["response"]).encode("latin-1")
        case["expect"] = expanded(case["expect"])
        case["left"] = case.get("left", "").encode("latin-1")
    return cases


# --- the client under test ---


def escaped(data):
    return "".join(chr(c) if 0x20 < c < 0x7F and c != 0x5C else f"\\x{c:02x}" for c in data)


def unescaped(text):
    return re.sub(r"\\x([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), text).encode("latin-1")


class Reply:
    """What the client says of one exchange."""

    def __init__(self, line):
        self.name, self.verdict, *rest = line.split("\t")
        self.verdict = unescaped(self.verdict).decode("latin-1")
        parts = dict(word.partition("=")[::2] for word in rest)
        self.code = parts.get("code", "")
        self.text = parts.get("text", "")
        self.second = parts.get("second", "")
        self.left = unescaped(parts.get("left", ""))
        self.consumed = int(parts.get("consumed", "0"))


class Client:
    """conformance-client as a process, asked one exchange at a time. The reply, and what it writes to its connections, pass the three
    methods at the end, so that a lie can be planted there."""

    def __init__(self, program, port):
        command = [str(program), "--port", str(port)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, bufsize=0)
        self.pending = b""

    def stop(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def ask(self, line):
        try:
            self.process.stdin.write(line.encode() + b"\n")
        except OSError as failure:
            raise Broken(f"the client has ended with status {self.process.poll()}") from failure

    def fileno(self):
        return self.process.stdout.fileno()

    def try_reply(self):
        """What there is to read was read; a reply if it is whole."""
        got = os.read(self.fileno(), 1 << 20)
        if not got:
            raise Broken(f"the client has ended with status {self.process.wait(PATIENCE_SECONDS)}")
        self.pending += got
        line, end, rest = self.pending.partition(b"\n")
        if not end:
            return None
        self.pending = rest
        return self.reply(Reply(line.decode()))

    def memory_kib(self):
        """The most memory that it ever had."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))

    def reply(self, given):
        return given

    def written(self, data):
        return data

    def is_closed(self, closed):
        return closed


# --- the requests ---


def strict_request(data):
    """(method, target, fields, rest) of bytes that can be read in one way only; a text when they are something else."""
    head, end, rest = data.partition(b"\r\n\r\n")
    if not end:
        return "a head without its end"
    lines = head.split(b"\r\n")
    start = re.fullmatch(rb"([A-Z]+) ([\x21-\x7e]+) HTTP/1\.1", lines[0])
    if not start:
        return f"the request line {lines[0]!r}"
    fields = []
    for line in lines[1:]:
        found = re.fullmatch(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+): (|[\x21-\x7e\x80-\xff](?:[\x20-\x7e\x80-\xff\t]*[\x21-\x7e\x80-\xff])?)", line)
        if not found:
            return f"the field line {line!r}"
        fields.append((found[1].decode(), found[2].decode("latin-1")))
    return start[1].decode(), start[2].decode(), fields, rest


def plain_request(method, target, host="t.example"):
    fields = [("Host", host)]
    if method in ("POST", "PUT", "PATCH"):
        fields.append(("Content-Length", "0"))
    return method, target, fields, b""


# --- the conversation ---


class Conversation:
    """One connection of the client, seen from the peer. `complaints` is what was wrong."""

    def __init__(self, connection, client):
        self.connection = connection
        self.client = client
        self.received = b""
        self.ended = False
        self.complaints = []
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(PATIENCE_SECONDS)

    def close(self):
        self.connection.close()

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def receive(self):
        try:
            got = self.connection.recv(1 << 16)
        except ConnectionError:
            got = b""
        except TimeoutError as failure:
            raise Broken("the client neither writes nor closes") from failure
        self.ended = self.ended or not got
        self.received += self.client.written(got) if got else b""

    def receive_request(self, bytes_behind=0):
        """The next request with so many bytes of content, read strictly."""
        while not self.ended and len(self.received.partition(b"\r\n\r\n")[2]) < bytes_behind or b"\r\n\r\n" not in self.received:
            if self.ended:
                return f"no request, but {self.received!r}"
            self.receive()
        request = strict_request(self.received)
        self.received = b""
        return request

    def send(self, data):
        """False when the client takes no more."""
        try:
            self.connection.sendall(data)
        except TimeoutError as failure:
            raise Broken("the client neither reads nor closes") from failure
        except OSError:
            return False
        return True

    def finish(self):
        """The peer sends no more."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)

    def await_reply(self, answer_second=True, reads=True):
        """Serves GET /second until the client tells what became of its exchange."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            waits_for_bytes = reads and not self.ended and self.connection.fileno() >= 0
            waiting = [self.client, self.connection] if waits_for_bytes else [self.client]
            ready = select.select(waiting, [], [], max(0, end - time.monotonic()))[0]
            if not ready:
                raise Broken("the client does not tell what became of its exchange")
            if self.connection in ready:
                self.receive()
                if answer_second and strict_request(self.received) == plain_request("GET", "/second"):
                    self.received = b""
                    self.send(SECOND)
            if self.client in ready:
                reply = self.client.try_reply()
                if reply is not None:
                    return reply

    def expect_close(self):
        """The client has told its verdict: it keeps no connection, and wrote nothing beside its requests."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not self.ended and time.monotonic() < end:
            if not select.select([self.connection], [], [], 0.2)[0] and not self.client.is_closed(True):
                break
            self.receive()
        if not self.client.is_closed(self.ended):
            self.complaints.append("the connection was left open")


class Peer:
    """Listens on a port of this machine, and starts clients that ask it."""

    def __init__(self, program, kind=Client):
        self.door = socket.create_server(("127.0.0.1", 0), backlog=16)
        self.door.settimeout(PATIENCE_SECONDS)
        self.client = kind(program, self.door.getsockname()[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.stop()
        self.door.close()

    def open(self, line):
        """Lets the client make the exchange of `line`."""
        self.client.ask(line)
        try:
            connection = self.door.accept()[0]
        except TimeoutError as failure:
            raise Broken("the client does not connect") from failure
        return Conversation(connection, self.client)

    def ask_alone(self, line):
        """The reply to a line for which the client must not connect; None when it did."""
        self.client.ask(line)
        ready = select.select([self.client, self.door], [], [], PATIENCE_SECONDS)[0]
        if self.door in ready or not ready:
            return None
        reply = self.client.try_reply()
        return None if select.select([self.door], [], [], 0)[0] else reply


# --- the judge ---


def target_of(case):
    return "a.example:443" if case["method"] == "CONNECT" else "/"


def line_for(case, *words):
    asked = ["upgrade=foo"] if case.get("upgrade") else []
    return " ".join([case["id"], case["method"], target_of(case), "t.example", *asked, *words])


def request_for(case):
    method, target, fields, rest = plain_request(case["method"], target_of(case))
    if case.get("upgrade"):
        fields = [*fields, ("Connection", "Upgrade"), ("Upgrade", "foo")]
    return method, target, fields, rest


def judge_verdict(case, reply, allowed_here):
    if reply.name != case["id"]:
        return [f"the reply is to {reply.name}"]
    if case["class"] == "redirect":
        # Followed above this client: the head is judged, and nothing else.
        return [] if reply.verdict == "ok:302::reuse" else [f"{reply.verdict}, not ok:302::reuse"]
    if reply.verdict == case["expect"]:
        return []
    if reply.verdict in case.get("allowed", []) and allowed_here.get(case["id"]) == reply.verdict:
        return []
    return [f"{reply.verdict[:80]}, not {case['expect'][:80]} ({case['note']})"]


def judge_connection(case, reply, finished, sees_all):
    """What the client did with the connection and with the bytes behind the message."""
    complaints = []
    last = reply.verdict.rpartition(":")[2]
    if last in ("reuse", "tunnel"):
        taken = case["bytes"][: reply.consumed]
        if taken + case["left"] != case["bytes"]:
            complaints.append(f"took {reply.consumed} of {len(case['bytes'])} bytes, {len(case['left'])} of which are not its own")
        if not case["left"].startswith(reply.left) or (sees_all and reply.left != case["left"]):
            complaints.append(f"{reply.left!r} is left, not {case['left']!r}")
    expected = {"reuse": ("ok:200:second:reuse",), "tunnel": ("sent", "closed")}.get(last, ("",))
    if last == "reuse" and case["left"]:
        expected = ("surplus",)
    elif last == "reuse" and finished:
        expected = ("closed", "error")
    if reply.second not in expected:
        complaints.append(f"second is {reply.second!r}, not {' or '.join(expected)!r}")
    return complaints


def exchange(peer, case, pieces, *, words=(), finish=False, warm=False, sees_all=False, allowed_here=None):
    """One case, its response sent in `pieces`. `sees_all`: the client reads all of it at once. Gives what was wrong."""
    conversation = peer.open(line_for(case, *words, *(["warm"] if warm else [])))
    try:
        if warm:
            request = conversation.receive_request()
            if request != plain_request("GET", "/warm"):
                return [f"the first request is {request}"]
            conversation.send(WARM)
        request = conversation.receive_request()
        if request != request_for(case):
            return [f"the request is {request}, not {request_for(case)}"]
        for piece in pieces:
            if not conversation.send(piece):
                break
        if finish or case["eof"]:
            conversation.finish()
        reply = conversation.await_reply()
        complaints = judge_verdict(case, reply, allowed_here or {})
        complaints += judge_connection(case, reply, finish or case["eof"], sees_all)
        conversation.expect_close()
        sent_behind = conversation.received
        is_pinged = reply.verdict.endswith(":tunnel") and sent_behind == b"ping"
        # A request may have crossed the end that the peer announced.
        is_crossed = reply.second == "error" and strict_request(sent_behind) == plain_request("GET", "/second")
        if sent_behind and not is_pinged and not is_crossed:
            complaints.append(f"the client wrote {sent_behind[:80]!r} behind its request")
        return complaints + conversation.complaints
    finally:
        conversation.close()
