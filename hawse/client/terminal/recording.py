"""A recording of a terminal: stopped, marked, and read as asciicast v3 while the line comes and goes."""

from typing import Literal

from hawse.api import Params
from hawse.api.files import FileOpened
from hawse.api.recordings import RecordingDelete, RecordingGet, RecordingInfo, RecordingMark, RecordingStop
from hawse.client.base.results import FileInfo
from hawse.client.calls.call import event_cost
from hawse.client.calls.call_table import CallTable, R
from hawse.client.calls.decode import parse
from hawse.client.files.transfer_streams import FileReader, ReadCall
from hawse.wire import Event

Part = Literal["cast", "screens", "index"]
WINDOW = 512 << 10  # bytes on their way


class RecordingCall(ReadCall):
    """`recording.read`: what is there only grows, so a repeat goes on where it was, whatever came behind."""

    def __init__(self, sandbox: str, id: str, part: Part, *, offset: int, length: int | None, window: int) -> None:
        super().__init__(sandbox, "", offset=offset, length=length, version=None, window=window)
        self.method = "recording.read"
        self.base = {"id": id, "part": part}

    def receive_event(self, event: Event) -> None:
        if event.name == "opened":
            opened = parse(event.value, FileOpened)
            self.info = FileInfo(opened.size, opened.version, opened.mode, opened.mtime)
            self.mark_opened()
        self.spend(event_cost(event))


class Recording:
    """A handle to one recording. It holds nothing open: what was begun goes on until `stop` or the terminal's end."""

    def __init__(self, calls: CallTable, sandbox: str, id: str, *, window: int = WINDOW) -> None:
        self.id = id
        self._calls = calls
        self._sandbox = sandbox
        self._window = window

    async def info(self) -> RecordingInfo:
        """What it is and how far it has come. Raises `not_found`."""
        return await self._request(RecordingGet(id=self.id))

    async def stop(self) -> RecordingInfo:
        """End it; returns when all of it is on the disk. Again, it does nothing."""
        return await self._request(RecordingStop(id=self.id))

    async def mark(self, label: str = "") -> None:
        """Set a marker here. Raises `exited` if it has ended."""
        await self._request(RecordingMark(id=self.id, label=label))

    async def delete(self) -> None:
        await self._request(RecordingDelete(id=self.id))

    def open_read(self, *, part: Part = "cast", offset: int = 0, length: int | None = None) -> FileReader:
        """Stream its bytes as far as they have come: `async with … as file:`, then `async for chunk in file`."""
        call = RecordingCall(self._sandbox, self.id, part, offset=offset, length=length, window=self._window)
        return FileReader(self._calls, call)

    async def read(self, *, part: Part = "cast") -> bytes:
        """All of it."""
        async with self.open_read(part=part) as file:
            return b"".join([chunk async for chunk in file])

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self._sandbox)
