"""`exec`: run a command to its end and keep its output.

The call has a key, so a repeated call on a new connection joins the running command and continues from the offsets
received.
"""

import asyncio
import contextvars
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from hawse.api import Params
from hawse.api.processes import (
    Exec,
    ExecResult,
    ProcessAttachResult,
    ProcessKill,
    ProcessOpened,
    Since,
    StreamOffsets,
    StreamTruncated,
)
from hawse.api.sessions import SessionExec, SessionExecOpened
from hawse.api.types import StreamName
from hawse.client.base.call_errors import OutcomeUnknownError
from hawse.client.base.errors import CommandError, TruncatedError
from hawse.client.base.keywords import declared_callbacks
from hawse.client.base.results import CommandResult
from hawse.client.calls.call import ClientCall, event_cost, new_key
from hawse.client.calls.call_table import CallTable, deadline
from hawse.client.calls.input_stream import BytesLike, InputStream
from hawse.client.calls.offset_cursor import OffsetCursor
from hawse.client.process.program import OUTPUT_LIMIT, ExecOptions, OutputCallbacks
from hawse.wire import Data, Event, HawseError, Kind, Limits

STREAMS: dict[Kind, StreamName] = {Kind.OUTPUT: "stdout", Kind.STDERR: "stderr"}


def check_complete(cursors: Mapping[Kind, OffsetCursor], reached: StreamOffsets | ProcessAttachResult) -> None:
    """Raise `TruncatedError` if the server dropped output before this client received it."""
    for kind, name in STREAMS.items():
        if (missing := getattr(reached, name) - cursors[kind].offset) > 0:
            raise TruncatedError(name, missing)


class ExecCall(ClientCall):
    """A call to `exec` or `session.exec`, which have the same streams and events."""

    def __init__(
        self,
        params: Exec | SessionExec,
        options: ExecOptions,
        *,
        sandbox: str,
        window: int,
        timeout: float | None = None,
        result: type[CommandResult] = CommandResult,
    ) -> None:
        """Prepare a call.

        Args:
            params: The command.
            options: The input, key, callbacks and `max_output`. Callbacks also get output that exceeds `max_output`.
            sandbox: The sandbox to run it in.
            window: Number of bytes the server can send before the client handles them.
            timeout: Time limit for the call, in seconds.
            result: The result type, which contains the output itself instead of its final offsets.

        Raises:
            HawseError: `invalid_params` if the server would refuse the key.
            TypeError: A callback is not a plain function.
        """
        callbacks = declared_callbacks(
            {"on_stdout": options.get("on_stdout"), "on_stderr": options.get("on_stderr")}, OutputCallbacks, "exec"
        )
        super().__init__(params, sandbox=sandbox, key=options.get("key", new_key()), timeout=timeout, window=window)
        self.options = options
        self._limit = options.get("max_output", OUTPUT_LIMIT)
        # Callbacks are passed all output, so the server must send all of it.
        self._exec = params if callbacks else msgspec.structs.replace(params, max_output=self._limit)
        self._result_type = result
        self.run: ProcessOpened | SessionExecOpened | None = None  # None until `opened` has arrived
        self._cursors = {kind: OffsetCursor() for kind in STREAMS}
        self._output = {kind: bytearray() for kind in STREAMS}
        self._callbacks = {Kind.OUTPUT: callbacks.get("on_stdout"), Kind.STDERR: callbacks.get("on_stderr")}
        self._context = contextvars.copy_context()  # a copy of the caller's context, for running the callbacks in it
        # Gets the exception if a callback raises one.
        self.callback_failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._owed = 0  # number of bytes of credit not yet returned
        if "stdin" in options:
            self.input_stream = InputStream(Limits().input_window, self.wake)

    def params(self) -> Params[Any]:
        changes: dict[str, Any] = {}
        if self.input_stream:
            changes |= {"stdin": True, "input": self.input_stream.id}
        if self.run:
            changes["since"] = Since(**{name: self._cursors[kind].offset for kind, name in STREAMS.items()})
        return msgspec.structs.replace(self._exec, **changes)

    def opening(self) -> int:
        self._owed = 0
        return super().opening()

    def receive_event(self, event: Event) -> None:
        match self.decode(event):
            case ProcessOpened() | SessionExecOpened() as opened:
                self._opened(opened)
            case StreamTruncated() as lost:
                cursor = next(self._cursors[kind] for kind, name in STREAMS.items() if name == lost.stream)
                raise TruncatedError(lost.stream, lost.start - cursor.offset)
        self.spend(event_cost(event))

    def _opened(self, opened: ProcessOpened | SessionExecOpened) -> None:
        if self.run is not None and self.run.instance != opened.instance:
            # A sandbox loses its keys when it is restarted, so the command may have been run a second time, separately
            # from this call.
            raise OutcomeUnknownError("the sandbox was restarted during the command", admitted="yes")
        self.run = opened
        check_complete(self._cursors, opened.start)
        if self.input_stream:
            self.input_stream.opened(opened.input_offset)
        self.mark_opened()

    def receive_data(self, data: Data) -> None:
        if data.kind in STREAMS:
            kept = self._output[data.kind]
            new = self._cursors[data.kind].accept(data.offset, data.payload)
            kept += new
            del kept[self._limit :]  # needed if the server is too old to know `max_output`
            self._call_back(data.kind, bytes(new))
        self.spend(len(data.payload))

    def _call_back(self, kind: Kind, new: bytes) -> None:
        callback = self._callbacks[kind]
        if callback is None or not new or self.callback_failed.done():
            return
        try:
            self._context.run(callback, new)
        except Exception as error:
            self.callback_failed.set_exception(error)
            self.callback_failed.exception()  # marks the exception as retrieved, in case the caller no longer awaits it

    def spend(self, size: int) -> None:
        self._owed += size
        if self._owed * 4 >= self._window:
            owed, self._owed = self._owed, 0
            self.grant(owed)

    def finished(self, value: msgspec.Raw) -> CommandResult:
        end: ExecResult = super().finished(value)
        ends = StreamOffsets(stdout=end.stdout, stderr=end.stderr)
        due = StreamOffsets(stdout=min(ends.stdout, self._limit), stderr=min(ends.stderr, self._limit))
        check_complete(self._cursors, due)
        # In the method's result, `stdout` and `stderr` are final offsets; in the client's result, they are the output
        # itself.
        fields = msgspec.structs.asdict(end) | {
            "stdout": bytes(self._output[Kind.OUTPUT]),
            "stderr": bytes(self._output[Kind.STDERR]),
            "truncated": due != ends,
        }
        return self._result_type(**fields)


