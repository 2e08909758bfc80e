"""A terminal viewer: a cursor on the output journal, without a queue.

The viewer sends `opened`; a snapshot if the journal no longer holds the requested output; the output, with each
`resized` event at its exact offset; `live`; and finally `exit` and the result (docs/wire.md, terminal.attach).
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from hawse.api.rights import VIEW, allows
from hawse.api.terminals import (
    StartAt,
    TerminalAnswers,
    TerminalAttachResult,
    TerminalLive,
    TerminalOpened,
    TerminalReseed,
    TerminalResized,
    TerminalWaiting,
)
from hawse.rpc.call import ServerCall
from hawse.wire import Connection, HawseError, Kind
from hawse_runtime.people.participants import ParticipantsCursor
from hawse_runtime.posix.fd_streams import WRITE_LIMIT
from hawse_runtime.screen.screen_tracker import ALL
from hawse_runtime.screen.snapshot_cache import CachedSnapshot
from hawse_runtime.terminal.congestion_window import PROBE, STEP, CongestionWindow
from hawse_runtime.terminal.fanout import FanoutViewer, furthest_behind, share
from hawse_runtime.terminal.options import ViewerOptions

if TYPE_CHECKING:
    from hawse_runtime.terminal.terminal import Terminal

INTERRUPT = b"\x03"  # Ctrl-C
RESEED_ROWS = 500  # scrollback rows in the snapshot after an interrupt; few, so that the prompt arrives quickly
BACKLOG = 64 << 10  # minimum number of unsent bytes; a viewer with fewer doesn't skip output after an interrupt


class Viewer:
    """Serves a `terminal.attach` call: a `Stream` that is subscribed to its terminal from `attach` until `detach`."""

    def __init__(self, terminal: "Terminal", call: ServerCall, options: ViewerOptions) -> None:
        """Add a participant to `terminal`. Raises `limit_exceeded` if the terminal has too many participants."""
        self.read_only = options.read_only
        self.participant = terminal.participants.join(
            self, options.profile, read_only=options.read_only, fit=options.fit, caller=call.principal
        )
        whole = allows(call.principal.rights, VIEW)  # without the right VIEW, the caller may access only this terminal
        self._participants_cursor = ParticipantsCursor(whole=whole)
        self.lossless = options.lossless
        self.follows = options.read_only and not options.lossless  # a read-only viewer does not slow down the program
        self.emulator = options.emulator  # whether this viewer can answer programs' queries
        self.input_id = None if options.read_only else options.input_id
        # The offset of the next byte to send. None until `opened` is sent, except for lossless viewers, whose output is
        # retained from the start.
        self.cursor: int | None = options.since if options.lossless else None
        self._terminal = terminal
        self._journal = terminal.journal  # cached, because these attributes are used on every keystroke
        self._viewers = terminal.viewers
        self._sizes = terminal.sizes
        self._snapshots = terminal.snapshots
        self._participants = terminal.participants
        self._call = call
        self._since = options.since
        self._opened = False
        self._live_at = 0
        self._live = False
        self.next_mark = 0  # the index of the next size change to send
        # Whether the snapshot was dropped before all of it was sent.
        self._lost = False
        self._painting = False  # whether a snapshot is pending; the cursor is already at the snapshot's offset
        self._snapshot: CachedSnapshot | None = None  # the requested snapshot
        self._detached = False
        self._waiting: TerminalWaiting | None = None  # the waiting state in the most recently sent message
        self._answers = False  # whether this viewer answers queries, as last sent to the client
        self._skip = False  # whether to skip unsent output because of an interrupt
        self._prober: asyncio.TimerHandle | None = None
        self.probed = False  # whether output may end anywhere in a step, because no credit arrived for PROBE seconds
        self._congestion = CongestionWindow(asyncio.get_running_loop().time)

    @property
    def lag(self) -> int:
        """The number of output bytes not yet sent."""
        return 0 if self.cursor is None else self._journal.end - self.cursor

    def attach(self) -> None:
        """Subscribe to the terminal until `detach` is called."""
        self._viewers.add(self)
        self._terminal.subscribe(self, resume_id=self.input_id)

    # ---- Stream

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if connection.window(ch) <= 0 or self._painting:
            return False
        if not self._opened or self.cursor is None:
            return self._begin(self._open, connection, ch)
        if self._snapshots.holds(self):
            connection.send_data(ch, Kind.SCREEN, *self._snapshots.take(self, min(size, connection.window(ch))))
        elif self._snapshot is not None or self._lost or self._skip or self.cursor < self._journal.start:
            return self._begin(self._reseed, connection, ch)
        elif not self._send_control(connection, ch):
            room = self._send_output(connection, size)
            return self._settle(connection, ch, room)
        return True

    def receive_input(self, offset: int, payload: memoryview) -> None:
        terminal, input_id = self._terminal, self.input_id
        if self.read_only:
            raise HawseError("forbidden", "a read-only viewer cannot send input", details={"applied": 0})
        if input_id is None:
            raise HawseError("protocol_error", "to send input, set the parameter `input` of terminal.attach")
        new = terminal.inputs.new_part(input_id, offset, payload)
        if terminal.exit is not None:
            raise HawseError("exited", "the terminal has ended", details={"applied": terminal.inputs.applied(input_id)})
        repeated = len(payload) - len(new)
        if terminal.input_pending + len(new) > WRITE_LIMIT:
            applied = terminal.inputs.applied(input_id)
            raise HawseError("input_overflow", "the program is not reading its input", details={"applied": applied})
        if new:
            self._participants.check_may_write(self.participant, offset + repeated)
            self._participants.record_input(self.participant, new)
        terminal.inputs.advance(input_id, len(new))
        if repeated:
            self._call.applied(repeated)
        terminal.write(new, self._call.applied)
        if INTERRUPT in bytes(new):
            self._viewers.skip_backlog()

    def receive_end(self) -> None:
        """Do nothing. A terminal's input never ends, and its line discipline handles Ctrl-D."""

    def detach(self) -> None:
        if self._prober is not None:
            self._prober.cancel()
        self._detached = True
        self._snapshots.drop(self)
        self._viewers.remove(self, link_lost=self._call.link_lost)
        self._terminal.unsubscribe(self)

    def wake(self) -> None:
        self._call.wake()

    def lose_snapshot(self) -> None:
        """Handle the snapshot's removal from the cache. Once data can be sent, a new snapshot is requested."""
        self._lost = True

    def skip_backlog(self) -> None:
        """Skip the unsent output after an interrupt if it exceeds BACKLOG bytes. Lossless viewers skip nothing."""
        if self._opened and self.cursor is not None and not self.lossless:
            self._skip = self._journal.end - self.cursor > BACKLOG
            if self._skip:
                self.wake()

    def _probe_later(self) -> None:
        """Schedule a wake-up of the viewer after PROBE seconds. Called when the congestion window is full."""
        if self._prober is None:
            self._prober = asyncio.get_running_loop().call_later(PROBE, self._probe)

    def _probe(self) -> None:
        self._prober = None
        self.probed = True
        self.wake()

    @property
    def _applied(self) -> int:
        return self._terminal.inputs.applied(self.input_id) if self.input_id else 0

    @property
    def _needs_snapshot(self) -> bool:
        """Whether a snapshot is the next message to send."""
        return self._opened or self._start_at == "snapshot"

    @property
    def _start_at(self) -> StartAt:
        """Whether a new viewer resumes at its offset, starts with the first output, or starts with a snapshot."""
        journal = self._journal
        if self._since is not None and self._since >= journal.start:
            return "resume"
        if self._since is None and journal.start == 0 and journal.end <= self._terminal.replay_limit:
            return "start"
        return "snapshot"

    # ---- messages

    def _begin(self, step: Callable[[Connection, int], None], connection: Connection, ch: int) -> bool:
        """Call `step`, or first request a snapshot if one is required. End the call if snapshot memory is full."""
        if self._needs_snapshot and self._snapshot is None and not self._request_snapshot():
            return False  # `wake` is called once the snapshot is available
        try:
            step(connection, ch)
        except HawseError as error:
            self._call.error(error)
            return False
        return True

    def _open(self, connection: Connection, ch: int) -> None:
        start_at, terminal = self._start_at, self._terminal
        self._opened = True
        end = self._journal.end
        if start_at == "snapshot":
            cols, rows, screen = self._take_snapshot()
        else:
            self.cursor = self._since or 0
            (cols, rows, self.next_mark), screen = self._sizes.size_at(self.cursor), 0
        assert self.cursor is not None
        self._live_at = end
        self._answers = self._viewers.answerer is self
        info = terminal.describe()
        self._waiting = info.waiting
        described = msgspec.structs.asdict(info) | {"cols": cols, "rows": rows}
        participants = self._participants.describe(self.participant, self._participants_cursor)
        opened = TerminalOpened(
            **described,
            start_at=start_at,
            from_=self.cursor,
            screen=screen,
            input_offset=self._applied,
            answers=self._answers,
            read_only=self.read_only,
            viewer=participants.viewer,
            presence=participants.presence,
            lease=participants.lease,
        )
        connection.send_event(ch, "opened", opened)
        terminal.moved()

    def _reseed(self, connection: Connection, ch: int) -> None:
        cols, rows, screen = self._take_snapshot()
        self._terminal.stats.reseeds += 1
        self._live_at = self._journal.end
        self._live = False
        assert self.cursor is not None
        connection.send_event(ch, "reseed", TerminalReseed(start=self.cursor, screen=screen, cols=cols, rows=rows))
        self._terminal.moved()

    def _request_snapshot(self) -> bool:
        """Request a snapshot of the current screen, and move the cursor to the snapshot's offset, so that the journal
        retains all later output.

        Returns:
            Whether the snapshot is already available.
        """
        self._painting = True
        rows = RESEED_ROWS if self._skip else ALL
        self._skip = self._lost = False
        place = self._terminal.snapshot(self._painted, rows)
        if self._painting:
            self.cursor, self.next_mark = place.offset, place.next_mark
            self._terminal.moved()
        return self._snapshot is not None

    def _painted(self, snapshot: CachedSnapshot) -> None:
        self._painting = False
        if not self._detached:
            self._snapshot = snapshot
            self.wake()

    def _take_snapshot(self) -> tuple[int, int, int]:
        """Queue the new snapshot and move the cursor to its offset. Return its columns, rows and size in bytes."""
        snapshot, self._snapshot = self._snapshot, None
        assert snapshot is not None
        self._snapshots.put(self, snapshot)
        self.cursor, self.next_mark = snapshot.offset, snapshot.next_mark
        return snapshot.cols, snapshot.rows, len(snapshot.data)

    def _send_control(self, connection: Connection, ch: int) -> bool:
        """Send one event that must precede the next output byte. Return whether an event was sent."""
        if self._answers is not (self._viewers.answerer is self):
            self._answers = not self._answers
            connection.send_event(ch, "answers", TerminalAnswers(answers=self._answers))
            return True
        if change := self._participants.next_event(self._participants_cursor, self._applied):
            connection.send_event(ch, *change)
            return True
        waiting = self._terminal.waiting.state
        if waiting != self._waiting and self.cursor == self._journal.end:  # sent after the output that led to it
            self._waiting = waiting
            connection.send_event(ch, "waiting", waiting)
            return True
        self.next_mark = max(self.next_mark, self._sizes.first)
        mark = self._sizes.get(self.next_mark)
        if mark is not None and mark.offset == self.cursor:
            self.next_mark += 1
            connection.send_event(ch, "resized", TerminalResized(cols=mark.cols, rows=mark.rows, offset=mark.offset))
            return True
        return False

    def _send_output(self, connection: Connection, size: int) -> int:
        """Send up to `size` bytes of output to this viewer, unless another viewer is further behind and goes first.

        Returns:
            How many more bytes can be sent to this viewer.
        """
        assert self.cursor is not None
        # Compute the window only once. It may grow during this call, and if nothing was sent before that, nothing
        # would call `pull` to use the added space.
        room = self.room()
        if min(size, room, self._journal.end - self.cursor) <= 0:
            return room
        if self._has_peers:
            behind = furthest_behind(self, self._viewers, self._journal.start)
            if behind is not None and behind._send_shared(connection, size, behind.room()):
                return room
        sent = self._send_shared(connection, size, room)
        return room - sent if sent else 0  # if nothing was sent, wait for credit or the probe

    def _send_shared(self, connection: Connection, size: int, room: int) -> int:
        """Send up to `size` bytes of output to this viewer and to others at its offset. Return the number of bytes."""
        assert self.cursor is not None
        end, mark = self._journal.end, self._sizes.get(self.next_mark)
        size = min(size, room, end - self.cursor, mark.offset - self.cursor if mark else size)
        if size <= 0:
            return 0
        peers: list[Viewer] = []
        if self._has_peers:
            size, peers = share(self, self._viewers, size, (end, mark.offset if mark else None))
            if not size:
                return 0
        data = self._journal.read(self.cursor, size)
        if peers:
            chs = [self._call.ch, *(viewer._call.ch for viewer in peers)]
            connection.send_shared(chs, Kind.OUTPUT, self.cursor, data)
        else:
            connection.send_data(self._call.ch, Kind.OUTPUT, self.cursor, data)
        for viewer in (self, *peers):
            viewer._sent(len(data))
        self._terminal.moved()
        return len(data)

    @property
    def _has_peers(self) -> bool:
        """Whether there may be other viewers to share a frame with."""
        return self._call.connection.shares and len(self._viewers) > 1

    # ---- FanoutViewer

    @property
    def in_flight(self) -> int:
        return self._congestion.size

    def can_share(self, other: FanoutViewer) -> bool:
        """Return whether both viewers expect output on the same connection, at the same terminal size."""
        return (
            isinstance(other, Viewer)
            and self._live
            and not self._painting
            and self._snapshot is None
            and not self._skip
            and not self._lost
            and self.next_mark == other.next_mark
            and self._call.connection is other._call.connection
            and self._answers is (self._viewers.answerer is self)
        )

    def room(self) -> int:
        connection, ch = self._call.connection, self._call.ch
        # Viewers that share frames stop at the end of a step. The extra step lets them do so before their window is
        # full.
        extra = STEP if self._has_peers else 0
        return self._congestion.room(connection.window(ch), *connection.flow(ch), extra)

    def _sent(self, size: int) -> None:
        assert self.cursor is not None
        self.probed = False
        self._congestion.sent(self._call.connection.flow(self._call.ch)[0])
        self.cursor += size

    def _settle(self, connection: Connection, ch: int, room: int) -> bool:
        """Send `live`, `exit` and the result when they are due. Return whether there is more to send."""
        assert self.cursor is not None
        terminal = self._terminal
        if not self._live and self.cursor >= self._live_at:
            if connection.window(ch) <= 0:
                return False
            self._live = True
            connection.send_event(ch, "live", TerminalLive(offset=self.cursor))
        if self.cursor < self._journal.end or self._sizes.get(self.next_mark) is not None:
            if room <= 0:
                self._probe_later()
            return room > 0
        if terminal.exit is not None:
            if connection.window(ch) <= 0:
                return False
            connection.send_event(ch, "exit", terminal.exit)
            self._call.result(TerminalAttachResult(exit=terminal.exit, offset=self.cursor))
        return False
