"""Schedules a recording's keyframes: screens where a player can start without any earlier output.

The screen process paints keyframes asynchronously, one at a time.
"""

from typing import Final

EVERY: Final = 512 << 10  # minimum output bytes between keyframes; to seek, a player reads those since the last one
SECONDS: Final = 0.25  # minimum number of seconds between keyframes; limits their number when output is fast
AT_LAST: Final = 8 << 20  # number of output bytes that make a keyframe due even before SECONDS have passed
SHARE: Final = 4  # a keyframe is due once its size would be at most 1/4 of the output since the previous keyframe


class KeyframePlan:
    """A recording's keyframes. All offsets are output offsets."""

    def __init__(self, offset: int) -> None:
        """Start a schedule. `offset` is where the recording starts."""
        self.pending = False  # whether a requested keyframe has yet to be taken or dropped
        self._number = 0  # the latest keyframe's number
        self._offset = offset
        self._seconds = 0.0
        self._size = 0  # size in bytes of the latest keyframe whose size is known
        self._data: bytes | None = None

    def due(self, offset: int, seconds: float) -> bool:
        """Return whether to request a keyframe at `offset`, `seconds` after the recording started."""
        behind = offset - self._offset
        if self.pending or behind < max(EVERY, SHARE * self._size):
            return False
        return behind >= AT_LAST or seconds - self._seconds >= SECONDS

    def begin(self, offset: int, seconds: float) -> int:
        """Record that a keyframe was requested. Return its number."""
        self.pending, self._data = True, None
        self._offset, self._seconds = offset, seconds
        self._number += 1
        return self._number

    def painted(self, number: int, data: bytes) -> None:
        """Record a keyframe's screen, which is empty if painting failed. Has no effect if the keyframe was dropped."""
        if self.pending and number == self._number:
            self._data = data
            self._size = len(data)

    @property
    def ready(self) -> bool:
        """Whether the requested screen is available."""
        return self._data is not None

    def take(self) -> bytes:
        """Return the requested screen, which must be `ready`. After that, the next keyframe can be requested."""
        assert self._data is not None
        data = self._data
        self.drop()
        return data

    def drop(self) -> None:
        """Drop the requested keyframe, because its position isn't in the recording."""
        self.pending, self._data = False, None