async def run_to_end(calls: CallTable, call: ExecCall, *, give_up: Callable[[ExecCall], None]) -> Any:
    """Perform the call, send its input, and return its result, a `CommandResult`.

    Args:
        calls: The client's calls.
        call: The call.
        give_up: Called at the end to abandon a call that hasn't settled because the caller was cancelled or the timeout
            has passed.

    Raises:
        CommandError: The command failed and `check` is true.
        HawseError: The call failed or the client closed; `deadline_exceeded`.
        Exception: A callback's exception.
    """
    try:
        async with deadline(call):
            calls.submit(call)
            if (stdin := call.options.get("stdin")) is not None:
                await _write_stdin(call, stdin)
            await asyncio.wait((call.done, call.callback_failed), return_when=asyncio.FIRST_COMPLETED)
            if call.callback_failed.done():
                call.callback_failed.result()
            result: CommandResult = await calls.outcome(call)
    finally:
        give_up(call)
    if call.options.get("check") and (not result.ok or result.truncated):
        raise CommandError.of(result)
    return result


def kill(calls: CallTable, call: ExecCall) -> None:
    """Abandon `call`, and end its command as soon as the command's process is known."""

    def opened() -> None:
        if call.run is not None and not call.settled:
            params = ProcessKill(id=call.run.id, instance=call.run.instance)
            calls.post(ClientCall(params, sandbox=call.sandbox))
        calls.abandon(call)

    if call.settled or not call.sent:
        calls.abandon(call)
    elif call.opened.done():
        opened()
    else:
        calls.post_after(call.opened, opened)


async def _write_stdin(call: ExecCall, data: BytesLike) -> None:
    """Send `data`. It is not an error if the command exits or fails before reading all of it."""
    assert call.input_stream is not None
    try:
        await call.input_stream.write(data)
        await call.input_stream.end()
    except HawseError:
        if not call.settled:
            raise
