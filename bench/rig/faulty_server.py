#!/usr/bin/env python3
"""A small hello-world server with one planted fault, named in BENCH_FAULT, by which the tests show that a bar can fail."""

import contextlib
import email.utils
import mmap
import os
import select
import signal
import socket
import sys
import time

FAULT = os.environ.get("BENCH_FAULT", "none")
KEPT = []
HONEST_ANSWERS = 100  # before one of the LIES begins, so that a check of the first answers finds nothing
LIES = {
    "lies": b"Content-Length: 13\r\n\r\nHello, Wurld!",
    "short-bodies": b"Content-Length: 5\r\n\r\nHello",
}


def answer():
    date = "" if FAULT == "no-date" else f"Date: {email.utils.formatdate(usegmt=True)}\r\n"
    return (f"HTTP/1.1 200 OK\r\nServer: faulty\r\n{date}Content-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!").encode()


def mood():
    """Every second process of those that share BENCH_COUNTER is in a good one."""
    path = os.environ.get("BENCH_COUNTER")
    if path is None:
        return True
    with open(path, "a", encoding="ascii") as file:
        file.write("x")
        return file.tell() % 2 == 1


class FaultyServer:
    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", port), backlog=512)
        self.listener.setblocking(False)
        self.poll = select.epoll()
        self.poll.register(self.listener, select.EPOLLIN)
        self.peers = {}
        self.answered = 0
        self.waiting = []
        self.delay = {"late": 0.02, "moody": 0.004 if mood() else 0.03}.get(FAULT, 0)
        print(f"listening on 127.0.0.1:{port}", flush=True)

    def accept(self):
        peer, _ = self.listener.accept()
        peer.setblocking(False)
        self.peers[peer.fileno()] = [peer, b""]
        self.poll.register(peer, select.EPOLLIN)
        if FAULT == "hoard":
            KEPT.append(os.urandom(4096))

    def close(self, number):
        peer, _ = self.peers.pop(number)
        self.poll.unregister(peer)
        if FAULT == "leak-descriptor":
            KEPT.append(peer)
        else:
            peer.close()
        if FAULT == "leak-memory":
            KEPT.append(os.urandom(2048))

    def serve(self, number):
        peer, rest = self.peers[number]
        try:
            data = peer.recv(65536)
        except ConnectionResetError:
            if FAULT == "die-on-reset":
                os._exit(9)
            data = b""
        if not data:
            return self.close(number)
        *requests, self.peers[number][1] = (rest + data).split(b"\r\n\r\n")
        try:
            for _ in range(len(requests)):
                self.reply(peer)
            if FAULT == "empty-read":
                peer.recv(65536, socket.MSG_PEEK)
        except BlockingIOError:
            pass
        except OSError:
            self.close(number)

    def reply(self, peer):
        text = answer()
        self.answered += 1
        if FAULT in LIES and self.answered > HONEST_ANSWERS:
            text = text[:text.index(b"Content-Length")] + LIES[FAULT]
        if FAULT == "two-writes":
            peer.send(text[:50])
            text = text[50:]
        if FAULT == "sleepy":
            time.sleep(0.005)
        if self.delay:
            self.waiting.append((time.monotonic() + self.delay, peer, text))
        else:
            peer.send(text)
        if FAULT == "pages":
            mmap.mmap(-1, 65536).close()
        if FAULT == "rearm":
            self.poll.modify(peer, select.EPOLLIN)
        if FAULT == "timer":
            signal.setitimer(signal.ITIMER_REAL, 1000)

    def send_late(self):
        """What is due by now; returns the seconds until more is, None when nothing waits."""
        now = time.monotonic()
        while self.waiting and self.waiting[0][0] <= now:
            _, peer, text = self.waiting.pop(0)
            with contextlib.suppress(OSError):
                peer.send(text)
        return max(0.0, self.waiting[0][0] - now) if self.waiting else None

    def run(self):
        while True:
            for number, _ in self.poll.poll(self.send_late()):
                if number == self.listener.fileno():
                    self.accept()
                else:
                    self.serve(number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    FaultyServer(int(sys.argv[sys.argv.index("--port") + 1])).run()
