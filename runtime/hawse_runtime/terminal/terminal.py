"""A terminal: a PTY with its output journal, its emulated screen and its viewers."""

import asyncio
import os
import secrets
import signal
import time
from collections.abc import Callable
from typing import Protocol

from hawse.api.paths import to_text
from hawse.api.terminals import TerminalInfo
from hawse.api.types import Exit
from hawse.weakref_support import supports_weakref
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.core.weak_callback import WeakCallback
from hawse_runtime.journal.backpressure import Backpressure, JournalReader
from hawse_runtime.journal.input_offsets import InputOffsets
from hawse_runtime.journal.journal import Journal
from hawse_runtime.people.participants import Participants
from hawse_runtime.posix.child import adopt
from hawse_runtime.posix.fd_streams import WRITE_LIMIT, FdReader, FdWriter
from hawse_runtime.posix.line_discipline import input_mode
from hawse_runtime.posix.process_table import PROCESS_MARK
from hawse_runtime.posix.spawn import set_size, spawn_pty
from hawse_runtime.screen.requests import Answer, AnyRequest
from hawse_runtime.screen.screen_process import Screens
from hawse_runtime.screen.screen_tracker import ALL, ScreenTracker
from hawse_runtime.screen.size_history import OutputPlace, SizeHistory, SizeMark
from hawse_runtime.screen.snapshot_cache import CachedSnapshot, SnapshotCache
from hawse_runtime.terminal.options import TerminalOptions
from hawse_runtime.terminal.output_coalescer import OutputCoalescer
from hawse_runtime.terminal.shell_state import ShellStateTracker
from hawse_runtime.terminal.stats import SILENT, TerminalStats
from hawse_runtime.terminal.viewer import Viewer
from hawse_runtime.terminal.viewer_group import ViewerGroup
from hawse_runtime.terminal.waiting import WaitingTracker

REPLAY_LIMIT = 256 << 10  # maximum number of output bytes replayed to a new viewer; beyond that, a snapshot is cheaper
UNCHECKED = 4 << 10  # number of output bytes between checks of how far viewers lag; less for a small journal
LAST_OUTPUT = 1 << 20  # maximum number of bytes to read after the program has exited; the kernel buffers fewer

ENTER = b"\r"

InputListener = Callable[[bytes | memoryview | None], None]  # called with the input; None stands for a secret


class Subscriber(JournalReader, Protocol):
    """An object that reads a terminal's output with its own cursor: a viewer, a recorder, or a wait."""

    @property
    def follows(self) -> bool:
        """Whether the subscriber is passive: its progress alone does not let the program print more."""
        ...

    def wake(self) -> None:
        """Handle new output, a size change, or the program's exit."""
        ...


def _ignore(terminal: "Terminal") -> None:
    """Do nothing with a change. mypyc cannot compile a lambda with an argument as a default."""


