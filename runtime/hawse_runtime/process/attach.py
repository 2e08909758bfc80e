"""Serves one reader of a process: sends both output streams from given offsets, then the exit, and forwards stdin."""

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from hawse.api.processes import Since, StreamOffsets, StreamTruncated
from hawse.api.types import Exit, StreamName
from hawse.rpc.call import ServerCall
from hawse.wire import Connection, HawseError, Kind
from hawse_runtime.journal.input_offsets import InputOffsets, InputStreams
from hawse_runtime.posix.fd_streams import WRITE_LIMIT
from hawse_runtime.process.output_stream import OutputStream, StreamCursor
from hawse_runtime.process.process import ProcessSubscriber

STREAMS: tuple[tuple[Kind, StreamName], ...] = ((Kind.OUTPUT, "stdout"), (Kind.STDERR, "stderr"))


class ProcessStdin(Protocol):
    """Accepts input the same way as `FdWriter`."""

    ended: bool

    @property
    def pending(self) -> int: ...

    def write(self, data: bytes | memoryview, on_written: Callable[[int], None] | None = None) -> None: ...

    def end(self) -> None: ...


class ReadableProcess(Protocol):
    """A process, or a session's command."""

    exit: Exit | None
    inputs: InputOffsets
    writers: InputStreams
    readers: dict[ProcessSubscriber, None]
    stdout: OutputStream
    stderr: OutputStream

    @property
    def stdin(self) -> ProcessStdin | None: ...

    def opened(self, start: StreamOffsets, input_offset: int) -> Any: ...


R = TypeVar("R", bound=ReadableProcess)


class AttachOptions(msgspec.Struct, Generic[R], frozen=True, kw_only=True):
    """Options for reading a process's output and writing to its stdin in one call."""

    since: StreamOffsets  # each stream's start offset
    result: Callable[[R, bool], Any]  # builds the final result; the second argument is true if output exceeded `limit`
    exit_event: bool  # whether to send an `exit` event before the result
    limit: int | None = None  # maximum number of bytes to read from each stream; None means no limit
    input_id: str | None = None  # identifies the call's input stream; None if there is no input
    hold_id: str | None = None  # identifies the reader, whose position is held for a while if its connection is lost
    stdin_timeout: float | None = None  # seconds without a client until stdin is closed; None keeps it open


class ProcessAttachStream(Generic[R]):
    """A `Stream` that serves one `process.attach`, `exec` or `session.exec` call."""

    def __init__(self, process: R, call: ServerCall, options: AttachOptions[R]) -> None:
        """Create the stream for a call.

        Args:
            process: The process or session command to read.
            call: The call to serve.
            options: Determines the streams that the call reads and writes.
        """
        self._process = process
        self._call = call
        self._input_id = options.input_id
        self._result = options.result
        self._exit_due = options.exit_event  # whether the `exit` event still needs to be sent
        self._stdin_timeout = options.stdin_timeout
        self._opened = False
        self._turn = 0
        self._cursors = (
            StreamCursor(process.stdout, options.since.stdout, call.wake, limit=options.limit),
            StreamCursor(process.stderr, options.since.stderr, call.wake, limit=options.limit),
        )
        process.readers[self] = None
        if options.stdin_timeout is not None and process.stdin is not None and process.exit is None:
            process.writers.came()
        for cursor in self._cursors:
            cursor.stream.pacer.add(cursor, options.hold_id)

    # ---- Stream

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        ended = self._opened and self._process.exit is not None and all(cursor.at_end for cursor in self._cursors)
        if ended and not self._exit_due:
            cut = any(cursor.cut for cursor in self._cursors)
            self._call.result(self._result(self._process, cut))  # sending a result needs no credit
            return False
        if connection.window(ch) <= 0:
            return False
        if not self._opened:
            self._opened = True
            self._open(connection, ch)
            return True
        if ended:
            self._exit_due = False
            connection.send_event(ch, "exit", self._process.exit)
            return True
        self._turn ^= 1
        return any(self._send(connection, ch, number, size) for number in (self._turn ^ 1, self._turn))

    def receive_input(self, offset: int, payload: memoryview) -> None:
        process, input_id = self._process, self._input_id
        if input_id is None or process.stdin is None:
            raise HawseError("protocol_error", "this call does not accept input")
        new = process.inputs.new_part(input_id, offset, payload)
        applied = {"applied": process.inputs.applied(input_id)}
        if new and process.stdin.ended:
            raise HawseError("exited", "stdin has already been closed", details=applied)
        if process.stdin.pending + len(new) > WRITE_LIMIT:
            raise HawseError("input_overflow", "the program is not reading its input", details=applied)
        process.inputs.advance(input_id, len(new))
        self._call.applied(len(payload) - len(new))
        process.stdin.write(new, self._call.applied)

    def receive_end(self) -> None:
        if self._process.stdin is not None and self._input_id is not None:
            self._process.stdin.end()

    def detach(self) -> None:
        self._process.readers.pop(self, None)
        for cursor in self._cursors:
            cursor.stream.pacer.remove(cursor)
            cursor.close()
        stdin = self._process.stdin
        if self._stdin_timeout is not None and stdin is not None and self._process.exit is None:
            self._process.writers.left(self._stdin_timeout, stdin.end)

    def wake(self) -> None:
        self._call.wake()

    def _open(self, connection: Connection, ch: int) -> None:
        """Send `opened` with the start offsets, which are greater than `since` if output has been dropped."""
        for cursor in self._cursors:
            cursor.lost()
        out, err = self._cursors
        applied = self._process.inputs.applied(self._input_id) if self._input_id else 0
        start = StreamOffsets(stdout=out.offset, stderr=err.offset)
        connection.send_event(ch, "opened", self._process.opened(start, applied))

    def _send(self, connection: Connection, ch: int, number: int, size: int) -> bool:
        """Send the next bytes of one stream. Return whether anything was sent."""
        cursor = self._cursors[number]
        if cursor.at_end:
            return False
        if cursor.lost():
            connection.send_event(ch, "truncated", StreamTruncated(stream=STREAMS[number][1], start=cursor.offset))
            return True
        data = cursor.look(min(size, connection.window(ch)))
        if not data:
            return False
        connection.send_data(ch, STREAMS[number][0], cursor.offset, data)
        cursor.take(len(data))
        return True


def beginning(process: ReadableProcess, since: Since | None) -> StreamOffsets:
    """Return a reader's start offsets. Raises `invalid_params` if any of them is past the end of the output."""
    offsets = StreamOffsets(stdout=(since and since.stdout) or 0, stderr=(since and since.stderr) or 0)
    for name, offset, stream in (
        ("stdout", offsets.stdout, process.stdout),
        ("stderr", offsets.stderr, process.stderr),
    ):
        if offset > stream.end:
            raise HawseError(
                "invalid_params",
                f"since.{name} ({offset}) is beyond the end of the output ({stream.end})",
                details=stream.describe(),
            )
    return offsets
