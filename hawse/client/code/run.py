"""A single run of code: `code.run` or `code.attach`. If the connection is lost, the run's output later continues where
it left off.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import msgspec

from hawse.api import Params
from hawse.api.code import (
    CodeAnswer,
    CodeAttach,
    CodeClear,
    CodeDisplay,
    CodeErrorRaised,
    CodeInputRequest,
    CodeInterrupt,
    CodeLargeValue,
    CodeOffsets,
    CodeRun,
    CodeRunOpened,
    CodeRunResult,
    CodeSince,
    CodeTruncated,
)
from hawse.client.base.call_errors import OutcomeUnknownError
from hawse.client.calls.call import ClientCall, event_cost, new_key
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.offset_cursor import OffsetCursor
from hawse.client.calls.receive_buffer import BufferedChunk, ReceiveBuffer
from hawse.client.code.results import (
    CodeCleared,
    CodeEnd,
    CodeEvent,
    CodeInput,
    CodeLost,
    CodeRaised,
    CodeStderr,
    CodeStdout,
    RichResult,
    large_value,
)
from hawse.wire import Data, Event, Kind, RemoteProtocolError

STREAMS = {Kind.OUTPUT: "stdout", Kind.STDERR: "stderr", Kind.SCREEN: "bundles"}
EVENTS = "events"
LARGE_LIMIT = 256 << 20  # maximum total size of an event's large values, in bytes; each is at most 64 MiB
INTERRUPT_GRACE = 2.0  # seconds between interrupting an abandoned run and killing its executor


class CodeRunCall(ClientCall):
    """The call for a run, which resumes at its streams' offsets. `done` resolves to a `CodeEnd`."""

    def __init__(self, params: CodeRun | CodeAttach, *, sandbox: str, key: str | None, window: int) -> None:
        """Prepare a call.

        Args:
            params: The code to run, or the run to attach to.
            sandbox: The sandbox the run is in.
            key: For `code.run`: calls with the same key join the same run. None means a random key.
            window: Number of bytes the server can send before the client reads them.
        """
        attach = isinstance(params, CodeAttach)
        key = None if attach else new_key() if key is None else key
        super().__init__(params, sandbox=sandbox, key=key, repeats=True, window=window)
        self.run: str | None = None  # the id of the run, known once `opened` has arrived
        self.receive_buffer: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self._run_params: CodeRun | CodeAttach = params
        start = _offsets(params.since)
        self._cursors = {kind: OffsetCursor(getattr(start, name)) for kind, name in STREAMS.items()}
        self._event_offset = start.events
        self._large = bytearray()  # bytes of large values whose event hasn't arrived yet
        self._large_at = start.bundles  # the offset of the first byte in `_large`

    def params(self) -> Params[Any]:
        if self.run is None:
            return self._run_params
        offsets = {name: self._cursors[kind].offset for kind, name in STREAMS.items()}
        since = CodeSince(**offsets, events=self._event_offset)
        if isinstance(self._run_params, CodeAttach):
            return msgspec.structs.replace(self._run_params, run=self.run, since=since)
        return msgspec.structs.replace(self._run_params, since=since)

    # ---- received messages

    def receive_event(self, event: Event) -> None:
        value = self.decode(event)
        cost = event_cost(event)
        match value:
            case CodeRunOpened():
                self._opened(value)
            case CodeTruncated():
                self._skip_to(value.stream, value.start)
            case CodeDisplay() if event.name in ("value", "display", "update"):
                self._put(value.offset, self._rich(event.name, value), cost)
                return
            case CodeClear():
                self._put(value.offset, CodeCleared(value.wait), cost)
                return
            case CodeErrorRaised():
                self._put(value.offset, CodeRaised(value), cost)
                return
            case CodeInputRequest():
                self._put(value.offset, CodeInput(value.request, value.prompt, value.password), cost)
                return
        self.spend(cost)

    def receive_data(self, data: Data) -> None:
        name = STREAMS.get(data.kind)
        if name is None:
            self.spend(len(data.payload))
            return
        new = self._cursors[data.kind].accept(data.offset, data.payload)
        if name == "bundles":
            if len(self._large) + len(new) > LARGE_LIMIT:
                raise RemoteProtocolError(f"more than {LARGE_LIMIT} bytes of large values before their event")
            self._large += new
            self.spend(len(data.payload))
        else:
            self.receive_buffer.put_bytes(name, data.offset + len(data.payload) - len(new), new)
            self.spend(len(data.payload) - len(new))

    def finished(self, value: msgspec.Raw) -> CodeEnd:
        end: CodeRunResult = super().finished(value)
        for name in (*STREAMS.values(), EVENTS):
            self._skip_to(name, getattr(end.end, name))
        return CodeEnd(
            status=end.status,
            run=end.run,
            execution_count=end.execution_count,
            error=end.error,
            killed=end.killed,
            exit=end.exit,
            duration=end.duration,
        )

    def _opened(self, opened: CodeRunOpened) -> None:
        if self.run is not None and self.run != opened.run:
            # A sandbox loses its keys when it is restarted, so the code may have been run a second time, separately
            # from this call.
            raise OutcomeUnknownError("the sandbox was restarted during the run", admitted="yes")
        self.run = opened.run
        for name in (*STREAMS.values(), EVENTS):
            self._skip_to(name, getattr(opened.start, name))
        self.mark_opened()

    def _skip_to(self, name: str, offset: int) -> None:
        """Report that bytes before `offset` are missing because they are no longer kept."""
        if name == EVENTS:
            missing, self._event_offset = offset - self._event_offset, max(offset, self._event_offset)
        else:
            kind = next(kind for kind, other in STREAMS.items() if other == name)
            missing = offset - self._cursors[kind].offset
            self._cursors[kind].offset = max(offset, self._cursors[kind].offset)
            if missing > 0 and name == "bundles":
                self._large.clear()
                self._large_at = offset
        if missing > 0:
            self.receive_buffer.put(EVENTS, CodeLost(name, missing))

    def _put(self, offset: int, item: CodeEvent, cost: int) -> None:
        if offset <= self._event_offset:  # this item has already been received
            self.spend(cost)
            return
        self._event_offset = offset
        self.receive_buffer.put(EVENTS, item, cost)

    def _rich(self, kind: Any, display: CodeDisplay) -> RichResult:
        data, omitted = dict(display.data), list(display.omitted)
        for large in display.large:
            try:
                data[large.type] = large_value(large.form, self._bytes_of(large))
            except ValueError:
                omitted.append(large.type)
        if display.large:
            end = max(large.offset + large.size for large in display.large)
            del self._large[: max(end - self._large_at, 0)]
            self._large_at = max(end, self._large_at)
        return RichResult(kind, data, display.metadata, display.display_id, display.execution_count, tuple(omitted))

    def _bytes_of(self, large: CodeLargeValue) -> bytes:
        start = large.offset - self._large_at
        if start < 0 or start + large.size > len(self._large):
            raise ValueError("its bytes are no longer kept")
        return bytes(self._large[start : start + large.size])


