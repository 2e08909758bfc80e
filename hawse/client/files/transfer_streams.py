"""Files: reads that resume by offset and version, writes that resume by what the server has applied."""

from types import TracebackType
from typing import Any

import msgspec

from hawse.api.files import FileOpened, FileTransferResult, FileWriteOpened
from hawse.client.base.errors import ClientClosedError
from hawse.client.base.results import FileInfo
from hawse.client.calls.call import ClientCall, event_cost, new_key
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.decode import parse
from hawse.client.calls.input_stream import BytesLike, InputStream
from hawse.client.calls.iterators import OutputIterator
from hawse.client.calls.offset_cursor import OffsetCursor
from hawse.client.calls.receive_buffer import BufferedChunk, ReceiveBuffer
from hawse.wire import Data, Event, HawseError, Kind, Limits, RemoteProtocolError

LANE = "file"


class ReadCall(ClientCall):
    """`file.read`: a repeat asks for the rest of the very same content."""

    def __init__(
        self,
        sandbox: str,
        path: str,
        *,
        offset: int,
        length: int | None,
        version: str | None,
        window: int,
        root: str | None = None,
    ) -> None:
        params = {"path": path, "root": root, "version": version}
        super().__init__("file.read", params, sandbox=sandbox, repeats=True)
        self.info: FileInfo | None = None  # since `opened`
        self.inbox: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self._cursor = OffsetCursor(offset)
        self._end = None if length is None else offset + length
        self._from = offset  # where the present channel began

    def params(self) -> dict[str, Any]:
        params = {**self.base, "offset": self._cursor.offset}
        if self._end is not None:
            params["length"] = self._end - self._cursor.offset
        return params

    def opening(self) -> int:
        self._from = self._cursor.offset
        return super().opening()

    def receive_event(self, event: Event) -> None:
        if event.name == "opened":
            opened = parse(event.value, FileOpened)
            if self.base.setdefault("version", opened.version) != opened.version:
                raise HawseError("conflict", "the file has changed", admitted="yes")
            self.info = FileInfo(opened.size, opened.version, opened.mode, opened.mtime)
            self.mark_opened()
        self.spend(event_cost(event))

    def receive_data(self, data: Data) -> None:
        if data.kind is not Kind.OUTPUT:
            raise RemoteProtocolError(f"{data.kind.name} of a file")
        new = self._cursor.accept(data.offset, data.payload)
        if new:
            self.inbox.put_bytes(LANE, self._cursor.offset - len(new), new)
        self.spend(len(data.payload) - len(new))

    def finished(self, value: msgspec.Raw) -> FileTransferResult:
        done = parse(value, FileTransferResult)
        came = self._cursor.offset - self._from
        if done.bytes != came:
            raise HawseError("io_error", f"{came} of {done.bytes} bytes came", admitted="yes")
        return done


class WriteCall(ClientCall):
    """`file.write`: keyed, so that a repeat joins the upload that waits for it, or gets its outcome."""

    def __init__(self, sandbox: str, path: str, *, mode: int | None, parents: bool, root: str | None = None) -> None:
        params = {"path": path, "root": root, "mode": mode, "parents": parents}
        super().__init__("file.write", params, sandbox=sandbox, key=new_key(), window=1)
        self.feed: InputStream = InputStream(Limits().input_window, self.wake)

    def params(self) -> dict[str, Any]:
        return {**self.base, "input": self.feed.id}

    def receive_event(self, event: Event) -> None:
        if event.name == "opened":
            self.feed.opened(parse(event.value, FileWriteOpened).input_offset)
            self.mark_opened()
        self.spend(event_cost(event))

    def finished(self, value: msgspec.Raw) -> FileTransferResult:
        done = parse(value, FileTransferResult)
        if not self.feed.buffer.ended or done.bytes != self.feed.buffer.end:
            raise HawseError("io_error", f"{done.bytes} of {self.feed.buffer.end} bytes arrived", admitted="yes")
        return done


class FileReader:
    """`async with sb.open_read(path) as file:` — `file.info`, then `async for chunk in file`."""

    def __init__(self, calls: CallTable, call: ReadCall) -> None:
        self._calls = calls
        self._call = call

    async def __aenter__(self) -> "FileReader":
        """Raises `not_found`, `is_directory`, `permission_denied`, `conflict` if it is not of that version."""
        await self._calls.begin(self._call)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._calls.abandon(self._call, ClientClosedError("this handle was closed"))

    @property
    def info(self) -> FileInfo:
        if self._call.info is None:
            raise RemoteProtocolError("a file without `opened`")
        return self._call.info

    def __aiter__(self) -> OutputIterator[bytes]:
        """Iterate over the bytes. Raises `conflict` if the file changed while a line was lost."""
        return OutputIterator(self._call.inbox, self._next)

    async def _next(self) -> bytes:
        _, item = await self._call.inbox.get(LANE)
        assert isinstance(item, BufferedChunk)
        return bytes(item.data)


class FileWriter:
    """`async with sb.open_write(path) as file:` — the file is replaced, at once, when the block ends without error."""

    def __init__(self, calls: CallTable, call: WriteCall) -> None:
        self._calls = calls
        self._call = call
        self._result: FileTransferResult | None = None

    async def __aenter__(self) -> "FileWriter":
        self._calls.submit(self._call)
        return self

    @property
    def result(self) -> FileTransferResult:
        """`bytes` (its size) and `version`, after the end."""
        if self._result is None:
            raise RuntimeError("the file is not written yet")
        return self._result

    async def write(self, data: BytesLike) -> None:
        """Add bytes; waits while the disk is slower. Raises what the server says: `no_space`, `not_found`, …"""
        await self._call.feed.write(data)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                await self._call.feed.end()
                self._result = await self._calls.outcome(self._call)
        finally:
            self._calls.abandon(self._call)
