"""Sends the same output to several viewers on the same connection in a single frame.

Viewers waiting for output at the same offset share a frame, which is built and copied once. To stay aligned, viewers
stop at multiples of STEP, and the viewer furthest behind is served first. This module is not used for a single viewer.
"""

from collections.abc import Iterable
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from hawse.wire.frames import SHARED_MAX
from hawse_runtime.terminal.congestion_window import FLOOR, STEP

CATCH_UP: Final = 256 << 10  # a viewer more than this many bytes behind is served separately instead of waited for


class FanoutViewer(Protocol):
    """The attributes that a viewer must have to share frames."""

    @property
    def cursor(self) -> int | None: ...

    @property
    def in_flight(self) -> int:
        """The number of bytes sent to the viewer but not yet returned as credit."""
        ...

    @property
    def probed(self) -> bool:
        """Whether output may end anywhere in a step, because the viewer has waited too long for credit."""
        ...

    def room(self) -> int:
        """Return the number of bytes that can be sent to the viewer now."""
        ...

    def can_share(self, other: "FanoutViewer") -> bool:
        """Return whether both viewers expect output on the same connection, at the same terminal size."""
        ...


V = TypeVar("V", bound=FanoutViewer)


class Share(NamedTuple, Generic[V]):
    """The number of bytes to send now (possibly 0), and the other viewers that receive the same bytes."""

    size: int
    peers: list[V]


def share(viewer: V, viewers: Iterable[V], size: int, stops: tuple[int | None, ...]) -> Share[V]:
    """Decide how many of the `size` bytes at the cursor of `viewer` to send, and which other viewers also get them.

    Args:
        viewer: The viewer being served.
        viewers: All viewers of the terminal.
        size: The maximum number of bytes to send: those that are available and fit into the window of `viewer`.
        stops: Offsets where every viewer stops: the end of the output and the next size change.
    """
    assert viewer.cursor is not None
    rooms = _peers(viewer, viewers, min(size, STEP))
    size = min(size, *rooms.values()) if rooms else size
    if not viewer.probed and viewer.cursor + size not in stops:
        size = _aligned(viewer.cursor, size, viewer.in_flight)
    return Share(size, list(rooms))


def furthest_behind(viewer: V, viewers: Iterable[V], start: int) -> V | None:
    """Return the viewer to serve before `viewer`, if any: the one furthest behind that can receive a whole step.

    Args:
        viewer: The viewer to be served next.
        viewers: All viewers of the terminal.
        start: The offset of the first available byte.
    """
    assert viewer.cursor is not None
    found, least, lowest = None, max(viewer.cursor - CATCH_UP, start), viewer.cursor
    for other in viewers:
        if (
            other.cursor is not None
            and least <= other.cursor < lowest
            and other.can_share(viewer)
            and other.room() >= STEP
        ):
            found, lowest = other, other.cursor
    return found


def _peers(viewer: V, viewers: Iterable[V], least: int) -> dict[V, int]:
    """Return the other viewers at the same offset that can receive at least `least` bytes, each with its limit."""
    found: dict[V, int] = {}
    for other in viewers:
        if other.cursor == viewer.cursor and other is not viewer and other.can_share(viewer):
            room = other.room()
            if room >= least:
                found[other] = room
                if len(found) == SHARED_MAX - 1:
                    break
    return found


def _aligned(cursor: int, size: int, in_flight: int) -> int:
    """Reduce `size` so that the data ends at a multiple of STEP.

    Returns 0 if the data doesn't reach a multiple of STEP while a whole step is in flight, because the reader grants
    credit once it has received that step. If no credit arrives for PROBE seconds, the data may end anywhere.
    """
    aligned = size - (cursor + size) % STEP
    if aligned > 0:
        return aligned
    return 0 if in_flight >= FLOOR else size
