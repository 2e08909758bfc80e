"""The messages between a gateway and a proxy on the proxy's control socket. Each message is a line of JSON.

A proxy can be older than its gateway. It ignores fields that it doesn't know, so all requests have the same type with
optional fields. The response shows whether the proxy supports the request.
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

REQUEST_MAX: Final = 4 << 20  # bytes; enough for 544 rules and names, 32 secrets and the operator's certificates
ANSWER_MAX: Final = 1 << 20  # bytes
TIMEOUT: Final = 5.0  # seconds to wait for a response


class Request(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A request.

    Attributes:
        kind: `ask` (get new refusals), `change` (replace the terms), `status` (get counters) or `watch` (get
            decisions).
        written: For `ask`, the number of the latest refusal that the gateway has logged.
        terms: For `change`, the new terms.
        allowed: For `watch`, whether to include forwarded requests.
    """

    kind: Literal["ask", "change", "status", "watch"] = "ask"
    written: int = 0
    terms: Terms | None = None
    allowed: bool = False


class Changed(msgspec.Struct, kw_only=True):
    """The response to `change`.

    Attributes:
        closed: The number of connections closed because the new terms do not allow them.
    """

    closed: int


class Status(msgspec.Struct, kw_only=True):
    """The response to `status`.

    Attributes:
        counters: The proxy's counters.
        recent: Recent refusals, oldest first.
    """

    counters: Counters
    recent: list[EgressRefusal]


class Watched(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A response to `watch`, which the proxy sends repeatedly.

    Attributes:
        watched: Decisions about requests.
        lost: The number of decisions that were lost after the ones in `watched`.
    """

    watched: list[EgressRequest]
    lost: int = 0


async def change(path: Path, terms: Terms) -> Changed:
    """Replace the terms for the proxy whose control socket is at `path`.

    Raises:
        OSError: The proxy is unreachable, does not respond, or cannot apply the terms. Includes `TimeoutError`.
        msgspec.MsgspecError: This version of the proxy does not support changes.
    """
    async with asyncio.timeout(TIMEOUT), _connected(path, Request(kind="change", terms=terms)) as reader:
        return msgspec.json.decode(await _line(reader), type=Changed)


async def status(path: Path) -> Status:
    """Return a proxy's counters and recent refusals. Raises the same errors as `change`."""
    async with asyncio.timeout(TIMEOUT), _connected(path, Request(kind="status")) as reader:
        return msgspec.json.decode(await _line(reader), type=Status)


async def watch(path: Path, *, allowed: bool) -> AsyncGenerator[list[EgressRequest | EgressLost], None]:
    """Yield a proxy's decisions until it exits, starting with recent refusals. Raises the same errors as `change`.

    Args:
        path: The proxy's control socket.
        allowed: Whether to include forwarded requests.
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
    """Read a response. Raises `OSError` if the connection has ended."""
    try:
        return await reader.readuntil(b"\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise OSError("the proxy closed the connection") from error
