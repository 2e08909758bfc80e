"""Schedules the looks whether the buckets of mounts still exist. A store may take long to answer, so nothing waits."""

import asyncio
from collections.abc import Awaitable, Callable, Container
from typing import Final

from hawse_gateway.mounts.records import MountRecord

AT_ONCE: Final = 2  # probes at a time: each blocks a thread until the store answers


class SourceProbes:
    """Probes each mount at intervals, a few at a time.

    Args:
        probe: Probes one mount. It reports its own errors.
        interval: Seconds between two probes of a mount.
    """

    def __init__(self, probe: Callable[[MountRecord], Awaitable[None]], interval: float) -> None:
        self._probe = probe
        self._interval = interval
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._seen: dict[str, float] = {}  # when the bucket of a mount was last seen, by the loop's clock
        self._running: set[str] = set()

    def note_seen(self, id: str) -> None:
        """Note that the bucket of a mount exists now."""
        self._seen[id] = asyncio.get_running_loop().time()

    def due(self, record: MountRecord) -> bool:
        """Whether a mount has a bucket that has to be probed."""
        if record.info.backup is not None:
            return False
        seen = self._seen.get(record.info.id)
        return seen is None or asyncio.get_running_loop().time() >= seen + self._interval

    def start(self, record: MountRecord, tasks: asyncio.TaskGroup) -> None:
        """Probe a mount in a task of `tasks`, unless it is being probed."""
        id = record.info.id
        if id not in self._running:
            self._running.add(id)
            tasks.create_task(self._run(record), name=f"probe mount {id}")

    def keep(self, ids: Container[str]) -> None:
        """Forget all mounts but those of `ids`."""
        self._seen = {id: seen for id, seen in self._seen.items() if id in ids}

    async def _run(self, record: MountRecord) -> None:
        try:
            async with self._turns:
                await self._probe(record)
        finally:
            self._running.discard(record.info.id)
