"""Descriptors held back, so that processes can be found and ended when the runtime has no others left.

Ending something is how a user frees descriptors, and it needs some itself: for /proc and for a pidfd.
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
        """Free the reserve for what runs inside, and for everything else that runs meanwhile."""
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
        with suppress(OSError):  # there are none now: tried again after the next use
            while len(self._fds) < self._count:
                self._fds.append(os.eventfd(0, os.EFD_CLOEXEC))
