#!/usr/bin/env python3
"""Asks examples/hello what a newcomer would: a page, another on the same connection, one that is not there, and that it stops."""

import sys

import support


def main():
    program = sys.argv[1]
    port = support.free_port()
    with support.started([program, f"127.0.0.1:{port}"], port) as process:
        connection = support.connect(port)
        for _ in range(2):
            status, headers, body = support.request(connection, "GET", "/")
            support.expect(status == 200, f"GET / was answered {status}")
            support.expect(body.rstrip() == b"Hello, World!", f"GET / gave {body!r}")
            support.expect("Date" in headers and "Server" in headers, f"Date or Server is missing: {headers}")
        status, _, _ = support.request(connection, "GET", "/missing")
        support.expect(status == 404, f"GET /missing was answered {status}")
        connection.close()

        status, output = support.stop(process)
        support.expect(status == 0, f"SIGTERM ended it with status {status}: {output}")
        support.expect(not support.answers(port), "something still listens after the end")


if __name__ == "__main__":
    main()
