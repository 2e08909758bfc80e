"""Non-blocking I/O on PTYs, pipes and sockets: `FdReader` and `FdWriter` use the event loop.

While a user is typing, output from a program that prints a lot is read in small portions, with a rest after each.
Keystrokes are then handled without delay, and the program blocks in a write, which leaves the CPU free for others.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable

from hawse.link.keystrokes import REST, Keystrokes

READ_SIZE = 64 << 10
READ_BURST = 64 << 10  # maximum number of bytes read per wake-up, while other tasks wait; a PTY returns 4 KB at a time
SHORT = 256  # a read of fewer bytes ends the burst: more data is unlikely and would cause another wake-up anyway
TRICKLE = 1 << 10  # maximum size of a read that isn't followed by a rest
WRITE_LIMIT = 1 << 20  # maximum number of bytes queued for a program that isn't reading


def _ignore(*_: object) -> None: ...


class FdReader:
    """Reads a program's output.

    The fd is kept open until `close`, because closing a PTY sends SIGHUP to the program.
    """

    def __init__(
        self,
        fd: int,
        on_data: Callable[[bytes], None],
        on_end: Callable[[], None] = lambda: None,
        portion: Callable[[], int] = lambda: READ_BURST,
        keystrokes: Keystrokes | None = None,
    ) -> None:
        """Start reading.

        Args:
            fd: The descriptor to read from.
            on_data: Called once per wake-up with all data read; a single read from a PTY returns only about 4 KB.
            on_end: Called once, after the last data, when all processes have closed the other end.
            portion: Returns the number of bytes to read per wake-up. The last read can exceed it.
            keystrokes: Detects typing. While the user types, the reader reads less and rests after each wake-up.
        """
        self.fd = fd
        self.ended = False  # set once all processes have closed the other end
        self.closed = False
        self._on_data = on_data
        self._on_end = on_end
        self._portion = portion
        self._keystrokes = keystrokes
        self._reading = False
        self._resting: asyncio.TimerHandle | None = None  # set while the reader rests instead of waiting for data
        self._loop = asyncio.get_running_loop()
        self.resume()

    def pause(self) -> None:
        if self._reading:
            self._reading = False
            if self._resting is None:
                self._loop.remove_reader(self.fd)
            else:
                self._resting.cancel()
                self._resting = None

    def resume(self) -> None:
        if not self._reading and not self.ended:
            self._reading = True
            self._loop.add_reader(self.fd, self._read)

    def drain(self, limit: int) -> None:
        """Read the last output of a program that has exited, at most about `limit` bytes, even if reading is paused."""
        self._burst(limit, even_paused=True)

    def close(self) -> None:
        if not self.closed:
            self.pause()
            self.ended = self.closed = True
            self._on_data = self._on_end = _ignore  # breaks a cycle: the callbacks' owner refers to this reader
            os.close(self.fd)

    def _read(self) -> None:
        size, keystrokes = self._portion(), self._keystrokes
        if keystrokes is None or not keystrokes.typing:
            self._burst(size)
            return
        taken = self._burst(keystrokes.turn(size))
        keystrokes.took(taken)
        if taken > TRICKLE and self._reading:
            self._loop.remove_reader(self.fd)
            self._resting = self._loop.call_later(REST, self._rested)

    def _rested(self) -> None:
        self._resting = None
        self._loop.add_reader(self.fd, self._read)

    def _burst(self, limit: int, *, even_paused: bool = False) -> int:
        """Read up to about `limit` bytes. Return the number of bytes read."""
        if self.closed:
            return 0
        taken = 0
        ended = False
        chunks: list[bytes] = []
        while taken < limit and (self._reading or even_paused):
            try:
                data = os.read(self.fd, min(READ_SIZE, limit))
            except BlockingIOError:
                break
            except OSError:  # EIO: all processes have closed the PTY
                data = b""
            if not data:
                ended = True
                break
            taken += len(data)
            chunks.append(data)
            if len(data) < SHORT and not even_paused:
                break
        if chunks:
            self._on_data(chunks[0] if len(chunks) == 1 else b"".join(chunks))
        if ended:
            self._end()
        return taken

    def _end(self) -> None:
        if not self.ended:
            self.pause()
            self.ended = True
            self._on_end()


class FdWriter:
    """Writes a program's input completely and in order. Can share an `fd` with the `FdReader` that owns it."""

    def __init__(self, fd: int, *, owned: bool) -> None:
        self.fd = fd
        self.closed = False
        self.pending = 0  # number of bytes not yet written
        self._owned = owned
        self._queue: deque[tuple[memoryview, Callable[[int], None] | None]] = deque()
        self._waiting = False
        self.ended = False  # whether `end` was called; if so, nothing more can be written
        self._loop = asyncio.get_running_loop()

    def write(self, data: bytes | memoryview, on_written: Callable[[int], None] | None = None) -> None:
        """Write `data`. If the program isn't reading, queue a copy of the rest.

        If the program has closed its input, the data is dropped and reported as written.

        Args:
            data: The input.
            on_written: Called after each write with the number of bytes written.
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
        """Close the fd once all queued bytes are written. If it is a pipe, the program then reads EOF."""
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
        except OSError:  # EPIPE or EIO: the program has closed its stdin
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
