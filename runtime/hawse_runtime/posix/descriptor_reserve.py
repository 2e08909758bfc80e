"""Reserves descriptors, so that processes can be found and ended when no other descriptor is free.

Ending processes frees descriptors, but itself requires descriptors for /proc and a pidfd.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

COUNT = 4  # one in the thread that reads /proc, two on the event loop for a kill, one for a file that Python opens


class DescriptorReserve:
    """Reserved descriptors. Use it from the event loop only."""

    def __init__(self, count: int = COUNT) -> None:
        self._count = count
        self._fds: list[int] = []
        self._users = 0
        self._fill()

    @contextmanager
    def released(self) -> Iterator[None]:
        """Free the reserved descriptors while the `with` block runs. Other tasks can take them too."""
        self._users += 1
        self.close()
        try:
            yield
        finally:
            self._users -= 1
            if not self._users:
                self._fill()

    def close(self) -> None:
        while self._fds:
            os.close(self._fds.pop())

    def _fill(self) -> None:
        with suppress(OSError):  # none is free: retry after the next use
            while len(self._fds) < self._count:
                self._fds.append(os.eventfd(0, os.EFD_CLOEXEC))
