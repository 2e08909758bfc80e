"""The viewers attached to one terminal, and the election of the viewer whose emulator answers queries of programs.

It is independent of channels and the journal: a viewer is any object with the attributes of `AttachedViewer`.
"""

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from hawse_runtime.people.participants import Participants
from hawse_runtime.people.presence import ViewerPresence
from hawse_runtime.screen.screen_tracker import ScreenTracker


class AttachedViewer(Protocol):
    """The attributes of a viewer required by the group."""

    participant: ViewerPresence

    @property
    def cursor(self) -> int | None:
        """The offset of the next output byte to send to it; None before its first message."""
        ...

    @property
    def emulator(self) -> bool:
        """Whether it can answer queries like a terminal emulator."""
        ...

    @property
    def input_id(self) -> str | None:
        """The id of its input stream, if any."""
        ...

    def wake(self) -> None: ...

    def skip_backlog(self) -> None:
        """Skip output printed before an interrupt."""
        ...


V = TypeVar("V", bound=AttachedViewer)


class ViewerGroup(Generic[V]):
    """A group, iterable in order of attachment.

    `answerer` is the viewer whose emulator answers queries. While it is None, the runtime's screen answers.
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
        """Remove `viewer`, and detach it from its participant. Idempotent.

        `link_lost`: whether it has lost its link, so that its participant stays longer.
        """
        self._viewers.pop(viewer, None)
        self._participants.leave(viewer.participant, viewer, link_lost=link_lost)
        self._elect()

    def writers_changed(self) -> None:
        """Elect again after the writer lease has changed. Each query is answered once, by the old or the new viewer."""
        self._elect()

    def skip_backlog(self) -> None:
        """Let every viewer skip the output printed before an interrupt."""
        for viewer in self._viewers:
            viewer.skip_backlog()

    def _elect(self) -> None:
        """Choose the first permitted writer with an emulator and an input stream.

        The screen answers queries printed before there was such a viewer, and queries not sent to the previous one.
        """
        before = self.answerer
        able = (v for v in self._viewers if v.emulator and v.input_id and self._participants.may_write(v.participant))
        answerer = next(able, None)
        if answerer is not self.answerer:
            self.answerer = answerer
            self._tracker.hand_over(None if before is None else before.cursor or 0, to_viewer=answerer is not None)
            if answerer is not None:
                answerer.wake()
