"""The last bytes of one stream, by absolute offset. One journal, many cursors; it knows no reader, only their limits.

`JournalPool` bounds what all journals of a runtime hold together.
"""

import weakref
from collections.abc import Callable
from dataclasses import dataclass

from hawse.wire import HawseError

FIRST_SIZE = 4096  # bytes; most terminals stay idle, so the ring starts small and doubles
DEFAULT_CAPACITY = 4 << 20
PORTION = 96 << 10  # bytes; a flood takes a tenth more processor time with 64 KiB, twenty viewers with 128
LEAST_CAPACITY = 256 << 10  # less would not hold a burst of reading (runtime.pipes) and what readers are behind


@dataclass(frozen=True, kw_only=True)
class FlowLimits:
    """How far the readers of a journal may be behind, and how long a program waits for them (`Backpressure`)."""

    room: int = 512 << 10  # bytes the fastest reader may be behind: enough to keep a fast one busy
    stall_timeout: float = 2.0  # seconds without progress after which an ordinary reader is ignored
    progress: int = 16 << 10  # bytes in that time that count as progress: a slow modem is faster
    lossless_stall_timeout: float = 30.0  # the same as `stall_timeout`, for a lossless reader that takes nothing
    hold_timeout: float = 30.0  # seconds the position of a lossless reader is held after its connection was lost


@dataclass(frozen=True)
class JournalLimits:
    """Bytes of output that are held in memory."""

    total: int = 512 << 20  # of all journals together
    each: int = DEFAULT_CAPACITY  # of one journal, while there is room
    flow: FlowLimits = FlowLimits()  # of the readers of each journal


