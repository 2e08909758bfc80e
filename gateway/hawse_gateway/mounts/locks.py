"""Locks for mounts, shared by the gateways on a machine. Each mount has a lock file (flock(2))."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from hawse_gateway.core.keyed_locks import KeyedLocks

POLL: Final = 0.1  # seconds between attempts to acquire a lock


class MountLocks:
    """The lock files in one directory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own = KeyedLocks()

    @asynccontextmanager
    async def exclusive(self, id: str) -> AsyncIterator[None]:
        """Hold the exclusive lock on a mount.

        Raises:
            OSError: The file cannot be created.
        """
        async with self._own[id]:
            # The lock is polled, because a thread that waits for it couldn't be cancelled.
            while (fd := _locked(self._folder / id)) is None:  # noqa: ASYNC110
                await asyncio.sleep(POLL)
            try:
                yield
            finally:
                os.close(fd)

    def remove(self, id: str) -> None:
        """Remove a deleted mount's lock file. The caller must hold the lock. Other callers that are waiting for the
        lock will create a new file."""
        with suppress(FileNotFoundError):
            (self._folder / id).unlink()


def _locked(path: Path) -> int | None:
    """Lock a file and return its descriptor, or None if another gateway holds the lock or has removed the file."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    locked = False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        locked = os.fstat(fd).st_nlink > 0
    except BlockingIOError:
        pass
    finally:
        if not locked:
            os.close(fd)
    return fd if locked else None
