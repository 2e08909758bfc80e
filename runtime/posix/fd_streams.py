"""Non-blocking ends of PTYs and pipes on the event loop: `FdReader` reads, `FdWriter` writes. Each owns its fd."""

import asyncio
import os
from collections import deque
from collections.abc import Callable

READ_SIZE = 64 << 10
READ_BURST = 64 << 10  # bytes read per wake, of which a PTY gives about 4 KB a read: others wait for the whole burst
SHORT = 256  # bytes: after so few there are hardly more, and what there is wakes us again
WRITE_LIMIT = 1 << 20  # bytes that may wait for a program that does not read


class FdReader:
    """Reads what a program prints. `on_data` gets each chunk, `on_burst` is called after the last one of a wake,
    `on_end` once when no process has the other end open any more.

    The fd is open until `close`: to close a terminal hangs up its program, which may only just be about to exit.
    """

    def __init__(
        self,
        fd: int,
        on_data: Callable[[bytes], None],
        on_burst: Callable[[], None],
        on_end: Callable[[], None],
        portion: Callable[[], int] = lambda: READ_BURST,
    ) -> None:
        """`portion`: how many bytes to read per wake, and at most one read more."""
        self.fd = fd
        self.ended = False  # no process has the other end open
        self.closed = False
        self._on_data = on_data
        self._on_burst = on_burst
        self._on_end = on_end
        self._portion = portion
        self._reading = False
        self._loop = asyncio.get_running_loop()
        self.resume()

    def pause(self) -> None:
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self.fd)

    def resume(self) -> None:
        if not self._reading and not self.ended:
            self._reading = True
            self._loop.add_reader(self.fd, self._read)

    def drain(self, limit: int) -> None:
        """Read what is there now, paused or not, at most `limit` bytes: the last output of a program that has ended."""
        self._burst(limit, even_paused=True)

    def close(self) -> None:
        if not self.closed:
            self.pause()
            self.ended = self.closed = True
            os.close(self.fd)

    def _read(self) -> None:
        self._burst(self._portion())

    def _burst(self, limit: int, *, even_paused: bool = False) -> None:
        taken = 0
        while taken < limit and (self._reading or even_paused) and not self.closed:
            try:
                data = os.read(self.fd, READ_SIZE)
            except BlockingIOError:
                break
            except OSError:  # EIO: no process has the PTY open any more
                data = b""
            if not data:
                self._end()
                break
            taken += len(data)
            self._on_data(data)
            if len(data) < SHORT and not even_paused:
                break
        if taken:
            self._on_burst()

    def _end(self) -> None:
        if not self.ended:
            self.pause()
            self.ended = True
            self._on_end()


class FdWriter:
    """Writes what a program is to read, in order and whole. `fd` may be shared with an `FdReader` that owns it."""

    def __init__(self, fd: int, *, owned: bool) -> None:
        self.fd = fd
        self.closed = False
        self.pending = 0  # bytes not yet written
        self._owned = owned
        self._queue: deque[tuple[memoryview, Callable[[int], None] | None]] = deque()
        self._waiting = False
        self.ended = False  # `end` was called: no more may be written
        self._loop = asyncio.get_running_loop()

    def write(self, data: bytes | memoryview, on_written: Callable[[int], None] | None = None) -> None:
        """Queue `data` (a copy is made of what cannot be written at once). `on_written` gets the sizes as they go.

        Input that the program can no longer read counts as written: it is dropped.
        """
        if not data:
            return
        written = 0 if self._queue else self._try(data)
        if self.closed:
            written = len(data)
        if written and on_written is not None:
            on_written(written)
        if written < len(data):
            rest = memoryview(bytes(data[written:]))
            self._queue.append((rest, on_written))
            self.pending += len(rest)
            self._wait()

    def end(self) -> None:
        """Close after what is queued has been written (EOF for a pipe)."""
        self.ended = True
        if not self._queue:
            self.close()

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        if self._waiting:
            self._loop.remove_writer(self.fd)
        if self._owned:
            os.close(self.fd)
        self.pending = 0
        queue, self._queue = self._queue, deque()
        for data, on_written in queue:
            if on_written is not None:
                on_written(len(data))

    def _try(self, data: bytes | memoryview) -> int:
        if self.closed:
            return 0
        try:
            return os.write(self.fd, data)
        except BlockingIOError:
            return 0
        except OSError:  # EPIPE, EIO: the program does not read any more
            self.close()
            return 0

    def _wait(self) -> None:
        if not self._waiting:
            self._waiting = True
            self._loop.add_writer(self.fd, self._continue)

    def _continue(self) -> None:
        while self._queue:
            data, on_written = self._queue[0]
            written = self._try(data)
            if self.closed or written == 0:
                return
            self.pending -= written
            if written == len(data):
                self._queue.popleft()
            else:
                self._queue[0] = (data[written:], on_written)
            if on_written is not None:
                on_written(written)
        self._waiting = False
        self._loop.remove_writer(self.fd)
        if self.ended:
            self.close()
