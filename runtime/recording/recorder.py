"""Records one terminal: a cursor on its journal, like a viewer, that goes to the disk instead of a line.

On the event loop it only notes when the output had come how far. The bytes stay in the journal until a thread is
ready to write them, so a slow disk costs no memory; a full one ends the recording and never holds up the terminal.
"""

import asyncio
import errno
import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from hawse.api.recordings import RecordingEndReason
from runtime.core.thread_pool import ThreadPool
from runtime.recording.asciicast import exit_status
from runtime.recording.cast_writer import CastWriter, IndexEntry, QuotaError

if TYPE_CHECKING:
    from runtime.terminal.terminal import Terminal

log = logging.getLogger(__name__)

BATCH = 1 << 20  # bytes of output that are written at a time, and held until then
PIECE = 64 << 10  # bytes of output in one event
GATHER = 0.05  # seconds for which little output is gathered before it is written: what a killed runtime loses
ENOUGH = 64 << 10  # bytes for which that wait is over
NOTES = 16_384  # moments remembered; when there are more, two become one
INPUT_HELD = 1 << 20  # bytes of input that may wait for the disk
SAME_MOMENT = 0.001  # seconds: what is nearer together is one event
SCREEN = "s"  # the code of a note whose data paint the screen that is there already


class Note(NamedTuple):
    """At `at`, after the output up to `offset`: more output (`o`), or what `code` and `data` say."""

    at: float
    offset: int
    code: str
    data: bytes | str = b""


