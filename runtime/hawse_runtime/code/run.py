"""A run of code, from being queued until it ends."""

import asyncio
import secrets
from collections.abc import Callable
from typing import Any, Literal, Protocol

import msgspec

from hawse.api.code import (
    CodeClear,
    CodeDisplay,
    CodeError,
    CodeErrorRaised,
    CodeInputRequest,
    CodeRun,
    CodeRunInfo,
    CodeRunResult,
    RunStatus,
)
from hawse.api.types import Exit
from hawse.wire import HawseError, Principal
from hawse_runtime.code.host_protocol import RunDone, RunEvent
from hawse_runtime.code.run_log import RunLog
from hawse_runtime.core.framing import ProtocolError

Why = Literal["interrupted", "timed_out", "stopped"]

# Events from the host are validated against these types, so that clients can rely on them.
_VALUES: dict[str, msgspec.json.Decoder[Any]] = {
    "value": msgspec.json.Decoder(CodeDisplay),
    "display": msgspec.json.Decoder(CodeDisplay),
    "update": msgspec.json.Decoder(CodeDisplay),
    "clear": msgspec.json.Decoder(CodeClear),
    "raised": msgspec.json.Decoder(CodeErrorRaised),
    "input": msgspec.json.Decoder(CodeInputRequest),
}
_FIRST_FIELDS = b'{"offset":0,"request":0'  # the fields that the runtime adds to an event
EVENT_LIMIT = 768 << 10  # maximum size of an event, in bytes; a control message has at most 1 MiB


class RunSubscriber(Protocol):
    """A reader that is woken on new output and when the run ends."""

    def wake(self) -> None: ...


class Run:
    """A run that is queued or in progress, or that has ended."""

    def __init__(
        self,
        params: CodeRun,
        on_settled: Callable[["Run"], None],
        *,
        keyed: bool = False,
        caller: Principal | None = None,
    ) -> None:
        """Create a queued run.

        Args:
            params: The parameters of the `code.run` call.
            on_settled: Called once, when the run has ended or failed.
            keyed: Whether calls with the same key can attach to the run.
            caller: The principal making the call, or None if unknown.
        """
        self.id = f"r-{secrets.token_hex(8)}"
        self.params = params
        self.keyed = keyed
        self.caller = caller
        self.number = 0  # the host's number for the run; set when it starts
        self.context: str | None = None  # the id of the run's context; `instance` is that context's instance
        self.instance: str | None = None
        self.ahead = 0  # number of runs ahead of this one when it was queued
        self.log: RunLog | None = None  # set when the run starts
        self.result: CodeRunResult | None = None
        self.error: HawseError | None = None  # why the run could not start
        self.readers: dict[RunSubscriber, None] = {}
        self.pending_input: CodeInputRequest | None = None  # the unanswered input request
        # Called when the run requests input, and when that request is answered.
        self.on_input: Callable[[], None] | None = None
        self.ended_as: Why | None = None  # why the run was ended from outside; None if it wasn't
        self.killed = False
        self._inputs = 0
        self._begun_at = 0.0
        self._on_settled = on_settled
        self._timer: asyncio.TimerHandle | None = None

    @property
    def settled(self) -> bool:
        return self.result is not None or self.error is not None

    def describe(self) -> CodeRunInfo:
        return CodeRunInfo(
            run=self.id,
            state="ended" if self.settled else "waiting" if self.log is None else "running",
            status=self.result.status if self.result is not None else None,
            by=self.caller.name if self.caller is not None else "",
            kind=self.caller.kind if self.caller is not None else "",
        )

    # ---- start

    def begin(self, number: int, log: RunLog) -> None:
        """Record that the code has been sent to the executor, where `number` identifies the run."""
        self.number = number
        self.log = log
        self._begun_at = asyncio.get_running_loop().time()
        self.wake()

    def limit_time(self, seconds: float | None, on_timeout: Callable[[], None]) -> None:
        """Call `on_timeout` after `seconds` unless the run has ended. Replaces any previous limit; None removes it."""
        self.stop_timer()
        if seconds is not None:
            self._timer = asyncio.get_running_loop().call_later(seconds, on_timeout)

    def fail(self, error: HawseError) -> None:
        """End a run that hasn't started."""
        if not self.settled:
            self.error = error
            self._settle()

    # ---- output

    def receive_output(self, stream: int, data: bytes) -> None:
        """Handle bytes from a stream: 0 is stdout, 1 stderr, 2 bundles."""
        if self.log is not None and not self.settled:
            self.log.write(stream, data)

    def receive_event(self, event: RunEvent) -> None:
        """Handle an event.

        Raises:
            ProtocolError: The event's value doesn't have the declared type.
        """
        if self.log is None or self.settled:
            return
        raw = bytes(event.value)
        try:
            if not raw.startswith(b"{") or len(raw) > EVENT_LIMIT:
                raise ProtocolError(f"event of {len(raw)} bytes is too large or not a JSON object")
            fields = raw[1:] if raw[1:2] == b"}" else b"," + raw[1:]
            value = _VALUES[event.name].decode(_FIRST_FIELDS + fields)
        except (ValueError, RecursionError) as error:
            raise ProtocolError(f"invalid {event.name} event: {error}") from None
        if isinstance(value, CodeInputRequest):
            self._inputs += 1
            raw = b'{"request":%d,' % self._inputs + raw[1:]
        self.log.add_event(event.name, raw)
        if isinstance(value, CodeInputRequest):
            asked = msgspec.structs.replace(value, request=self._inputs, offset=self.log.end.events)
            self._set_input(asked)

    def answered(self) -> None:
        """Record that the input request has been answered."""
        self._set_input(None)

    def _set_input(self, request: CodeInputRequest | None) -> None:
        self.pending_input = request
        if self.on_input is not None:
            self.on_input()

    # ---- end

    def done(self, end: RunDone) -> None:
        """Record that the executor has finished the run. If the executor was killed, its exit is reported next."""
        if self.killed:
            return
        status: RunStatus = "ok" if end.ok else "error"
        if self.ended_as == "timed_out" or (self.ended_as == "interrupted" and not end.ok):
            status = self.ended_as
        error = CodeError(name=end.error[0], value=end.error[1], traceback=end.error[2]) if end.error else None
        self._finish(status, error=error, execution_count=end.execution_count)

    def executor_ended(self, end: Exit) -> None:
        """Record that the executor exited before the run was done."""
        status: RunStatus = "crashed"
        if self.ended_as == "stopped" or self.killed:
            status = self.ended_as or "crashed"
        self._finish(status, exit=end)

    def _finish(
        self,
        status: RunStatus,
        *,
        error: CodeError | None = None,
        execution_count: int | None = None,
        exit: Exit | None = None,
    ) -> None:
        if self.settled or self.log is None:
            return
        self.log.finish()
        self.result = CodeRunResult(
            status=status,
            run=self.id,
            execution_count=execution_count,
            error=error,
            killed=self.killed,
            exit=exit,
            duration=asyncio.get_running_loop().time() - self._begun_at,
            end=self.log.end,
        )
        self._settle()

    def _settle(self) -> None:
        self.stop_timer()
        self.pending_input = None
        self.wake()
        self._on_settled(self)

    def stop_timer(self) -> None:
        """Cancel the time limit. Called just before the run is ended."""
        if self._timer is not None:
            self._timer.cancel()

    def shrink(self) -> None:
        """Keep only the last part of the run's output."""
        if self.log is not None:
            self.log.shrink()

    def wake(self) -> None:
        for reader in list(self.readers):
            reader.wake()
