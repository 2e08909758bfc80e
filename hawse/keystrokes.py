"""Typing goes first: while somebody types, output is moved in small portions, so that a key waits for little of it."""

import time
from collections.abc import Callable
from typing import Final

KEY: Final = 1 << 10  # bytes: a longer input was not typed by a person
TYPING = 0.1  # seconds after a key in which the next one is expected
SMALL: Final = 16 << 10  # bytes of output that a key waits for at most, each time that it waits


class Keystrokes:
    """Knows whether somebody types. A process has one, which all that choose the size of portions ask."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` returns seconds."""
        self._clock = clock
        self._until = 0.0

    def note(self, size: int) -> None:
        """Note an input of `size` bytes."""
        if size <= KEY:
            self._until = self._clock() + TYPING

    @property
    def typing(self) -> bool:
        """Whether there was a key in the last TYPING seconds."""
        return self._clock() < self._until

    def portion(self, size: int) -> int:
        """Return how many bytes to move at once: `size`, at most SMALL while somebody types."""
        return min(size, SMALL) if self.typing else size
