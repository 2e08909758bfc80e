"""File transfers. Reads resume by offset and version; writes resume after the last byte that the server has applied."""

from types import TracebackType

import msgspec

from hawse.api.files import FileCancel, FileOpened, FileRead, FileTransferResult, FileWrite, FileWriteOpened
from hawse.api.recordings import RecordingRead
from hawse.client.base.call_errors import ConflictError, IoError
from hawse.client.calls.call import ClientCall, event_cost, new_key
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.input_stream import BytesLike, InputStream
from hawse.client.calls.offset_cursor import OffsetCursor
from hawse.client.calls.receive_buffer import BufferedChunk, ReceiveBuffer
from hawse.client.calls.stream_handle import ByteStreamHandle
from hawse.wire import Data, Event, Kind, Limits, RemoteProtocolError

LANE = "file"


class ReadCall(ClientCall):
    """A call to `file.read` or `recording.read`. Each later call requests the rest of the same content."""

    def __init__(self, params: FileRead | RecordingRead, *, sandbox: str, window: int) -> None:
        super().__init__(params, sandbox=sandbox, repeats=True)
        self.info: FileOpened | None = None  # None until `opened` has arrived
        self.receive_buffer: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self._read = params
        self._start = params.offset or 0  # the offset the current channel started from
        self._cursor = OffsetCursor(self._start)
        self._end = None if params.length is None else self._start + params.length

    def params(self) -> FileRead | RecordingRead:
        length = None if self._end is None else self._end - self._cursor.offset
        return msgspec.structs.replace(self._read, offset=self._cursor.offset, length=length)

    def opening(self) -> int:
        self._start = self._cursor.offset
        return super().opening()

    def receive_event(self, event: Event) -> None:
        match self.decode(event):
            case FileOpened() as opened:
                self._opened(opened)
        self.spend(event_cost(event))

    def _opened(self, opened: FileOpened) -> None:
        if isinstance(self._read, FileRead):  # a recording only grows, so a later version starts with the earlier one
            if self._read.version not in (None, opened.version):
                raise ConflictError("the file was changed while it was being read", admitted="yes")
            self._read = msgspec.structs.replace(self._read, version=opened.version)
        self.info = opened
        self.mark_opened()

    def receive_data(self, data: Data) -> None:
        if data.kind is not Kind.OUTPUT:
            raise RemoteProtocolError(f"a data frame of kind {data.kind.name} from {self.method}")
        new = self._cursor.accept(data.offset, data.payload)
        if new:
            self.receive_buffer.put_bytes(LANE, self._cursor.offset - len(new), new)
        self.spend(len(data.payload) - len(new))

    def finished(self, value: msgspec.Raw) -> FileTransferResult:
        done: FileTransferResult = super().finished(value)
        received = self._cursor.offset - self._start
        if done.bytes != received:
            raise IoError(f"{received} of {done.bytes} bytes were received", admitted="yes")
        return done


class WriteCall(ClientCall):
    """A call to `file.write`. A repeated call with the same key resumes the interrupted upload or, if the upload has
    ended, returns its outcome.
    """

    def __init__(self, params: FileWrite, *, sandbox: str) -> None:
        """Prepare a call. The call's own input stream id replaces `input` in `params`."""
        super().__init__(params, sandbox=sandbox, key=new_key(), window=1)
        self.input_stream: InputStream = InputStream(Limits().input_window, self.wake)
        self._write = msgspec.structs.replace(params, input=self.input_stream.id)

    def params(self) -> FileWrite:
        return self._write

    def receive_event(self, event: Event) -> None:
        match self.decode(event):
            case FileWriteOpened(input_offset=applied):
                self.input_stream.opened(applied)
                self.mark_opened()
        self.spend(event_cost(event))

    def finished(self, value: msgspec.Raw) -> FileTransferResult:
        done: FileTransferResult = super().finished(value)
        if done.bytes != self.input_stream.buffer.end:
            raise IoError(f"{done.bytes} of {self.input_stream.buffer.end} bytes were written", admitted="yes")
        return done


class FileReader(ByteStreamHandle[ReadCall]):
    """`async with box.files.open_read(path) as file:` — `file.info`, then `async for chunk in file`, or `file.lines()`.

    Entering raises `not_found`, `is_directory`, `permission_denied`, or `conflict` if the file's version is different.
    If the connection is lost, iterating raises `conflict` if the file has changed.
    """

    @property
    def info(self) -> FileOpened:
        """The file as it was when opened."""
        if self._call.info is None:
            raise RemoteProtocolError("the server sent no `opened` event for the file")
        return self._call.info

    async def _receive(self) -> bytes:
        _, item = await self._call.receive_buffer.get(LANE)
        assert isinstance(item, BufferedChunk)
        return bytes(item.data)


class FileWriter:
    """`async with box.files.open_write(path) as file:` — the file is replaced when the block ends without an error."""

    def __init__(self, calls: CallTable, call: WriteCall) -> None:
        self._calls = calls
        self._call = call
        self._result: FileTransferResult | None = None
        self._entered = False

    async def __aenter__(self) -> "FileWriter":
        self._entered = True
        self._calls.submit(self._call)
        return self

    @property
    def result(self) -> FileTransferResult:
        """The file's size and version, available after the block."""
        if self._result is None:
            raise RuntimeError("the result is known only after the `async with` block")
        return self._result

    async def write(self, data: BytesLike) -> None:
        """Append bytes. Waits if the disk is slow. Raises the server's error: `no_space`, `not_found`, …"""
        if not self._entered:
            raise RuntimeError("this FileWriter is not open: use it in `async with` before writing to it")
        await self._call.input_stream.write(data)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                await self._call.input_stream.end()
                self._result = await self._calls.outcome(self._call)
        finally:
            unfinished = self._call.sent and not self._call.settled
            self._calls.abandon(self._call)
            if unfinished:  # without `FileCancel`, the server would wait for the upload to resume
                self._calls.post(ClientCall(FileCancel(key=self._call.key or ""), sandbox=self._call.sandbox))
