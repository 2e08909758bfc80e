"""Limits the number of open stream generators. Each one holds a descriptor and a block of output in memory.

Streams above the limit wait for a slot. A stream whose client is not reading loses its slot to a waiting one. A client
therefore cannot block other clients by opening many streams without reading them.
"""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final, NamedTuple, Protocol

from hawse.api.rights import ALL
from hawse.rpc.shares import Shares
from hawse.wire import HawseError, Principal

SLOTS: Final = 512  # half the usual soft limit on open files, 1,024
STALLED: Final = 2.0  # seconds without progress until a stream can lose its slot to a waiting one
MEMORY: Final = 32 << 20  # approximate bytes of all blocks; with many open streams, blocks are smaller
BLOCK: Final = 256 << 10  # bytes per block while few streams are open
BLOCK_MIN: Final = 16 << 10


class SlotUser(Protocol):
    """A stream that needs a slot to run."""

    @property
    def principal(self) -> Principal:
        """The principal that opened the stream."""
        ...

    @property
    def busy(self) -> bool:
        """Whether the stream is producing output. A busy stream is not stalled."""
        ...

    def begin(self) -> None:
        """Start the stream. Called when it has a slot."""
        ...

    def give_up(self) -> None:
        """End the stream, because another one needs its slot. The stream calls `StreamSlots.leave` now or later."""
        ...


class OpenSlot(NamedTuple):
    """A slot in use."""

    progress: float  # the loop time when the stream last made progress
    release: Callable[[], None]  # releases the slot from the principal's share


class StreamSlots:
    """The slots of one runtime. Principals take turns, and a share of the slots is reserved for the owner."""

    def __init__(self, slots: int = SLOTS) -> None:
        self._shares = Shares(slots, "streams")
        self._open: dict[SlotUser, OpenSlot] = {}
        self._waiting: dict[str, dict[SlotUser, None]] = {}  # by principal id, the next principal first
        self._timer: asyncio.TimerHandle | None = None  # set while streams are waiting
        self._clock: Callable[[], float] = asyncio.get_running_loop().time

    def block_size(self) -> int:
        """Return the number of bytes that each stream can hold in memory."""
        return max(BLOCK_MIN, min(BLOCK, MEMORY // max(1, len(self._open))))

    def enter(self, user: SlotUser) -> None:
        """Call `user.begin` when a slot is free, possibly before this method returns."""
        self._waiting.setdefault(user.principal.id, {})[user] = None
        self._fill()

    def progress(self, user: SlotUser) -> None:
        """Record that the client of `user` has read data."""
        if (slot := self._open.get(user)) is not None:
            self._open[user] = slot._replace(progress=self._clock())

    def leave(self, user: SlotUser) -> None:
        """Release the slot of `user`, or remove it from the queue. Idempotent."""
        waiting = self._waiting.get(user.principal.id, {})
        if waiting.pop(user, user) is None and not waiting:
            del self._waiting[user.principal.id]
        if (slot := self._open.pop(user, None)) is not None:
            slot.release()
        self._fill()

    def reclaim(self) -> None:
        """End stalled streams to free slots for waiting ones. Called while streams are waiting.

        Streams of guests are ended for any waiting principal, streams of the owner only if the owner is waiting.
        """
        self._timer = None
        waiting = [next(iter(users)).principal for users in self._waiting.values()]
        any_stream = any(ALL in principal.rights for principal in waiting)
        stalled = self._clock() - STALLED
        idle = [
            user
            for user, slot in self._open.items()
            if slot.progress <= stalled and not user.busy and (any_stream or ALL not in user.principal.rights)
        ]
        for user in idle[: sum(map(len, self._waiting.values()))]:
            user.give_up()
        self._fill()

    def _fill(self) -> None:
        """Assign free slots to waiting streams, one per principal in turn."""
        taken = True
        while taken:
            taken = False
            for name in list(self._waiting):
                taken |= name in self._waiting and self._take(self._waiting[name])
        if self._waiting and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(STALLED, self.reclaim)
        elif not self._waiting and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _take(self, waiting: dict[SlotUser, None]) -> bool:
        """Assign a slot to the first waiting stream of a principal. Return whether a slot was free."""
        user = next(iter(waiting))
        held = ExitStack()
        try:
            held.enter_context(self._shares.hold(user.principal))
        except HawseError:
            return False
        del waiting[user], self._waiting[user.principal.id]
        if waiting:
            self._waiting[user.principal.id] = waiting  # the principal moves behind all others
        self._open[user] = OpenSlot(self._clock(), held.close)
        user.begin()
        return True
