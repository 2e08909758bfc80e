"""A reserve of descriptors for finding and ending processes when no others are left.

Ending processes frees descriptors, but first requires some for /proc and pidfds.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

COUNT = 4  # one for the thread that reads /proc, two for a kill on the event loop, one for a file that Python opens


class DescriptorReserve:
    """The reserved descriptors. Use them only on the event loop."""

    def __init__(self, count: int = COUNT) -> None:
        self._count = count
        self._fds: list[int] = []
        self._users = 0
        self._fill()

    @contextmanager
    def released(self) -> Iterator[None]:
        """Free the reserved descriptors during the `with` block. Other tasks might also take them."""
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
        with suppress(OSError):  # no descriptor is free; try again after the next use
            while len(self._fds) < self._count:
                self._fds.append(os.eventfd(0, os.EFD_CLOEXEC))
