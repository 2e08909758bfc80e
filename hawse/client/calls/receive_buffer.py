"""Buffers received items until they are read. The buffer is bounded by credit, which is granted when a reader takes an
item.

Each call has one buffer, which it keeps across reconnects. Its lanes (stdout, stderr) can be read separately, or
together in the order of arrival. The buffer doesn't depend on sockets or on the meaning of the bytes.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from hawse.client.base.errors import BusyError, fresh
from hawse.wire import HawseError

CHUNK = 64 * 1024  # size in bytes; smaller payloads are joined to limit the memory used by tiny frames
GRANT_STEP = 64 << 10  # bytes read per grant; small, because servers measure the reader's speed by its grants


class BufferedChunk:
    """Consecutive bytes in one lane. `offset` is the first byte's offset."""

    __slots__ = ("data", "offset")

    def __init__(self, offset: int, data: bytes | memoryview) -> None:
        self.offset = offset
        self.data = bytearray(data)


class DiscardedRange(NamedTuple):
    """A placeholder for entries that were discarded. Entries are only discarded within `without_readers`."""

    start: int  # offset of the first discarded byte
    end: int  # offset after the last discarded byte; `start` if no bytes were discarded
    size: int  # cost of the entries, in bytes of credit


class BufferEntry(NamedTuple):
    """An entry in a lane: a chunk, which costs its length, or another item with its cost in bytes of credit."""

    number: int  # position in the order of arrival
    item: object
    cost: int


class ReceiveBuffer:
    """A call's received items that its readers haven't taken yet."""

    def __init__(self, window: int, grant: Callable[[int], None]) -> None:
        """Create an empty buffer of `window` bytes. `grant` is called with the number of bytes to grant the server."""
        self._window = window
        self._grant = grant
        self._lanes: dict[str, deque[BufferEntry]] = {}
        self._busy: set[str | None] = set()
        self._arrived = asyncio.Event()
        self._number = 0
        self._held = 0  # bytes of credit taken up by the entries
        self._owed = 0  # bytes taken by readers but not yet granted back; grants are batched
        self._discarded: dict[str, DiscardedRange] = {}  # the range discarded before a lane's entries, keyed by lane
        self._waiting = 0  # number of tasks that wait for the end without reading
        self._readers = 0  # number of existing iterators
        self._error: HawseError | None = None  # the error that ended the call
        self._over = False

    # ---- called by the channel

    def window(self) -> int:
        """Return the initial window of a new channel: the unused part of the buffer.

        The window is at least 1, because the `opened` event, which must arrive before any item is read, needs credit.
        """
        self._owed = 0
        return max(self._window - self._held, 1)

    def put_bytes(self, lane: str, offset: int, data: memoryview | bytes) -> None:
        """Append bytes to `lane`. `offset` is the first byte's offset."""
        queue = self._lanes.setdefault(lane, deque())
        last = queue[-1].item if queue and queue[-1].number == self._number else None
        if isinstance(last, BufferedChunk) and len(last.data) + len(data) <= CHUNK:
            last.data += data
            self._added(len(data))
        else:
            self.put(lane, BufferedChunk(offset, data), len(data))

    def put(self, lane: str, item: object, cost: int = 0) -> None:
        """Append an item to `lane`, with its cost in bytes of credit."""
        self._number += 1
        own = 0 if isinstance(item, BufferedChunk) else cost
        self._lanes.setdefault(lane, deque()).append(BufferEntry(self._number, item, own))
        self._added(cost)

    def spend(self, cost: int) -> None:
        """Give `cost` bytes of credit back to the server, for messages that don't need a reader."""
        self._owed += cost
        if self._owed >= min(self._window // 4, GRANT_STEP) or not self._window:
            owed, self._owed = self._owed, 0
            self._grant(owed)

    def supersede(self, lane: str, obsolete: Callable[[object], bool]) -> None:
        """Remove the first item that `obsolete` is true for, and all items after it."""
        queue = self._lanes.get(lane, deque[BufferEntry]())
        found = next((index for index, entry in enumerate(queue) if obsolete(entry.item)), len(queue))
        while len(queue) > found:
            self._release(_cost(queue.pop()))

    def drop_tail(self, lane: str, obsolete: Callable[[object], bool]) -> None:
        """Remove items from the end as long as `obsolete` is true for them."""
        queue = self._lanes.get(lane)
        while queue and obsolete(queue[-1].item):
            self._release(_cost(queue.pop()))

    def finish(self, error: HawseError | None) -> None:
        """Record that nothing more will arrive. After the remaining entries, readers end or raise `error`."""
        if not self._over:
            self._over, self._error = True, error
            self._arrived.set()

    # ---- called by readers

    async def get(self, lane: str | None = None) -> tuple[str, object]:
        """Take the next entry of `lane`, or of any lane; return its lane and its item.

        The item is a `BufferedChunk`, a `DiscardedRange` or an object that was passed to `put`.

        Raises:
            StopAsyncIteration: The end was reached.
            BusyError: Another task is waiting on the same lane.
            HawseError: The error that ended the call.
        """
        if lane in self._busy:
            raise BusyError
        self._busy.add(lane)
        try:
            while (name := self._next(lane)) is None:
                if self._over:
                    raise StopAsyncIteration if self._error is None else fresh(self._error)
                self._arrived.clear()
                await self._arrived.wait()
        finally:
            self._busy.discard(lane)
        if discarded := self._discarded.pop(name, None):
            return name, discarded
        entry = self._lanes[name].popleft()
        self._release(_cost(entry))
        return name, entry.item

    def register(self) -> None:
        """Register an iterator. Nothing is discarded until `unregister` is called."""
        self._readers += 1

    def unregister(self) -> None:
        self._readers -= 1
        self._trim()

    @contextmanager
    def without_readers(self) -> Iterator[None]:
        """Within this context, discard the oldest bytes beyond half the window as long as no iterator exists.

        Without this, a task that waits for a program to end would wait forever if the program printed more than one
        window. The next reader gets a `DiscardedRange` in place of the bytes.
        """
        self._waiting += 1
        try:
            self._trim()
            yield
        finally:
            self._waiting -= 1

    # ---- internals

    def _next(self, lane: str | None = None) -> str | None:
        """The lane of the next item, if any."""
        if lane is not None:
            return lane if lane in self._discarded or self._lanes.get(lane) else None
        if self._discarded:
            return next(iter(self._discarded))
        return self._oldest()

    def _oldest(self) -> str | None:
        """The lane of the oldest entry, if any."""
        full = (name for name, queue in self._lanes.items() if queue)
        return min(full, key=lambda name: self._lanes[name][0].number, default=None)

    def _added(self, cost: int) -> None:
        self._held += cost
        self._arrived.set()
        self._trim()

    def _release(self, cost: int) -> None:
        self._held -= cost
        self.spend(cost)

    def _trim(self) -> None:
        while self._waiting and not self._readers and self._held * 2 > self._window:
            name = self._oldest()
            assert name is not None
            entry = self._lanes[name].popleft()
            self._discarded[name] = _extended(self._discarded.get(name, DiscardedRange(0, 0, 0)), entry)
            self._release(_cost(entry))


def _extended(discarded: DiscardedRange, entry: BufferEntry) -> DiscardedRange:
    start, end, size = discarded
    if isinstance(entry.item, BufferedChunk):
        start = start if start < end else entry.item.offset
        end = entry.item.offset + len(entry.item.data)
    return DiscardedRange(start, end, size + _cost(entry))


def _cost(entry: BufferEntry) -> int:
    return len(entry.item.data) if isinstance(entry.item, BufferedChunk) else entry.cost
