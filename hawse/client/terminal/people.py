"""A terminal's participants and writer lease, as seen by one viewer (docs/wire.md section 9).

Converts events to items and, after a reattach, the new state to the items that were missed. Doesn't depend on channels.
"""

import msgspec

from hawse.api.people import Participant, ParticipantEvent, ParticipantLeft, WriterLease, WriterLeaseEvent
from hawse.api.terminals import TerminalOpened
from hawse.client.base.results import Joined, LeaseChanged, Left, PresenceChanged

Item = Joined | Left | PresenceChanged | LeaseChanged
FREE = WriterLease(mode="free", epoch=0)  # all viewers may type, as on a server without leases


class People:
    """A terminal's viewers."""

    def __init__(self) -> None:
        self.me: str | None = None  # this viewer's public id; None if the server does not support presence
        self.lease = FREE
        self.viewers: dict[str, Participant] = {}  # keyed by id
        self._known = False

    def opened(self, opened: TerminalOpened) -> list[Item]:
        """Handle an attach. Returns the changes since the viewer was detached; none for the first attach."""
        now = {viewer.id: viewer for viewer in opened.presence}
        lease = opened.lease or FREE
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

    def changed(self, event: ParticipantEvent | ParticipantLeft | WriterLeaseEvent) -> Item | None:
        """Apply an event; return None if the event changes nothing."""
        match event:
            case WriterLeaseEvent():
                self.lease = msgspec.convert(event, WriterLease, from_attributes=True)
                return LeaseChanged(self.lease, event.applied)
            case ParticipantLeft():
                left = self.viewers.pop(event.id, None)
                return None if left is None else Left(left)
            case ParticipantEvent(viewer=viewer):
                known = viewer.id in self.viewers
                self.viewers[viewer.id] = viewer
                return PresenceChanged(viewer) if known else Joined(viewer)
