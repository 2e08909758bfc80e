"""Reserves descriptors, so that processes can be found and ended when the runtime has no other descriptor free.

A user frees descriptors by ending processes, which itself needs descriptors: for /proc and for a pidfd.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

COUNT = 4  # reading /proc: one in the thread; a kill: two on the event loop; one more for a file that Python opens


class DescriptorReserve:
    """Used from the event loop only."""

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
        with suppress(OSError):  # none is free: tried again after the next use
            while len(self._fds) < self._count:
                self._fds.append(os.eventfd(0, os.EFD_CLOEXEC))
