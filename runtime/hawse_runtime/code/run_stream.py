"""Serves a reader of a run: a `code.run` or `code.attach` call."""

from collections.abc import Callable

import msgspec

from hawse.api.code import CodeOffsets, CodeRunOpened, CodeRunWaiting, CodeSince, CodeTruncated, RunStream
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.wire import Connection, HawseError, Kind
from hawse_runtime.code.run import Run
from hawse_runtime.code.run_log import BARRIER, NAMES, EventCursor, RunLog
from hawse_runtime.process.output_stream import StreamCursor

STREAMS: tuple[tuple[Kind, RunStream], ...] = (
    (Kind.OUTPUT, "stdout"),
    (Kind.STDERR, "stderr"),
    (Kind.SCREEN, "bundles"),
)


SOURCE_SHOWN = 65_536  # maximum length of the code in `opened`, in characters; as JSON, each can take 6 bytes
BARRIERS = 1000  # maximum number of barriers skipped at once; a reader that starts late may have to skip many


class CodeRunStream(OutputOnlyStream):
    """A `Stream` that sends a run's output in order, starting at the offsets `since`."""

    def __init__(
        self,
        run: Run,
        call: ServerCall,
        since: CodeSince | None,
        on_detach: Callable[[Run], object],
        *,
        tell_source: bool = False,
    ) -> None:
        """Create the stream for a call.

        Args:
            run: The run to read.
            call: The call to serve.
            since: The offsets to start from in each stream.
            on_detach: Called with the run once the call has ended.
            tell_source: Whether `opened` includes the source code, which a caller of `code.run` doesn't need.

        Raises:
            HawseError: `invalid_params` if `since` is beyond the end of a stream or inside an event.
        """
        super().__init__(call)
        self._run = run
        self._since = offsets_of(since)
        self._on_detach = on_detach
        self._tell_source = tell_source
        self._waiting_due = True  # whether the `waiting` event still needs to be sent
        self._opened = False
        self._cursors: tuple[StreamCursor, ...] = ()
        self._events: EventCursor | None = None
        if run.log is not None:
            check(run.log, self._since)
        elif self._since != CodeOffsets():
            raise HawseError(
                "invalid_params",
                "`since` must be 0, because the run has not started and has no output",
                details={"path": "$.since"},
            )
        run.readers[self] = None

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        run = self._run
        if run.error is not None:
            self._call.error(run.error)
            return False
        if run.log is None:
            if self._waiting_due and connection.window(ch) > 0:
                self._waiting_due = False
                connection.send_event(ch, "waiting", CodeRunWaiting(ahead=run.ahead, run=run.id))
            return False
        events = self._events or self._begin(run.log)
        if self._opened and self._end(events):
            return False
        if connection.window(ch) <= 0:
            return False
        if not self._opened:
            self._opened = True
            self._open(connection, ch, events)
            return True
        if self._send(connection, ch, size, events):
            return True
        self._end(events)  # the last frames may have been barriers, and nothing is sent for those
        return False

    def detach(self) -> None:
        self._run.readers.pop(self, None)
        for cursor in self._cursors:
            cursor.close()
        if self._events is not None:
            self._events.close()
        self._on_detach(self._run)

    def _begin(self, log: RunLog) -> EventCursor:
        since = self._since
        starts = (since.stdout, since.stderr, since.bundles)
        self._cursors = tuple(
            StreamCursor(stream, start, self.wake) for stream, start in zip(log.streams, starts, strict=True)
        )
        self._events = EventCursor(log, since.events, self.wake)
        return self._events

    def _open(self, connection: Connection, ch: int, events: EventCursor) -> None:
        """Send `opened` with the start offsets, which are greater than `since` if output has been dropped."""
        events.lost()
        for cursor in self._cursors:
            cursor.lost()
        out, err, large = (cursor.offset for cursor in self._cursors)
        start = CodeOffsets(stdout=out, stderr=err, bundles=large, events=events.offset)
        run = self._run
        source = run.params.source[:SOURCE_SHOWN] if self._tell_source else None
        opened = CodeRunOpened(run=run.id, context=run.context, instance=run.instance, source=source, start=start)
        connection.send_event(ch, "opened", opened)

    def _end(self, events: EventCursor) -> bool:
        """Send the result, which needs no credit, if everything else has been sent. Return whether it was sent."""
        run = self._run
        if run.result is None or not events.at_end or not all(cursor.at_end for cursor in self._cursors):
            return False
        self._call.result(run.result)
        return True

    def _send(self, connection: Connection, ch: int, size: int, events: EventCursor) -> bool:
        """Send the next bytes or event. Return whether anything was sent."""
        for _ in range(BARRIERS):
            sent = self._send_next(connection, ch, size, events)
            if sent is not None:
                return sent
        self.wake()
        return False

    def _send_next(self, connection: Connection, ch: int, size: int, events: EventCursor) -> bool | None:
        """Same as `_send`, but return None after passing a barrier."""
        if events.lost():
            connection.send_event(ch, "truncated", CodeTruncated(stream="events", start=events.offset))
            return True
        frame = events.look()
        if frame is None and not events.at_end:
            return False  # the frame is being read from disk
        for number, cursor in enumerate(self._cursors):
            kind, name = STREAMS[number]
            if cursor.lost():
                connection.send_event(ch, "truncated", CodeTruncated(stream=name, start=cursor.offset))
                return True
            goal = cursor.stream.end if frame is None else frame.at[number]
            if cursor.offset < goal:
                data = cursor.look(min(size, connection.window(ch), goal - cursor.offset))
                if not data:
                    return False  # the bytes are being read from disk
                connection.send_data(ch, kind, cursor.offset, data)
                cursor.take(len(data))
                return True
        if frame is None:
            return False
        events.take(frame)
        if frame.name == BARRIER:
            return None
        value = msgspec.Raw(b'{"offset":%d,' % frame.end + frame.body[1:])
        if frame.body == b"{}":
            value = msgspec.Raw(b'{"offset":%d}' % frame.end)
        connection.send_event(ch, NAMES[frame.name], value)
        return True


def offsets_of(since: CodeSince | None) -> CodeOffsets:
    """Return the offsets in `since`, with 0 for any that are missing."""
    if since is None:
        return CodeOffsets()
    return CodeOffsets(
        stdout=since.stdout or 0, stderr=since.stderr or 0, bundles=since.bundles or 0, events=since.events or 0
    )


def check(log: RunLog, since: CodeOffsets) -> None:
    """Raise `invalid_params` if `since` is past the end of a stream or inside an event."""
    ends = msgspec.structs.asdict(log.end)
    for name, offset in msgspec.structs.asdict(since).items():
        if offset > ends[name]:
            message = f"since.{name} ({offset}) is beyond the end of the output ({ends[name]})"
            raise HawseError("invalid_params", message, details={"path": f"$.since.{name}"})
    if not log.is_boundary(since.events):
        message = f"since.events ({since.events}) is not the `offset` of an event"
        raise HawseError("invalid_params", message, details={"path": "$.since.events"})
