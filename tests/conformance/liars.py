"""A server that answers a few requests from a table, honestly or not: what the judge of over_sockets must and must not report."""

import asyncio
import contextlib
from dataclasses import dataclass

import corpus
import exchange

HEAD = b"HTTP/1.1 %d x\r\nContent-Length: %d\r\n%s\r\n%s"


def answer(status, content=b"", close=False):
    return HEAD % (status, len(content), b"Connection: close\r\n" if close else b"", content)


@dataclass
class Lie:
    name: str
    case: corpus.Case
    honest: tuple  # (answer, whether the connection ends)
    lies: tuple


HOST = b"Host: t.example\r\n"
GET = b"GET /a HTTP/1.1\r\n" + HOST + b"\r\n"
POST = b"POST /echo HTTP/1.1\r\n" + HOST
BAD = b"GET  / HTTP/1.1\r\n" + HOST + b"\r\n"
LENGTH = POST + b"Content-Length: 5\r\n"
REFUSED = (answer(400, close=True), True)

LIES = (
    Lie("accepts_a_bad_request", corpus.Case("bad", BAD, "400", ["ok:1"]), REFUSED, (answer(200), False)),
    Lie("keeps_the_connection_behind_400", corpus.Case("bad", BAD, "400", []), REFUSED, (answer(400), False)),
    Lie("answers_behind_400", corpus.Case("bad", BAD + GET, "400", []), REFUSED, (answer(400) + answer(200), True)),
    Lie("closes_without_the_status", corpus.Case("bad", BAD, "400", []), REFUSED, (b"", True)),
    Lie("loses_the_first_of_a_pipeline", corpus.Case("two", GET + BAD, "ok:1,400", []), (answer(200) + REFUSED[0], True), REFUSED),
    Lie("loses_the_second_of_a_pipeline", corpus.Case("two", GET + GET, "ok:2", []), (2 * answer(200), False), (answer(200), True)),
    Lie("serves_behind_close", corpus.Case("two", GET, "ok:1,close", []), (answer(200, close=True), True), (2 * answer(200), True)),
    Lie("stays_open_behind_close", corpus.Case("one", GET, "ok:1,close", []), (answer(200, close=True), True), (answer(200), False)),
    Lie("answers_twice", corpus.Case("one", GET, "ok:1", []), (answer(200), False), (2 * answer(200), False)),
    Lie("never_answers", corpus.Case("one", GET, "ok:1", []), (answer(200), False), (b"", False)),
    Lie("cuts_its_answer_short", corpus.Case("one", GET, "ok:1", []), (answer(200, b"abc"), False), (answer(200, b"abc")[:-1], True)),
    Lie("answers_half_a_request", corpus.Case("half", GET[:-2], "wait", []), (b"", False), (answer(200), False)),
    Lie("drops_half_a_request", corpus.Case("half", GET[:-2], "wait", []), (b"", False), (b"", True)),
    Lie("does_not_ask_for_the_content", corpus.Case("expect", LENGTH + b"\r\n", "100", ["wait"]), (b"HTTP/1.1 100 x\r\n\r\n", False), (b"", False)),
    Lie("echoes_something_else", corpus.Case("echo", LENGTH + b"\r\nhello", "ok:1", [], content=b"hello"),
        (answer(200, b"hello"), False), (answer(200, b"hellO"), False)),
    Lie("speaks_http_behind_101", corpus.Case("upgrade", GET, "101", []), (b"HTTP/1.1 101 x\r\n\r\n", False),
        (b"HTTP/1.1 101 x\r\n\r\n" + answer(200), False)),
    Lie("sends_the_content_of_a_head", corpus.Case("head", b"HEAD" + BAD[3:], "400", []), (answer(400, b"why", True)[:-3], True),
        (answer(400, b"why", True), True)),
    Lie("takes_an_answer_that_is_not_listed", corpus.Case("other", BAD, "400", ["501"]), REFUSED, (answer(501, close=True), True)),
)  # fmt: skip
# One that is listed is no lie.
LISTED = Lie("takes_a_listed_answer", corpus.Case("other", BAD, "400", ["501"], taken="501"), (answer(501, close=True), True), ())


async def play(script, request, reader, writer):
    """Reads a whole case, behind a request to warm up if there is one, and answers it as the script says."""
    data = b""
    with contextlib.suppress(OSError):
        while piece := await reader.read(65536):
            data += piece
            if data.startswith(exchange.WARM_UP):
                data = data[len(exchange.WARM_UP) :]
                writer.write(answer(200, b"warm"))
            if data == request:
                writer.write(script[0])
                if script[1]:
                    break
        await writer.drain()
    writer.close()


async def judged(script, case, ask_all):
    """What was wrong, for each connection."""
    serving = await asyncio.start_server(lambda reader, writer: play(script, case.request, reader, writer), "127.0.0.1", 0)
    async with serving:
        runs = await ask_all(serving.sockets[0].getsockname()[1], [case], exchange.Bounds(answer=1.0, quiet=1.0))
    return [each.wrong for each in runs]


async def caught(ask_all):
    """(name, what is wrong with the judge or None) for each lie; `ask_all` is the judge."""

    async def one(lie):
        refused = [wrong for wrong in await judged(lie.honest, lie.case, ask_all) if wrong]
        if refused:
            return lie.name, f"the honest answer is refused: {refused[0]}"
        if lie.lies and not all(await judged(lie.lies, lie.case, ask_all)):
            return lie.name, "the lie is believed"
        return lie.name, None

    return await asyncio.gather(*(one(lie) for lie in (*LIES, LISTED)))


def report(results):
    for name, wrong in results:
        print(f"failed liars/{name}: {wrong}" if wrong else f"passed liars/{name}", flush=True)
    return sum(wrong is not None for _, wrong in results)
