"""A terminal's writer lease: either all participants can write, or only the holder of the lease.

The epoch is incremented on every change. An action can state the epoch known to the client, and is refused if that is
out of date, so that a message in transit can't undo a takeover. Participants can ask the holder for the lease.
"""

import msgspec

from hawse.api.people import LeaseAction, WriterLease
from hawse.wire import HawseError
from hawse_runtime.people.presence import ViewerPresence


class WriterLeaseState:
    """A terminal's lease. If it has no holder, all participants can write."""

    def __init__(self) -> None:
        self.holder: ViewerPresence | None = None
        self.epoch = 0
        self.asking: set[ViewerPresence] = (
            set()
        )  # participants asking the holder for the lease; empty if there is no holder

    def describe(self) -> WriterLease:
        if self.holder is None:
            return WriterLease(mode="free", epoch=self.epoch)
        return WriterLease(mode="exclusive", holder=self.holder.id, epoch=self.epoch)

    def may_write(self, participant: ViewerPresence | None) -> bool:
        return self.holder is None or self.holder is participant

    def change(
        self,
        action: LeaseAction,
        participant: ViewerPresence | None,
        epoch: int | None = None,
        to: ViewerPresence | None = None,
    ) -> None:
        """Change the lease: grant, release or request it.

        Args:
            action: `take` and `exclusive` grant the lease to `participant`; `exclusive` fails if another participant
                holds it. `release` ends the lease if `participant` holds it; `free` ends it in any case. `ask` and
                `withdraw` start and end a request by `participant`. `keep` refuses a request by `to`, or all requests.
                `give` passes the lease from `participant` to `to`.
            participant: The participant taking the action; None if unknown, which only `free` and `release` allow.
            epoch: The epoch known to the client; None skips the check.
            to: The other participant, required for `give` and optional for `keep`.

        Raises:
            HawseError: `forbidden` if `participant` or the new holder is read-only; `conflict` if `epoch` is outdated
                or another participant holds the lease; `invalid_params` if a required argument is None.
        """
        if participant is not None and participant.read_only:
            raise HawseError("forbidden", "a read-only viewer cannot request, hold or release the writer lease")
        if epoch is not None and epoch != self.epoch:
            raise HawseError(
                "conflict", f"epoch {epoch} is outdated: the lease is at epoch {self.epoch}", details=self._details()
            )
        if action not in ("release", "free"):
            if participant is None:
                raise HawseError(
                    "invalid_params", f"viewer is required for action {action!r}", details={"path": "$.viewer"}
                )
            self._act(action, participant, to)
        else:
            if action == "release" and not self.may_write(participant):
                raise HawseError(
                    "conflict",
                    f"{self.holder_name} holds the lease; only the holder can release it",
                    details=self._details(),
                )
            self._set_holder(None)

    def remove(self, participant: ViewerPresence) -> None:
        """End any request or lease that belongs to `participant`, who has left."""
        self.asking.discard(participant)
        if self.holder is participant:
            self._set_holder(None)

    @property
    def holder_name(self) -> str:
        """The holder's display name, or "" if there is no holder."""
        return "" if self.holder is None else self.holder.name

    def _act(self, action: LeaseAction, participant: ViewerPresence, to: ViewerPresence | None) -> None:
        if action == "take":
            self._set_holder(participant)
        elif action == "exclusive":
            if not self.may_write(participant):
                raise HawseError("conflict", f"{self.holder_name} holds the lease", details=self._details())
            self._set_holder(participant)
        elif action == "ask":
            if not self.may_write(participant):
                self.asking.add(participant)
        elif action == "withdraw":
            self.asking.discard(participant)
        else:
            self._answer(action, participant, to)

    def _answer(self, action: LeaseAction, participant: ViewerPresence, to: ViewerPresence | None) -> None:
        """Handle `give` and `keep`, which only the holder can use."""
        if self.holder is not participant:
            raise HawseError(
                "conflict",
                f"{participant.name} does not hold the lease; only the holder can {action} it",
                details=self._details(),
            )
        if action == "keep":
            self.asking = set() if to is None else self.asking - {to}
            return
        if to is None:
            raise HawseError("invalid_params", "`to` is required for action `give`", details={"path": "$.to"})
        if to.read_only:
            raise HawseError("forbidden", f"{to.name} is a read-only viewer and cannot hold the writer lease")
        self._set_holder(to)

    def _details(self) -> dict[str, object]:
        """The lease's state, for the details of an error."""
        return dict(msgspec.to_builtins(self.describe()))

    def _set_holder(self, participant: ViewerPresence | None) -> None:
        if participant is not self.holder:
            self.holder = participant
            self.epoch += 1
            self.asking.clear()  # the requests were meant for the previous holder
