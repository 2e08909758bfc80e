"""The output of a terminal from one offset to another, every byte of it: what a command printed."""

import asyncio
from typing import Any

import msgspec

from hawse.api.terminals import TerminalOpened
from hawse.client.base.errors import TruncatedError, fresh
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.decode import parse
from hawse.client.calls.offset_cursor import OffsetCursor
from hawse.wire import Data, Event, HawseError, Kind, RemoteProtocolError

WINDOW = 1 << 20  # bytes; what arrives is taken at once


class OutputRange(ClientCall):
    """`terminal.attach`, lossless, for nothing but the output since an offset. It keeps the last `limit` bytes."""

    def __init__(self, sandbox: str, id: str, instance: str, *, since: int, viewer: dict[str, str], limit: int) -> None:
        """`viewer`: whose second line this is, so that nobody new seems to come."""
        params = {"id": id, "instance": instance, "lossless": True, "read_only": True, "viewer": viewer}
        super().__init__("terminal.attach", params, sandbox=sandbox, repeats=True, window=WINDOW)
        self._cursor = OffsetCursor(since)
        self._kept = bytearray()
        self._limit = limit
        self._wanted: tuple[int, asyncio.Future[None]] | None = None

    def params(self) -> dict[str, Any]:
        return {**self.base, "since": self._cursor.offset}

    def receive_event(self, event: Event) -> None:
        if event.name == "opened":
            opened = parse(event.value, TerminalOpened)
            if opened.start_at == "snapshot":  # cannot happen within 30 s
                raise TruncatedError("output", opened.from_ - self._cursor.offset)
            self.mark_opened()
        self.spend(event_cost(event))

    def receive_data(self, data: Data) -> None:
        if data.kind is not Kind.OUTPUT:
            raise RemoteProtocolError(f"{data.kind.name} out of place")
        self._kept += self._cursor.accept(data.offset, data.payload)
        if len(self._kept) > 2 * self._limit:
            del self._kept[: -self._limit]
        if self._wanted and self._cursor.offset >= self._wanted[0] and not self._wanted[1].done():
            self._wanted[1].set_result(None)
        self.spend(len(data.payload))

    def finished(self, value: msgspec.Raw) -> None:
        """The terminal has ended: all of its output has come."""

    async def read(self, start: int, end: int) -> tuple[bytes, int]:
        """The bytes between two offsets, and how many of the first are left out. Waits for the last of them."""
        if self._cursor.offset < end and not self.settled:
            self._wanted = (end, asyncio.get_running_loop().create_future())
            await asyncio.wait((self._wanted[1], self.done), return_when=asyncio.FIRST_COMPLETED)
        if self.settled and (error := self.done.exception()) is not None:
            raise fresh(error) if isinstance(error, HawseError) else error
        first = self._cursor.offset - len(self._kept)
        missing = max(first - start, end - start - self._limit, 0)
        return bytes(self._kept[start + missing - first : end - first]), missing