@supports_weakref
class Terminal:
    """One instance of a terminal, from start to removal."""

    replay_limit = REPLAY_LIMIT

    def __init__(
        self,
        terminal_id: str,
        options: TerminalOptions,
        journal: Journal,
        snapshots: SnapshotCache,
        screens: Screens,
        looks: ThreadPool,
        *,
        on_exit: Callable[["Terminal"], None],
        on_change: Callable[["Terminal"], object] = _ignore,
        stats: TerminalStats | None = None,
    ) -> None:
        """Start the program on a new PTY. Raises the same errors as `spawn_pty`, and then leaves nothing open.

        Args:
            terminal_id: The terminal's id.
            options: The program, its environment, and the terminal size.
            journal: The journal for the output. The terminal takes ownership of it.
            snapshots: The snapshot cache for all terminals.
            screens: Emulates the terminal's screen.
            looks: The thread pool for checking whether the program is waiting for input.
            on_exit: Called once the program has exited and its output is complete.
            on_change: Called when a property other than the output's offsets has changed; see `describe`.
            stats: The counters shared by all terminals.
        """
        self.id = terminal_id
        self.instance = secrets.token_hex(8)
        self.argv = list(options.shown_argv or options.argv)
        self.cwd = options.cwd
        self.creator = options.creator
        self.started = time.time()
        self.journal = journal
        self.snapshots = snapshots
        self.stats = stats or TerminalStats()
        self.shell_state = ShellStateTracker(journal, integrated=options.integrated)
        self.inputs = InputOffsets()
        self.exit: Exit | None = None
        self._ended: float | None = None  # when the program exited, in seconds since 1970
        # `terminal.send` holds this lock while it waits for the screen, so that input stays in order.
        self.sending = asyncio.Lock()
        self._subscribers: dict[Subscriber, InputListener | None] = {}
        self._on_exit = on_exit
        self._on_change = on_change
        self._described: tuple[object, ...] = ()  # the last state reported to `on_change`
        self._typed: float | None = None  # when the latest input arrived, if no output has followed yet
        self._checked = 0  # where the output ended when the lags were last checked
        self._retired = False
        self.sizes = SizeHistory(options.cols, options.rows)
        env = {**options.env, PROCESS_MARK: self.instance}
        pid, self._fd = spawn_pty(options.argv, env=env, cwd=options.cwd, cols=options.cols, rows=options.rows)
        self._child = adopt(pid, self._exited, self._fd)
        self._tracker = ScreenTracker(
            journal, self.sizes, screens, reply=WeakCallback(self._answer), moved=WeakCallback(self.moved)
        )
        self.waiting = WaitingTracker(
            *(self._fd, pid, journal, self.shell_state, looks), changed=WeakCallback(self.wake)
        )
        self._writer = FdWriter(self._fd, owned=False)
        self._coalescer = OutputCoalescer(journal, WeakCallback(self._output_added))
        self._reader = FdReader(
            self._fd, self._coalescer.append, self._writer.close, journal.portion, journal.keystrokes
        )
        self.backpressure = Backpressure(journal, self._reader.pause, self._reader.resume)
        self.backpressure.add(self._tracker, follows=True)
        self.participants = Participants(
            self.sizes.latest_size,
            WeakCallback(self.resize),
            WeakCallback(self.wake),
            WeakCallback(self._writers_changed),
        )
        self.viewers: ViewerGroup[Viewer] = ViewerGroup(self.participants, self._tracker)

    @property
    def tree_mark(self) -> str:
        """The environment entry that marks all descendants of the program."""
        return f"{PROCESS_MARK}={self.instance}"

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def size(self) -> tuple[int, int]:
        return self.sizes.latest_size()

    @property
    def hung_up(self) -> bool:
        """Whether all processes have closed the PTY. The program may still be running."""
        return self._reader.ended

    @property
    def input_pending(self) -> int:
        return self._writer.pending

    def describe(self) -> TerminalInfo:
        cols, rows = self.size
        return TerminalInfo(
            id=self.id,
            instance=self.instance,
            pid=self._child.own_pid,
            cols=cols,
            rows=rows,
            argv=self.argv,
            cwd=to_text(self.shell_state.cwd or self.cwd),
            title=self.shell_state.title,
            started=self.started,
            state="running" if self.exit is None else "exited",
            exit=self.exit,
            ended=self._ended,
            start=self.journal.start,
            offset=self.journal.end,
            viewers=len(self.viewers),
            waiting=self.waiting.state,
        )

    # ---- input

    def write(self, data: bytes | memoryview, on_written: Callable[[int], None] | None = None) -> None:
        for on_input in self._subscribers.values():
            if on_input is not None:
                on_input(data)
        self.shell_state.note_input(data, "hidden" if self.hung_up else input_mode(self._fd))
        self.waiting.typed(data)
        self._note_typed()
        self._writer.write(data, on_written)

    def write_secret(self, text: bytearray, on_typed: Callable[[], object]) -> bool:
        """Type a line that the program reads without echo. Only the kernel gets a copy of it.

        Subscribers and trackers see only that a line was typed.

        Args:
            text: The line, without Enter.
            on_typed: Called after the line was typed, before the subscribers and trackers see it.

        Returns:
            False if no line was typed, because the terminal echoes input, has been hung up, or its buffer is full.
        """
        if self.hung_up or self._writer.pending or input_mode(self._fd) == "echo":
            return False
        try:
            if os.writev(self._fd, (text, ENTER)) <= len(text):  # the kernel's buffer is full, so no line was submitted
                return False
        except OSError:
            return False
        on_typed()
        for on_input in self._subscribers.values():
            if on_input is not None:
                on_input(None)
        self.shell_state.note_input(ENTER, "hidden")
        self.waiting.typed(ENTER)
        self._note_typed()
        return True

    def _note_typed(self) -> None:
        now = time.monotonic()  # the event loop's clock has a resolution of 1 ms
        if self._typed is None or now - self._typed > SILENT:
            self._typed = now

    def resize(self, cols: int, rows: int) -> None:
        if self.hung_up or (cols, rows) == self.size:
            return
        self.sizes.add(SizeMark(self.journal.end, cols, rows))
        set_size(self._fd, cols, rows)
        self.wake()

    def signal(self, signum: int) -> None:
        """Send a signal to the foreground process group, as Ctrl-C does."""
        if signum == signal.SIGINT:
            self.viewers.skip_backlog()
        group = 0 if self.hung_up else os.tcgetpgrp(self._fd)
        # The kernel returns 0 if the terminal has no foreground group. killpg(0) would signal the runtime's own group.
        self._child.signal_group(signum, group or None)

    # ---- subscribers

    def subscribe(
        self, subscriber: Subscriber, *, resume_id: str | None = None, on_input: InputListener | None = None
    ) -> None:
        """Wake `subscriber` on each event, and let its cursor slow down the program.

        Args:
            subscriber: The object to wake until `unsubscribe` is called.
            resume_id: Identifies the subscriber across reconnects; see `Backpressure.add`.
            on_input: Called with all input before the program receives it.
        """
        self._subscribers[subscriber] = on_input
        self.backpressure.add(subscriber, resume_id, follows=subscriber.follows)
        self._note_change()

    def unsubscribe(self, subscriber: Subscriber) -> None:
        del self._subscribers[subscriber]
        self.backpressure.remove(subscriber)
        self._release()
        self._note_change()

    @property
    def subscribers(self) -> int:
        """The number of subscribed viewers, recorders, and waits."""
        return len(self._subscribers)

    def moved(self) -> None:
        """Record that a subscriber's cursor has advanced."""
        self.backpressure.advanced()

    def snapshot(self, done: Callable[[CachedSnapshot], None], scrollback: int = ALL) -> OutputPlace:
        """Request a snapshot of the screen and up to `scrollback` rows above it. Return its position in the output.

        `done` is called once with the snapshot, possibly before this method returns.
        """
        return self._tracker.snapshot(scrollback, done)

    def ask_screen(self, make: Callable[[int], AnyRequest], done: Callable[[Answer | None], None]) -> OutputPlace:
        """Send a request to the screen once it has processed all output. See `ScreenTracker.request`."""
        return self._tracker.request(make, done)

    def plain_text(self) -> bytes:
        """Return the last lines of the output as plain text, for use when the screen is unavailable."""
        return self._tracker.plain_text()

    def retire(self) -> None:
        """Accept no more viewers, and release all resources once the remaining viewers have finished."""
        self._retired = True
        self._release()

    def _release(self) -> None:
        if self._retired and not self.viewers:
            self.participants.close()
            self._tracker.close()

    # ---- output

    def _output_added(self) -> None:
        if self._typed is not None:
            self.stats.echoed(time.monotonic() - self._typed)
            self._typed = None
        self.shell_state.catch_up()
        self.waiting.touched()
        self.wake()
        answerer, journal = self.viewers.answerer, self.journal
        # The screen must answer queries promptly. While a viewer answers them instead, checking the lags less often
        # suffices.
        if answerer is None or journal.end - self._checked >= min(UNCHECKED, journal.capacity >> 6):
            self._checked = journal.end
            self._tracker.keep_near(None if answerer is None else answerer.cursor or 0)
            self.backpressure.update()

    def wake(self) -> None:
        """Wake all subscribers, because the terminal or one of its questions has changed."""
        for subscriber in list(self._subscribers):
            subscriber.wake()
        self._note_change()

    def _note_change(self) -> None:
        shell = self.shell_state
        described = (shell.title, shell.cwd, self.size, len(self.viewers), self.waiting.state, self.exit)
        if described != self._described:
            self._described = described
            self._on_change(self)

    def _answer(self, reply: bytes) -> None:
        if self.input_pending + len(reply) <= WRITE_LIMIT:  # a program that isn't reading its input gets no reply
            self.write(reply)

    def _writers_changed(self) -> None:
        self.viewers.writers_changed()
        self.wake()

    # ---- end

    def _exited(self, result: Exit) -> None:
        self._reader.drain(LAST_OUTPUT)
        self._coalescer.flush()
        self._writer.close()
        self.waiting.close()
        self._reader.close()
        self.exit = result
        self._ended = time.time()
        self.backpressure.close()
        self.wake()
        self._on_exit(self)
