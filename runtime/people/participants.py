"""The company at a terminal: its people, who of them may type, and whose size it has, put together.

Here are also the calls about it, `terminal.presence` and `terminal.lease`. It knows neither channels nor bytes.
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

# What an emulator says by itself: reports of cursor, attributes, modes and focus, and strings. Nobody types that.
_REPORTS = re.compile(
    rb"(?:\x1b\[[?>=]?[\d;:]*(?:[Rcnt]|\$y)|\x1b\[\?[\d;]*u|\x1b\[[IO]|\x1b[P\]_][^\x1b\x07]*(?:\x1b\\|\x07))+"
)


class OfferedSize(PresenceChange):
    """What one viewer was told."""

    epoch = 0


class Participants:
    """Of one terminal. `wake` is called when there is something to tell its viewers, `handed` when others may type."""

    def __init__(
        self,
        current: Callable[[], Size],
        resize: Callable[[int, int], None],
        wake: Callable[[], None],
        handed: Callable[[], None],
    ) -> None:
        self._handed = handed
        self._presence = Presence(wake, WeakCallback(self._gone))
        self._lease = WriterLeaseState()
        self._sizing = SizePolicy(current, resize)

    # ---- lines

    def join(self, line: object, guest: ViewerProfile, *, read_only: bool, fit: Size | None) -> ViewerPresence:
        """`line` is attached. Raises `limit_exceeded`."""
        person = self._presence.join(
            line, key=guest.key, name=guest.name, color=guest.color, kind=guest.kind, read_only=read_only
        )
        self._turn(person, guest.focus)
        if fit is not None:
            self.fits(person, fit)
        if guest.focus:
            self._sizing.used(person)
        return person

    def part(self, person: ViewerPresence, line: object) -> None:
        self._presence.part(person, line)

    def close(self) -> None:
        self._presence.close()
        self._sizing.close()

    # ---- input

    def may_write(self, person: ViewerPresence | None) -> bool:
        return self._lease.may_write(person)

    def check(self, person: ViewerPresence | None, applied: int) -> None:
        """Raises `lease_held` if somebody else types alone. `applied`: of the input stream, to be told."""
        if not self._lease.may_write(person):
            raise HawseError(
                "lease_held",
                f"{self._lease.holder_name} holds the writer lease",
                details={"applied": applied, **self._lease.describe()},
            )

    def typed(self, person: ViewerPresence, data: bytes | memoryview) -> None:
        """`data` has come from `person`, and is applied."""
        if not _REPORTS.fullmatch(data):
            self._presence.typed(person)
            self._sizing.used(person)

    def fits(self, person: ViewerPresence, size: Size) -> None:
        if not person.read_only:
            self._sizing.fits(person, size)

    def find(self, key: str) -> ViewerPresence:
        """Raises `not_found`."""
        return self._presence.find(key)

    # ---- calls

    def set_presence(self, params: TerminalPresence) -> dict[str, Any]:
        person = self.find(params.viewer)
        if params.name is not None or params.color is not None:
            self._presence.rename(person, params.name, params.color)
        if params.at is not UNSET:
            self._presence.point(person, None if params.at is None else PointerCell(params.at.x, params.at.y))
        self._turn(person, params.focus)
        if params.focus:
            self._sizing.used(person)
        return {"viewer": person.describe()}

    def set_lease(self, params: TerminalLease) -> dict[str, Any]:
        person = None if params.viewer is None else self.find(params.viewer)
        before = self._lease.epoch
        self._lease.act(params.action, person, params.epoch)
        if self._lease.epoch != before:
            self._handed()
        return self._lease.describe()

    # ---- what viewers are told

    def describe(self, person: ViewerPresence, seen: OfferedSize) -> dict[str, Any]:
        """What `opened` says; `seen` knows it now."""
        seen.epoch = self._lease.epoch
        return {"viewer": person.id, "presence": self._presence.describe(seen), "lease": self._lease.describe()}

    def news(self, seen: OfferedSize, applied: int) -> tuple[str, dict[str, Any]] | None:
        """The next event that a viewer has not had, with its value. `applied`: of its own input stream."""
        holder = self._lease.holder
        if seen.epoch != self._lease.epoch and (holder is None or holder.id in seen.versions):
            seen.epoch = self._lease.epoch
            return "lease", {**self._lease.describe(), "applied": applied}
        return self._presence.news(seen)

    # ----

    def _turn(self, person: ViewerPresence, focus: bool | None) -> None:
        self._presence.turn(person, focus=focus)

    def _gone(self, person: ViewerPresence) -> None:
        self._sizing.left(person)
        if self._lease.holder is person:
            self._lease.left(person)
            self._handed()
