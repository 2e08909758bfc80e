"""A pipe that a runtime uses to report that it accepts links, so that the gateway doesn't have to poll."""

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType


class ReadyPipe:
    """A context manager for the pipe. The started process inherits the write end and writes one byte to it."""

    def __init__(self) -> None:
        """Create the pipe. Raises `OSError`."""
        self._ours, self._theirs = os.pipe()
        self._open = [self._ours, self._theirs]
        self._lending = threading.Lock()
        self._written = False

    def __enter__(self) -> "ReadyPipe":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lending:
            while self._open:
                os.close(self._open.pop())

    @contextmanager
    def lent(self) -> Iterator[int]:
        """Yield the write end for a new process to inherit, and close it afterwards.

        Called in the thread that starts the process. This thread can keep running after the task that waits for it is
        cancelled.

        Raises:
            OSError: The pipe has been closed.
        """
        with self._lending:
            if self._theirs not in self._open:
                raise OSError("the start was cancelled")
            try:
                yield self._theirs
            finally:
                self._open.remove(self._theirs)
                os.close(self._theirs)

    async def wait(self, seconds: float) -> None:
        """Wait up to `seconds` until the byte arrives or all processes that inherited the pipe have ended.

        Only the first call can return early. Later calls wait for the full time.
        """
        if self._written:
            await asyncio.sleep(seconds)
            return
        loop = asyncio.get_running_loop()
        event = asyncio.Event()
        loop.add_reader(self._ours, event.set)
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
            self._written = True
        except TimeoutError:
            pass
        finally:
            loop.remove_reader(self._ours)
