"""Gives typing priority: while a person is typing, output is sent in small pieces so that keystrokes aren't delayed."""

import time
from collections.abc import Callable
from typing import Final

KEY: Final = 1 << 10  # maximum size of a keystroke in bytes; longer input was not typed by a person
TYPING = 0.1  # seconds after a keystroke during which more keystrokes are expected
SMALL: Final = 16 << 10  # maximum number of bytes of output that a keystroke has to wait for in each process
LEAST: Final = 4 << 10  # minimum number of bytes of output for each reader; the size of one read from a PTY
REST = 0.002  # pause for readers with a lot of output, in seconds; viewers aren't notified more often anyway


class Keystrokes:
    """Tracks whether a person is typing, and limits the size of output pieces. There is one instance per process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Create a tracker. `clock` returns the time in seconds."""
        self._clock = clock
        self._until = 0.0
        self._begun = 0.0  # when the current period of REST seconds started
        self._left = SMALL  # number of bytes the readers may still read in this period; can be negative

    def note(self, size: int) -> None:
        """Record input of `size` bytes."""
        if size <= KEY:
            self._until = self._clock() + TYPING

    @property
    def typing(self) -> bool:
        """Whether a key was pressed in the last TYPING seconds."""
        return self._clock() < self._until

    def portion(self, size: int) -> int:
        """Return the number of bytes to transfer at once: `size`, or at most SMALL while a person is typing."""
        return min(size, SMALL) if self.typing else size

    def turn(self, size: int) -> int:
        """Return the number of bytes of output that a reader may read now. After reading, call `took`.

        While a person is typing, all readers share about SMALL bytes per REST seconds, but each read gets at least
        LEAST bytes. Otherwise, a reader may read `size` bytes.
        """
        now = self._clock()
        if now >= self._until:
            return size
        if now - self._begun >= REST:
            self._begun, self._left = now, SMALL
        return min(size, max(self._left, LEAST))

    def took(self, size: int) -> None:
        """Record that a reader has read `size` bytes."""
        self._left -= size
