"""The stdin for a command that may not have started yet. Until the command has started, input is buffered."""

import asyncio
import os
from collections import deque
from collections.abc import Callable
from pathlib import Path

from hawse_runtime.posix.fd_streams import FdWriter

STEPS = (0.0005, 0.001, 0.002, 0.005, 0.01)  # seconds between attempts; the last value repeats


class DeferredStdin:
    """The write end of a named pipe, opened after the shell has opened the read end. Works like an `FdWriter`.

    This way, the command reads EOF when the write end is closed, and neither side blocks on opening.
    """

    def __init__(self, path: Path) -> None:
        self.ended = False
        self._path = path
        self._outlet: FdWriter | None = None
        self._early: deque[tuple[bytes, Callable[[int], None] | None]] = (
            deque()
        )  # the callers, which check `pending`, limit the size of this buffer
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        os.mkfifo(path, 0o600)

    @property
    def pending(self) -> int:
        return self._outlet.pending if self._outlet is not None else sum(len(data) for data, _ in self._early)

    def write(self, data: bytes | memoryview, on_written: Callable[[int], None] | None = None) -> None:
        if self._closed:
            if on_written is not None:
                on_written(len(data))
        elif self._outlet is not None:
            self._outlet.write(data, on_written)
        elif data:
            self._early.append((bytes(data), on_written))

    def end(self) -> None:
        self.ended = True
        if self._outlet is not None:
            self._outlet.end()

    def begin(self, attempt: int = 0) -> None:
        """Open the write end, retrying until that succeeds. The shell is about to open the read end."""
        self._timer = None
        try:
            fd = os.open(self._path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:  # ENXIO: the shell hasn't opened the read end yet
            delay = STEPS[min(attempt, len(STEPS) - 1)]
            self._timer = asyncio.get_running_loop().call_later(delay, self.begin, attempt + 1)
            return
        self._outlet = FdWriter(fd, owned=True)
        early, self._early = self._early, deque()
        for data, on_written in early:
            self._outlet.write(data, on_written)
        if self.ended:
            self._outlet.end()

    def close(self) -> None:
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._outlet is not None:
            self._outlet.close()
        early, self._early = self._early, deque()
        for data, on_written in early:
            if on_written is not None:
                on_written(len(data))
