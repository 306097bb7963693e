#!/usr/bin/env python3
"""Asks the steps of docs/guide, each a program of examples/guide, for what the chapter says of it."""

import http.client
import sys
import urllib.parse
from pathlib import Path

import support


def form(port):
    connection = support.connect(port)

    def post(content, fields):
        connection.request("POST", "/", content, fields)
        response = connection.getresponse()
        response.read()
        return response.status, response.headers

    fields = {"Content-Type": "application/x-www-form-urlencoded"}
    status, headers = post(urllib.parse.urlencode({"text": "<b> & so on"}), fields)
    support.expect(status == 303 and headers["Location"] == "/", f"a form was answered {status}")
    status, _, page = support.request(connection, "GET", "/")
    support.expect(status == 200 and b"<p>&lt;b> &amp; so on</p>" in page, f"the page is {page!r}")
    for content, wanted in (("text=", 422), ("", 422), ("text=%zz", 400)):
        status, _ = post(content, fields)
        support.expect(status == wanted, f"{content!r} was answered {status}, not {wanted}")
    status, _ = post("text=x", {"Content-Type": "text/plain"})
    support.expect(status == 415, f"a text was answered {status}")
    connection = support.connect(port)
    status, _ = post("text=" + "x" * 20_000, fields)
    support.expect(status == 413, f"a long form was answered {status}")


def live(port):
    def reader(last=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/events", headers={"Last-Event-ID": last} if last else {})
        return connection.getresponse()

    def next_event(of):
        event = {}
        while line := of.readline().decode().rstrip("\n"):
            name, _, value = line.partition(":")
            event[name] = value.removeprefix(" ")
        return event if "data" in event else next_event(of)

    def post(text):
        connection.request("POST", "/posts", text)
        response = connection.getresponse()
        response.read()
        support.expect(response.status == 204, f"a post was answered {response.status}")

    connection = support.connect(port)
    status, _, page = support.request(connection, "GET", "/")
    support.expect(status == 200 and b"EventSource" in page, "the page opens no stream")
    readers = [reader(), reader()]
    for text in ("one", "two"):
        post(text)
        for each in readers:
            support.expect(next_event(each)["data"] == text, "a reader was told something else")
    back = reader("1")
    event = next_event(back)
    support.expect((event["id"], event["data"]) == ("2", "two"), f"a reader that comes back gets {event}")


def main():
    program = Path(sys.argv[1])
    port = support.free_port()
    with support.started([program, f"127.0.0.1:{port}"], port) as process:
        {"guide-form": form, "guide-live": live}[program.name](port)
        status, output = support.stop(process)
        support.expect(status == 0, f"SIGTERM ended it with status {status}: {output}")


if __name__ == "__main__":
    main()
