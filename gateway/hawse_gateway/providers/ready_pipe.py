"""A pipe by which a runtime lets the gateway know that it accepts links, so that the gateway need not ask often."""

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType


class ReadyPipe:
    """Use it in `with`. The process that is started inherits the other end, and writes a byte to it."""

    def __init__(self) -> None:
        """Raises `OSError` if no pipe can be made."""
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
        """Yield the other end, which is closed afterwards: then a process has inherited it.

        For the thread that starts the process. It may go on when the task that waits for it was cancelled.

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
        """Wait until the byte has come, or every process that inherited the pipe has ended, but at most `seconds`.

        That is reported once: a further call waits for all of `seconds`.
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
