"""Who is at a terminal, as one of its viewers was told (docs/wire.md section 9, people at a terminal).

Turns events into items, and what a reattach says into those that were missed. It knows no channel.
"""

from hawse.api.people import Participant, ParticipantEvent, ParticipantLeft, WriterLease, WriterLeaseEvent
from hawse.api.terminals import TerminalOpened
from hawse.client.base.results import Joined, LeaseChanged, LeaseInfo, Left, ParticipantInfo, PresenceChanged
from hawse.client.calls.decode import parse
from hawse.wire import Event

Item = Joined | Left | PresenceChanged | LeaseChanged
EVENTS = frozenset({"joined", "left", "presence", "lease"})


class People:
    """The viewers of one terminal."""

    def __init__(self) -> None:
        self.me: str | None = None  # our own id; None with a server that knows no people
        self.lease = LeaseInfo()
        self.viewers: dict[str, ParticipantInfo] = {}  # by id
        self._known = False

    def opened(self, opened: TerminalOpened) -> list[Item]:
        """We are attached: what changed while we were not, if we were before."""
        now = {told.id: _viewer(told) for told in opened.presence}
        lease = _lease(opened.lease) if opened.lease else LeaseInfo()
        items: list[Item] = [Left(viewer) for id, viewer in self.viewers.items() if id not in now]
        for id, viewer in now.items():
            if id not in self.viewers:
                items.append(Joined(viewer))
            elif viewer != self.viewers[id]:
                items.append(PresenceChanged(viewer))
        if lease != self.lease:
            items.append(LeaseChanged(lease, opened.input_offset))
        known, self._known = self._known, True
        self.me, self.viewers, self.lease = opened.viewer, now, lease
        return items if known else []

    def received(self, event: Event) -> Item | None:
        """One of `EVENTS`. None if it says nothing new."""
        if event.name == "lease":
            told = parse(event.value, WriterLeaseEvent)
            self.lease = _lease(told)
            return LeaseChanged(self.lease, told.applied)
        if event.name == "left":
            gone = self.viewers.pop(parse(event.value, ParticipantLeft).id, None)
            return None if gone is None else Left(gone)
        viewer = _viewer(parse(event.value, ParticipantEvent).viewer)
        known = viewer.id in self.viewers
        self.viewers[viewer.id] = viewer
        return PresenceChanged(viewer) if known else Joined(viewer)


def _viewer(told: Participant) -> ParticipantInfo:
    return ParticipantInfo(
        id=told.id,
        name=told.name,
        color=told.color,
        kind=told.kind,
        read_only=told.read_only,
        typing=told.typing,
        focus=told.focus,
        at=None if told.at is None else (told.at.x, told.at.y),
    )


def _lease(told: WriterLease) -> LeaseInfo:
    return LeaseInfo(told.holder, told.epoch)
