"""One request a connection: what it costs to accept, answer, see the peer's end and close."""

import time

from . import instructions, kernel, traffic
from .process import Broken, Server

WARM = 20  # connections before the counting of system calls
PAUSE_SECONDS = 0.003  # the server sees a connection, its request and its end one after the other, each time


def exchange(load, server):
    """Connects, asks for the connection to end with the answer, and reads to that end."""
    request = load.request(server.port).removesuffix(b"\r\n") + b"Connection: close\r\n\r\n"
    with traffic.Client(server.port) as client:
        time.sleep(PAUSE_SECONDS)
        (head, body), = client.exchange(request)
        if client.rest or client.socket.recv(1):
            raise Broken(f"{server.name}: more than the answer")
    load.check(server.name, head, body)


def repeat(load, server, count):
    for _ in range(count):
        exchange(load, server)
        time.sleep(PAUSE_SECONDS)


def instructions_each(binary, load, connections):
    """The difference between a long and a short run, so that the start cancels out."""
    short, long = (instructions.counted(binary, load, lambda server, count=count: repeat(load, server, count))
                   for count in (connections, 2 * connections))
    return (long - short) / connections


def calls_each(binary, load, connections):
    """System calls by name, a connection; those that wait are not among them."""
    with Server(binary) as server:
        repeat(load, server, WARM)
        calls, _ = kernel.counted(server, lambda: repeat(load, server, connections))
        server.stop_cleanly()
    return {name: count / connections for name, count in calls.items() if name not in kernel.WAITS}
