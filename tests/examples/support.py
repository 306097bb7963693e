"""What the scripts beside this one share: a free port, a program started and stopped, a request made."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time


def free_port():
    """A port of 127.0.0.1 that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def expect(condition, message):
    if not condition:
        sys.exit(message)


def wait_until(condition, message, seconds=60):
    """The seconds are a bound for a machine under load, not what it takes."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"{message} within {seconds} s")
        time.sleep(0.02)


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
        return True
    return False


@contextlib.contextmanager
def started(command, port=None, seconds=60):
    """Runs a program in a process group of its own, until it serves on `port`; nothing of it is left afterwards."""
    process = subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        # A shell starts what runs in the background with SIGINT ignored, and a program keeps that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        if port is not None:
            wait_until(lambda: answers(port) or process.poll() is not None, f"{command[0]} did not serve", seconds)
            expect(process.poll() is None, f"{command[0]} ended before it served: {process.stdout.read() if process.poll() is not None else ''}")
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def stop(process, signal_number=signal.SIGTERM, seconds=30):
    """Asks it to stop; gives (status, output)."""
    process.send_signal(signal_number)
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        sys.exit(f"it did not stop within {seconds} s of {signal_number.name}")
    return process.returncode, output


def request(connection, method, target):
    """(status, headers, body) of one request on a kept connection."""
    connection.request(method, target)
    response = connection.getresponse()
    return response.status, response.headers, response.read()


def connect(port):
    return http.client.HTTPConnection("127.0.0.1", port, timeout=30)
