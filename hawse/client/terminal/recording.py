"""A recording: stop it, set markers, and read it (docs/wire.md, Recordings). Reading is resumed after a reconnect."""

from hawse.api import Params
from hawse.api.recordings import (
    RecordingDelete,
    RecordingGet,
    RecordingInfo,
    RecordingMark,
    RecordingPart,
    RecordingRead,
    RecordingStop,
)
from hawse.client.calls.call_table import CallTable, R
from hawse.client.files.transfer_streams import FileReader, ReadCall

WINDOW = 512 << 10  # bytes the server can send before the client reads them


class Recording:
    """A recording, which continues until `stop` or until the terminal or desktop ends. It doesn't have to be closed."""

    def __init__(self, calls: CallTable, sandbox: str, id: str, *, window: int = WINDOW) -> None:
        self.id = id
        self._calls = calls
        self._sandbox = sandbox
        self._window = window

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id!r} in sandbox {self._sandbox!r}>"

    async def info(self) -> RecordingInfo:
        """Return the recording's current state and size. Raises `not_found`."""
        return await self._request(RecordingGet(id=self.id))

    async def stop(self) -> RecordingInfo:
        """End the recording, and return once all of it is on disk. It is not an error if the recording has already
        ended.
        """
        return await self._request(RecordingStop(id=self.id))

    async def mark(self, label: str = "") -> None:
        """Set a marker at the current time. Raises `exited` if the recording has ended."""
        await self._request(RecordingMark(id=self.id, label=label))

    async def delete(self) -> None:
        """Delete the recording's files. A recording in progress is ended first."""
        await self._request(RecordingDelete(id=self.id))

    def open_read(self, *, part: RecordingPart = "cast", offset: int = 0, length: int | None = None) -> FileReader:
        """Stream all bytes recorded so far: `async with … as file:`, then `async for chunk in file`."""
        params = RecordingRead(id=self.id, part=part, offset=offset, length=length)
        return FileReader(self._calls, ReadCall(params, sandbox=self._sandbox, window=self._window))

    async def read(self, *, part: RecordingPart = "cast") -> bytes:
        """Return all bytes recorded so far."""
        async with self.open_read(part=part) as file:
            return b"".join([chunk async for chunk in file])

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self._sandbox)
