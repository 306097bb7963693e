#!/usr/bin/env python3
"""Uses ./run as a newcomer does: it says where to look, takes the next port when one is taken, and passes a signal on."""

import re
import signal
import subprocess
from pathlib import Path

import support

ROOT = Path(__file__).resolve().parent.parent.parent
RUN = ROOT / "run"


def said_port(process):
    """Reads what ./run says until it names an address."""
    said = ""
    while True:
        line = process.stdout.readline()
        said += line
        support.expect(line, f"./run ended without naming an address: {said}")
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        if found:
            return int(found.group(1)), said


def main():
    wrong = subprocess.run([RUN, "--port", "eighty"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    support.expect(wrong.returncode == 2 and "--port" in wrong.stderr, f"a bad port was not refused: {wrong}")
    helped = subprocess.run([RUN, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    support.expect(helped.returncode == 0 and "--port" in helped.stdout, "--help does not name --port")

    port = support.free_port()
    with support.started([RUN, "--port", port]) as first:
        first_port, _ = said_port(first)
        support.expect(first_port == port, f"asked for port {port}, got {first_port}")
        status, _, body = support.request(support.connect(port), "GET", "/")
        support.expect(status == 200 and b"<title>Board</title>" in body, f"GET / was answered {status} {body!r}")

        with support.started([RUN, "--port", port]) as second:
            second_port, said = said_port(second)
            support.expect(second_port > port and "taken" in said, f"a taken port was not passed over: {said}")
            status, _ = support.stop(second, signal.SIGINT)
            support.expect(status == 0, f"Ctrl-C ended ./run with status {status}")
            support.wait_until(lambda: not support.answers(second_port), "board outlived ./run")

        status, _ = support.stop(first)
        support.expect(status == 0, f"SIGTERM ended ./run with status {status}")
        support.wait_until(lambda: not support.answers(port), "board outlived ./run")


if __name__ == "__main__":
    main()
