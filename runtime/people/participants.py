"""Tracks the participants of a terminal and arbitrates who may write and which window size applies.

It handles `terminal.presence` and `terminal.lease`. It knows neither channels nor bytes.
"""

import re
from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from hawse.api.people import TerminalLease, TerminalPresence, ViewerProfile
from hawse.wire import HawseError
from runtime.core.weak_callback import WeakCallback
from runtime.people.presence import PointerCell, Presence, PresenceChange, ViewerPresence
from runtime.people.size_policy import Size, SizePolicy
from runtime.people.writer_lease import WriterLeaseState

# What an emulator sends by itself: reports of cursor, attributes, modes and focus, and strings. It is not typing.
_REPORTS = re.compile(
    rb"(?:\x1b\[[?>=]?[\d;:]*(?:[Rcnt]|\$y)|\x1b\[\?[\d;]*u|\x1b\[[IO]|\x1b[P\]_][^\x1b\x07]*(?:\x1b\\|\x07))+"
)


class OfferedSize(PresenceChange):
    """What one viewer was told."""

    epoch = 0


class Participants:
    """The participants of one terminal.

    `wake` is called when there is an event for its viewers, `writers_changed` when others may write.
    """

    def __init__(
        self,
        current: Callable[[], Size],
        resize: Callable[[int, int], None],
        wake: Callable[[], None],
        writers_changed: Callable[[], None],
    ) -> None:
        self._writers_changed = writers_changed
        self._presence = Presence(wake, WeakCallback(self._gone))
        self._lease = WriterLeaseState()
        self._sizing = SizePolicy(current, resize)

    # ---- lines

    def join(self, line: object, guest: ViewerProfile, *, read_only: bool, fit: Size | None) -> ViewerPresence:
        """`line` is attached. Raises `limit_exceeded`."""
        participant = self._presence.join(
            line, key=guest.key, name=guest.name, color=guest.color, kind=guest.kind, read_only=read_only
        )
        self._turn(participant, guest.focus)
        if fit is not None:
            self.fits(participant, fit)
        if guest.focus:
            self._sizing.used(participant)
        return participant

    def part(self, participant: ViewerPresence, line: object) -> None:
        self._presence.part(participant, line)

    def close(self) -> None:
        self._presence.close()
        self._sizing.close()

    # ---- input

    def may_write(self, participant: ViewerPresence | None) -> bool:
        return self._lease.may_write(participant)

    def check(self, participant: ViewerPresence | None, applied: int) -> None:
        """Raises `lease_held` if somebody else types alone. `applied`: of the input stream, to be told."""
        if not self._lease.may_write(participant):
            raise HawseError(
                "lease_held",
                f"{self._lease.holder_name} holds the writer lease",
                details={"applied": applied, **self._lease.describe()},
            )

    def typed(self, participant: ViewerPresence, data: bytes | memoryview) -> None:
        """`data` has come from `participant`, and is applied."""
        if not _REPORTS.fullmatch(data):
            self._presence.typed(participant)
            self._sizing.used(participant)

    def fits(self, participant: ViewerPresence, size: Size) -> None:
        if not participant.read_only:
            self._sizing.fits(participant, size)

    def find(self, key: str) -> ViewerPresence:
        """Raises `not_found`."""
        return self._presence.find(key)

    # ---- calls

    def set_presence(self, params: TerminalPresence) -> dict[str, Any]:
        participant = self.find(params.viewer)
        if params.name is not None or params.color is not None:
            self._presence.rename(participant, params.name, params.color)
        if params.at is not UNSET:
            self._presence.point(participant, None if params.at is None else PointerCell(params.at.x, params.at.y))
        self._turn(participant, params.focus)
        if params.focus:
            self._sizing.used(participant)
        return {"viewer": participant.describe()}

    def set_lease(self, params: TerminalLease) -> dict[str, Any]:
        participant = None if params.viewer is None else self.find(params.viewer)
        before = self._lease.epoch
        self._lease.act(params.action, participant, params.epoch)
        if self._lease.epoch != before:
            self._writers_changed()
        return self._lease.describe()

    # ---- what viewers are told

    def describe(self, participant: ViewerPresence, seen: OfferedSize) -> dict[str, Any]:
        """What `opened` says; `seen` knows it now."""
        seen.epoch = self._lease.epoch
        return {"viewer": participant.id, "presence": self._presence.describe(seen), "lease": self._lease.describe()}

    def next_event(self, seen: OfferedSize, applied: int) -> tuple[str, dict[str, Any]] | None:
        """The next event that a viewer has not had, with its value. `applied`: of its own input stream."""
        holder = self._lease.holder
        if seen.epoch != self._lease.epoch and (holder is None or holder.id in seen.versions):
            seen.epoch = self._lease.epoch
            return "lease", {**self._lease.describe(), "applied": applied}
        return self._presence.next_event(seen)

    # ----

    def _turn(self, participant: ViewerPresence, focus: bool | None) -> None:
        self._presence.turn(participant, focus=focus)

    def _gone(self, participant: ViewerPresence) -> None:
        self._sizing.left(participant)
        if self._lease.holder is participant:
            self._lease.left(participant)
            self._writers_changed()
