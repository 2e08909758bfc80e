"""Serves requests from gateways on a proxy's control socket."""

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec

from hawse.api.egress import EgressLost, EgressRequest
from hawse_gateway.egress.control import Changed, Request, Status, Watched
from hawse_gateway.egress.plan import Terms
from hawse_gateway.egress.refusals import Ask, Refusals
from hawse_gateway.egress.watchers import Watcher

ASK_WAIT: Final = 5.0  # seconds to wait for new refusals before sending a response without any
WRITE_TIMEOUT: Final = 60.0  # seconds to wait for a gateway to read a response
BATCH: Final = 256  # maximum number of decisions in a response to `watch`


class ControlServer:
    """Handles requests from gateways.

    Args:
        refusals: The refusals.
        change: Replaces the terms, and returns the number of closed connections. Raises `ValueError`, `OSError`.
    """

    def __init__(self, refusals: Refusals, change: Callable[[Terms], int]) -> None:
        self._refusals = refusals
        self._change = change
        self._one_gateway = asyncio.Lock()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until it ends. Raises only `CancelledError`."""
        try:
            while line := await reader.readline():
                request = msgspec.json.decode(line, type=Request)
                match request.kind:
                    case "change" if request.terms is not None:
                        await _send(writer, Changed(closed=self._change(request.terms)))
                    case "status":
                        await _send(writer, self._status())
                    case "watch":
                        await self._watch(reader, writer, allowed=request.allowed)
                        return
                    case _:
                        await self._follow(request, reader, writer)
                        return
        except (OSError, ValueError, msgspec.MsgspecError):  # includes TimeoutError
            pass
        finally:
            writer.transport.abort()

    async def _follow(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Send refusals to one gateway at a time. Otherwise, each refusal would be logged twice."""
        async with self._one_gateway:
            while True:
                await _send(writer, await self._refusals.answer(Ask(written=request.written), ASK_WAIT))
                if not (line := await reader.readline()):
                    return
                request = msgspec.json.decode(line, type=Request)

    def _status(self) -> Status:
        return Status(counters=self._refusals.measured(), recent=list(self._refusals.watchers.recent))

    async def _watch(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, allowed: bool) -> None:
        watchers = self._refusals.watchers
        watcher = watchers.join(allowed=allowed)
        try:
            recent = [EgressRequest(**msgspec.structs.asdict(each)) for each in watchers.recent]
            await _send(writer, Watched(watched=recent))
            async with asyncio.TaskGroup() as tasks:
                sending = tasks.create_task(_pass_on(watcher, writer))
                await reader.read(1)  # returns when the gateway disconnects
                sending.cancel()
        finally:
            watchers.leave(watcher)


async def _pass_on(watcher: Watcher, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            found = await watcher.next()
            requests = [each for each in found if isinstance(each, EgressRequest)]
            lost = sum(each.count for each in found if isinstance(each, EgressLost))
            for start in range(0, len(requests), BATCH):
                part = requests[start : start + BATCH]
                await _send(writer, Watched(watched=part, lost=lost if start + BATCH >= len(requests) else 0))
    except OSError:
        writer.transport.abort()  # ends the pending read in `_watch`


async def _send(writer: asyncio.StreamWriter, answer: msgspec.Struct) -> None:
    """Send a response. Raises `OSError`, including `TimeoutError`."""
    writer.write(msgspec.json.encode(answer) + b"\n")
    async with asyncio.timeout(WRITE_TIMEOUT):
        await writer.drain()
