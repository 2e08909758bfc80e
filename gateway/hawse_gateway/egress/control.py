"""Messages between a gateway and a proxy on the proxy's control socket, one line of JSON each.

A proxy can be older than its gateway, and ignores unknown fields. There is therefore one kind of request, and the
answer states what was done.
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

REQUEST_MAX: Final = 4 << 20  # bytes: 544 rules and names, 32 secrets, and the operator's certificates
ANSWER_MAX: Final = 1 << 20  # bytes
TIMEOUT: Final = 5.0  # s for an answer


class Request(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A request.

    Attributes:
        kind: `ask` for unwritten refusals, `change` the terms, get the `status`, or `watch` decisions.
        written: For `ask`: the number of the last refusal that the gateway has written.
        terms: For `change`: the new terms.
        allowed: For `watch`: whether to report forwarded requests, too.
    """

    kind: Literal["ask", "change", "status", "watch"] = "ask"
    written: int = 0
    terms: Terms | None = None
    allowed: bool = False


class Changed(msgspec.Struct, kw_only=True):
    """The answer to `change`.

    Attributes:
        closed: The number of connections closed because the new terms do not allow them.
    """

    closed: int


class Status(msgspec.Struct, kw_only=True):
    """The answer to `status`.

    Attributes:
        counters: The proxy's counters.
        recent: Recent refusals, newest last.
    """

    counters: Counters
    recent: list[EgressRefusal]


class Watched(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An answer to `watch`, sent repeatedly.

    Attributes:
        watched: Requests.
        lost: The number of requests lost after them.
    """

    watched: list[EgressRequest]
    lost: int = 0


async def change(path: Path, terms: Terms) -> Changed:
    """Replace the terms of the proxy whose control socket is at `path`.

    Raises:
        OSError: It is unreachable, does not answer, or cannot apply the terms. Includes `TimeoutError`.
        msgspec.MsgspecError: Its version does not support changes.
    """
    async with asyncio.timeout(TIMEOUT), _connected(path, Request(kind="change", terms=terms)) as reader:
        return msgspec.json.decode(await _line(reader), type=Changed)


async def status(path: Path) -> Status:
    """Return a proxy's counters and recent refusals. Raises the same errors as `change`."""
    async with asyncio.timeout(TIMEOUT), _connected(path, Request(kind="status")) as reader:
        return msgspec.json.decode(await _line(reader), type=Status)


async def watch(path: Path, *, allowed: bool) -> AsyncGenerator[list[EgressRequest | EgressLost], None]:
    """Yield a proxy's decisions until it ends, starting with recent refusals. Raises the same errors as `change`.

    Args:
        path: Its control socket.
        allowed: Whether to report forwarded requests, too.
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
        raise OSError("the proxy closed the connection") from error
