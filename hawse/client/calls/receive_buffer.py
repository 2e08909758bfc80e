"""What has arrived and nobody has taken yet: bounded by credit, which is granted only when a reader takes.

One inbox serves one channel, over as many connections as that takes. It has lanes (stdout, stderr) that can be
read together, in the order of arrival, or apart. It knows neither sockets nor what the bytes mean.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from hawse.client.base.errors import BusyError, TruncatedError, fresh
from hawse.wire import HawseError

CHUNK = 64 * 1024  # bytes up to which small payloads are joined: bounds what a window of tiny frames costs


GRANT_STEP = 64 << 10  # bytes: a server that learns from grants how fast we are must not wait long for one


class BufferedChunk:
    """Bytes of one lane that follow each other; `offset` is that of the first."""

    __slots__ = ("data", "offset")

    def __init__(self, offset: int, data: bytes | memoryview) -> None:
        self.offset = offset
        self.data = bytearray(data)


class BufferEntry(NamedTuple):
    """Something in a lane: a chunk (which costs its length), or any other item with its cost in bytes of credit."""

    number: int  # in the order of arrival
    item: object
    cost: int


class ReceiveBuffer:
    """Items between one channel and its readers."""

    def __init__(self, window: int, grant: Callable[[int], None]) -> None:
        self._window = window
        self._grant = grant
        self._lanes: dict[str, deque[BufferEntry]] = {}
        self._busy: set[str | None] = set()
        self._arrived = asyncio.Event()
        self._number = 0
        self._held = 0  # bytes of credit that lie here
        self._owed = 0  # bytes taken and not granted yet: granted in batches
        self._dropped: dict[str, int] = {}
        self._waiting = 0  # how many wait for the end, and do without output that nobody reads
        self._readers = 0  # readers that exist
        self._end: HawseError | None = None
        self._over = False

    # ---- the channel's side

    def window(self) -> int:
        """A new channel begins: what it may send at first, so that all that lies here stays within the bound.

        At least 1, so that `opened` (an event needs a positive window) arrives although nobody reads.
        """
        self._owed = 0
        return max(self._window - self._held, 1)

    def put_bytes(self, lane: str, offset: int, data: memoryview | bytes) -> None:
        queue = self._lanes.setdefault(lane, deque())
        last = queue[-1].item if queue and queue[-1].number == self._number else None
        if isinstance(last, BufferedChunk) and len(last.data) + len(data) <= CHUNK:
            last.data += data
            self._came(len(data))
        else:
            self.put(lane, BufferedChunk(offset, data), len(data))

    def put(self, lane: str, item: object, cost: int = 0) -> None:
        self._number += 1
        own = 0 if isinstance(item, BufferedChunk) else cost
        self._lanes.setdefault(lane, deque()).append(BufferEntry(self._number, item, own))
        self._came(cost)

    def spend(self, cost: int) -> None:
        """`cost` bytes were received and need no reader."""
        self._owed += cost
        if self._owed >= min(self._window // 4, GRANT_STEP) or not self._window:
            owed, self._owed = self._owed, 0
            self._grant(owed)

    def supersede(self, lane: str, obsolete: Callable[[object], bool]) -> None:
        """Drop the first item that is `obsolete` and all after it."""
        queue = self._lanes.get(lane, deque[BufferEntry]())
        found = next((index for index, entry in enumerate(queue) if obsolete(entry.item)), len(queue))
        while len(queue) > found:
            self._release(_cost(queue.pop()))

    def drop_tail(self, lane: str, obsolete: Callable[[object], bool]) -> None:
        """Drop the last items as long as they are `obsolete`."""
        queue = self._lanes.get(lane)
        while queue and obsolete(queue[-1].item):
            self._release(_cost(queue.pop()))

    def finish(self, error: HawseError | None) -> None:
        """Nothing more will come: what lies here can still be read, then readers end, or raise `error`."""
        if not self._over:
            self._over, self._end = True, error
            self._arrived.set()

    # ---- the readers' side

    async def get(self, lane: str | None = None) -> tuple[str, object]:
        """The next item of `lane`, or of any, and its lane: a `BufferedChunk` or what was `put`.

        Raises `StopAsyncIteration` at the end, the channel's error, `BusyError` if another task waits for the
        same, `TruncatedError` once if bytes were dropped because nobody read them.
        """
        if lane in self._busy:
            raise BusyError
        self._busy.add(lane)
        try:
            while (name := self._next(lane)) is None:
                if self._over:
                    self._tell_of_dropped(*([lane] if lane else [*self._dropped]))
                    raise StopAsyncIteration if self._end is None else fresh(self._end)
                self._arrived.clear()
                await self._arrived.wait()
        finally:
            self._busy.discard(lane)
        self._tell_of_dropped(name)
        entry = self._lanes[name].popleft()
        self._release(_cost(entry))
        return name, entry.item

    def register(self) -> None:
        """A reader begins: from now until it is gone nothing is dropped."""
        self._readers += 1

    def unregister(self) -> None:
        self._readers -= 1
        self._trim()

    @contextmanager
    def without_readers(self) -> Iterator[None]:
        """While this is entered and nobody reads, what exceeds half the window is dropped from the front.

        Who waits for the end of something that prints a lot would wait for ever otherwise. What was dropped is
        told to the next reader.
        """
        self._waiting += 1
        try:
            self._trim()
            yield
        finally:
            self._waiting -= 1

    # ---- inside

    def _next(self, lane: str | None = None) -> str | None:
        """The lane of what is to be read next, if there is anything."""
        if lane is not None:
            return lane if self._lanes.get(lane) else None
        full = (name for name, queue in self._lanes.items() if queue)
        return min(full, key=lambda name: self._lanes[name][0].number, default=None)

    def _tell_of_dropped(self, *lanes: str) -> None:
        for name in lanes:
            if missing := self._dropped.pop(name, 0):
                raise TruncatedError(name, missing)

    def _came(self, cost: int) -> None:
        self._held += cost
        self._arrived.set()
        self._trim()

    def _release(self, cost: int) -> None:
        self._held -= cost
        self.spend(cost)

    def _trim(self) -> None:
        while self._waiting and not self._readers and self._held * 2 > self._window:
            name = self._next()
            assert name is not None
            cost = _cost(self._lanes[name].popleft())
            self._dropped[name] = self._dropped.get(name, 0) + cost
            self._release(cost)


def _cost(entry: BufferEntry) -> int:
    return len(entry.item.data) if isinstance(entry.item, BufferedChunk) else entry.cost
