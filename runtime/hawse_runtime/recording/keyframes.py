"""When a recording gets a keyframe: a screen from which a player can continue, so that it need not read all before it.

The screen process paints it, and answers later. Only one is on its way at a time.
"""

from typing import Final

EVERY: Final = 512 << 10  # bytes of output between two keyframes: what a player has to read to seek
SECONDS: Final = 0.25  # at least between two keyframes, so that fast output doesn't cause many of them
AT_LAST: Final = 8 << 20  # bytes of output after which a keyframe is due regardless of SECONDS
SHARE: Final = 4  # a keyframe is at most 1/4 the size of the output since the previous one


class KeyframePlan:
    """The keyframes of one recording. Offsets are those of the output."""

    def __init__(self, offset: int) -> None:
        """`offset`: where the recording begins."""
        self.pending = False  # one was requested, and was not taken or dropped yet
        self._number = 0  # of the latest one
        self._offset = offset
        self._seconds = 0.0
        self._size = 0  # bytes of the latest one that is known
        self._data: bytes | None = None

    def due(self, offset: int, seconds: float) -> bool:
        """Return whether to request one at `offset`, `seconds` after the recording began."""
        behind = offset - self._offset
        if self.pending or behind < max(EVERY, SHARE * self._size):
            return False
        return behind >= AT_LAST or seconds - self._seconds >= SECONDS

    def begin(self, offset: int, seconds: float) -> int:
        """Note that one is requested; return its number."""
        self.pending, self._data = True, None
        self._offset, self._seconds = offset, seconds
        self._number += 1
        return self._number

    def painted(self, number: int, data: bytes) -> None:
        """Note the screen of a keyframe, empty if there is none. One that was dropped is ignored."""
        if self.pending and number == self._number:
            self._data = data
            self._size = len(data)

    @property
    def ready(self) -> bool:
        """Whether the screen is there."""
        return self._data is not None

    def take(self) -> bytes:
        """Return the screen, which must be there. The next keyframe may be requested."""
        assert self._data is not None
        data = self._data
        self.drop()
        return data

    def drop(self) -> None:
        """Forget the one that is on its way: its place is not in the recording."""
        self.pending, self._data = False, None
