#!/usr/bin/env python3
"""Uses the page of examples/board as people do: two windows, a message from one to the other, a restart under both, no script, a phone."""

import contextlib
import http.server
import json
import signal
import sys
import tempfile
import threading
from pathlib import Path

import browser
from browser import support

PICTURES = Path(__file__).resolve().parent.parent.parent / "build/results/board"
PROGRAM = sys.argv[1]
TAB = "\ue004"

SHOWN = "return [...document.querySelectorAll('#messages p')].map((p) => p.textContent)"


class Page:
    """The board in a window."""

    def __init__(self, window, port):
        self.window = window
        self.url = f"http://127.0.0.1:{port}/"
        window.open(self.url)

    def shown(self):
        """The texts, the newest first."""
        return self.window.run(SHOWN)

    def wait_for(self, *texts):
        """Until exactly these are the newest."""
        wanted = list(texts)
        support.wait_until(lambda: self.shown()[: len(wanted)] == wanted, f"{wanted} did not appear, but {self.shown()}")

    def wait_for_state(self, text):
        support.wait_until(lambda: self.text_of("#state") == text, f"the page does not say {text!r}")

    def text_of(self, selector):
        return self.window.run("return document.querySelector(arguments[0]).textContent", selector)

    def write(self, name, text):
        for selector, value in (("#name", name), ("#text", text)):
            self.window.run("document.querySelector(arguments[0]).value = ''", selector)
            self.window.type(selector, value)
        self.window.click("#form button")


def board(port, database):
    return support.started([PROGRAM, f"127.0.0.1:{port}", "--database", database, "--threads", "2"], port)


def post(port, name, text):
    connection = support.connect(port)
    connection.request("POST", "/api/messages", json.dumps({"name": name, "text": text}), {"Content-Type": "application/json"})
    support.expect(connection.getresponse().status == 201, f"{text!r} could not be posted")
    connection.close()


def live(one, other):
    for page in (one, other):
        page.wait_for_state("Live")
    support.expect(one.text_of("#nothing").strip() != "" and one.shown() == [], "a new board shows messages")
    one.write("Ada", "Hello from one window")
    for page in (one, other):
        page.wait_for("Hello from one window")
    markup = "<b onclick=alert(1)>bold</b> & \U0001f426"
    other.window.run("document.querySelector('#name').value = 'Bo'; document.querySelector('#text').value = arguments[0]", markup)
    other.window.click("#form button")
    for page in (one, other):
        page.wait_for(markup, "Hello from one window")
        support.expect(len(page.shown()) == 2, f"a message is shown twice: {page.shown()}")
    support.expect(one.window.run("return document.querySelector('#text').value") == "", "what was posted stays in the form")


def faults(page):
    page.write("Ada", "   ")
    support.wait_until(lambda: page.text_of("#text-fault") == "Please write a message.", "an empty text is not refused")
    support.expect(page.window.run("return document.activeElement.id") == "text", "the field that is wrong has not the focus")
    support.expect(page.window.run("return document.querySelector('#text').ariaInvalid") == "true", "the field does not say that it is wrong")
    page.write("Ada", "Now with words")
    page.wait_for("Now with words")
    support.wait_until(lambda: page.text_of("#text-fault") == "", "the fault stays")


