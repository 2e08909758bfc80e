"""A terminal's complete output between two offsets, such as a command's output."""

import asyncio

import msgspec

from hawse.api.people import ViewerProfile
from hawse.api.terminals import TerminalAttach, TerminalOpened, TerminalReseed
from hawse.client.base.errors import fresh
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.offset_cursor import OffsetCursor
from hawse.wire import Data, Event, HawseError, Kind, RemoteProtocolError

WINDOW = 1 << 20  # bytes the server can send ahead; the client handles output as it arrives


class OutputRange(ClientCall):
    """A lossless call to `terminal.attach` for the output since an offset. Only the last `limit` bytes are kept."""

    def __init__(self, sandbox: str, id: str, instance: str, *, since: int, viewer: ViewerProfile, limit: int) -> None:
        """Prepare a call.

        Args:
            sandbox: The sandbox the terminal is in.
            id: The id of the terminal.
            instance: The terminal's instance.
            since: The offset to start at.
            viewer: How this viewer introduces itself. With the key of another viewer, it counts as that viewer.
            limit: Number of bytes to keep.
        """
        params = TerminalAttach(id=id, instance=instance, lossless=True, read_only=True, viewer=viewer)
        super().__init__(params, sandbox=sandbox, repeats=True, window=WINDOW)
        self._attach = params
        self._cursor = OffsetCursor(since)
        self._kept = bytearray()
        self._limit = limit
        self._wanted: tuple[int, asyncio.Future[None]] | None = (
            None  # an offset, and the future that is done once it is reached
        )

    @property
    def kept(self) -> int:
        """The number of kept bytes."""
        return len(self._kept)

    def params(self) -> TerminalAttach:
        return msgspec.structs.replace(self._attach, since=self._cursor.offset)

    def receive_event(self, event: Event) -> None:
        match self.decode(event):
            case TerminalOpened() as opened:
                self._skip_to(opened.from_)
                self.mark_opened()
            case TerminalReseed() as seed:
                self._skip_to(seed.start)
        self.spend(event_cost(event))

    def _skip_to(self, offset: int) -> None:
        """Continue at `offset`. If this is not the next offset, output is missing, so all earlier output is dropped."""
        if offset != self._cursor.offset:
            self._cursor = OffsetCursor(offset)
            self._kept.clear()

    def receive_data(self, data: Data) -> None:
        if data.kind is Kind.SCREEN:  # the snapshot that replaces missing output
            self.spend(len(data.payload))
            return
        if data.kind is not Kind.OUTPUT:
            raise RemoteProtocolError(f"unexpected data frame of kind {data.kind.name}")
        self._kept += self._cursor.accept(data.offset, data.payload)
        if len(self._kept) > 2 * self._limit:
            del self._kept[: -self._limit]
        if self._wanted and self._cursor.offset >= self._wanted[0] and not self._wanted[1].done():
            self._wanted[1].set_result(None)
        self.spend(len(data.payload))

    def finished(self, value: msgspec.Raw) -> None:
        """Record that the terminal has ended and all of its output has arrived."""

    async def read(self, start: int, end: int) -> tuple[bytes, int]:
        """Wait for the output up to `end`. Returns the output from `start` on, and how many bytes are missing at its
        start.
        """
        if self._cursor.offset < end and not self.settled:
            self._wanted = (end, asyncio.get_running_loop().create_future())
            await asyncio.wait((self._wanted[1], self.done), return_when=asyncio.FIRST_COMPLETED)
        if self.settled and (error := self.done.exception()) is not None:
            raise fresh(error) if isinstance(error, HawseError) else error
        first = self._cursor.offset - len(self._kept)
        missing = min(max(first - start, end - start - self._limit, 0), end - start)
        return bytes(self._kept[max(start + missing - first, 0) : max(end - first, 0)]), missing
