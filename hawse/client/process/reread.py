"""Rereads a process's discarded output from the journal in the sandbox."""

from collections.abc import Mapping

from hawse.api.processes import ProcessAttach
from hawse.api.types import StreamName
from hawse.client.base.errors import BusyError, TruncatedError
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.receive_buffer import BufferedChunk, DiscardedRange
from hawse.client.process.attach import ProcessAttachCall
from hawse.client.process.exec import STREAMS
from hawse.wire import Data, HawseError

GONE = frozenset({"not_found", "stale_handle"})  # error codes that mean that the runtime no longer has the process


class RereadCall(ProcessAttachCall):
    """A call to `process.attach` for one stream. The other stream is ignored."""

    def __init__(self, params: ProcessAttach, *, sandbox: str, stream: StreamName, start: int, window: int) -> None:
        since: Mapping[StreamName, int] = {stream: start}
        super().__init__(params, sandbox=sandbox, since=since, window=window)
        self._stream = stream

    def receive_data(self, data: Data) -> None:
        if STREAMS.get(data.kind) == self._stream:
            super().receive_data(data)
        elif data.kind in STREAMS:
            self.cursors[data.kind].accept(data.offset, data.payload)
            self.spend(len(data.payload))


class Reread:
    """The bytes of one stream from one offset to another."""

    def __init__(
        self,
        calls: CallTable,
        params: ProcessAttach,
        *,
        sandbox: str,
        stream: StreamName,
        part: DiscardedRange,
        window: int,
    ) -> None:
        """Prepare to read.

        Args:
            calls: The client's calls.
            params: The process, with its instance.
            sandbox: The sandbox it runs in.
            stream: The stream to read.
            part: The range of offsets to read.
            window: Number of bytes the server can send before the client reads them.
        """
        self._calls = calls
        self._call = RereadCall(params, sandbox=sandbox, stream=stream, start=part.start, window=window)
        self._stream = stream
        self._offset = part.start
        self._end = part.end
        self._busy = False

    async def read(self) -> bytes:
        """Return the next bytes, or an empty value at the end of the range.

        Raises:
            TruncatedError: Some bytes are no longer kept; the next call continues after them.
            BusyError: Another task is reading.
            HawseError: The call failed or the client closed.
        """
        if self._busy:
            raise BusyError
        self._busy = True
        try:
            if self._offset >= self._end:
                return b""
            if not self._call.sent:
                await self._calls.begin(self._call)
            return self._advance(await self._call.receive_buffer.get(self._stream))
        except HawseError as error:
            if error.code not in GONE:
                raise
            missing, self._offset = self._end - self._offset, self._end
            raise TruncatedError(self._stream, missing) from None
        finally:
            self._busy = False

    def close(self) -> None:
        """Stop reading."""
        self._calls.abandon(self._call)

    def _advance(self, entry: tuple[str, object]) -> bytes:
        _, item = entry
        before = self._offset
        if isinstance(item, TruncatedError):
            self._offset = min(before + item.missing, self._end)
            raise TruncatedError(self._stream, self._offset - before)
        assert isinstance(item, BufferedChunk)
        self._offset = min(before + len(item.data), self._end)
        return bytes(item.data[: self._offset - before])
