"""A run's output in four journals: stdout, stderr, the bytes of large values, and events.

An event is stored as a frame: a header with the other streams' lengths when it arrived, followed by its JSON. To
preserve the order, a reader sends the other streams up to these lengths before it sends the event. A frame without an
event (`BARRIER`) marks each switch between stdout and stderr, so that their order is also preserved.
"""

import struct
from array import array
from bisect import bisect_left
from collections.abc import Callable
from typing import Final, NamedTuple

from hawse.api.code import CodeOffsets
from hawse_runtime.journal.journal import Journal
from hawse_runtime.journal.spill import SpillStore
from hawse_runtime.process.output_stream import KeptStream, StreamCursor

NAMES: Final = ("value", "display", "update", "clear", "raised", "input")  # event names; headers contain the index
BARRIER: Final = 255
SHRUNK = 4096  # number of bytes kept from each stream of an old run
_HEADER = struct.Struct(">IBQQQ")  # length of the JSON, index of the name, and the three lengths in `Frame.at`
_TRIM = 4096  # the positions of dropped frames are removed in batches of this size


class Frame(NamedTuple):
    """An event or barrier, with its position relative to the other streams."""

    name: int
    at: tuple[int, int, int]  # the lengths of stdout, stderr and bundles when the frame was written
    body: bytes
    end: int  # the offset just after the frame, sent as `offset`


class RunLog:
    """All of a run's output. `streams` are stdout, stderr and bundles, in the order of their message kinds."""

    def __init__(
        self,
        journal: Callable[[], Journal],
        store: SpillStore,
        changed: Callable[[], None],
        pause: Callable[[], None],
        resume: Callable[[], None],
    ) -> None:
        """Create an empty log.

        Args:
            journal: Creates a journal. May raise `limit_exceeded`.
            store: Stores output above the memory limit on disk.
            changed: Called after each append.
            pause: Pauses output because the disk has fallen behind. Each call is followed by a call to `resume`.
            resume: Resumes output paused by `pause`.
        """
        first, second, third, fourth = journal(), journal(), journal(), journal()
        self.stdout, self.stderr, self.bundles, self.events = (
            KeptStream(each, pause, resume, store) for each in (first, second, third, fourth)
        )
        self.streams = (self.stdout, self.stderr, self.bundles)
        self._changed = changed
        self._frames = array("Q")  # frame positions, ascending
        self._last: KeptStream | None = None  # the stream that was last written to: stdout or stderr

    @property
    def end(self) -> CodeOffsets:
        """Each stream's length."""
        out, err, large = (stream.end for stream in self.streams)
        return CodeOffsets(stdout=out, stderr=err, bundles=large, events=self.events.end)

    def write(self, number: int, data: bytes) -> None:
        """Append bytes to a stream. `number` is its index in `streams`."""
        stream = self.streams[number]
        if stream is not self.bundles:
            if self._last not in (None, stream):
                self._add(BARRIER, b"")
            self._last = stream
        stream.journal.append(data)
        stream.appended()
        self._changed()

    def add_event(self, name: str, body: bytes) -> None:
        """Append an event. `body` is its value without `offset`, as a JSON object."""
        self._add(NAMES.index(name), body)
        self._changed()

    def finish(self) -> None:
        """Record that there will be no more output."""
        for stream in (*self.streams, self.events):
            stream.finish()

    def shrink(self) -> None:
        """Keep only the last part of each stream."""
        for stream in (*self.streams, self.events):
            stream.forget()
            stream.journal.limit(SHRUNK)

    def is_boundary(self, offset: int) -> bool:
        """Return whether reading events can start at `offset`."""
        return offset in (0, self.events.end) or self.boundary(offset) == offset or offset < self.events.first_at(0)

    def boundary(self, offset: int) -> int:
        """Return the position of the first frame at or after `offset`, or the end of the events."""
        index = bisect_left(self._frames, offset)
        return self._frames[index] if index < len(self._frames) else self.events.end

    def _add(self, name: int, body: bytes) -> None:
        position = self.events.end
        ends = (stream.end for stream in self.streams)
        self._frames.append(position)
        self.events.journal.append(_HEADER.pack(len(body), name, *ends) + body)
        self.events.appended()
        if len(self._frames) % _TRIM == 0:
            del self._frames[: bisect_left(self._frames, self.events.first_at(0))]


class EventCursor:
    """A reader's position in a run's events. `offset` is the next frame's position."""

    def __init__(self, log: RunLog, since: int, arrived: Callable[[], None]) -> None:
        """Create a cursor. `arrived` is called whenever bytes have been read from disk."""
        self.offset = since
        self._log = log
        self._cursor = StreamCursor(log.events, since, arrived)
        self._partial = bytearray()  # the beginning of the next frame while it is incomplete

    @property
    def at_end(self) -> bool:
        return self.offset >= self._log.events.end

    def lost(self) -> bool:
        """Skip frames that have been dropped. Return whether any were skipped."""
        if not self._cursor.lost():
            return False
        self._partial.clear()
        self.offset = self._cursor.offset = self._log.boundary(self._cursor.offset)
        return True

    def look(self) -> Frame | None:
        """Return the next frame, or None at the end or while the frame is being read from disk."""
        partial = self._partial
        while True:
            wanted = _HEADER.size
            if len(partial) >= wanted:
                size, name, *at = _HEADER.unpack_from(partial)
                wanted += size
                if len(partial) == wanted:
                    out, err, large = at
                    return Frame(name, (out, err, large), bytes(partial[_HEADER.size :]), self.offset + wanted)
            data = self._cursor.look(wanted - len(partial))
            if not data:
                return None
            partial += data
            self._cursor.take(len(data))

    def take(self, frame: Frame) -> None:
        """Advance past `frame`, which must come from `look`."""
        self.offset = frame.end
        self._partial.clear()

    def close(self) -> None:
        self._cursor.close()
