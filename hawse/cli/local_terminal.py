"""The terminal that this command runs in: raw mode, its size, its keys, and writing to it without blocking the loop."""

import asyncio
import os
import signal
import termios
import tty
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Final

READ_SIZE: Final = 64 << 10  # bytes of one read of keys
# What a program may have changed in the emulator and what a shell does not expect: the alternate screen, the cursor
# keys, mouse and focus reports, bracketed paste, synchronized output, the pen, wrapping, a hidden cursor, the keyboard
# protocols of xterm and kitty, and the scrolling region. The cursor stays where it is: setting the region moves it, so
# it is saved before (DECSC) and restored (DECRC).
RESET: Final = (
    b"\x1b[?1047l\x1b[?1l\x1b>\x1b[?9;1000;1002;1003;1005;1006;1015;1016l\x1b[?1004l\x1b[?2004l\x1b[?2026l"
    b"\x1b[0m\x1b[?7h\x1b[?25h\x1b[>4;0m\x1b[=0u\x1b7\x1b[r\x1b8"
)


class LocalTerminal:
    """The terminal behind two descriptors, in raw mode inside of `with`.

    Args:
        input: The descriptor to read keys from, which is a terminal.
        output: The descriptor to write output to.

    Raises:
        OSError: When entering: `input` is not a terminal.
    """

    def __init__(self, input: int = 0, output: int = 1) -> None:
        self._input = input
        self._output = output
        self._saved: list[Any] = []
        self._resized = asyncio.Event()

    def __enter__(self) -> "LocalTerminal":
        try:
            self._saved = termios.tcgetattr(self._input)
        except termios.error as error:
            raise OSError(*error.args) from error
        tty.setraw(self._input, termios.TCSANOW)
        asyncio.get_running_loop().add_signal_handler(signal.SIGWINCH, self._resized.set)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGWINCH)
        # TCSAFLUSH: answers of the emulator that have not been read must not be typed into the shell.
        termios.tcsetattr(self._input, termios.TCSAFLUSH, self._saved)

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows; 80 and 24 if the terminal does not know its size."""
        try:
            found = os.get_terminal_size(self._output)
        except OSError:
            return 80, 24
        return found.columns or 80, found.lines or 24

    async def sizes(self) -> AsyncIterator[tuple[int, int]]:
        """Iterate over the present size and each later one."""
        while True:
            self._resized.clear()
            yield self.size
            await self._resized.wait()

    async def input(self) -> AsyncIterator[bytes]:
        """Iterate over what is typed, until the terminal is closed."""
        loop = asyncio.get_running_loop()
        while True:
            readable: asyncio.Future[None] = loop.create_future()

            def report(readable: asyncio.Future[None] = readable) -> None:
                loop.remove_reader(self._input)  # one report for one read: a second read could block
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
        """Write all of `data`. A terminal that does not read, such as one on hold, blocks a thread and not the loop."""
        await asyncio.to_thread(_write_all, self._output, data)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
