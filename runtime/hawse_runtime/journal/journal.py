"""A stream's most recent bytes, addressed by absolute offset. Any number of independent cursors can read a journal.

`JournalPool` limits the total memory of all journals in a runtime.
"""

import weakref
from collections.abc import Callable

from hawse.link.keystrokes import Keystrokes
from hawse.weakref_support import supports_weakref
from hawse.wire import HawseError
from hawse_runtime.journal.limits import DEFAULT_CAPACITY, FlowLimits, JournalLimits

FIRST_SIZE = 4096  # initial size in bytes; most terminals are idle, so the ring buffer starts small and doubles
# Maximum number of bytes appended before readers run. During a flood of output, this size takes 10% less CPU time than
# 64 KiB and, with twenty viewers, also less than 128 KiB.
PORTION = 96 << 10
# Minimum size in bytes; must be enough for one read (see posix.fd_streams) plus the readers' lag.
LEAST_CAPACITY = 256 << 10


@supports_weakref
class Journal:
    """A ring buffer. `start` and `end` are absolute offsets; the range `[start, end)` is readable."""

    def __init__(
        self,
        capacity: int = DEFAULT_CAPACITY,
        reserve: Callable[["Journal", int], None] | None = None,
        flow: FlowLimits = FlowLimits(),
        keystrokes: Keystrokes | None = None,
    ) -> None:
        """Create an empty journal.

        Args:
            capacity: The maximum size in bytes, rounded up to a power of two.
            reserve: Called with the journal and its new size before memory is allocated. May call `limit`.
            flow: Limits on readers.
            keystrokes: Detects typing by any user, for use by the code that appends.
        """
        self.flow = flow
        self.keystrokes = keystrokes
        self.capacity = _power_of_two(capacity)
        self._ring = bytearray(min(FIRST_SIZE, self.capacity))
        self._reserve = reserve
        self.start = 0
        self.end = 0
        self.before_limit: Callable[[int], None] | None = (
            None  # if set, called with the new capacity before unread bytes are dropped
        )
        self.needed: Callable[[], int] | None = (
            None  # if set, returns the first offset that must be kept for a reader even if the journal is full
        )

    def __len__(self) -> int:
        return self.end - self.start

    @property
    def allocated(self) -> int:
        """The size of the ring buffer in bytes."""
        return len(self._ring)

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
        """Return a view of up to `size` bytes from `offset`, or fewer if the ring wraps around. It is valid until the
        next `append`.

        Raises `ValueError` if the offset is outside the journal.
        """
        if not self.start <= offset <= self.end:
            raise ValueError(f"offset {offset} is not in [{self.start}, {self.end}]")
        at = offset & (len(self._ring) - 1)
        stop = min(at + min(size, self.end - offset), len(self._ring))
        return memoryview(self._ring)[at:stop]

    def copy(self, start: int, stop: int) -> bytes:
        """Return the bytes in `[start, stop)`, which must be in the journal."""
        parts: list[memoryview] = []
        while start < stop:
            parts.append(self.read(start, stop - start))
            start += len(parts[-1])
        return b"".join(parts)

    def portion(self) -> int:
        """Return the number of bytes to append before letting readers run, at most a quarter of the journal."""
        return min(PORTION, self.capacity // 4)

    @property
    def memory(self) -> int:
        """The size of the ring buffer in bytes."""
        return len(self._ring)

    def limit(self, capacity: int) -> None:
        """Limit the journal to `capacity` bytes, or more if more are `needed`. Drops the oldest bytes first."""
        if self.before_limit is not None:
            self.before_limit(_power_of_two(capacity))
        self.capacity = _power_of_two(capacity)
        self._shrink()

    def seal(self) -> None:
        """Record the end of the stream, and free unused memory."""
        self.limit(min(self.capacity, len(self)))

    def _make_room(self, size: int) -> None:
        """Grow for `size` more bytes or, at the capacity limit, drop the oldest bytes."""
        if self._reserve is not None and len(self._ring) < (ring_size := self._wanted(size)):
            self._reserve(self, ring_size)
        if len(self._ring) < (ring_size := self._wanted(size)):
            self._rebuild(ring_size)
        self.start = max(self.start, self.end + size - len(self._ring))

    def _wanted(self, size: int) -> int:
        """Return the ring size needed to fit `size` more bytes."""
        most = max(self.capacity, _power_of_two(self._promised + size))
        return min(_power_of_two(len(self) + size), most)

    @property
    def _promised(self) -> int:
        """The number of bytes at the end that must be kept."""
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
    """Creates journals and limits their total memory to `limits.total` bytes.

    Each journal can grow to `limits.each` bytes as long as the total allows it. Beyond that, all journals get an equal
    share, and small ones leave their unused memory to the others. When the share shrinks, bytes not yet read by
    lossless readers are kept, and the program is paused until they have been read. Until then, the total may be
    exceeded.
    """

    def __init__(self, limits: JournalLimits = JournalLimits(), keystrokes: Keystrokes | None = None) -> None:
        """Create an empty pool. `keystrokes` is passed on to each journal (see `Journal`)."""
        self.limits = limits
        self._keystrokes = keystrokes
        self._journals: weakref.WeakSet[Journal] = weakref.WeakSet()

    @property
    def memory(self) -> int:
        """The total size of all ring buffers in bytes."""
        return sum(journal.memory for journal in self._journals)

    def journal(self) -> Journal:
        """Create a journal and recompute every journal's share.

        Raises `limit_exceeded` if the share would be less than LEAST_CAPACITY.
        """
        sharing, small = self._sharing()
        if (self.limits.total - small) // (len(sharing) + 1) < LEAST_CAPACITY:
            del sharing  # otherwise, the error's traceback would keep the journals alive
            message = f"the memory for output is exhausted: {len(self._journals)} journals share it"
            raise HawseError("limit_exceeded", message)
        share = self._share([other.memory for other in sharing], self.limits.total - small - FIRST_SIZE)
        for other in sharing:
            if other.capacity != share:
                other.limit(share)
        journal = Journal(share, self._reserve, self.limits.flow, self._keystrokes)
        self._journals.add(journal)
        return journal

    def _reserve(self, journal: Journal, size: int) -> None:
        """Make room for a ring of `size` bytes by limiting journals that exceed their share."""
        if self.memory - journal.memory + size > self.limits.total:
            sharing, small = self._sharing()
            share = self._share(
                [size if other is journal else other.memory for other in sharing], self.limits.total - small
            )
            for other in sharing:
                if other.capacity > share:
                    other.limit(share)

    def _share(self, sizes: list[int], total: int) -> int:
        """Return the largest share that fits all journals into `total` bytes. Like ring sizes, it is a power of two."""
        share = 1 << (self.limits.each.bit_length() - 1)
        while share > LEAST_CAPACITY and sum(min(size, share) for size in sizes) > total:
            share >>= 1
        return share

    def _sharing(self) -> tuple[list[Journal], int]:
        """Return the journals that get a share, and the total size of small ones in bytes. Stops tracking tiny ones."""
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
