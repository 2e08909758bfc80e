"""Who may type: everybody, or one writer at a time.

The epoch grows with every change and never goes back, so that whoever acts on what it saw can say so: an action with
an epoch that is over is refused, and a take-over cannot be undone by a message that was on its way.
"""

from typing import Any

from hawse.api.people import LeaseAction
from hawse.wire import HawseError
from runtime.people.presence import ViewerPresence


class WriterLeaseState:
    """Of one terminal. Without a holder everybody types."""

    def __init__(self) -> None:
        self.holder: ViewerPresence | None = None
        self.epoch = 0

    def describe(self) -> dict[str, Any]:
        """As docs/wire.md shows it."""
        holder = self.holder
        mode = "free" if holder is None else "exclusive"
        return {"mode": mode, "holder": None if holder is None else holder.id, "epoch": self.epoch}

    def may_write(self, participant: ViewerPresence | None) -> bool:
        return self.holder is None or self.holder is participant

    def act(self, action: LeaseAction, participant: ViewerPresence | None, epoch: int | None = None) -> None:
        """Raises `forbidden` for who cannot type, `conflict` for an old epoch and for what is another's."""
        if participant is not None and participant.read_only:
            raise HawseError("forbidden", "a read-only viewer has no part in who types")
        if epoch is not None and epoch != self.epoch:
            raise HawseError("conflict", "the lease has changed since", details=self.describe())
        if action in ("take", "exclusive"):
            if participant is None:
                raise HawseError("invalid_params", "who is to hold it?", details={"path": "$.viewer"})
            if action == "exclusive" and not self.may_write(participant):
                raise HawseError("conflict", f"{self.holder_name} holds the lease", details=self.describe())
            self._give(participant)
        else:
            if action == "release" and not self.may_write(participant):
                raise HawseError("conflict", "somebody else holds the lease", details=self.describe())
            self._give(None)

    def left(self, participant: ViewerPresence) -> None:
        """Whoever has left holds nothing: everybody may type again."""
        if self.holder is participant:
            self._give(None)

    @property
    def holder_name(self) -> str:
        return "nobody" if self.holder is None else self.holder.name

    def _give(self, participant: ViewerPresence | None) -> None:
        if participant is not self.holder:
            self.holder = participant
            self.epoch += 1
