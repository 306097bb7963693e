"""A server that does exactly what a test tells it: what it answers, when, and how it breaks off. It counts what it was asked."""

import contextlib
import socket
import struct
import threading
import time


def answer(body=b"Hello", status="200 OK", fields=b""):
    return b"HTTP/1.1 " + status.encode() + b"\r\nContent-Length: " + str(len(body)).encode() + b"\r\n" + fields + b"\r\n" + body


RESET = object()  # the connection is reset
CLOSE = object()  # the connection is closed
SILENCE = object()  # nothing is sent


class ScriptedServer:
    """Serves on a free port of 127.0.0.1, or on a Unix socket, with a thread for each connection.

    `script(number, target)` says what answers request `number` (from 0, in the order of arrival over all connections): bytes, RESET, CLOSE,
    SILENCE, a number of seconds to wait, or a list of those.
    """

    CONNECTIONS_MAX = 200

    def __init__(self, script, unix_path=None):
        self.script = script
        self.lock = threading.Lock()
        self.requests = 0
        self.connections = 0
        self.targets = {}
        self.heads = []
        self.arrivals = []
        self.closing = False
        self.open = set()
        self.threads = []
        if unix_path:
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(unix_path)
        else:
            self.listener = socket.socket()
            self.listener.bind(("127.0.0.1", 0))
            self.port = self.listener.getsockname()[1]
        self.listener.listen(256)
        self.acceptor = threading.Thread(target=self.accept)

    def url(self, path="/"):
        return f"http://127.0.0.1:{self.port}{path}"

    def __enter__(self):
        self.acceptor.start()
        return self

    def __exit__(self, *_):
        self.closing = True
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.acceptor.join()
        with self.lock:
            for peer in self.open:
                with contextlib.suppress(OSError):
                    peer.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()

    def accept(self):
        while not self.closing:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
                refused = len(self.open) >= self.CONNECTIONS_MAX
                if not refused:
                    self.open.add(peer)
            if refused:
                peer.close()
                continue
            thread = threading.Thread(target=self.serve, args=(peer,))
            self.threads.append(thread)
            thread.start()

    def serve(self, peer):
        if peer.family == socket.AF_INET:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        waiting = b""
        try:
            while True:
                request, waiting = self.read_request(peer, waiting)
                if request is None or not self.answer(peer, request):
                    return
        except OSError:
            pass
        finally:
            with self.lock:
                self.open.discard(peer)
            peer.close()

    def read_request(self, peer, waiting):
        while b"\r\n\r\n" not in waiting:
            piece = peer.recv(65536)
            if not piece:
                return None, b""
            waiting += piece
        head, _, rest = waiting.partition(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        while len(rest) < length:
            piece = peer.recv(65536)
            if not piece:
                return None, b""
            rest += piece
        return (head, rest[:length]), rest[length:]

    def answer(self, peer, request):
        head, body = request
        target = head.split(b" ", 2)[1].decode()
        with self.lock:
            number = self.requests
            self.requests += 1
            self.targets[target] = self.targets.get(target, 0) + 1
            self.arrivals.append(time.monotonic())
            if len(self.heads) < 16:
                self.heads.append((head, body))
            steps = self.script(number, target)
        for step in steps if isinstance(steps, list) else [steps]:
            if step is RESET:
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
            if step is CLOSE:
                return False
            if step is SILENCE:
                continue
            if isinstance(step, (int, float)):
                time.sleep(step)
            else:
                peer.sendall(step)
        return True
