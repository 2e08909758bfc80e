"""Whether the machine has room for another sandbox: their number, free memory and free disk.

What is stale is removed first, and the machine is looked at again. Only files that a deletion has left are removed:
they were given up explicitly. A sandbox is never stopped to make room for another.
"""

import asyncio
import logging
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hawse.wire import HawseError

log = logging.getLogger(__name__)

RETRY_AFTER: Final = 10.0  # s after which a client may try again
MEMINFO: Final = Path("/proc/meminfo")
DELETED: Final = ".deleted-*"  # directories that a deletion has renamed and not removed


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """What must remain for a sandbox to be started.

    Attributes:
        sandboxes: How many may run at once. None: any number.
        memory: Bytes that must be available.
        disk: Bytes that must be free where the state directory is.
    """

    sandboxes: int | None = None
    memory: int = 256 << 20  # a runtime has about 60 MiB, and programs need some
    disk: int = 512 << 20


@dataclass(frozen=True)
class Room:
    """What is free now. None: it is not known."""

    memory: int | None
    disk: int | None


class Admission:
    """Checks the capacity before a sandbox is started.

    Args:
        capacity: What must remain.
        state: A directory on the disk that is checked, with the directory `sandboxes`.
        measure: Returns what is free.
    """

    def __init__(self, capacity: Capacity, state: Path, *, measure: Callable[[Path], Room] | None = None) -> None:
        self._capacity = capacity
        self._state = state
        self._measure = measure or measure_room

    async def check(self, running: int, memory: int | None = None, *, remote: bool = False) -> None:
        """Refuse a sandbox for which there is no room.

        Args:
            running: How many sandboxes run, without the new one.
            memory: The limit of its memory in bytes. None: it has none.
            remote: Whether it uses the memory and the disk of another machine.

        Raises:
            HawseError: `capacity_exceeded`, with `details.retry_after` in seconds.
        """
        if self._capacity.sandboxes is not None and running >= self._capacity.sandboxes:
            raise _exceeded(f"{running} sandboxes run already; at most {self._capacity.sandboxes} may run at once")
        if remote:
            return
        problem = await asyncio.to_thread(self._look, memory)
        if problem is not None:
            await asyncio.to_thread(self._remove_stale)
            problem = await asyncio.to_thread(self._look, memory)
        if problem is not None:
            raise _exceeded(problem)

    def _look(self, memory: int | None) -> str | None:
        """Why there is no room. None: there is. What is not known counts as missing: it is looked at again."""
        room = self._measure(self._state)
        needed = max(self._capacity.memory, memory or 0)
        if room.disk is None or room.disk < self._capacity.disk:
            return f"the disk of {self._state} has {_mib(room.disk)} free, and {_mib(self._capacity.disk)} are needed"
        if room.memory is None or room.memory < needed:
            return f"{_mib(room.memory)} of memory are available, and {_mib(needed)} are needed"
        return None

    def _remove_stale(self) -> None:
        for path in (self._state / "sandboxes").glob(DELETED):
            log.info("= removing %s", path)
            shutil.rmtree(path, ignore_errors=True)


def measure_room(state: Path) -> Room:
    """Measure what is free on this machine."""
    try:
        disk = shutil.disk_usage(state).free
    except OSError:
        disk = None
    return Room(_available_memory(), disk)


def _available_memory() -> int | None:
    """`MemAvailable` of proc(5): what programs can get without swapping."""
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
