"""The last bytes of one stream, by absolute offset. Many cursors read one journal, which does not know them.

`JournalPool` limits the memory of all journals of a runtime together.
"""

import weakref
from collections.abc import Callable

from hawse.link.keystrokes import Keystrokes
from hawse.referable import referable
from hawse.wire import HawseError
from hawse_runtime.journal.limits import DEFAULT_CAPACITY, FlowLimits, JournalLimits

FIRST_SIZE = 4096  # bytes; most terminals stay idle, so the ring starts small and doubles
PORTION = 96 << 10  # bytes; a flood takes a tenth more processor time with 64 KiB, twenty viewers with 128
LEAST_CAPACITY = (
    256 << 10
)  # bytes; fewer could not hold one read (hawse_runtime.posix.fd_streams) and the lag of readers


@referable
class Journal:
    """A ring of bytes. `start` and `end` are absolute offsets; `[start, end)` can be read."""

    def __init__(
        self,
        capacity: int = DEFAULT_CAPACITY,
        reserve: Callable[["Journal", int], None] | None = None,
        flow: FlowLimits = FlowLimits(),
        keystrokes: Keystrokes | None = None,
    ) -> None:
        """Create an empty journal.

        Args:
            capacity: The most bytes that it holds, rounded up to a power of two.
            reserve: Is called with the journal and its new size before it takes more memory; it may call `limit`.
            flow: The limits of its readers.
            keystrokes: Of all users; whoever appends asks it.
        """
        self.flow = flow
        self.keystrokes = keystrokes
        self.capacity = _power_of_two(capacity)
        self._ring = bytearray(min(FIRST_SIZE, self.capacity))
        self._reserve = reserve
        self.start = 0
        self.end = 0
        self.before_limit: Callable[[int], None] | None = (
            None  # called with the new capacity before bytes are dropped that are not read yet
        )
        self.needed: Callable[[], int] | None = (
            None  # returns the first offset that must be kept for a reader, also if the journal is full
        )

    def __len__(self) -> int:
        return self.end - self.start

    @property
    def allocated(self) -> int:
        """The bytes of memory that the ring takes."""
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
        """Return up to `size` bytes from `offset`, fewer where the ring wraps. They are valid until the next `append`.

        Raises `ValueError` for an offset that is not in the journal.
        """
        if not self.start <= offset <= self.end:
            raise ValueError(f"offset {offset} is not in [{self.start}, {self.end}]")
        at = offset & (len(self._ring) - 1)
        stop = min(at + min(size, self.end - offset), len(self._ring))
        return memoryview(self._ring)[at:stop]

    def copy(self, start: int, stop: int) -> bytes:
        """Return the bytes of `[start, stop)`, which must be in the journal."""
        parts: list[memoryview] = []
        while start < stop:
            parts.append(self.read(start, stop - start))
            start += len(parts[-1])
        return b"".join(parts)

    def portion(self) -> int:
        """The number of bytes that may be appended before its readers run. The journal holds at least four portions."""
        return min(PORTION, self.capacity // 4)

    @property
    def memory(self) -> int:
        """The bytes of memory of its ring."""
        return len(self._ring)

    def limit(self, capacity: int) -> None:
        """Hold at most `capacity` bytes from now on, as soon as no more are `needed`; the oldest are dropped first."""
        if self.before_limit is not None:
            self.before_limit(_power_of_two(capacity))
        self.capacity = _power_of_two(capacity)
        self._shrink()

    def seal(self) -> None:
        """Note that no more bytes will come: free the unused memory."""
        self.limit(min(self.capacity, len(self)))

    def _make_room(self, size: int) -> None:
        """Grow for `size` more bytes, and drop the oldest bytes if the capacity does not allow it."""
        if self._reserve is not None and len(self._ring) < (ring_size := self._wanted(size)):
            self._reserve(self, ring_size)
        if len(self._ring) < (ring_size := self._wanted(size)):
            self._rebuild(ring_size)
        self.start = max(self.start, self.end + size - len(self._ring))

    def _wanted(self, size: int) -> int:
        """Return the size of the ring with `size` more bytes."""
        most = max(self.capacity, _power_of_two(self._promised + size))
        return min(_power_of_two(len(self) + size), most)

    @property
    def _promised(self) -> int:
        """The number of bytes before the end that must be kept."""
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
    """Makes journals and limits the memory of all of them to `limits.total` bytes.

    Each journal may grow to `limits.each` bytes while the total allows it. After that, all are limited to an equal
    share, which is as large as possible: small journals leave the rest to the others. When a share shrinks, bytes that
    lossless readers have not read are kept, and the program is paused until they are read; the total may be exceeded
    for that time.
    """

    def __init__(self, limits: JournalLimits = JournalLimits(), keystrokes: Keystrokes | None = None) -> None:
        """Create a pool without journals. `keystrokes` is for those that append to them."""
        self.limits = limits
        self._keystrokes = keystrokes
        self._journals: weakref.WeakSet[Journal] = weakref.WeakSet()

    @property
    def memory(self) -> int:
        """The bytes of memory of all journals."""
        return sum(journal.memory for journal in self._journals)

    def journal(self) -> Journal:
        """Create a journal, and recompute the share of the others.

        Raises `limit_exceeded` if the share of each would be less than LEAST_CAPACITY.
        """
        sharing, small = self._sharing()
        if (self.limits.total - small) // (len(sharing) + 1) < LEAST_CAPACITY:
            del sharing  # the traceback of an error would keep the journals alive
            message = f"the memory for output is used up: {len(self._journals)} journals share it"
            raise HawseError("limit_exceeded", message)
        share = self._share([other.memory for other in sharing], self.limits.total - small - FIRST_SIZE)
        for other in sharing:
            if other.capacity != share:
                other.limit(share)
        journal = Journal(share, self._reserve, self.limits.flow, self._keystrokes)
        self._journals.add(journal)
        return journal

    def _reserve(self, journal: Journal, size: int) -> None:
        """Make room for a ring of `size` bytes: limit the journals that have more than their share."""
        if self.memory - journal.memory + size > self.limits.total:
            sharing, small = self._sharing()
            share = self._share(
                [size if other is journal else other.memory for other in sharing], self.limits.total - small
            )
            for other in sharing:
                if other.capacity > share:
                    other.limit(share)

    def _share(self, sizes: list[int], total: int) -> int:
        """Return the largest share with which all fit into `total` bytes: a power of two, as the size of every ring."""
        share = 1 << (self.limits.each.bit_length() - 1)
        while share > LEAST_CAPACITY and sum(min(size, share) for size in sizes) > total:
            share >>= 1
        return share

    def _sharing(self) -> tuple[list[Journal], int]:
        """Return the journals that have a share, and the bytes of those that have ended. Forget tiny ones."""
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
