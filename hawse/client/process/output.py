"""A process's output, in chunks or line by line: a base class of `Process`."""

from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import cast

from hawse.api.processes import ProcessAttach
from hawse.api.types import StreamName
from hawse.client.base.errors import TruncatedError
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.iterators import OutputIterator
from hawse.client.calls.line_reader import LineReader
from hawse.client.calls.receive_buffer import BufferedChunk, DiscardedRange
from hawse.client.process.attach import ProcessAttachCall
from hawse.client.process.exec import STREAMS
from hawse.client.process.reread import Reread

REREAD_WINDOW = 256 << 10  # bytes to receive ahead of the reader when rereading output that was discarded


class OutputStream(OutputIterator[bytes]):
    """The bytes of stdout or stderr as they arrive. `lines` yields lines instead."""

    def __init__(self, call: ProcessAttachCall, reader: LineReader) -> None:
        super().__init__(call.receive_buffer, reader.read)
        self._reader = reader

    def __aiter__(self) -> "OutputStream":
        return self

    async def __anext__(self) -> bytes:
        return await super().__anext__()

    async def lines(self, *, encoding: str = "utf-8", errors: str = "replace") -> AsyncIterator[str]:
        """Iterate over the lines without their line endings (LF or CR LF). The last line may lack one.

        Lines longer than 1 MiB are yielded in parts.

        Args:
            encoding: The encoding of the text.
            errors: How to handle invalid bytes, as in `bytes.decode`.
        """
        async for line in self._reader.lines(encoding, errors):
            yield line


class ProcessOutput:
    """Reads both of a process's output streams. The server sends at most one window of bytes ahead of the reader.

    Iterating raises `TruncatedError` if bytes are no longer kept (iterating again continues after them), `BusyError` if
    another task is reading the same stream, and `HawseError` if the call fails.
    """

    def __init__(self, calls: CallTable, call: ProcessAttachCall, sandbox: str) -> None:
        self._calls = calls
        self._call = call
        self._sandbox = sandbox
        self._rereads: dict[StreamName, Reread] = {}  # unfinished rereads; their bytes precede newer ones
        self._received = dict(call.first)
        self._readers: dict[StreamName, LineReader] = {
            name: LineReader(partial(self._next_of, name)) for name in STREAMS.values()
        }

    @property
    def offset(self) -> Mapping[StreamName, int]:
        """The offset in each stream after the last byte read. Pass it to `attach` as `since` to continue there."""
        return {name: self._received[name] - self._readers[name].held for name in STREAMS.values()}

    @property
    def stdout(self) -> OutputStream:
        """Iterate over stdout only. Both streams share a window, so read stderr as well if it could be long."""
        return OutputStream(self._call, self._readers["stdout"])

    @property
    def stderr(self) -> OutputStream:
        """Iterate over stderr only."""
        return OutputStream(self._call, self._readers["stderr"])

    def output(self) -> OutputIterator[tuple[StreamName, bytes]]:
        """Iterate over `(stream, bytes)` in order of arrival, to the end of both streams."""
        return OutputIterator(self._call.receive_buffer, self._next_held)

    async def lines(self, *, encoding: str = "utf-8", errors: str = "replace") -> AsyncIterator[tuple[StreamName, str]]:
        """Iterate over `(stream, line)` from both streams in order of arrival. See `OutputStream.lines`."""
        chunks = OutputIterator(self._call.receive_buffer, lambda: self._next(None))
        for name, reader in self._readers.items():  # items received by another iterator but not yet returned
            while (line := reader.take_line()) is not None:
                yield name, line.decode(encoding, errors)
        async for name, data in chunks:
            self._readers[name].feed(data)
            while (line := self._readers[name].take_line()) is not None:
                yield name, line.decode(encoding, errors)
        for name, reader in self._readers.items():
            if reader.held:
                yield name, reader.take().decode(encoding, errors)

    async def _next_held(self) -> tuple[StreamName, bytes]:
        for name, reader in self._readers.items():
            if reader.held:
                return name, reader.take()
        return await self._next(None)

    async def _next_of(self, lane: StreamName) -> bytes:
        return (await self._next(lane))[1]

    async def _next(self, lane: StreamName | None) -> tuple[StreamName, bytes]:
        while True:
            reread = next(iter(self._rereads), None) if lane is None else lane
            if reread in self._rereads:
                if data := await self._rereads[reread].read():
                    self._received[reread] += len(data)
                    return reread, data
                self._rereads.pop(reread).close()
            found, item = await self._call.receive_buffer.get(lane)
            stream = cast(StreamName, found)
            if isinstance(item, TruncatedError):
                self._received[stream] += item.missing
                raise item
            if isinstance(item, BufferedChunk):
                self._received[stream] = item.offset + len(item.data)
                return stream, bytes(item.data)
            assert isinstance(item, DiscardedRange)
            self._received[stream] = item.start
            self._rereads[stream] = self._reread(stream, item)

    def _reread(self, stream: StreamName, part: DiscardedRange) -> Reread:
        process = ProcessAttach(id=self._call.id, instance=self._call.instance)
        return Reread(self._calls, process, sandbox=self._sandbox, stream=stream, part=part, window=REREAD_WINDOW)
