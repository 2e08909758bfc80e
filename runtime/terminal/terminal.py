"""A terminal: a PTY, the journal of its output, the screen it shows, and its viewers."""

import os
import secrets
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hawse.api.paths import to_text
from hawse.api.types import Exit
from runtime.core.weak_callback import WeakCallback
from runtime.journal.backpressure import Backpressure
from runtime.journal.input_offsets import InputOffsets
from runtime.journal.journal import Journal
from runtime.people.participants import Participants
from runtime.posix import process_tree as tree
from runtime.posix.child import adopt
from runtime.posix.fd_streams import FdReader, FdWriter
from runtime.posix.spawn import set_size, spawn_pty
from runtime.screen.screen import ALL, Screen
from runtime.screen.screen_tracker import ScreenTracker
from runtime.screen.size_history import SizeHistory, SizeMark
from runtime.screen.snapshot_cache import CachedSnapshot, SnapshotCache
from runtime.terminal.output_coalescer import OutputCoalescer
from runtime.terminal.shell_state import ShellStateTracker
from runtime.terminal.stats import SILENT, TerminalStats
from runtime.terminal.viewer import Viewer

if TYPE_CHECKING:
    from runtime.recording.recorder import Recorder
    from runtime.terminal.wait import TerminalWaitStream

REPLAY_LIMIT = 256 << 10  # a new viewer gets up to this many bytes as they were; beyond, a snapshot is less work
LAST_WORDS = 1 << 20  # bytes read after the program's end; the kernel holds less


