"""Schedules the keyframes of a recording: screens where a player can start without reading earlier output.

The screen process paints a keyframe asynchronously, one at a time.
"""

from typing import Final

EVERY: Final = 512 << 10  # bytes of output between two keyframes, which a player reads to seek
SECONDS: Final = 0.25  # minimum time between two keyframes, which limits their number during fast output
AT_LAST: Final = 8 << 20  # bytes of output that make a keyframe due regardless of SECONDS
SHARE: Final = 4  # a keyframe is at most 1/4 the size of the output since the previous one


class KeyframePlan:
    """The keyframes of one recording. Offsets are in the output."""

    def __init__(self, offset: int) -> None:
        """`offset`: where the recording starts."""
        self.pending = False  # one was requested, and has not been taken or dropped
        self._number = 0  # of the latest one
        self._offset = offset
        self._seconds = 0.0
        self._size = 0  # bytes of the latest known one
        self._data: bytes | None = None

    def due(self, offset: int, seconds: float) -> bool:
        """Return whether to request one at `offset`, `seconds` after the start of the recording."""
        behind = offset - self._offset
        if self.pending or behind < max(EVERY, SHARE * self._size):
            return False
        return behind >= AT_LAST or seconds - self._seconds >= SECONDS

    def begin(self, offset: int, seconds: float) -> int:
        """Note a request; return its number."""
        self.pending, self._data = True, None
        self._offset, self._seconds = offset, seconds
        self._number += 1
        return self._number

    def painted(self, number: int, data: bytes) -> None:
        """Note the screen of a keyframe, empty if painting failed. Dropped keyframes are ignored."""
        if self.pending and number == self._number:
            self._data = data
            self._size = len(data)

    @property
    def ready(self) -> bool:
        """Whether the screen is available."""
        return self._data is not None

    def take(self) -> bytes:
        """Return the screen, which must be `ready`. The next keyframe can then be requested."""
        assert self._data is not None
        data = self._data
        self.drop()
        return data

    def drop(self) -> None:
        """Drop the requested one, because its position is not in the recording."""
        self.pending, self._data = False, None
