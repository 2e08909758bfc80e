"""The viewers attached to a terminal, and the election of the viewer that answers programs' queries.

This module knows nothing about channels or the journal: any object with the attributes of `AttachedViewer` is a viewer.
"""

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from hawse_runtime.people.participants import Participants
from hawse_runtime.people.presence import ViewerPresence
from hawse_runtime.screen.screen_tracker import ScreenTracker


class AttachedViewer(Protocol):
    """The attributes that a viewer must have to be added to the group."""

    participant: ViewerPresence

    @property
    def cursor(self) -> int | None:
        """The offset of the next output byte to send to the viewer; None before its first message."""
        ...

    @property
    def emulator(self) -> bool:
        """Whether the viewer can answer queries, because it is a terminal emulator."""
        ...

    @property
    def input_id(self) -> str | None:
        """The id of the viewer's input stream, if any."""
        ...

    def wake(self) -> None: ...

    def skip_backlog(self) -> None:
        """Skip unsent output printed before an interrupt."""
        ...


V = TypeVar("V", bound=AttachedViewer)


class ViewerGroup(Generic[V]):
    """The attached viewers, in the order they attached.

    `answerer` is the viewer that answers queries. If it is None, the runtime's emulated screen answers them.
    """

    def __init__(self, participants: Participants, tracker: ScreenTracker) -> None:
        self._participants = participants
        self._tracker = tracker
        self._viewers: dict[V, None] = {}
        self.answerer: V | None = None

    def __len__(self) -> int:
        return len(self._viewers)

    def __iter__(self) -> Iterator[V]:
        return iter(self._viewers)

    def add(self, viewer: V) -> None:
        self._viewers[viewer] = None
        self._elect()

    def remove(self, viewer: V, *, link_lost: bool = False) -> None:
        """Remove `viewer` from the group and from its participant. Can be called repeatedly.

        `link_lost` is true if the viewer lost its connection; in that case, its participant is kept for a while.
        """
        self._viewers.pop(viewer, None)
        self._participants.leave(viewer.participant, viewer, link_lost=link_lost)
        self._elect()

    def writers_changed(self) -> None:
        """Hold a new election because the writer lease has changed. Only one viewer answers each query."""
        self._elect()

    def skip_backlog(self) -> None:
        """Have all viewers skip output printed before an interrupt."""
        for viewer in self._viewers:
            viewer.skip_backlog()

    def _elect(self) -> None:
        """Choose the first viewer that may write and has both an emulator and an input stream.

        The emulated screen answers queries printed before that viewer attached, and queries that were not sent to the
        previous viewer.
        """
        before = self.answerer
        able = (v for v in self._viewers if v.emulator and v.input_id and self._participants.may_write(v.participant))
        answerer = next(able, None)
        if answerer is not self.answerer:
            self.answerer = answerer
            self._tracker.hand_over(None if before is None else before.cursor or 0, to_viewer=answerer is not None)
            if answerer is not None:
                answerer.wake()
