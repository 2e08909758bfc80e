"""Checks whether the machine has capacity for another sandbox, based on the number of sandboxes, the free memory and
the free disk space.

If there isn't enough capacity, directories left over from interrupted deletions are removed, and the check is repeated.
No other files are removed to free up capacity, and no sandbox is stopped.
"""

import asyncio
import logging
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hawse.wire import HawseError
from hawse_gateway.core.removal import remove_tree

log = logging.getLogger(__name__)

RETRY_AFTER: Final = 10.0  # seconds that a refused client should wait before it retries
MEMINFO: Final = Path("/proc/meminfo")
DELETED: Final = ".deleted-*"  # matches directories that an interrupted deletion has renamed but not removed


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """The limits for starting sandboxes.

    Attributes:
        sandboxes: The maximum number of running sandboxes. None means unlimited.
        memory: The memory that must be available, in bytes.
        disk: The space that must be free on the disk that contains the state directory, in bytes.
    """

    sandboxes: int | None = None
    memory: int = 256 << 20  # a runtime uses about 60 MiB, and programs also need some memory
    disk: int = 512 << 20


@dataclass(frozen=True)
class Room:
    """The free memory and disk space, in bytes. None if unknown."""

    memory: int | None
    disk: int | None


class Admission:
    """Checks the capacity before a sandbox is started.

    Args:
        capacity: The limits.
        state: The state directory, which contains `sandboxes`. Free space is measured on its disk.
        measure: Returns the free memory and disk space.
    """

    def __init__(self, capacity: Capacity, state: Path, *, measure: Callable[[Path], Room] | None = None) -> None:
        self._capacity = capacity
        self._state = state
        self._measure = measure or measure_room

    async def check(self, running: int, memory: int | None = None, *, remote: bool = False) -> None:
        """Refuse a sandbox if it would exceed the capacity.

        Args:
            running: The number of running sandboxes, not counting the new one.
            memory: The new sandbox's memory limit, in bytes. None means unlimited.
            remote: Whether the sandbox uses another machine's memory and disk.

        Raises:
            HawseError: `capacity_exceeded`, with `details.retry_after` in seconds.
        """
        if self._capacity.sandboxes is not None and running >= self._capacity.sandboxes:
            raise _exceeded(f"{running} sandboxes are running, and at most {self._capacity.sandboxes} can run")
        if remote:
            return
        problem = await asyncio.to_thread(self._look, memory)
        if problem is not None:
            await asyncio.to_thread(self._remove_stale)
            problem = await asyncio.to_thread(self._look, memory)
        if problem is not None:
            raise _exceeded(problem)

    def _look(self, memory: int | None) -> str | None:
        """Describe the missing capacity, or return None if there is enough. Unknown values count as too low."""
        room = self._measure(self._state)
        needed = max(self._capacity.memory, memory or 0)
        if room.disk is None or room.disk < self._capacity.disk:
            return (
                f"{_mib(room.disk)} are free on the disk of {self._state}, and {_mib(self._capacity.disk)} are needed"
            )
        if room.memory is None or room.memory < needed:
            return f"{_mib(room.memory)} of memory are available, and {_mib(needed)} are needed"
        return None

    def _remove_stale(self) -> None:
        for path in (self._state / "sandboxes").glob(DELETED):
            log.info("= removing %s", path)
            with suppress(OSError):
                remove_tree(path)


def measure_room(state: Path) -> Room:
    """Measure this machine's free memory and disk space."""
    try:
        disk = shutil.disk_usage(state).free
    except OSError:
        disk = None
    return Room(_available_memory(), disk)


def _available_memory() -> int | None:
    """Return `MemAvailable` (see proc(5)), the memory available to programs without swapping."""
    try:
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except (OSError, ValueError, IndexError):
        pass
    return None


def _mib(size: int | None) -> str:
    return "an unknown number of bytes" if size is None else f"{size >> 20} MiB"


def _exceeded(text: str) -> HawseError:
    return HawseError("capacity_exceeded", text, details={"retry_after": RETRY_AFTER})
