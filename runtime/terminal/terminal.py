"""A terminal: a PTY, the journal of its output, the screen it shows, and its viewers."""

import os
import secrets
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from hawse.api.paths import to_text
from hawse.api.types import Exit
from runtime.core.weak_callback import WeakCallback
from runtime.journal.backpressure import Backpressure, JournalReader
from runtime.journal.input_offsets import InputOffsets
from runtime.journal.journal import Journal
from runtime.people.participants import Participants
from runtime.posix.child import adopt
from runtime.posix.fd_streams import FdReader, FdWriter
from runtime.posix.process_table import PROCESS_MARK
from runtime.posix.spawn import set_size, spawn_pty
from runtime.screen.screen import ALL, Screen
from runtime.screen.screen_tracker import ScreenTracker
from runtime.screen.size_history import SizeHistory, SizeMark
from runtime.screen.snapshot_cache import CachedSnapshot, SnapshotCache
from runtime.terminal.output_coalescer import OutputCoalescer
from runtime.terminal.shell_state import ShellStateTracker
from runtime.terminal.stats import SILENT, TerminalStats
from runtime.terminal.viewer import Viewer
from runtime.terminal.viewer_group import ViewerGroup

REPLAY_LIMIT = 256 << 10  # a new viewer gets up to this many bytes as they were; beyond, a snapshot is less work
LAST_WORDS = 1 << 20  # bytes read after the program's end; the kernel holds less

InputListener = Callable[[bytes | memoryview], None]


class Subscriber(JournalReader, Protocol):
    """Follows the output of a terminal with a cursor of its own: a viewer, a recorder, a wait."""

    @property
    def follows(self) -> bool:
        """Whether it never sets the pace: what it has read makes room for no more output."""
        ...

    def wake(self) -> None:
        """Called when there is output, a size change, or the end of the program to take."""
        ...


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
        self._subscribers: dict[Subscriber, InputListener | None] = {}
        self._on_exit = on_exit
        self._typed: float | None = None  # when: input without output since
        self._retired = False
        self.marks = marks = SizeHistory(cols, rows)
        pid, self._fd = spawn_pty(argv, env={**env, PROCESS_MARK: self.instance}, cwd=cwd, cols=cols, rows=rows)
        self._child = adopt(pid, self._exited, self._fd)
        self._sidecar = ScreenTracker(journal, self.marks, reply=WeakCallback(self._answer))
        self._outlet = FdWriter(self._fd, owned=False)
        self._teller = OutputCoalescer(journal, WeakCallback(self._tell))
        self._inlet = FdReader(self._fd, journal.append, self._teller.output_came, self._outlet.close, journal.portion)
        self.pacer = Backpressure(journal, self._inlet.pause, self._inlet.resume)
        self.company = Participants(
            lambda: marks.size, WeakCallback(self.resize), WeakCallback(self._wake), WeakCallback(self._writers_changed)
        )
        self.viewers: ViewerGroup[Viewer] = ViewerGroup(self.company, self._sidecar)

    @property
    def tree_mark(self) -> str:
        """What everything that descends from it has in its environment."""
        return f"{PROCESS_MARK}={self.instance}"

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
        for on_input in self._subscribers.values():
            if on_input is not None:
                on_input(data)
        now = time.monotonic()  # the loop's own clock counts milliseconds
        if self._typed is None or now - self._typed > SILENT:
            self._typed = now
        self._outlet.write(data, on_written)

    def resize(self, cols: int, rows: int) -> None:
        if self._inlet.ended or (cols, rows) == self.size:
            return
        self.marks.add(SizeMark(self.journal.end, cols, rows))
        set_size(self._fd, cols, rows)
        self._wake()

    def signal(self, signum: int) -> None:
        """Send to the foreground process group (what Ctrl-C reaches)."""
        if signum == signal.SIGINT:
            self.viewers.skip_backlog()
        group = 0 if self._inlet.ended else os.tcgetpgrp(self._fd)
        # 0 is what the kernel says of a terminal without one; to killpg it would be our own.
        self._child.signal_group(signum, group or None)

    # ---- subscribers

    def subscribe(
        self, subscriber: Subscriber, *, resume_id: str | None = None, on_input: InputListener | None = None
    ) -> None:
        """Wake `subscriber` when something happens, and take its cursor into account when pacing the program.

        Args:
            subscriber: It is woken until `unsubscribe`.
            resume_id: Names the subscriber across reconnects; see `Backpressure.add`.
            on_input: Called with all input before it is written to the program.
        """
        self._subscribers[subscriber] = on_input
        self.pacer.add(subscriber, resume_id, follows=subscriber.follows)

    def unsubscribe(self, subscriber: Subscriber) -> None:
        del self._subscribers[subscriber]
        self.pacer.remove(subscriber)
        self._release()

    @property
    def subscribers(self) -> int:
        """The number of viewers, recorders and waits."""
        return len(self._subscribers)

    def moved(self) -> None:
        """The cursor of a subscriber has advanced."""
        self.pacer.advanced()

    def snapshot(self, scrollback: int = ALL) -> CachedSnapshot:
        """The screen as it is, with so many rows above it, and the place in the output from which it goes on."""
        return self._sidecar.snapshot(scrollback)

    def current_screen(self) -> Screen:
        """The screen, brought up to all the output there is."""
        return self._sidecar.current()

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
        self._wake()
        answerer = self.viewers.answerer
        self._sidecar.keep_near(None if answerer is None else answerer.cursor or 0)
        self.pacer.update()

    def _wake(self) -> None:
        for subscriber in list(self._subscribers):
            subscriber.wake()

    def _answer(self, reply: bytes) -> None:
        if self.viewers.answerer is None:
            self.write(reply)

    def _writers_changed(self) -> None:
        self.viewers.writers_changed()
        self._wake()

    # ---- the end

    def _exited(self, result: Exit) -> None:
        self._inlet.drain(LAST_WORDS)
        self._teller.now()
        self._outlet.close()
        self._inlet.close()
        self._sidecar.follow()
        self.exit = result
        self.pacer.close()
        self._wake()
        self._on_exit(self)
