"""Tracks a terminal's participants. Decides which of them can write, and whose window determines the size.

Handles `terminal.presence` and `terminal.lease`. Knows nothing about channels or output.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import msgspec
from msgspec import UNSET

from hawse.api.people import (
    Participant,
    ParticipantEvent,
    ParticipantLeft,
    TerminalLease,
    TerminalPresence,
    ViewerProfile,
    WriterLease,
    WriterLeaseEvent,
)
from hawse.weakref_support import supports_weakref
from hawse.wire import HawseError, Principal
from hawse_runtime.core.weak_callback import WeakCallback
from hawse_runtime.people.presence import Presence, PresenceCursor, ViewerPresence
from hawse_runtime.people.size_policy import Size, SizePolicy
from hawse_runtime.people.writer_lease import WriterLeaseState

# Input sent automatically by a terminal emulator: cursor, attribute, mode and focus reports, and control strings. It
# doesn't count as typing.
_ESC: Final = 0x1B
_REPORTS = re.compile(
    rb"(?:\x1b\[[?>=]?[\d;:]*(?:[Rcnt]|\$y)|\x1b\[\?[\d;]*u|\x1b\[[IO]|\x1b[P\]_][^\x1b\x07]*(?:\x1b\\|\x07))+"
)


class ParticipantsCursor(PresenceCursor):
    """The state of the participants and the writer lease, as last sent to a viewer."""

    epoch = 0  # the lease's epoch


class ParticipantsState(NamedTuple):
    """Fields of the `opened` event that describe the participants."""

    viewer: str  # the attaching participant's public id
    presence: list[Participant]
    lease: WriterLease


@supports_weakref
class Participants:
    """A terminal's participants."""

    def __init__(
        self,
        current: Callable[[], Size],
        resize: Callable[[int, int], None],
        wake: Callable[[], None],
        writers_changed: Callable[[], None],
    ) -> None:
        """Create an empty set of participants.

        Args:
            current: Returns the terminal's size as (columns, rows).
            resize: Sets the terminal's size.
            wake: Called when `next_event` has something new for the viewers.
            writers_changed: Called when a different set of participants can write.
        """
        self._writers_changed = writers_changed
        self._presence = Presence(wake, WeakCallback(self._removed), WeakCallback(self._unanswered))
        self._lease = WriterLeaseState()
        self._asking = frozenset[ViewerPresence]()  # participants shown as requesting the lease
        self._sizing = SizePolicy(current, resize)

    def __len__(self) -> int:
        return len(self._presence)

    def __iter__(self) -> Iterator[ViewerPresence]:
        return iter(self._presence)

    # ---- viewers

    def join(
        self,
        viewer: object,
        profile: ViewerProfile,
        *,
        read_only: bool,
        fit: Size | None,
        caller: Principal | None = None,
    ) -> ViewerPresence:
        """Attach a viewer.

        Args:
            viewer: An object that identifies the viewer, to be passed to `leave` later.
            profile: How the viewer introduces itself. Its key determines the participant.
            read_only: Whether the viewer cannot send input.
            fit: The terminal size, in cells, that fits the viewer's window; None if there is no window.
            caller: The principal attaching the viewer; None for the terminal's owner.

        Returns:
            The viewer's participant.

        Raises:
            HawseError: `limit_exceeded` if the terminal has too many participants.
        """
        participant = self._presence.join(
            viewer,
            key=profile.key,
            name=profile.name,
            color=profile.color,
            kind=profile.kind,
            read_only=read_only,
            caller=caller,
        )
        if profile.focus is not None:
            self._presence.set_focus(participant, profile.focus)
        if fit is not None:
            self.set_fit(participant, fit)
        if profile.focus:
            self._sizing.mark_active(participant)
        return participant

    def leave(self, participant: ViewerPresence, viewer: object, *, link_lost: bool = False) -> None:
        """Detach `viewer` from `participant`. `link_lost` means the same as in `Presence.leave`."""
        self._presence.leave(participant, viewer, link_lost=link_lost)

    def close(self) -> None:
        self._presence.close()
        self._sizing.close()

    # ---- input

    def may_write(self, participant: ViewerPresence | None) -> bool:
        return self._lease.may_write(participant)

    def check_may_write(self, participant: ViewerPresence | None, applied: int) -> None:
        """Raise `lease_held` if another participant holds the writer lease.

        `applied`, the number of bytes applied from the input stream, is included in the error's details.
        """
        if not self._lease.may_write(participant):
            raise HawseError(
                "lease_held",
                f"{self._lease.holder_name} holds the writer lease",
                details={"applied": applied, **msgspec.to_builtins(self._lease.describe())},
            )

    def record_input(self, participant: ViewerPresence, data: bytes | memoryview) -> None:
        """Show `participant` as typing and let it determine the size, unless `data` consists of emulator reports.

        `data` must not be empty.
        """
        if data[0] != _ESC or not _REPORTS.fullmatch(data):
            self._presence.mark_typing(participant)
            self._sizing.mark_active(participant)

    def set_fit(self, participant: ViewerPresence, size: Size, *, claim: bool = False) -> None:
        """Record the terminal size that fits the participant's window. Has no effect if the participant is read-only.

        Args:
            participant: The participant whose window has changed.
            size: The columns and rows.
            claim: Whether to make `participant` the one that decides the size.
        """
        if not participant.read_only:
            self._sizing.set_fit(participant, size)
            if claim:
                self._sizing.mark_active(participant)

    def find(self, key: str) -> ViewerPresence:
        """Return the participant with this key. Raises `not_found`."""
        return self._presence.find(key)

    # ---- calls

    def set_presence(self, params: TerminalPresence) -> ParticipantEvent:
        """Handle `terminal.presence`. Raises `not_found`."""
        participant = self.find(params.viewer)
        if params.name is not None or params.color is not None:
            self._presence.rename(participant, params.name, params.color)
        if params.at is not UNSET:
            self._presence.set_pointer(participant, params.at)
        self._presence.set_view(participant, params.scroll, params.view)
        if params.focus is not None:
            self._presence.set_focus(participant, params.focus)
        if params.focus:
            self._sizing.mark_active(participant)
        return ParticipantEvent(viewer=participant.describe())

    def set_lease(self, params: TerminalLease) -> WriterLease:
        """Handle `terminal.lease`. Raises `not_found`, and the same errors as `WriterLeaseState.change`."""
        participant = None if params.viewer is None else self.find(params.viewer)
        to = None if params.to is None else self._presence.get(params.to)
        before = self._lease.epoch
        self._lease.change(params.action, participant, params.epoch, to)
        self._show_requests()
        if self._lease.epoch != before:
            self._presence.clear_unanswered()
            self._writers_changed()
        return self._lease.describe()

    # ---- events

    def describe(self, participant: ViewerPresence, cursor: ParticipantsCursor) -> ParticipantsState:
        """Return the current state for the `opened` event sent to `participant`, and advance `cursor` to that state."""
        cursor.epoch = self._lease.epoch
        return ParticipantsState(participant.id, self._presence.describe(cursor), self._lease.describe())

    def next_event(
        self, cursor: ParticipantsCursor, applied: int
    ) -> tuple[str, WriterLeaseEvent | ParticipantEvent | ParticipantLeft] | None:
        """Return the name and value of the next event after `cursor`, and advance `cursor`. Return None if there is no
        event.

        A new holder is announced with `joined` before a `lease` event refers to it. `applied` is the number of bytes
        applied from the viewer's input stream.
        """
        holder = self._lease.holder
        if cursor.epoch != self._lease.epoch and (holder is None or holder.id in cursor.versions):
            cursor.epoch = self._lease.epoch
            lease = self._lease.describe()
            return "lease", WriterLeaseEvent(mode=lease.mode, holder=lease.holder, epoch=lease.epoch, applied=applied)
        return self._presence.next_event(cursor)

    # ----

    def _show_requests(self) -> None:
        for participant in self._asking ^ self._lease.asking:
            self._presence.set_asks(participant, participant in self._lease.asking)
        self._asking = frozenset(self._lease.asking)

    def _unanswered(self, participant: ViewerPresence) -> None:
        """End a participant's request for the lease if it has not been answered in time."""
        self._lease.asking.discard(participant)
        self._show_requests()

    def _removed(self, participant: ViewerPresence) -> None:
        self._sizing.remove(participant)
        held = self._lease.holder is participant
        self._lease.remove(participant)
        self._asking -= {participant}
        self._show_requests()
        if held:
            self._presence.clear_unanswered()
            self._writers_changed()