class Journal:
    """A ring of bytes. `start` and `end` are absolute offsets; `[start, end)` can be read."""

    def __init__(
        self,
        capacity: int = DEFAULT_CAPACITY,
        reserve: Callable[["Journal", int], None] | None = None,
        flow: FlowLimits = FlowLimits(),
    ) -> None:
        """Create an empty journal.

        Args:
            capacity: The most bytes that it holds, rounded up to a power of two.
            reserve: Is called with the journal and its new size before it takes more memory; it may call `limit`.
            flow: The limits of its readers.
        """
        self.flow = flow
        self.capacity = _power_of_two(capacity)
        self._ring = bytearray(min(FIRST_SIZE, self.capacity))
        self._reserve = reserve
        self.start = 0
        self.end = 0
        self.before_limit: Callable[[int], None] | None = (
            None  # called with the new capacity: bytes that are not read yet may be dropped
        )
        self.needed: Callable[[], int] | None = (
            None  # the first offset that must be kept for a reader, however full it is
        )

    def __len__(self) -> int:
        return self.end - self.start

    def append(self, data: bytes | memoryview) -> None:
        size = len(data)
        if size > self.capacity:
            self.end += size - self.capacity
            self.start = self.end
            data = memoryview(data)[size - self.capacity :]
            size = self.capacity
        if len(self._ring) > self.capacity:
            self._shrink()
        if len(self) + size > len(self._ring):
            self._make_room(size)
        ring = self._ring
        at = self.end & (len(ring) - 1)
        first = min(size, len(ring) - at)
        if first == size:
            ring[at : at + size] = data
        else:
            view = memoryview(data)
            ring[at:] = view[:first]
            ring[: size - first] = view[first:]
        self.end += size

    def read(self, offset: int, size: int) -> memoryview:
        """Up to `size` bytes from `offset`, less where the ring wraps. Valid until the next `append`.

        Raises `ValueError` for an offset that is not in the journal.
        """
        if not self.start <= offset <= self.end:
            raise ValueError(f"offset {offset} is not in [{self.start}, {self.end}]")
        at = offset & (len(self._ring) - 1)
        stop = min(at + min(size, self.end - offset), len(self._ring))
        return memoryview(self._ring)[at:stop]

    def copy(self, start: int, stop: int) -> bytes:
        """The bytes of `[start, stop)`, which must be in the journal."""
        parts: list[memoryview] = []
        while start < stop:
            parts.append(self.read(start, stop - start))
            start += len(parts[-1])
        return b"".join(parts)

    def portion(self) -> int:
        """How many bytes may come before its readers have their turn. It holds at least four such portions."""
        return min(PORTION, self.capacity // 4)

    @property
    def memory(self) -> int:
        """Bytes that its ring takes."""
        return len(self._ring)

    def limit(self, capacity: int) -> None:
        """Hold at most `capacity` bytes from now on, as soon as no more are `needed`; the oldest go first."""
        if self.before_limit is not None:
            self.before_limit(_power_of_two(capacity))
        self.capacity = _power_of_two(capacity)
        self._shrink()

    def seal(self) -> None:
        """Nothing more will come: take no more room than what is there."""
        self.limit(min(self.capacity, len(self)))

    def _make_room(self, size: int) -> None:
        """Grow for `size` more bytes, and drop the oldest where the capacity does not allow it."""
        if self._reserve is not None and len(self._ring) < (ring_size := self._wanted(size)):
            self._reserve(self, ring_size)
        if len(self._ring) < (ring_size := self._wanted(size)):
            self._rebuild(ring_size)
        self.start = max(self.start, self.end + size - len(self._ring))

    def _wanted(self, size: int) -> int:
        """Of what size the ring would be with `size` more bytes."""
        most = max(self.capacity, _power_of_two(self._promised + size))
        return min(_power_of_two(len(self) + size), most)

    @property
    def _promised(self) -> int:
        """How many bytes, up to the end, must stay."""
        return 0 if self.needed is None else self.end - max(self.start, min(self.needed(), self.end))

    def _shrink(self) -> None:
        size = max(self.capacity, _power_of_two(self._promised))
        if len(self._ring) > size:
            self._rebuild(size)

    def _rebuild(self, ring_size: int) -> None:
        ring = bytearray(ring_size)
        offset = max(self.start, self.end - ring_size)
        self.start = offset
        while offset < self.end:
            part = self.read(offset, ring_size - (offset & (ring_size - 1)))
            at = offset & (ring_size - 1)
            ring[at : at + len(part)] = part
            offset += len(part)
        self._ring = ring


class JournalPool:
    """Makes journals and keeps what all of them hold within `limits.total` bytes.

    Each may grow to `limits.each` bytes while there is room; when there is none, all are limited to an equal share,
    which is as large as it can be: those that hold little leave the rest to the others. Bytes that lossless readers
    have not read yet stay when a share shrinks (the program is held up until they have): for that long it may be more.
    """

    def __init__(self, limits: JournalLimits = JournalLimits()) -> None:
        self.limits = limits
        self._journals: weakref.WeakSet[Journal] = weakref.WeakSet()

    @property
    def memory(self) -> int:
        """Bytes that all of them take."""
        return sum(journal.memory for journal in self._journals)

    def journal(self) -> Journal:
        """A new journal; what others were limited to is thought over.

        Raises `limit_exceeded` where less than LEAST_CAPACITY would be left for each.
        """
        sharing, small = self._sharing()
        if (self.limits.total - small) // (len(sharing) + 1) < LEAST_CAPACITY:
            del sharing  # an error remembers what was there
            raise HawseError("limit_exceeded", f"{len(self._journals)} journals hold what there is for output")
        share = self._share([other.memory for other in sharing], self.limits.total - small - FIRST_SIZE)
        for other in sharing:
            if other.capacity != share:
                other.limit(share)
        journal = Journal(share, self._reserve, self.limits.flow)
        self._journals.add(journal)
        return journal

    def _reserve(self, journal: Journal, size: int) -> None:
        """The ring of `journal` is to be `size` bytes: limit the journals that have more than the share of each."""
        if self.memory - journal.memory + size > self.limits.total:
            sharing, small = self._sharing()
            share = self._share(
                [size if other is journal else other.memory for other in sharing], self.limits.total - small
            )
            for other in sharing:
                if other.capacity > share:
                    other.limit(share)

    def _share(self, sizes: list[int], total: int) -> int:
        """The largest share with which they fit into `total` bytes: a power of two, which is what a journal holds."""
        share = 1 << (self.limits.each.bit_length() - 1)
        while share > LEAST_CAPACITY and sum(min(size, share) for size in sizes) > total:
            share >>= 1
        return share

    def _sharing(self) -> tuple[list[Journal], int]:
        """Those that have a share, and the bytes of the others, which have ended. Tiny ones are let go."""
        sharing, tiny = [], []
        small = 0
        for journal in self._journals:
            if journal.capacity >= LEAST_CAPACITY:
                sharing.append(journal)
            elif journal.capacity > FIRST_SIZE:
                small += journal.capacity
            else:
                tiny.append(journal)
        self._journals.difference_update(tiny)
        return sharing, small


def _power_of_two(size: int) -> int:
    return 1 << max(size - 1, 0).bit_length()
