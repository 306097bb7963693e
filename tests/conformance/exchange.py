"""One connection over which a case is sent, in pieces, and what is heard on it."""

import asyncio
import contextlib
import itertools
import socket
import time
from dataclasses import dataclass

import corpus

WARM_UP = b"GET / HTTP/1.1\r\nHost: t.example\r\n\r\n"
# The shortest limit in time that a server sets a peer is a second. What took longer to send is sent again.
SENT_WITHIN = 0.7
# A socket option of Linux: the port is chosen at connect, so that each address has all of them.
IP_BIND_ADDRESS_NO_PORT = 24

addresses = itertools.cycle(f"127.0.{part}.{last}" for part in range(1, 9) for last in range(1, 255))


@dataclass
class Bounds:
    """Seconds. `answer` bounds what must come; `quiet` is how long nothing comes where nothing may."""

    answer: float = 30.0
    quiet: float = 0.4


class Peer:
    """A client's end. All that comes is kept."""

    def __init__(self, socket):
        self.socket = socket
        self.data = b""
        self.ended = False
        self.news = asyncio.Event()
        self.reading = asyncio.create_task(self.read())

    async def read(self):
        loop = asyncio.get_running_loop()
        try:
            while piece := await loop.sock_recv(self.socket, 65536):
                self.data += piece
                self.news.set()
        except OSError:
            pass
        self.ended = True
        self.news.set()

    async def send(self, piece):
        # A server may refuse and close before it has read everything; then its answer tells.
        with contextlib.suppress(OSError):
            try:
                sent = self.socket.send(piece)
            except BlockingIOError:
                sent = 0
            if sent < len(piece):
                await asyncio.get_running_loop().sock_sendall(self.socket, piece[sent:])

    async def changed(self, seconds):
        """Waits for more; false when there was none in time."""
        with contextlib.suppress(asyncio.TimeoutError):
            async with asyncio.timeout(max(0.0, seconds)):
                await self.news.wait()
        came = self.news.is_set()
        self.news.clear()
        return came

    async def until(self, done, seconds):
        give_up = time.monotonic() + seconds
        while not done() and not self.ended:
            if not await self.changed(give_up - time.monotonic()):
                break
        return done()


@contextlib.asynccontextmanager
async def connected(port):
    with socket.socket() as made:
        made.setblocking(False)
        made.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Many addresses, because each has a bounded number of ports, and a port rests for a minute behind a connection.
        made.bind((next(addresses), 0))
        await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", port))
        peer = Peer(made)
        try:
            yield peer
        finally:
            peer.reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await peer.reading


async def ask(port, case, pieces, state, bounds):
    """(what was heard, the seconds that sending took)."""
    async with connected(port) as peer:

        def is_served():
            return corpus.first_answer_bytes(peer.data) is not None

        if state == "warm":
            await peer.send(WARM_UP)
            await peer.until(is_served, bounds.answer)
        elif state == "pipelined":
            pieces = [WARM_UP + pieces[0], *pieces[1:]]
        begin = time.monotonic()
        for number, piece in enumerate(pieces):
            if peer.ended:
                break
            if number:
                # Two pieces are to be two for the server as well; many come slowly enough by themselves.
                await asyncio.sleep(0.003 if len(pieces) == 2 else 0)
            await peer.send(piece)
        seconds = time.monotonic() - begin
        if state == "fresh":
            return await hear(peer, case, 0, bounds), seconds
        if not await peer.until(is_served, bounds.answer):
            return corpus.Heard([corpus.GARBLED], closed=peer.ended), seconds
        return await hear(peer, case, corpus.first_answer_bytes(peer.data), bounds), seconds


async def hear(peer, case, skip, bounds):
    def now(closed):
        return corpus.taken_apart(peer.data[skip:], case.to_head, closed)

    give_up = time.monotonic() + bounds.answer
    while not peer.ended:
        heard = now(False)
        if heard.whole and any(corpus.matches(answer, heard) for answer in case.answers):
            silent = any(answer in ("wait", "100") and corpus.matches(answer, heard) for answer in case.answers)
            if silent:
                if not await peer.changed(bounds.quiet):
                    return heard
                continue
            # All is there. To say that no more is sent makes a server end the connection, and shows what it still had to say.
            with contextlib.suppress(OSError):
                peer.socket.shutdown(socket.SHUT_WR)
            await peer.until(lambda: peer.ended, bounds.answer)
            if not peer.ended:
                return corpus.Heard([*heard.statuses, corpus.GARBLED], heard.contents)
            last = now(True)
            last.closed = False
            return last
        if not await peer.changed(give_up - time.monotonic()):
            break
    return now(peer.ended)