def keyboard(page):
    """Everything is reached by Tab, in order, and shows that it has the focus."""
    page.window.click("#name")
    reached = []
    for selector in ("#name", "#text"):
        page.window.type(selector, TAB)
        reached.append(page.window.run("return document.activeElement.id || document.activeElement.tagName"))
    support.expect(reached == ["text", "BUTTON"], f"Tab goes to {reached}")
    support.expect(page.window.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid", "the focus is not to be seen")
    unlabelled = page.window.run("return [...document.querySelectorAll('input, textarea')].filter((e) => !e.labels.length).map((e) => e.id)")
    support.expect(unlabelled == [], f"without a label: {unlabelled}")


@contextlib.contextmanager
def refusing(port):
    """Something else answers there, as a proxy does whose server is away; gives the list of what was asked for."""
    asked = []

    class Refuse(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_error(502)
            asked.append(self.path)

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        allow_reuse_address = True
        daemon_threads = True

    with Server(("127.0.0.1", port), Refuse) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield asked
        finally:
            server.shutdown()
            serving.join()


def restart(one, other, port, database, process):
    status, output = support.stop(process)
    support.expect(status == 0, f"SIGTERM ended it with status {status}: {output}")
    for page in (one, other):
        page.wait_for_state("Reconnecting…")
    before = one.shown()
    one.write("Ada", "Said to nobody")
    support.wait_until(lambda: "cannot be reached" in one.text_of("#problem"), "a message that could not be posted is not told of")
    support.expect(one.window.run("return document.querySelector('#text').value") == "Said to nobody", "what was written is lost")
    with board(port, database) as again:
        post(port, "Cy", "While you were away")
        for page in (one, other):
            page.wait_for("While you were away", *before)
            page.wait_for_state("Live")
        one.window.click("#form button")
        for page in (one, other):
            page.wait_for("Said to nobody", "While you were away", *before)
        # Not asked nicely: the stream breaks off.
        again.send_signal(signal.SIGKILL)
        again.wait()
        other.wait_for_state("Reconnecting…")
    # A browser gives up on a stream that is refused, so the page begins another.
    with refusing(port) as asked:
        support.wait_until(lambda: sum(path.startswith("/events") for path in asked) >= 4, "the page gave up")
    with board(port, database) as again:
        other.wait_for_state("Live")
        post(port, "Cy", "And again")
        for page in (one, other):
            page.wait_for("And again", "Said to nobody", "While you were away", *before)
            support.expect(len(page.shown()) == len(before) + 3, f"a message is shown twice: {page.shown()}")
        support.stop(again)


def without_script(window, port):
    window.devtools("Emulation.setScriptExecutionDisabled", value=True)
    window.open(f"http://127.0.0.1:{port}/")
    window.type("#name", "Dee")
    window.type("#text", "No script here")
    window.click("#form button")
    support.wait_until(lambda: "No script here</p>" in window.ask("GET", "/source"), "without script nothing is posted")
    window.click("#form button")
    support.wait_until(lambda: "Please write a name." in window.ask("GET", "/source"), "without script faults are not told")
    window.devtools("Emulation.setScriptExecutionDisabled", value=False)


def pictures(window, port):
    for name, text in (
        ("Omar", "A longer one, to see how lines break:\n\n1. first this\n2. then that\n\nhttps://example.com/" + "a-long-path/" * 12),
        ("مريم", "مرحبا بالجميع"),
        ("Grace", "Posting from a phone on the train. The page keeps itself up to date, even after the tunnel."),
    ):
        post(port, name, text)
    for device, width, height in (("phone", 390, 844), ("desk", 1280, 900)):
        for scheme in ("light", "dark"):
            window.look(width, height, scheme, mobile=device == "phone")
            page = Page(window, port)
            page.wait_for_state("Live")
            wide = window.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            support.expect(wide == 0, f"on a {device} the page is {wide} pixels too wide")
            window.keep_picture(PICTURES / f"{device}-{scheme}.png")


def main():
    with tempfile.TemporaryDirectory(prefix="martlet-board-") as directory, browser.started() as driver:
        port, database = support.free_port(), Path(directory) / "board.db"
        one, other = driver.window(), driver.window()
        with board(port, database) as process:
            pages = Page(one, port), Page(other, port)
            live(*pages)
            faults(pages[0])
            pages[1].wait_for("Now with words")
            keyboard(pages[0])
            restart(*pages, port, database, process)
        with board(port, database):
            without_script(driver.window(), port)
            pictures(one, port)
        complaints = [line["message"] for line in driver.ask("POST", "/se/log", {"type": "browser"}) if "ERR_" not in line["message"]]
        support.expect(not any("Refused" in line or "Uncaught" in line for line in complaints), f"the browser complains: {complaints}")


if __name__ == "__main__":
    main()
