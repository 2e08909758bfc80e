"""`exec`: run one command to its end and keep all that it prints.

The call has a key of the client's own, so a repeat on a new line joins the command that runs, from the offsets
that are already here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hawse.api.paths import to_text
from hawse.api.processes import ExecResult, ProcessAttachResult, ProcessOpened, StreamOffsets, StreamTruncated
from hawse.api.sessions import SessionExecOpened as SessionOpened
from hawse.api.types import StreamName
from hawse.client.base.errors import TruncatedError
from hawse.client.base.results import CommandResult
from hawse.client.calls.call import ClientCall, event_cost, new_key
from hawse.client.calls.decode import parse
from hawse.client.calls.input_stream import BytesLike, InputStream
from hawse.client.calls.offset_cursor import OffsetCursor
from hawse.wire import Data, Event, HawseError, Kind, Limits

STREAMS: dict[Kind, StreamName] = {Kind.OUTPUT: "stdout", Kind.STDERR: "stderr"}

Command = str | Sequence[str]


def program(
    command: Command, *, cwd: str | None, env: Mapping[str, str | None] | None, timeout: float | None
) -> dict[str, Any]:
    """The parameters that `exec` and `process.start` share: a string is the shell's, a sequence an argv."""
    what = {"command": command} if isinstance(command, str) else {"argv": [*command]}
    return {
        **what,
        "cwd": None if cwd is None else to_text(cwd),
        "env": None if env is None else dict(env),
        "timeout": timeout,
    }


def check_complete(cursors: Mapping[Kind, OffsetCursor], reached: StreamOffsets | ProcessAttachResult) -> None:
    """Raise `TruncatedError` if a stream is further, as the server says, than what came of it."""
    for kind, name in STREAMS.items():
        if (missing := getattr(reached, name) - cursors[kind].offset) > 0:
            raise TruncatedError(name, missing)


class ExecCall(ClientCall):
    """One command. `limit`: bytes of stdout and of stderr that are kept at most."""

    def __init__(
        self, sandbox: str, params: dict[str, Any], *, key: str | None, stdin: bool, window: int, limit: int
    ) -> None:
        super().__init__("exec", {**params, "max_output": limit}, sandbox=sandbox, key=key or new_key(), window=window)
        self._limit = limit
        self._cursors = {kind: OffsetCursor() for kind in STREAMS}
        self._output = {kind: bytearray() for kind in STREAMS}
        self._owed = 0
        self._instance: str | None = None  # which run it is, since `opened`
        if stdin:
            self.feed = InputStream(Limits().input_window, self.wake)

    def params(self) -> dict[str, Any]:
        params = dict(self.base)
        if self.feed:
            params |= {"stdin": True, "input": self.feed.id}
        if self._instance:
            params["since"] = {name: self._cursors[kind].offset for kind, name in STREAMS.items()}
        return params

    def opening(self) -> int:
        self._owed = 0
        return super().opening()

    def receive_event(self, event: Event) -> None:
        if event.name == "opened":
            opened = self.opened_of(event.value)
            self._same_run(opened.instance)
            check_complete(self._cursors, opened.start)
            if self.feed:
                self.feed.opened(opened.input_offset)
            self.mark_opened()
        elif event.name == "truncated":
            lost = parse(event.value, StreamTruncated)
            cursor = next(self._cursors[kind] for kind, name in STREAMS.items() if name == lost.stream)
            raise TruncatedError(lost.stream, lost.start - cursor.offset)
        self.spend(event_cost(event))

    def opened_of(self, value: msgspec.Raw) -> ProcessOpened | SessionOpened:
        """What an `opened` says."""
        return parse(value, ProcessOpened)

    def _same_run(self, instance: str) -> None:
        """A sandbox that died forgot its keys, and may have begun anew what we began: that is not our outcome."""
        if self._instance not in (None, instance):
            raise HawseError("outcome_unknown", "the sandbox was started anew under the command", admitted="yes")
        self._instance = instance

    def receive_data(self, data: Data) -> None:
        if data.kind in STREAMS:
            kept = self._output[data.kind]
            kept += self._cursors[data.kind].accept(data.offset, data.payload)
            del kept[self._limit :]  # of a server that does not know `max_output`
        self.spend(len(data.payload))

    def spend(self, size: int) -> None:
        self._owed += size
        if self._owed * 4 >= self._window:
            owed, self._owed = self._owed, 0
            self.grant(owed)

    def finished(self, value: msgspec.Raw) -> CommandResult:
        end = parse(value, ExecResult)
        stdout, stderr, truncated = self.kept(StreamOffsets(stdout=end.stdout, stderr=end.stderr))
        return CommandResult(end.code, end.signal, end.timed_out, end.oom, stdout, stderr, truncated)

    def kept(self, ends: StreamOffsets) -> tuple[bytes, bytes, bool]:
        """stdout and stderr, and whether there was more than the limit. Raises `TruncatedError` if they have holes."""
        due = StreamOffsets(stdout=min(ends.stdout, self._limit), stderr=min(ends.stderr, self._limit))
        check_complete(self._cursors, due)
        stdout, stderr = (bytes(self._output[kind]) for kind in STREAMS)
        return stdout, stderr, due != ends


async def write_stdin(call: ExecCall, data: BytesLike) -> None:
    """Feed stdin while the command runs: it may end, or fail, before it has read everything."""
    assert call.feed is not None
    try:
        await call.feed.write(data)
        await call.feed.end()
    except HawseError:
        if not call.settled:
            raise
