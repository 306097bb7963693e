"""A headless Chromium, driven through chromedriver by the WebDriver protocol (https://www.w3.org/TR/webdriver2/): JSON over HTTP."""

import base64
import contextlib
import ctypes
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
import support  # noqa: E402

DRIVER = "chromedriver"
BINARY = "/usr/bin/chromium"
# As root in a container there is no sandbox to be had; it shows pages of this machine only.
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
             "--hide-scrollbars", "--lang=en-GB"]  # fmt: skip
# For one command, on a machine under load.
SECONDS = 120


class Refused(Exception):
    """The driver's own error."""


class Driver:
    """A process of chromedriver, and one browser of it."""

    def __init__(self, port):
        self.port = port
        options = {"binary": BINARY, "args": ARGUMENTS}
        self.session = ""
        made = self.ask("POST", "", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = f"/{made['sessionId']}"

    def ask(self, method, path, content=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        with contextlib.closing(connection):
            body = None if content is None else json.dumps(content)
            connection.request(method, f"/session{self.session if hasattr(self, 'session') else ''}{path}", body, {"Content-Type": "application/json"})
            value = json.loads(connection.getresponse().read())["value"]
        if isinstance(value, dict) and "error" in value:
            raise Refused(f"{path}: {value['error']}: {value['message'].splitlines()[0]}")
        return value

    def window(self):
        """A new window, besides the one that a browser begins with."""
        return Window(self, self.ask("POST", "/window/new", {"type": "window"})["handle"])

    def quit(self):
        self.ask("DELETE", "")


class Window:
    def __init__(self, driver, handle):
        self.driver, self.handle = driver, handle

    def ask(self, method, path, content=None):
        self.driver.ask("POST", "/window", {"handle": self.handle})
        return self.driver.ask(method, path, content)

    def open(self, url):
        self.ask("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """What a function body gives; an exception in it fails."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, selector):
        return next(iter(self.ask("POST", "/element", {"using": "css selector", "value": selector}).values()))

    def click(self, selector):
        self.ask("POST", f"/element/{self.find(selector)}/click", {})

    def type(self, selector, text):
        self.ask("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def devtools(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def look(self, width, height, scheme, mobile=False):
        """As on a screen of that size, for somebody who likes pages `light` or `dark`."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def keep_picture(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(self.devtools("Page.captureScreenshot", format="png")["data"]))


def adopt_orphans():
    """What a child of ours leaves behind becomes our child, to be waited for. Not every container has a first process that does it."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def no_child_is_left():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        return True
    return False


@contextlib.contextmanager
def started():
    """A browser with nothing of anybody's in it; nothing of it is left afterwards."""
    support.expect(shutil.which(DRIVER) and shutil.which(BINARY), "chromium and chromedriver are not installed (Debian: chromium, chromium-driver)")
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="martlet-browser-") as home:
        environment = {**os.environ, "HOME": home, "TMPDIR": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
        process = subprocess.Popen(
            [DRIVER, "--port=0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            start_new_session=True,
        )
        try:
            said = ""
            while not (found := re.search(r"started successfully on port (\d+)", said)):
                line = process.stdout.readline()
                support.expect(line, f"{DRIVER} ended without serving: {said}")
                said += line
            driver = Driver(int(found.group(1)))
            yield driver
            driver.quit()
        finally:
            # The browser is in the same group; without it the directory could not be removed.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            support.wait_until(no_child_is_left, "processes of the browser are left")
