"""`process.attach`: a process's output, from an offset in each stream, and its input."""

from collections.abc import Mapping
from typing import Any

import msgspec

from hawse.api import Params
from hawse.api.processes import ProcessAttach, ProcessAttachResult, ProcessOpened, Since, StreamTruncated
from hawse.api.types import Exit, StreamName
from hawse.client.base.errors import TruncatedError
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.input_stream import InputStream
from hawse.client.calls.offset_cursor import OffsetCursor
from hawse.client.calls.receive_buffer import ReceiveBuffer
from hawse.client.process.exec import STREAMS, check_complete
from hawse.wire import Data, Event, Limits


class ProcessAttachCall(ClientCall):
    """A call to `process.attach`, which resumes at the offsets of both streams. `done` resolves to the `Exit`."""

    def __init__(
        self, params: ProcessAttach, *, sandbox: str, since: Mapping[StreamName, int] | None, window: int
    ) -> None:
        """Prepare a call.

        Args:
            params: The process to attach to.
            sandbox: The sandbox it runs in.
            since: The offset in each stream to start at; a stream that is omitted starts at 0. None means all output
                that is still kept.
            window: Number of bytes the server can send before the client reads them.
        """
        super().__init__(params, sandbox=sandbox, repeats=True)
        self.info: ProcessOpened | None = None  # known once the first `opened` has arrived
        self.id = params.id
        self.instance = params.instance
        self.cursors = {kind: OffsetCursor((since or {}).get(name, 0)) for kind, name in STREAMS.items()}
        self.receive_buffer: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self.input_stream: InputStream = InputStream(Limits().input_window, self.wake)
        self.first: dict[StreamName, int] = {
            name: (since or {}).get(name, 0) for name in STREAMS.values()
        }  # the offset in each stream of the first byte to read
        self._attach = params
        self._exact = since is not None  # whether missing bytes are an error

    def params(self) -> Params[Any]:
        since = Since(**{name: self.cursors[kind].offset for kind, name in STREAMS.items()})
        return msgspec.structs.replace(self._attach, instance=self.instance, since=since, input=self.input_stream.id)

    def receive_event(self, event: Event) -> None:
        match self.decode(event):
            case ProcessOpened() as opened:
                self._opened(opened)
            case StreamTruncated() as lost:
                self._skip_to(lost.stream, lost.start)
        self.spend(event_cost(event))

    def _opened(self, opened: ProcessOpened) -> None:
        self.instance = opened.instance
        for kind, name in STREAMS.items():
            if self._exact:
                self._skip_to(name, getattr(opened.start, name))
            else:
                self.cursors[kind].offset = max(self.cursors[kind].offset, getattr(opened.start, name))
                self.first[name] = self.cursors[kind].offset
        self._exact = True
        self.info = self.info or opened
        self.input_stream.opened(opened.input_offset)
        self.mark_opened()

    def _skip_to(self, name: StreamName, offset: int) -> None:
        """Record that the journal now starts at `offset`. The reader gets an error in place of earlier bytes."""
        cursor = next(self.cursors[kind] for kind, other in STREAMS.items() if other == name)
        if offset > cursor.offset:
            self.receive_buffer.put(name, TruncatedError(name, offset - cursor.offset))
            cursor.offset = offset

    def receive_data(self, data: Data) -> None:
        name = STREAMS.get(data.kind)
        new = self.cursors[data.kind].accept(data.offset, data.payload) if name else memoryview(b"")
        if name and new:
            self.receive_buffer.put_bytes(name, data.offset + len(data.payload) - len(new), new)
        self.spend(len(data.payload) - len(new))

    def finished(self, value: msgspec.Raw) -> Exit:
        end: ProcessAttachResult = super().finished(value)
        check_complete(self.cursors, end)
        return end.exit
