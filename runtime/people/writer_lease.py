"""The writer lease of a terminal: every participant may write, or one at a time.

The epoch increases with every change. An action can name the epoch that its client knew: with an outdated one it is
refused, so that a message in transit cannot undo a take-over.
"""

from typing import Any

from hawse.api.people import LeaseAction
from hawse.wire import HawseError
from runtime.people.presence import ViewerPresence


class WriterLeaseState:
    """Of one terminal. Without a holder every participant may write."""

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
            raise HawseError("forbidden", "a read-only viewer cannot hold or release the writer lease")
        if epoch is not None and epoch != self.epoch:
            raise HawseError(
                "conflict", f"epoch {epoch} is outdated: the lease is at epoch {self.epoch}", details=self.describe()
            )
        if action in ("take", "exclusive"):
            if participant is None:
                raise HawseError(
                    "invalid_params", f"viewer is required for action {action!r}", details={"path": "$.viewer"}
                )
            if action == "exclusive" and not self.may_write(participant):
                raise HawseError("conflict", f"{self.holder_name} holds the lease", details=self.describe())
            self._give(participant)
        else:
            if action == "release" and not self.may_write(participant):
                raise HawseError(
                    "conflict",
                    f"{self.holder_name} holds the lease: only its holder can release it",
                    details=self.describe(),
                )
            self._give(None)

    def left(self, participant: ViewerPresence) -> None:
        """Release the lease if the participant that left held it."""
        if self.holder is participant:
            self._give(None)

    @property
    def holder_name(self) -> str:
        return "nobody" if self.holder is None else self.holder.name

    def _give(self, participant: ViewerPresence | None) -> None:
        if participant is not self.holder:
            self.holder = participant
            self.epoch += 1
