"""The local terminal: raw mode, size, keys, and writing without blocking the event loop."""

import asyncio
import os
import select
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from types import TracebackType
from typing import Any, Final

if sys.platform != "win32":
    import termios
    import tty

READ_SIZE: Final = 64 << 10  # maximum number of bytes to read from the keyboard at once
LEAVE_TIMEOUT: Final = 1.0  # seconds to wait when leaving if the terminal does not accept output
# Resets modes that a program may have set in the emulator but that a shell does not expect: the alternate screen, the
# cursor keys, mouse and focus reports, bracketed paste, synchronized output, the pen, wrapping, a hidden cursor, the
# keyboard protocols of xterm and kitty, and the scrolling region. Setting the region moves the cursor, so it is saved
# (DECSC) and restored (DECRC).
RESET: Final = (
    b"\x1b[?1047l\x1b[?1l\x1b>\x1b[?9;1000;1002;1003;1005;1006;1015;1016l\x1b[?1004l\x1b[?2004l\x1b[?2026l"
    b"\x1b[0m\x1b[?7h\x1b[?25h\x1b[>4;0m\x1b[=0u\x1b7\x1b[r\x1b8"
)


class LocalTerminal:
    """A terminal with two file descriptors, which is in raw mode inside a `with` block.

    SIGTSTP leaves raw mode before it stops the process. SIGCONT restores it.

    Attributes:
        leave: Bytes to write when leaving raw mode, even after an exception.
        continued: Set when the process continues after being stopped, because the terminal must then be redrawn.

    Args:
        input: The descriptor to read keys from, which must be a terminal.
        output: The descriptor to write output to.
        leave: See the attribute `leave`.

    Raises:
        OSError: When entering: `input` is not a terminal, or the system is Windows.
    """

    def __init__(self, input: int = 0, output: int = 1, *, leave: bytes = RESET) -> None:
        self.leave = leave
        self.continued = asyncio.Event()
        self._input = input
        self._output = output
        self._saved: list[Any] = []
        self._resized = asyncio.Event()

    def __enter__(self) -> "LocalTerminal":
        if sys.platform == "win32":
            raise OSError("this command needs a Linux or macOS terminal; on Windows, use it inside WSL")
        try:
            self._saved = termios.tcgetattr(self._input)
        except termios.error as error:
            raise OSError(*error.args) from error
        tty.setraw(self._input, termios.TCSANOW)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGWINCH, self._resized.set)
        loop.add_signal_handler(signal.SIGTSTP, self._stop)
        loop.add_signal_handler(signal.SIGCONT, self._continue)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGWINCH, signal.SIGTSTP, signal.SIGCONT):
            loop.remove_signal_handler(number)
        self._restore()

    def _restore(self) -> None:
        """Write `leave` and leave raw mode, without waiting for a terminal that does not accept output."""
        with suppress(OSError):  # the terminal is gone
            if select.select([], [self._output], [], LEAVE_TIMEOUT)[1]:
                os.write(self._output, self.leave)
        with suppress(termios.error):
            # The emulator's unread replies must not be typed into the local shell.
            termios.tcflush(self._input, termios.TCIFLUSH)
            termios.tcsetattr(self._input, termios.TCSANOW, self._saved)

    def _stop(self) -> None:
        self._restore()
        loop = asyncio.get_running_loop()
        loop.remove_signal_handler(signal.SIGTSTP)
        # The kernel ignores this SIGTSTP if no shell could resume the process.
        signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)
        loop.add_signal_handler(signal.SIGTSTP, self._stop)
        self._continue()

    def _continue(self) -> None:
        with suppress(termios.error):
            tty.setraw(self._input, termios.TCSANOW)
        self._resized.set()
        self.continued.set()

    @property
    def size(self) -> tuple[int, int]:
        """The number of columns and rows; 80 and 24 if the terminal does not report its size."""
        try:
            found = os.get_terminal_size(self._output)
        except OSError:
            return 80, 24
        return found.columns or 80, found.lines or 24

    async def sizes(self) -> AsyncIterator[tuple[int, int]]:
        """Yield the terminal's current size, and its new size after each change."""
        while True:
            self._resized.clear()
            yield self.size
            await self._resized.wait()

    async def input(self) -> AsyncIterator[bytes]:
        """Iterate over typed bytes until the terminal is closed."""
        loop = asyncio.get_running_loop()
        while True:
            readable: asyncio.Future[None] = loop.create_future()

            def report(readable: asyncio.Future[None] = readable) -> None:
                loop.remove_reader(self._input)  # only one read per notification, because a second one could block
                if not readable.done():
                    readable.set_result(None)

            loop.add_reader(self._input, report)
            try:
                await readable
            finally:
                loop.remove_reader(self._input)
            try:
                data = os.read(self._input, READ_SIZE)
            except OSError:  # EIO: the terminal is gone
                return
            if not data:
                return
            yield data

    async def write(self, data: bytes) -> None:
        """Write all of `data`. If the terminal does not accept output, this only blocks a thread."""
        await asyncio.to_thread(_write_all, self._output, data)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
