"""Records a terminal. Like a viewer, a recorder has a cursor on the journal, but it writes to disk.

The event loop records only times and offsets. The bytes stay in the journal until a thread is ready to write them, so a
slow disk costs no memory. A full disk ends the recording, but not the terminal.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from hawse.api.recordings import RecordingEndReason
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.recording.asciicast import exit_status
from hawse_runtime.recording.cast_writer import KEYFRAME, CastEvent, CastWriter
from hawse_runtime.recording.failure import describe_failure
from hawse_runtime.recording.keyframes import KeyframePlan
from hawse_runtime.screen.requests import Answer, Paint
from hawse_runtime.screen.size_history import OutputPlace
from hawse_runtime.screen.snapshot_cache import CachedSnapshot

if TYPE_CHECKING:
    from hawse_runtime.terminal.terminal import Terminal

log = logging.getLogger(__name__)

BATCH = 1 << 20  # maximum number of output bytes per write; they are copied to memory
EVENT_BYTES = 64 << 10  # maximum number of output bytes per event
# Seconds that a small amount of output waits for more before it is written; lost if the runtime is killed.
BATCH_DELAY = 0.05
BATCH_MIN = 64 << 10  # number of bytes of output that are written without delay
SCROLLBACK = 1000  # number of scrollback lines in a keyframe
INPUT_LIMIT = 1 << 20  # maximum number of input bytes waiting to be written; further input is not recorded
SECRET_MARK = "a secret was typed"  # label of the marker that replaces a secret
SCREEN = "s"  # internal code for the event that paints the initial screen


class RecorderLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on a recorder's pending events."""

    pending: int = 16_384  # maximum number of events waiting to be written; further output is merged into the last one
    merge_interval: float = 0.001  # interval in seconds; all output within it becomes one event


class PendingEvent(NamedTuple):
    """A pending event, `at` seconds after the start.

    An `o` event stands for output up to `offset`, whose bytes are in the journal. Other events come after that output.
    """

    at: float
    offset: int
    code: str
    data: bytes | str = b""


