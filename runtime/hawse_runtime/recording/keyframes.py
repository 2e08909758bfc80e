"""Schedules the keyframes of a recording. A keyframe is a screen where a player can start without earlier output.

The screen process paints keyframes asynchronously, one at a time.
"""

from typing import Final

EVERY: Final = 512 << 10  # bytes of output between keyframes; a player reads them to seek
SECONDS: Final = 0.25  # minimum seconds between keyframes; limits their number during fast output
AT_LAST: Final = 8 << 20  # bytes of output that make a keyframe due even before SECONDS have passed
SHARE: Final = 4  # a keyframe is due when it would be at most 1/4 of the output since the previous one


class KeyframePlan:
    """The keyframes of one recording. All offsets are output offsets."""

    def __init__(self, offset: int) -> None:
        """Start a schedule. `offset` is where the recording starts."""
        self.pending = False  # whether a keyframe was requested and has neither been taken nor dropped
        self._number = 0  # the number of the latest keyframe
        self._offset = offset
        self._seconds = 0.0
        self._size = 0  # bytes of the latest keyframe of known size
        self._data: bytes | None = None

    def due(self, offset: int, seconds: float) -> bool:
        """Return whether to request a keyframe at `offset`, `seconds` after the start of the recording."""
        behind = offset - self._offset
        if self.pending or behind < max(EVERY, SHARE * self._size):
            return False
        return behind >= AT_LAST or seconds - self._seconds >= SECONDS

    def begin(self, offset: int, seconds: float) -> int:
        """Record the request of a keyframe. Return its number."""
        self.pending, self._data = True, None
        self._offset, self._seconds = offset, seconds
        self._number += 1
        return self._number

    def painted(self, number: int, data: bytes) -> None:
        """Record a keyframe's screen, which is empty if painting failed. Dropped keyframes are ignored."""
        if self.pending and number == self._number:
            self._data = data
            self._size = len(data)

    @property
    def ready(self) -> bool:
        """Whether the requested screen is available."""
        return self._data is not None

    def take(self) -> bytes:
        """Return the requested screen, which must be `ready`. The next keyframe can then be requested."""
        assert self._data is not None
        data = self._data
        self.drop()
        return data

    def drop(self) -> None:
        """Drop the requested keyframe, because its position is not in the recording."""
        self.pending, self._data = False, None