class Terminal:
    """One instance of a terminal, from its start to its removal."""

    replay_limit = REPLAY_LIMIT

    def __init__(
        self,
        terminal_id: str,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        cols: int,
        rows: int,
        journal: Journal,
        shelf: SnapshotCache,
        on_exit: Callable[["Terminal"], None],
        tally: TerminalStats | None = None,
        integrated: bool = False,
    ) -> None:
        """Start `argv` on a new PTY. Raises as `spawn_pty` does, and then leaves nothing behind.

        `integrated`: it is a shell that tells its commands.
        """
        self.id = terminal_id
        self.instance = secrets.token_hex(8)
        self.argv = list(argv)
        self.cwd = cwd
        self.started = time.time()
        self.journal = journal
        self.shelf = shelf
        self.tally = tally or TerminalStats()
        self.observer = ShellStateTracker(journal, integrated=integrated)
        self.inputs = InputOffsets()
        self.exit: Exit | None = None
        self.viewers: dict[Viewer, None] = {}  # in the order they came
        self.recorders: dict[Recorder, None] = {}
        self._waits: dict[TerminalWaitStream, None] = {}
        self.answerer: Viewer | None = None  # whose emulator answers queries; None: the screen does
        self._on_exit = on_exit
        self._typed: float | None = None  # when: input without output since
        self._retired = False
        self.marks = marks = SizeHistory(cols, rows)
        pid, self._fd = spawn_pty(argv, env={**env, tree.MARK: self.instance}, cwd=cwd, cols=cols, rows=rows)
        self._child = adopt(pid, self._exited, self._fd)
        self._sidecar = ScreenTracker(journal, self.marks, reply=WeakCallback(self._answer))
        self._outlet = FdWriter(self._fd, owned=False)
        self._teller = OutputCoalescer(journal, WeakCallback(self._tell))
        self._inlet = FdReader(self._fd, journal.append, self._teller.output_came, self._outlet.close, journal.portion)
        self.pacer = Backpressure(journal, self._inlet.pause, self._inlet.resume)
        self.company = Participants(
            lambda: marks.size, WeakCallback(self.resize), WeakCallback(self._wake_viewers), WeakCallback(self._handed)
        )

    @property
    def tree_mark(self) -> str:
        """What everything that descends from it has in its environment."""
        return f"{tree.MARK}={self.instance}"

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def size(self) -> tuple[int, int]:
        return self.marks.size

    @property
    def input_pending(self) -> int:
        return self._outlet.pending

    def describe(self) -> dict[str, Any]:
        """The terminal as docs/wire.md shows it."""
        cols, rows = self.size
        return {
            "id": self.id,
            "instance": self.instance,
            "pid": self.pid,
            "cols": cols,
            "rows": rows,
            "argv": self.argv,
            "cwd": to_text(self.observer.cwd or self.cwd),
            "title": self.observer.title,
            "started": self.started,
            "state": "running" if self.exit is None else "exited",
            "exit": self.exit,
            "start": self.journal.start,
            "offset": self.journal.end,
            "viewers": len(self.viewers),
        }

    # ---- input

    def write(self, data: bytes | memoryview, on_written: Callable[[int], None] | None = None) -> None:
        for recorder in self.recorders:
            recorder.input(data)
        now = time.monotonic()  # the loop's own clock counts milliseconds
        if self._typed is None or now - self._typed > SILENT:
            self._typed = now
        self._outlet.write(data, on_written)

    def resize(self, cols: int, rows: int) -> None:
        if self._inlet.ended or (cols, rows) == self.size:
            return
        self.marks.add(SizeMark(self.journal.end, cols, rows))
        set_size(self._fd, cols, rows)
        self._wake_viewers()

    def interrupted(self) -> None:
        """Somebody pressed Ctrl-C: nobody wants to wait for what was printed before."""
        for viewer in self.viewers:
            viewer.skip_backlog()

    def signal(self, signum: int) -> None:
        """Send to the foreground process group (what Ctrl-C reaches)."""
        if signum == signal.SIGINT:
            self.interrupted()
        group = 0 if self._inlet.ended else os.tcgetpgrp(self._fd)
        # 0 is what the kernel says of a terminal without one; to killpg it would be our own.
        self._child.signal_group(signum, group or None)

    # ---- viewers

    def add(self, viewer: Viewer) -> None:
        if viewer.emulator and self.answerer is None:
            self._sidecar.hear()  # what was asked so far, the screen answers
        self.viewers[viewer] = None
        self.pacer.add(viewer, viewer.input_id)
        self._elect()

    def remove(self, viewer: Viewer) -> None:
        self.viewers.pop(viewer, None)
        self.company.part(viewer.person, viewer)
        if viewer is self.answerer and viewer.cursor is not None:
            self._sidecar.hear(viewer.cursor)  # up to there it has answered
        self.pacer.remove(viewer)
        self._elect()
        if self.answerer is None:
            self._sidecar.hear()
        self._release()

    def add_recorder(self, recorder: "Recorder") -> None:
        self.recorders[recorder] = None
        self.pacer.add(recorder)

    def remove_recorder(self, recorder: "Recorder") -> None:
        del self.recorders[recorder]
        self.pacer.remove(recorder)

    def moved(self) -> None:
        """A viewer's cursor has moved on."""
        self.pacer.advanced()

    def snapshot(self, scrollback: int = ALL) -> CachedSnapshot:
        """The screen as it is, with so many rows above it, and the place in the output from which it goes on."""
        return self._sidecar.snapshot(scrollback)

    def current_screen(self) -> Screen:
        """The screen, brought up to all the output there is."""
        return self._sidecar.current()

    def watch(self, wait: "TerminalWaitStream") -> None:
        """Wake `wait` with the viewers, and do not outrun it; but it makes the program no faster than they do."""
        self._waits[wait] = None
        self.pacer.add(wait, follows=True)

    def unwatch(self, wait: "TerminalWaitStream") -> None:
        del self._waits[wait]
        self.pacer.remove(wait)

    def retire(self) -> None:
        """Nobody will attach any more: let go when the viewers that are still reading have finished."""
        self._retired = True
        self._release()

    def _release(self) -> None:
        if self._retired and not self.viewers:
            self.company.close()
            self._sidecar.close()

    # ---- output

    def _tell(self) -> None:
        if self._typed is not None:
            self.tally.echoed(time.monotonic() - self._typed)
            self._typed = None
        self.observer.catch_up()
        self._wake_viewers()
        self._sidecar.keep_near(None if self.answerer is None else self.answerer.cursor or 0)
        self.pacer.update()

    def _wake_viewers(self) -> None:
        for viewer in list(self.viewers):
            viewer.wake()
        for wait in list(self._waits):
            wait.wake()
        for recorder in self.recorders:
            recorder.wake()

    def _answer(self, reply: bytes) -> None:
        if self.answerer is None:
            self.write(reply)

    def _handed(self) -> None:
        """Others than before may type. Whoever was to answer has answered what it has had, and nobody answers twice."""
        before = self.answerer
        self._sidecar.hear(None if before is None else before.cursor or 0)
        self._elect()
        if self.answerer is None:
            self._sidecar.hear()
        self._wake_viewers()

    def _elect(self) -> None:
        """The viewer with an emulator that came first, of those who may type, answers queries."""
        able = (v for v in self.viewers if v.emulator and v.input_id and self.company.may_write(v.person))
        answerer = next(able, None)
        if answerer is not self.answerer:
            self.answerer = answerer
            if answerer is not None:
                answerer.wake()

    # ---- the end

    def _exited(self, result: Exit) -> None:
        self._inlet.drain(LAST_WORDS)
        self._teller.now()
        self._outlet.close()
        self._inlet.close()
        self._sidecar.follow()
        self.exit = result
        self.pacer.close()
        self._wake_viewers()
        self._on_exit(self)