class Recorder:
    """A `Subscriber` of the terminal. `run` it once, in a task."""

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
    ) -> None:
        loop = asyncio.get_running_loop()
        self.with_input = with_input
        self.file = file
        self.reason: RecordingEndReason | None = None  # why it has ended, or is about to
        self.message = ""
        self.lost = 0  # bytes that were outrun: of output, because the disk was slow; of input
        self.opened: asyncio.Future[None] = loop.create_future()  # the file is there; or why it is not
        self.done = asyncio.Event()  # set by its owner, when all is over
        self._terminal = terminal
        self._disk = disk
        self._header = header
        self._clock = loop.time
        self._start = loop.time()
        self._notes: deque[Note] = deque()
        self._input_held = 0
        self._work = asyncio.Event()
        self._urgent = asyncio.Event()
        self.cursor: int | None = 0
        self._next_mark = 1
        self._size = terminal.size
        if terminal.journal.end:
            self._begin_with_the_screen()
        self._stamped = self.cursor or 0  # the output up to here is noted
        terminal.subscribe(self, on_input=self._input)

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return self._clock() - self._start

    # ---- what happens, on the event loop

    def wake(self) -> None:
        """There is output, another size, or the end."""
        if self.reason is not None:
            return
        terminal = self._terminal
        self._next_mark = max(self._next_mark, terminal.sizes.first)
        while (mark := terminal.sizes.get(self._next_mark)) is not None:
            self._next_mark += 1
            self._stamp(mark.offset)
            self._note("r", f"{mark.cols}x{mark.rows}")
        self._stamp(terminal.journal.end)
        if terminal.exit is not None:
            self._note("x", exit_status(terminal.exit))
            self._finish("exited")
        elif self._stamped - (self.cursor or 0) >= ENOUGH:
            self._urgent.set()
        self._work.set()

    def _input(self, data: bytes | memoryview) -> None:
        """Record `data`, which was typed."""
        if not self.with_input or self.reason is not None or not data:
            return
        if self._input_held + len(data) > INPUT_HELD:
            self.lost += len(data)
            return
        self._input_held += len(data)
        self._note("i", bytes(data))
        self._work.set()

    def mark(self, label: str) -> None:
        self._stamp(self._terminal.journal.end)
        self._note("m", label)
        self._work.set()

    def stop(self) -> None:
        """The end, after what has come so far."""
        if self.reason is None:
            self._stamp(self._terminal.journal.end)
            self._finish("stopped")

    def _stamp(self, offset: int) -> None:
        """The output up to `offset` has come by now."""
        if offset <= self._stamped:
            return
        self._stamped = offset
        last = self._notes[-1] if self._notes else None
        near = last is not None and last.code == "o" and self.elapsed - last.at < SAME_MOMENT
        if last is not None and last.code == "o" and (near or len(self._notes) >= NOTES):
            self._notes[-1] = last._replace(offset=offset)
        else:
            self._note("o")

    def _note(self, code: str, data: bytes | str = b"") -> None:
        self._notes.append(Note(self.elapsed, self._stamped, code, data))

    def _finish(self, reason: RecordingEndReason, message: str = "") -> None:
        self.reason, self.message = reason, message
        self._urgent.set()
        self._work.set()

    # ---- the task

    async def run(self) -> None:
        try:
            await self._disk.run(self.file.open, self._header(*self._size), *self._size)
            self.opened.set_result(None)
            await self._write()
        except (OSError, QuotaError) as error:
            self._failed(error)
        finally:
            self._terminal.unsubscribe(self)
            self._notes.clear()
            await self._disk.run(self._close)

    async def _write(self) -> None:
        while True:
            entries = self._take()
            if entries:
                await self._disk.run(self.file.write, entries)
            elif self.reason is not None:
                return
            else:
                self._work.clear()
                self._urgent.clear()
                await self._work.wait()
                await self._gather()

    async def _gather(self) -> None:
        try:
            async with asyncio.timeout(GATHER):
                await self._urgent.wait()
        except TimeoutError:
            pass

    def _take(self) -> list[IndexEntry]:
        """What is to be written next. The cursor moves: the journal may drop it now."""
        assert self.cursor is not None
        entries: list[IndexEntry] = []
        size = 0
        while self._notes and size < BATCH:
            note = self._notes[0]
            if self.cursor < self._terminal.journal.start and self.cursor < note.offset:
                entries += self._skip()
                continue
            if self.cursor < note.offset:
                stop = min(note.offset, self.cursor + PIECE)
                entries.append(IndexEntry(note.at, "o", self._terminal.journal.copy(self.cursor, stop)))
                size += stop - self.cursor
                self.cursor = stop
            if self.cursor >= note.offset:
                self._notes.popleft()
                if note.code != "o":
                    entries.append(IndexEntry(note.at, "o" if note.code == SCREEN else note.code, note.data))
                    self._input_held -= len(note.data) if note.code == "i" else 0
        self._terminal.moved()
        return entries

    def _skip(self) -> list[IndexEntry]:
        """The journal has lost our place (the disk stood still): say so, and go on with the screen as it is now."""
        assert self.cursor is not None
        snapshot = self._terminal.snapshot()
        lost = snapshot.offset - self.cursor
        log.warning("! a recording of %s lost %d bytes", self._terminal.id, lost)
        self.lost += lost
        at = self._notes[0].at
        kept = [note for note in self._notes if note.code not in "or" or note.offset > snapshot.offset]
        self._notes = deque(note._replace(offset=max(note.offset, snapshot.offset)) for note in kept)
        self.cursor, self._next_mark = snapshot.offset, max(self._next_mark, snapshot.next_mark)
        self._stamped = max(self._stamped, snapshot.offset)
        return [
            IndexEntry(at, "m", f"{lost} bytes of output were not recorded"),
            IndexEntry(at, "r", f"{snapshot.cols}x{snapshot.rows}"),
            IndexEntry(at, "o", b"\x1bc" + snapshot.data),
        ]

    def _begin_with_the_screen(self) -> None:
        snapshot = self._terminal.snapshot()
        self._size = snapshot.cols, snapshot.rows
        self.cursor, self._next_mark = snapshot.offset, snapshot.next_mark
        self._notes.append(Note(0.0, snapshot.offset, SCREEN, snapshot.data))

    def _failed(self, error: OSError | QuotaError) -> None:
        if isinstance(error, QuotaError):
            self._finish("quota", "the recording may not grow any more")
        else:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            self._finish("no_space" if full else "io_error", error.strerror or str(error))
        log.warning("! a recording of %s ends: %s", self._terminal.id, self.message)
        if not self.opened.done():
            self.opened.set_exception(error)
            self.opened.exception()  # asked for or not, it is told in the recording's state

    def _close(self) -> None:
        """In a thread: the last line, as far as there is room for it."""
        try:
            if self.opened.done() and self.opened.exception() is None:
                cut = IndexEntry(self.elapsed, "m", f"recording ended: {self.message}") if self.message else None
                self.file.end(cut)
        except OSError as error:
            log.warning("! the end of a recording: %s", error)
        finally:
            self.file.close()