class Recorder:
    """A `Subscriber` that records a terminal. Await `run` once."""

    lossless = True
    follows = False

    def __init__(
        self,
        terminal: "Terminal",
        file: CastWriter,
        header: Callable[[int, int], bytes],
        disk: ThreadPool,
        *,
        with_input: bool,
        limits: RecorderLimits = RecorderLimits(),
    ) -> None:
        """Start recording.

        Args:
            terminal: The terminal to record.
            file: The recording's file, which `run` opens and closes.
            header: Encodes the header line for a size in columns and rows.
            disk: The thread pool for accessing `file`.
            with_input: Whether to record input, which includes passwords.
            limits: Limits on pending events.
        """
        loop = asyncio.get_running_loop()
        self.with_input = with_input
        self.file = file
        self.reason: RecordingEndReason | None = None  # why the recording ended; None while recording
        self.message = ""
        self.lost = 0  # number of bytes of output and input lost because of a slow disk
        self.opened: asyncio.Future[None] = loop.create_future()  # done once the file is open or could not be opened
        self.done = asyncio.Event()  # set by the owner once the recording is complete
        self._terminal = terminal
        self._limits = limits
        self._disk = disk
        self._header = header
        self._clock = loop.time
        self._start = loop.time()
        self._pending: deque[PendingEvent] = deque()
        self._input_pending = 0
        self._work = asyncio.Event()
        self._urgent = asyncio.Event()
        self.cursor: int | None = 0
        self._next_mark = 1
        self._size = terminal.size
        self._first: asyncio.Future[CachedSnapshot] | None = None  # the screen when the recording started
        if terminal.journal.end:
            place, self._first = self._request_screen()
            self._size = place.cols, place.rows
            self.cursor, self._next_mark = place.offset, place.next_mark
        self._recorded_offset = self.cursor or 0  # output before this offset has been written or is pending
        self._keyframes = KeyframePlan(self._recorded_offset)
        terminal.subscribe(self, on_input=self._input)

    @property
    def incomplete(self) -> bool:
        """Whether parts of the terminal's output or input are missing."""
        return self.lost > 0

    @property
    def elapsed(self) -> float:
        """The number of seconds since the recording started."""
        return self._clock() - self._start

    @property
    def pending(self) -> int:
        """The number of pending events."""
        return len(self._pending)

    # ---- called on the event loop

    def wake(self) -> None:
        """Handle new output, a new size, or the terminal's exit."""
        if self.reason is not None:
            return
        terminal = self._terminal
        self._next_mark = max(self._next_mark, terminal.sizes.first)
        while (mark := terminal.sizes.get(self._next_mark)) is not None:
            self._next_mark += 1
            self._add_output(mark.offset)
            self._add("r", f"{mark.cols}x{mark.rows}")
        self._add_output(terminal.journal.end)
        if terminal.exit is not None:
            self._add("x", exit_status(terminal.exit))
            self._finish("exited")
        else:
            if self._keyframes.due(self._recorded_offset, self.elapsed):
                self._request_keyframe()
            if self._recorded_offset - (self.cursor or 0) >= BATCH_MIN:
                self._urgent.set()
        self._work.set()

    def _request_keyframe(self) -> None:
        """Request a keyframe at the current end of the output."""
        number = self._keyframes.begin(self._recorded_offset, self.elapsed)
        self._add(KEYFRAME)

        def painted(answer: Answer | None) -> None:
            self._keyframes.painted(number, b"" if answer is None else answer.data)
            self._work.set()
            self._urgent.set()

        self._terminal.ask_screen(lambda screen: Paint(screen, SCROLLBACK), painted)

    def _input(self, data: bytes | memoryview | None) -> None:
        """Record input to the terminal. None stands for a secret, which is replaced by a marker."""
        if data is None and self.reason is None:
            self.mark(SECRET_MARK)
        if not self.with_input or self.reason is not None or not data:
            return
        if self._input_pending + len(data) > INPUT_LIMIT:
            self.lost += len(data)
            return
        self._input_pending += len(data)
        self._add("i", bytes(data))
        self._work.set()

    def mark(self, label: str) -> None:
        """Add a marker at the current end of the output."""
        self._add_output(self._terminal.journal.end)
        self._add("m", label)
        self._work.set()

    def stop(self) -> None:
        """End the recording at the current end of the output. Has no effect if it is already ending."""
        if self.reason is None:
            self._add_output(self._terminal.journal.end)
            self._finish("stopped")

    def _add_output(self, offset: int) -> None:
        """Add an event for the output before `offset`, or extend the last event."""
        if offset <= self._recorded_offset:
            return
        self._recorded_offset = offset
        last = self._pending[-1] if self._pending else None
        near = last is not None and last.code == "o" and self.elapsed - last.at < self._limits.merge_interval
        if last is not None and last.code == "o" and (near or len(self._pending) >= self._limits.pending):
            self._pending[-1] = last._replace(offset=offset)
        else:
            self._add("o")

    def _add(self, code: str, data: bytes | str = b"") -> None:
        self._pending.append(PendingEvent(self.elapsed, self._recorded_offset, code, data))

    def _finish(self, reason: RecordingEndReason, message: str = "") -> None:
        self.reason, self.message = reason, message
        self._urgent.set()
        self._work.set()

    # ---- the task

    async def run(self) -> None:
        """Write the file until the recording ends. Failures are reported in `reason`, `message` and `opened`."""
        try:
            await self._disk.run(self.file.open, self._header(*self._size), *self._size)
            self.opened.set_result(None)
            if self._first is not None:
                screen = await self._first
                self._pending.appendleft(PendingEvent(0.0, screen.offset, SCREEN, screen.data))
            await self._write()
        except Exception as error:  # a failure, such as too little memory for the screen, ends only the recording
            self._failed(error)
        finally:
            self._terminal.unsubscribe(self)
            self._pending.clear()
            try:
                await self._disk.run(self._close)
            except OSError:  # no thread can be started, so block the event loop once rather than leak a descriptor
                self._close()

    async def _write(self) -> None:
        while True:
            if self.file.awaits_keyframe and self._keyframes.ready:  # checked first, because the output may never pause
                await self._disk.run(self.file.write_keyframe, self._keyframes.take())
            entries = await self._next_batch()
            if entries:
                await self._disk.run(self.file.write, entries)
            elif self.reason is not None and not self._keyframes.pending:
                return
            else:
                self._work.clear()
                self._urgent.clear()
                await self._work.wait()
                await self._wait_for_batch()

    async def _wait_for_batch(self) -> None:
        try:
            async with asyncio.timeout(BATCH_DELAY):
                await self._urgent.wait()
        except TimeoutError:
            pass

    async def _next_batch(self) -> list[CastEvent]:
        """Return the next events to write, moving the cursor past them so that the journal can drop their output."""
        assert self.cursor is not None
        entries: list[CastEvent] = []
        size = 0
        while self._pending and size < BATCH:
            event = self._pending[0]
            if self.cursor < self._terminal.journal.start and self.cursor < event.offset:
                entries += await self._skip_lost_output()
                continue
            if self.cursor < event.offset:
                stop = min(event.offset, self.cursor + EVENT_BYTES)
                entries.append(CastEvent(event.at, "o", self._terminal.journal.copy(self.cursor, stop)))
                size += stop - self.cursor
                self.cursor = stop
            if self.cursor >= event.offset:
                self._pending.popleft()
                if event.code != "o":
                    entries.append(CastEvent(event.at, "o" if event.code == SCREEN else event.code, event.data))
                    self._input_pending -= len(event.data) if event.code == "i" else 0
        self._terminal.moved()
        return entries

    async def _skip_lost_output(self) -> list[CastEvent]:
        """Continue with the current screen. The disk was too slow, and the journal has dropped output.

        Returns three events: a marker with the number of lost bytes, the terminal size, and the screen.
        """
        assert self.cursor is not None
        lost = -self.cursor
        place, screen = self._request_screen()
        self.cursor = place.offset  # makes the journal retain the output from this offset onward
        self._terminal.moved()
        snapshot = await screen
        lost += snapshot.offset
        log.warning("! a recording of terminal %s has lost %d bytes", self._terminal.id, lost)
        self.lost += lost
        at = self._pending[0].at
        passed = ("o", "r", KEYFRAME)
        kept = [event for event in self._pending if event.code not in passed or event.offset > snapshot.offset]
        if any(event.code == KEYFRAME and event.offset <= snapshot.offset for event in self._pending):
            self._keyframes.drop()
        self._pending = deque(event._replace(offset=max(event.offset, snapshot.offset)) for event in kept)
        self.cursor, self._next_mark = snapshot.offset, max(self._next_mark, snapshot.next_mark)
        self._recorded_offset = max(self._recorded_offset, snapshot.offset)
        return [
            CastEvent(at, "m", f"{lost} bytes of output were not recorded"),
            CastEvent(at, "r", f"{snapshot.cols}x{snapshot.rows}"),
            CastEvent(at, "o", b"\x1bc" + snapshot.data),
        ]

    def _request_screen(self) -> tuple[OutputPlace, asyncio.Future[CachedSnapshot]]:
        """Request a snapshot. Return its position in the output and a future for it."""
        screen: asyncio.Future[CachedSnapshot] = asyncio.get_running_loop().create_future()
        return self._terminal.snapshot(lambda made: None if screen.done() else screen.set_result(made)), screen

    def _failed(self, error: Exception) -> None:
        self._finish(*describe_failure(error))
        log.warning("! a recording of terminal %s has ended: %s", self._terminal.id, self.message)
        if not self.opened.done():
            self.opened.set_exception(error)
            self.opened.exception()  # mark the exception as retrieved; it is also reported in the recording's state

    def _close(self) -> None:
        """Write the last line and close the file. Runs in a thread."""
        try:
            if self.opened.done() and self.opened.exception() is None:
                cut = CastEvent(self.elapsed, "m", f"recording ended: {self.message}") if self.message else None
                self.file.end(cut)
        except OSError as error:
            log.warning("! cannot write the last line of a recording: %s", error)
        finally:
            self.file.close()
