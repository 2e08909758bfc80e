"""One lock per key, such as an id. A lock exists only as long as a task holds or waits for it."""

import asyncio
from weakref import WeakValueDictionary


class KeyedLocks:
    """Locks, one per key. Use them with `async with locks[key]:`."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def __len__(self) -> int:
        """The number of locks that tasks currently hold or wait for."""
        return len(self._locks)

    def __getitem__(self, key: str) -> asyncio.Lock:
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock
