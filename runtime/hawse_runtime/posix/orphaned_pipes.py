"""Drains the pipes of background children after their command has exited, so that their writes do not raise SIGPIPE.

A program that writes to a pipe without a reader gets SIGPIPE. Without draining, a server started with `server &` would
die when it prints its first line after the command that started it has exited.
"""

import asyncio
import os
from contextlib import suppress

READ_SIZE = 64 << 10
PAUSE = 0.05  # seconds between reads from a pipe; this slows down a program that floods it
LIMIT = 512  # maximum number of pipes; beyond that, the oldest one is closed


class OrphanedPipes:
    """The pipes being drained, at most `limit`. Each is closed once all processes have closed its other end."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._pipes: dict[int, asyncio.TimerHandle | None] = {}  # keyed by descriptor; None while being read
        self._loop = asyncio.get_running_loop()

    def __len__(self) -> int:
        return len(self._pipes)

    def take(self, fd: int) -> None:
        """Start draining a duplicate of `fd`. The caller still owns `fd` and can close it immediately."""
        try:
            own = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:  # no descriptor is free
            return
        if len(self._pipes) >= self._limit:
            self._close(next(iter(self._pipes)))
        self._pipes[own] = None
        self._loop.add_reader(own, self._read, own)

    def close(self) -> None:
        for fd in list(self._pipes):
            self._close(fd)

    def _read(self, fd: int) -> None:
        with suppress(BlockingIOError):
            if not os.read(fd, READ_SIZE):
                self._close(fd)
                return
        self._loop.remove_reader(fd)
        self._pipes[fd] = self._loop.call_later(PAUSE, self._resume, fd)

    def _resume(self, fd: int) -> None:
        self._pipes[fd] = None
        self._loop.add_reader(fd, self._read, fd)

    def _close(self, fd: int) -> None:
        timer = self._pipes.pop(fd)
        if timer is not None:
            timer.cancel()
        else:
            self._loop.remove_reader(fd)
        os.close(fd)
