"""What a gateway says to a proxy at its control socket, a line of JSON each, and what the proxy answers.

A proxy may be of an earlier version than its gateway, and ignores what it does not know: so there is one kind of
request, and an answer that says what was done.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Literal

import msgspec

from hawse.api.egress import EgressLost, EgressRefusal, EgressRequest
from hawse.link.sockets import socket_address
from hawse_gateway.egress.plan import Terms
from hawse_gateway.egress.refusals import Counters

REQUEST_MAX: Final = 4 << 20  # bytes: 544 rules and names, 32 secrets, and the certificates of the operator
ANSWER_MAX: Final = 1 << 20  # bytes
TIMEOUT: Final = 5.0  # s for an answer


class Request(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A request.

    Attributes:
        kind: `ask` for refusals that are not written yet, `change` the terms, `status`, or `watch`.
        written: Of `ask`: the number of the last refusal that the gateway has written.
        terms: Of `change`.
        allowed: Of `watch`: whether requests that are passed on are reported, too.
    """

    kind: Literal["ask", "change", "status", "watch"] = "ask"
    written: int = 0
    terms: Terms | None = None
    allowed: bool = False


class Changed(msgspec.Struct, kw_only=True):
    """The answer to `change`.

    Attributes:
        closed: How many connections were closed, which the new terms do not allow.
    """

    closed: int


class Status(msgspec.Struct, kw_only=True):
    """The answer to `status`.

    Attributes:
        counters: What the proxy has done.
        recent: What was refused last, the newest last.
    """

    counters: Counters
    recent: list[EgressRefusal]


class Watched(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The answers to `watch`, again and again.

    Attributes:
        watched: Requests.
        lost: How many were lost after them.
    """

    watched: list[EgressRequest]
    lost: int = 0


async def change(path: Path, terms: Terms) -> Changed:
    """Let the proxy whose control socket is at `path` decide by other terms from now on.

    Raises:
        OSError: It cannot be reached, does not answer, or cannot use them. `TimeoutError` is one.
        msgspec.MsgspecError: It is of a version without changes.
    """
    async with asyncio.timeout(TIMEOUT), _connected(path, Request(kind="change", terms=terms)) as reader:
        return msgspec.json.decode(await _line(reader), type=Changed)


async def status(path: Path) -> Status:
    """Return what a proxy has done. Raises as `change` does."""
    async with asyncio.timeout(TIMEOUT), _connected(path, Request(kind="status")) as reader:
        return msgspec.json.decode(await _line(reader), type=Status)


async def watch(path: Path, *, allowed: bool) -> AsyncGenerator[list[EgressRequest | EgressLost], None]:
    """Yield what a proxy decides, until it ends: first, once, what it has refused last. Raises as `change` does.

    Args:
        path: Its control socket.
        allowed: Whether requests that are passed on are reported, too.
    """
    async with _connected(path, Request(kind="watch", allowed=allowed)) as reader:
        while True:
            answer = msgspec.json.decode(await _line(reader), type=Watched)
            yield [*answer.watched, *([EgressLost(count=answer.lost)] if answer.lost else [])]


@asynccontextmanager
async def _connected(path: Path, request: Request) -> AsyncIterator[asyncio.StreamReader]:
    with socket_address(path) as address:
        reader, writer = await asyncio.open_unix_connection(address, limit=ANSWER_MAX)
    try:
        writer.write(msgspec.json.encode(request) + b"\n")
        await writer.drain()
        yield reader
    finally:
        writer.transport.abort()


async def _line(reader: asyncio.StreamReader) -> bytes:
    """Return an answer. Raises `OSError` if there is none."""
    try:
        return await reader.readuntil(b"\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise OSError("the proxy has ended the connection") from error
