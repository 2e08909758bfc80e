"""`terminal.attach`: a viewer, which resumes at the exact byte where it left off (docs/wire.md section 9).

Turns frames and events into `TerminalEvent`s in order. A snapshot only replaces missing output once it is complete. If
the connection is lost before that, the viewer resumes from the output before the snapshot.
"""

import msgspec

from hawse.api.people import ParticipantEvent, ParticipantLeft, WriterLeaseEvent
from hawse.api.terminals import (
    TerminalAnswers,
    TerminalAttach,
    TerminalAttachResult,
    TerminalLive,
    TerminalOpened,
    TerminalReseed,
    TerminalResized,
    TerminalWaiting,
)
from hawse.api.types import Exit
from hawse.client.base.results import Answers, Attached, Live, Resized, Snapshot, TerminalEvent, WaitingChanged
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.input_stream import InputStream
from hawse.client.calls.offset_cursor import OffsetCursor
from hawse.client.calls.receive_buffer import ReceiveBuffer
from hawse.client.terminal.people import People
from hawse.client.terminal.snapshot_assembly import SnapshotAssembly
from hawse.wire import Data, Event, Kind, Limits, RemoteProtocolError

LANE = "output"


class TerminalAttachCall(ClientCall):
    """A call to `terminal.attach`: a viewer, which resumes after reconnects. `done` resolves to the `Exit`."""

    def __init__(self, params: TerminalAttach, *, sandbox: str, since: int | None = None, window: int) -> None:
        """Prepare a call.

        Args:
            params: The terminal and the viewer's options. `viewer` must have a key.
            sandbox: The sandbox the terminal is in.
            since: The offset to start at; None means all output that is still kept.
            window: Number of bytes the server can send before the client reads them.
        """
        super().__init__(params, sandbox=sandbox, repeats=True)
        self.attach = params  # updated once the terminal has been created and its instance is known
        self.live = False  # whether the replay has ended
        self.answers = False  # whether this viewer's emulator answers queries
        self.pid: int | None = None
        self.first_end: int | None = None  # the offset where the output ended at the first attach
        self.people = People()
        self.waiting: TerminalWaiting | None = None  # the last known `waiting` state; None before the first attach
        self.receive_buffer: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        if not params.read_only:
            self.input_stream = InputStream(Limits().input_window, self.wake)
        self._cursor = None if since is None else OffsetCursor(since)
        self._size: tuple[int, int] | None = None  # number of columns and rows, once known
        self._assembly: SnapshotAssembly | None = None

    @property
    def viewer_key(self) -> str | None:
        """The secret that identifies this viewer across reconnects and in other calls."""
        return self.attach.viewer.key if self.attach.viewer else None

    # ---- opening

    def params(self) -> TerminalAttach:
        since = self._cursor.offset if self._cursor else None
        name = self.input_stream.id if self.input_stream else None
        return msgspec.structs.replace(self.attach, since=since, input=name)

    def opening(self) -> int:
        self.live, self._assembly = False, None
        return super().opening()

    # ---- receiving

    def receive_event(self, event: Event) -> None:
        cost = event_cost(event)
        match self.decode(event):
            case TerminalOpened() as opened:
                self._opened(opened)
            case TerminalReseed() as seed:
                self.live = False
                self._expect_snapshot(SnapshotAssembly(seed.start, seed.screen, seed.cols, seed.rows))
            case TerminalResized() as size:
                cost = self._resized(size.offset, (size.cols, size.rows), cost)
            case TerminalLive(offset=offset):
                self.live = True
                cost = self._put(Live(offset), cost)
            case TerminalAnswers(answers=answers):
                cost = self._answers(answers, cost)
            case TerminalWaiting() as waiting:
                cost = self._waits(waiting, cost)
            case Exit() as exit_:
                cost = self._put(exit_, cost)
            case ParticipantEvent() | ParticipantLeft() | WriterLeaseEvent() as change:
                if item := self.people.changed(change):
                    cost = self._put(item, cost)
        self.spend(cost)

    def _opened(self, opened: TerminalOpened) -> None:
        known = self.attach.instance
        if known not in (None, opened.instance):
            raise RemoteProtocolError(f"attached to instance {opened.instance}, requested {known}")
        self.attach = msgspec.structs.replace(self.attach, instance=opened.instance)
        self.pid = opened.pid
        self.first_end = opened.offset if self.first_end is None else self.first_end
        size = (opened.cols, opened.rows)
        # Unread `Attached` and `Live` items from an earlier attachment are out of date.
        self.receive_buffer.drop_tail(LANE, lambda item: isinstance(item, Attached | Live))
        self._put(Attached(opened.start_at, opened.from_, *size))
        for item in self.people.opened(opened):
            self._put(item)
        self._answers(opened.answers)
        self._waits(opened.waiting)
        if opened.start_at == "snapshot":
            self._expect_snapshot(SnapshotAssembly(opened.from_, opened.screen, *size))
        else:
            self._continue_at(opened)
            if self._size is not None:
                self._resized(opened.from_, size)
            self._size = size
        if self.input_stream:
            self.input_stream.opened(opened.input_offset)
        self.mark_opened()

    def _continue_at(self, opened: TerminalOpened) -> None:
        expected = self._cursor.offset if self._cursor else 0
        if opened.from_ != expected:
            raise RemoteProtocolError(f"attached at offset {opened.from_}, requested {expected}")
        self._cursor = self._cursor or OffsetCursor()

    def receive_data(self, data: Data) -> None:
        if data.kind is Kind.SCREEN and self._assembly:
            self._assembly.add(data.offset, data.payload)
            self.spend(len(data.payload))  # snapshots have their own size limit instead of the window
            self._complete_snapshot()
        elif data.kind is Kind.OUTPUT and self._cursor and not self._assembly:
            new = self._cursor.accept(data.offset, data.payload)
            if new:
                self.receive_buffer.put_bytes(LANE, self._cursor.offset - len(new), new)
            self.spend(len(data.payload) - len(new))
        else:
            raise RemoteProtocolError(f"unexpected data frame of kind {data.kind.name}")

    def _expect_snapshot(self, assembly: SnapshotAssembly) -> None:
        self._assembly = assembly
        self._complete_snapshot()

    def _complete_snapshot(self) -> None:
        snapshot = self._assembly.finished() if self._assembly else None
        if snapshot is None:
            return
        self._assembly = None
        self._cursor = OffsetCursor(snapshot.offset)
        self._size = (snapshot.cols, snapshot.rows)
        # An unread snapshot and all items after it are out of date, so at most one snapshot is buffered.
        self.receive_buffer.supersede(LANE, lambda item: isinstance(item, Snapshot))
        self._put(snapshot)

    def _resized(self, offset: int, size: tuple[int, int], cost: int = 0) -> int:
        """Buffer a `Resized` unless the size is already known. A resume can report the size twice, in `opened` and as
        an event.
        """
        if size == self._size:
            return cost
        self._size = size
        return self._put(Resized(offset, *size), cost)

    def _answers(self, answers: bool, cost: int = 0) -> int:
        if answers is self.answers:
            return cost
        self.answers = answers
        return self._put(Answers(answers), cost)

    def _waits(self, waiting: TerminalWaiting, cost: int = 0) -> int:
        """Buffer a `WaitingChanged` if the state differs from the last known state."""
        known, self.waiting = self.waiting, waiting
        return cost if known in (None, waiting) else self._put(WaitingChanged(waiting), cost)

    def _put(self, item: TerminalEvent, cost: int = 0) -> int:
        """Buffer an item with its event's cost, which is returned as credit once the item is read. Returns 0."""
        self.receive_buffer.put(LANE, item, cost)
        return 0

    def finished(self, value: msgspec.Raw) -> Exit:
        end: TerminalAttachResult = super().finished(value)
        if self._cursor is None or end.offset != self._cursor.offset:
            raise RemoteProtocolError(f"the terminal's output ends at {end.offset}, which was not reached")
        return end.exit
