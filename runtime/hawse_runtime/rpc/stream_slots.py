"""Limits the number of open stream generators. Each holds a descriptor and a block of output in memory.

Streams above the limit wait for a slot. A stream whose client isn't reading loses its slot to a waiting stream. Thus,
no client can block others by opening many streams without reading them.
"""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final, NamedTuple, Protocol

from hawse.api.rights import ALL
from hawse.rpc.shares import Shares
from hawse.wire import HawseError, Principal

SLOTS: Final = 512  # half the usual soft limit on open files (1,024)
STALLED: Final = 2.0  # seconds without progress until a stream can lose its slot to a waiting stream
MEMORY: Final = 32 << 20  # approximate size of all blocks together; the more open streams, the smaller the blocks
# Size of a block in bytes as long as few streams are open.
BLOCK: Final = 256 << 10
BLOCK_MIN: Final = 16 << 10


class SlotUser(Protocol):
    """A stream that needs a slot to run."""

    @property
    def principal(self) -> Principal:
        """The principal that opened the stream."""
        ...

    @property
    def busy(self) -> bool:
        """Whether the stream is producing output. A busy stream doesn't count as stalled."""
        ...

    def begin(self) -> None:
        """Start the stream. Called once it has a slot."""
        ...

    def give_up(self) -> None:
        """End the stream, because another needs its slot. The ended stream must call `StreamSlots.leave` eventually."""
        ...


class OpenSlot(NamedTuple):
    """A slot in use."""

    progress: float  # when the stream last made progress (loop time)
    release: Callable[[], None]  # releases the slot from the principal's share


class StreamSlots:
    """A runtime's slots. Principals take turns, and a share of the slots is reserved for the owner."""

    def __init__(self, slots: int = SLOTS) -> None:
        self._shares = Shares(slots, "streams")
        self._open: dict[SlotUser, OpenSlot] = {}
        # Waiting streams, keyed by principal id; the next principal comes first.
        self._waiting: dict[str, dict[SlotUser, None]] = {}
        self._timer: asyncio.TimerHandle | None = None  # set while streams are waiting
        self._clock: Callable[[], float] = asyncio.get_running_loop().time

    def block_size(self) -> int:
        """Return how many bytes each stream may hold in memory."""
        return max(BLOCK_MIN, min(BLOCK, MEMORY // max(1, len(self._open))))

    def enter(self, user: SlotUser) -> None:
        """Call `user.begin` once a slot is free, possibly before this method returns."""
        self._waiting.setdefault(user.principal.id, {})[user] = None
        self._fill()

    def progress(self, user: SlotUser) -> None:
        """Record that the client served by `user` has read data."""
        if (slot := self._open.get(user)) is not None:
            self._open[user] = slot._replace(progress=self._clock())

    def leave(self, user: SlotUser) -> None:
        """Release the slot of `user`, or remove it from the queue. Can be called repeatedly."""
        waiting = self._waiting.get(user.principal.id, {})
        if waiting.pop(user, user) is None and not waiting:
            del self._waiting[user.principal.id]
        if (slot := self._open.pop(user, None)) is not None:
            slot.release()
        self._fill()

    def reclaim(self) -> None:
        """End stalled streams to free up slots for waiting streams. Called repeatedly while streams are waiting.

        Guests' streams can be ended for any waiting principal, but the owner's streams only if the owner is waiting.
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
        """Assign a slot to a principal's first waiting stream. Return whether a slot was free."""
        user = next(iter(waiting))
        held = ExitStack()
        try:
            held.enter_context(self._shares.hold(user.principal))
        except HawseError:
            return False
        del waiting[user], self._waiting[user.principal.id]
        if waiting:
            self._waiting[user.principal.id] = waiting  # moves the principal to the end of the queue
        self._open[user] = OpenSlot(self._clock(), held.close)
        user.begin()
        return True
