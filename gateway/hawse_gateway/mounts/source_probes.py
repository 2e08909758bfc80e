"""Schedules periodic background checks that the buckets of mounts still exist."""

import asyncio
from collections.abc import Awaitable, Callable, Container
from typing import Final

from hawse_gateway.mounts.records import MountRecord

AT_ONCE: Final = 2  # maximum number of concurrent probes; each blocks a thread until the store responds


class SourceProbes:
    """Probes mounts periodically, with a limited number of concurrent probes.

    Args:
        probe: Probes one mount and handles its errors.
        interval: Seconds between probes of the same mount.
    """

    def __init__(self, probe: Callable[[MountRecord], Awaitable[None]], interval: float) -> None:
        self._probe = probe
        self._interval = interval
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._seen: dict[str, float] = {}  # when the mount's bucket was last seen, keyed by mount
        self._running: set[str] = set()

    def note_seen(self, id: str) -> None:
        """Record that a mount's bucket was just seen."""
        self._seen[id] = asyncio.get_running_loop().time()

    def due(self, record: MountRecord) -> bool:
        """Return whether it's time to probe a mount's bucket."""
        if record.info.backup is not None:
            return False
        seen = self._seen.get(record.info.id)
        return seen is None or asyncio.get_running_loop().time() >= seen + self._interval

    def start(self, record: MountRecord, tasks: asyncio.TaskGroup) -> None:
        """Probe a mount in a new task in `tasks`, unless it is already being probed."""
        id = record.info.id
        if id not in self._running:
            self._running.add(id)
            tasks.create_task(self._run(record), name=f"probe mount {id}")

    def keep(self, ids: Container[str]) -> None:
        """Forget all mounts whose ids are not in `ids`."""
        self._seen = {id: seen for id, seen in self._seen.items() if id in ids}

    async def _run(self, record: MountRecord) -> None:
        try:
            async with self._turns:
                await self._probe(record)
        finally:
            self._running.discard(record.info.id)
