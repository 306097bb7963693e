#!/usr/bin/env python3
"""Asks examples/board what a program would: posts and lists by JSON and by forms, follows the stream over a restart, breaks each rule once."""

import contextlib
import http.client
import json
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import urllib.parse
from pathlib import Path

import support

PROGRAM = sys.argv[1]
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Asker:
    """One kept connection."""

    def __init__(self, port):
        self.connection = support.connect(port)

    def ask(self, method, target, content=None, fields=None):
        self.connection.request(method, target, content, fields or {})
        response = self.connection.getresponse()
        return response.status, response.headers, response.read()

    def post(self, name, text):
        status, headers, content = self.ask("POST", "/api/messages", json.dumps({"name": name, "text": text}), JSON)
        support.expect(status == 201, f"POST was answered {status} {content!r}")
        return json.loads(content)

    def listed(self, query=""):
        status, headers, content = self.ask("GET", f"/api/messages{query}")
        support.expect(status == 200, f"GET /api/messages{query} was answered {status} {content!r}")
        support.expect(headers["Content-Type"] == "application/json", f"it came as {headers['Content-Type']}")
        return json.loads(content)["messages"]


class Stream:
    """Events as they come, one (id, message) after the other."""

    def __init__(self, port, after=None, last_event_id=None, receive_bytes=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        if receive_bytes is not None:
            self.connection.sock = socket.socket()
            self.connection.sock.settimeout(60)
            self.connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
            self.connection.sock.connect(("127.0.0.1", port))
        fields = {"Accept": "text/event-stream"}
        if last_event_id is not None:
            fields["Last-Event-ID"] = str(last_event_id)
        self.connection.request("GET", "/events" if after is None else f"/events?after={after}", headers=fields)
        self.response = self.connection.getresponse()
        support.expect(self.response.status == 200, f"GET /events was answered {self.response.status}")
        support.expect(self.response.headers["Content-Type"] == "text/event-stream", "it is no event stream")

    def next(self):
        """None at the end."""
        event = {}
        while True:
            line = self.response.readline().decode()
            if not line:
                return None
            line = line.rstrip("\n")
            if not line and "data" in event:
                return int(event["id"]), json.loads(event["data"])
            name, _, value = line.partition(":")
            event[name] = value.removeprefix(" ")

    def expect(self, *texts):
        for text in texts:
            got = self.next()
            support.expect(got is not None and got[1]["text"] == text, f"expected {text[:40]!r} of the stream, got {str(got)[:160]}")
            support.expect(got[0] == got[1]["id"], f"the event's id is not the message's: {got}")
        return got[0]

    def close(self):
        self.connection.close()
        self.response.close()


@contextlib.contextmanager
def board(port, database, *more):
    with support.started([PROGRAM, f"127.0.0.1:{port}", "--database", database, *more], port) as process:
        yield process


def messages_and_problems(port):
    asker = Asker(port)
    support.expect(asker.listed() == [], "a new board is not empty")
    odd = "<script>alert('\"&amp;\\')</script>\nzwei \U0001f426"
    first = asker.post("  Ada ", odd)
    support.expect(first["name"] == "Ada" and first["text"] == odd, f"it was changed: {first}")
    status, headers, _ = asker.ask("POST", "/api/messages", urllib.parse.urlencode({"name": "Bo", "text": "by form\r\n+ & ="}), FORM)
    support.expect(status == 201, f"a form was answered {status}")
    listed = asker.listed()
    support.expect([m["text"] for m in listed] == [odd, "by form\n+ & ="], f"listed: {listed}")
    support.expect(asker.listed(f"?after={first['id']}") == listed[1:], "after= gives other messages")
    support.expect(asker.listed("?limit=1") == listed[:1], "limit= gives other messages")

    # Without script: the form of the page.
    status, headers, _ = asker.ask("POST", "/", urllib.parse.urlencode({"name": "Cy", "text": "without script"}), FORM)
    support.expect(status == 303 and headers["Location"] == "/", f"the form was answered {status} {headers['Location']}")
    status, headers, content = asker.ask("GET", "/")
    page = content.decode()
    support.expect(status == 200 and "without script" in page, f"GET / was answered {status}")
    support.expect("<script>alert" not in page and "&lt;script&gt;alert" in page, "what was written is not escaped")
    support.expect("default-src 'none'" in headers["Content-Security-Policy"], "the page says not what it may load")
    status, headers, content = asker.ask("POST", "/", urllib.parse.urlencode({"name": "\"Dee", "text": " "}), FORM)
    page = content.decode()
    support.expect(status == 422 and "Please write a message." in page, f"an empty text was answered {status}")
    support.expect("value=\"&quot;Dee\"" in page, "the name has to be typed again")
    for target in ("/board.css", "/board.js", "/icon.svg"):
        status, headers, content = asker.ask("GET", target)
        support.expect(status == 200 and content and "max-age" in headers["Cache-Control"], f"GET {target} was answered {status}")

    def refused(wanted, content, fields, *words):
        status, headers, answer = asker.ask("POST", "/api/messages", content, {"Accept": "application/json", **fields})
        said = answer.decode()
        support.expect(status == wanted, f"{content[:60]!r} was answered {status} {said}, not {wanted}")
        support.expect(headers["Content-Type"] == "application/problem+json", f"{wanted} came as {headers['Content-Type']}")
        support.expect(json.loads(said)["status"] == wanted, f"the problem says {said}")
        for word in words:
            support.expect(word in said, f"{word!r} is not in {said}")

    refused(415, "hello", {"Content-Type": "text/plain"}, "application/json")
    refused(400, "{", JSON, "JSON")
    refused(400, '{"name":"x"}', JSON, "text")
    refused(400, "name=x", FORM, "text")
    refused(400, "name=%zz&text=x", FORM)
    refused(422, json.dumps({"name": "x" * 41, "text": "\x07"}), JSON, "41 characters", "control character")
    refused(422, "name=x&text=%FF", FORM, "UTF-8")
    refused(422, '{"name":"a\\u0000b","text":"x"}', JSON, "control character")
    refused(413, json.dumps({"name": "x", "text": "y" * 100_000}), JSON)
    asker = Asker(port)
    for query in ("?after=x", "?limit=0x10", "?limit=0", "?limit=101"):
        status, _, answer = asker.ask("GET", f"/api/messages{query}")
        name = query[1:].partition("=")[0]
        support.expect(status == 400 and name in answer.decode(), f"{query} was answered {status} {answer!r}")
    status, headers, content = asker.ask("HEAD", "/events")
    support.expect((status, content) == (200, b""), f"HEAD /events was answered {status} {content!r}")
    status, headers, _ = asker.ask("DELETE", "/api/messages")
    support.expect(status == 405 and "POST" in headers["Allow"], f"DELETE was answered {status}")
    support.expect(len(asker.listed()) == 3, "something refused was kept")


def streams_over_a_restart(port, database):
    """A message each is posted before, while and after a reader is away; each reader gets each message once, in order."""
    with board(port, database, "--threads", "3") as process:
        posters = [Asker(port) for _ in range(6)]
        begin = posters[0].post("Ada", "begin")["id"]
        readers = [Stream(port, after=begin, receive_bytes=4096 if i == 0 else None) for i in range(6)]
        ids = [poster.post("Ada", f"live {i}")["id"] for i, poster in enumerate(posters)]
        support.expect(ids == sorted(ids), f"the ids go back: {ids}")
        for reader in readers:
            last = reader.expect(*(f"live {i}" for i in range(6)))
        # One reads no more, while much more is posted than a loop remembers and than the kernel keeps for it.
        many = [f"more {i} " + "\U0001f426" * 980 for i in range(400)]
        for i, text in enumerate(many):
            posters[i % 6].post("Ada", text)
        for reader in readers[1:]:
            reader.expect(*many)
        late = Stream(port, last_event_id=last, after=0)
        late.expect(*many)
        last = readers[0].expect(*many)
        status, output = support.stop(process)
        support.expect(status == 0, f"SIGTERM ended it with status {status}: {output}")
        for reader in [*readers, late]:
            support.expect(reader.next() is None, "a stream did not end whole")
            reader.close()
    with board(port, database) as process:
        away = Asker(port).post("Ada", "while away")
        reader = Stream(port, last_event_id=last)
        reader.expect("while away")
        Asker(port).post("Ada", "back again")
        reader.expect("back again")
        support.stop(process)
    support.expect(away["id"] == last + 1, f"ids are not one after the other: {last}, {away['id']}")


def nothing_answered_is_lost(port, database):
    """Stopped in the middle of posting, by a signal that lets it finish and by one that does not: what was answered 201 is there."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        answered, enough = [], threading.Event()

        def post(name):
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                asker = Asker(port)
                for i in range(10_000):
                    status, _, _ = asker.ask("POST", "/api/messages", json.dumps({"name": name, "text": f"{name} {i}"}), JSON)
                    if status == 201:
                        answered.append(f"{name} {i}")
                    if len(answered) >= 40:
                        enough.set()

        with board(port, database, "--threads", "2") as process:
            posting = [threading.Thread(target=post, args=(f"{number.name}-{i}",)) for i in range(4)]
            for each in posting:
                each.start()
            support.expect(enough.wait(60), "40 messages could not be posted")
            process.send_signal(number)
            for each in posting:
                each.join()
            process.wait(60)
        file = sqlite3.connect(database)
        kept = {text for (text,) in file.execute("select text from message")}
        file.close()
        support.expect(set(answered) <= kept, f"{number.name} lost {set(answered) - kept}")


def command_line(directory):
    def ended(*words):
        finished = subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        return finished.returncode, finished.stdout + finished.stderr

    status, said = ended("--help")
    support.expect(status == 0 and "--database" in said and "--threads" in said, f"--help: {status} {said}")
    fine = ["--database", str(directory / "fine.db")]
    port = support.free_port()
    for words, wanted, part in (
        (["--threads", "many"], 2, "--threads takes a number"),
        (["--database"], 2, "--database takes"),
        (["--colour"], 2, "--colour"),
        (["127.0.0.1:1", "127.0.0.1:2"], 2, "127.0.0.1:2"),
        (["127.0.0.1:99999", *fine], 1, "127.0.0.1:99999"),
        (["nowhere", *fine], 1, "nowhere"),
        ([f"127.0.0.1:{port}", "--database", str(directory / "none" / "board.db")], 1, "none/board.db"),
        ([f"127.0.0.1:{port}", "--database", str(directory)], 1, str(directory)),
        (["203.0.113.1:80", *fine], 1, "203.0.113.1:80"),
    ):
        status, said = ended(*words)
        support.expect(status == wanted and part in said, f"{words}: status {status}, {said!r}")


def main():
    with tempfile.TemporaryDirectory(prefix="martlet-board-") as name:
        directory = Path(name)
        port = support.free_port()
        command_line(directory)
        with board(port, directory / "a.db") as process:
            messages_and_problems(port)
            status, output = support.stop(process)
            support.expect(status == 0, f"SIGTERM ended it with status {status}: {output}")
        streams_over_a_restart(port, directory / "b.db")
        nothing_answered_is_lost(port, directory / "c.db")


if __name__ == "__main__":
    main()