class CodeRunStream:
    """The events of a run, in order, ending with a `CodeEnd`: `async for event in ctx.stream(source)`.

    Leaving the loop early interrupts the run, unless the caller set a key or attached to the run.
    """

    def __init__(self, calls: CallTable, call: CodeRunCall, sandbox: str, *, owned: bool) -> None:
        """Create the stream. Iterating over it opens the call.

        Args:
            calls: The client's calls.
            call: The run.
            sandbox: The sandbox the run is in.
            owned: Whether the run ends with this stream.
        """
        self._calls = calls
        self._call = call
        self._sandbox = sandbox
        self._owned = owned

    @property
    def run(self) -> str | None:
        """The id of the run; None before it has started."""
        return self._call.run

    async def answer(self, request: CodeInput, value: str) -> None:
        """Send a line to code that waits for input. Raises `conflict` if the code is no longer waiting."""
        answer = CodeAnswer(run=self._call.run or "", request=request.request, value=value)
        await self._calls.request(answer, sandbox=self._sandbox)

    def __aiter__(self) -> AsyncIterator[CodeEvent]:
        return self.events()

    async def events(self) -> AsyncGenerator[CodeEvent, None]:
        """Yield the events, once. Wrap the generator in `contextlib.aclosing` to end it promptly when leaving early."""
        call, calls = self._call, self._calls
        calls.submit(call)
        buffer = call.receive_buffer
        buffer.register()
        try:
            while True:
                try:
                    name, item = await buffer.get()
                except StopAsyncIteration:
                    break
                yield _event(name, item)
            end: CodeEnd = await calls.outcome(call)
            yield end
        finally:
            buffer.unregister()
            self._leave()

    def _leave(self) -> None:
        """End the run if it is in progress and this stream owns it. If the run is still queued, the server itself
        removes it.
        """
        call = self._call
        if self._owned and call.run is not None and not call.settled:
            self._calls.post(ClientCall(CodeInterrupt(run=call.run, grace=INTERRUPT_GRACE), sandbox=self._sandbox))
        self._calls.abandon(call)


def _event(name: str, item: Any) -> CodeEvent:
    if isinstance(item, BufferedChunk):
        return (CodeStdout if name == "stdout" else CodeStderr)(item.offset, bytes(item.data))
    event: CodeEvent = item
    return event


def _offsets(since: CodeSince | None) -> CodeOffsets:
    fields = {} if since is None else msgspec.structs.asdict(since)
    return CodeOffsets(**{name: offset or 0 for name, offset in fields.items()})
