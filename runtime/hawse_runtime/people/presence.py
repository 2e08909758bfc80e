"""A terminal's participants and their state: name, colour, focus, typing, pointer.

A *participant* (a person or an agent) has a secret key, which identifies it across reconnects. Other participants see
its public id. Each viewer stores one version number per participant, for the state last sent. There is no queue: when a
stalled viewer resumes reading, it receives the latest state in at most one event per participant.
"""

import asyncio
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final

from hawse.api.people import Participant, ParticipantEvent, ParticipantKind, ParticipantLeft, PointerPosition
from hawse.wire import HawseError, Principal

PARTICIPANTS_LIMIT: Final = 1024  # maximum number of participants per terminal
READ_ONLY_LIMIT: Final = 768  # maximum number of read-only participants per terminal; leaves room for writers
NAME_MAX: Final = 40  # maximum length of a name, in characters
# Seconds until a participant whose last viewer has detached is removed; most reconnect sooner.
REJOIN_TIMEOUT = 3.0
# Replaces REJOIN_TIMEOUT if the connection to the gateway is lost, because the gateway may have to restart.
RESTART_TIMEOUT = 30.0
ASK_TIMEOUT = 60.0  # seconds until an unanswered request for the writer lease expires
TYPING_TIMEOUT = 2.0  # seconds after the last key until a participant no longer counts as typing
NOTIFY_INTERVAL = 0.05  # minimum number of seconds between notifications; changes in the meantime are combined
# The kind of principal that uses a share link.
GUEST: Final = "guest"
OWNER: Final = "owner"  # the kind of principal that uses the gateway's token and has no individual name
PALETTE: Final = (  # dark text is legible on all of these colours
    "#5ad1c8",
    "#e8c26a",
    "#f2777a",
    "#6aa7f5",
    "#c792ea",
    "#7fd18b",
    "#f29e74",
    "#e58fb8",
    "#9fb3c8",
    "#b5c94c",
)


def identity_name(caller: Principal | None) -> str:
    """Return a caller's fixed name, or "" if the caller can choose a name."""
    if caller is None or caller.kind == OWNER:
        return ""
    return caller.name if caller.kind == GUEST else caller.name or caller.id


class ViewerPresence:
    """A participant, with any number of attached viewers, or none while it is reconnecting."""

    def __init__(self, id: str, key: str | None, name: str, color: str, kind: ParticipantKind) -> None:
        self.id = id
        self.key = key
        self.named = False  # whether a token, an account or a link determines the name
        # Whether the participant uses a share link.
        self.guest = False
        self.name = name
        self.color = color
        self.kind: ParticipantKind = kind
        self.viewers: dict[object, bool] = {}  # the attached viewers; the values are true for read-only viewers
        self.read_only = False  # whether all its viewers are read-only, or were when the last one detached
        self.typing = False
        self.focus = False
        self.at: PointerPosition | None = None  # None while the pointer is hidden
        self.asks = False  # whether the participant is requesting the writer lease
        self.unanswered = False  # whether its last request was dropped after going unanswered for `ASK_TIMEOUT` seconds
        self.scroll = 0  # number of rows that its user has scrolled back
        self.view = ""  # the part of the terminal that the user is viewing, in the client's own format
        self.version = 0  # incremented on every change to the attributes above
        self.typed_at = 0.0  # when its user last pressed a key (loop time)
        self.timer: asyncio.TimerHandle | None = None  # the timer that ends the typing state
        self.asking: asyncio.TimerHandle | None = None  # ends the request
        self.leaving: asyncio.TimerHandle | None = None  # removes the participant; set while it has no viewers

    def describe(self, *, whole: bool = True) -> Participant:
        """Return the public state, which excludes the key.

        Args:
            whole: Whether the receiver can access the whole sandbox, and so may see the participant's view.
        """
        return Participant(
            id=self.id,
            name=self.name,
            color=self.color,
            kind=self.kind,
            read_only=self.read_only,
            typing=self.typing,
            focus=self.focus,
            at=self.at,
            guest=self.guest,
            asks=self.asks,
            unanswered=self.unanswered,
            scroll=self.scroll,
            view=self.view if whole else "",
        )


class PresenceCursor:
    """The state last sent to a viewer: the overall revision and each participant's version."""

    def __init__(self, *, whole: bool = True) -> None:
        """Create a cursor with nothing sent yet. `whole` means the same as in `ViewerPresence.describe`."""
        self.whole = whole
        self.revision = 0
        self.versions: dict[str, int] = {}  # keyed by participant id


class Presence:
    """The participants of one terminal."""

    def __init__(
        self,
        notify: Callable[[], None],
        on_removed: Callable[[ViewerPresence], None],
        on_unanswered: Callable[[ViewerPresence], None] | None = None,
    ) -> None:
        """Create an empty set of participants.

        Args:
            notify: Called when `next_event` has something new, at most once every `NOTIFY_INTERVAL` seconds.
            on_removed: Called with a participant that has been removed.
            on_unanswered: Called with a participant whose request for the writer lease has gone unanswered for
                `ASK_TIMEOUT` seconds.
        """
        self._notify = notify
        self._on_removed = on_removed
        self._on_unanswered = on_unanswered
        self._participants: dict[str, ViewerPresence] = {}  # keyed by id
        self._keys: dict[str, ViewerPresence] = {}
        self._count = 0
        self._revision = 0  # incremented on each notification
        self._notified_at = 0.0  # when the latest notification was sent (loop time)
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._participants)

    def __iter__(self) -> Iterator[ViewerPresence]:
        return iter(self._participants.values())

    def get(self, id: str) -> ViewerPresence:
        """Return the participant with this public id. Raises `not_found`."""
        if id not in self._participants:
            raise HawseError("not_found", f"viewer {id!r} is not present")
        return self._participants[id]

    def find(self, key: str) -> ViewerPresence:
        """Return the participant with this secret key. Raises `not_found`."""
        if key not in self._keys:
            raise HawseError("not_found", "no viewer with this key is attached")
        return self._keys[key]

    def join(
        self,
        viewer: object,
        *,
        key: str | None = None,
        name: str | None = None,
        color: str | None = None,
        kind: ParticipantKind | None = None,
        read_only: bool = False,
        caller: Principal | None = None,
    ) -> ViewerPresence:
        """Attach a viewer to the participant with its key, or to a new participant.

        Args:
            viewer: An object that identifies the viewer. Pass the same object to `leave`.
            key: The secret that identifies a participant across reconnects; None creates a new participant.
            name: The requested name (see `rename`).
            color: The requested colour (see `rename`).
            kind: The participant's kind. None keeps it as it is, or sets `person` for a new participant.
            read_only: Whether the viewer cannot send input.
            caller: The principal attaching the viewer; None for the terminal's owner.

        Raises:
            HawseError: `limit_exceeded` if the terminal has too many participants.
        """
        participant = self._keys.get(key) if key is not None else None
        if participant is None:
            participant = self._new(key, color, kind or "person", read_only=read_only)
        if participant.leaving is not None:
            participant.leaving.cancel()
            participant.leaving = None
        participant.viewers[viewer] = read_only
        participant.read_only = all(participant.viewers.values())
        participant.kind = kind or participant.kind
        participant.guest = caller is not None and caller.kind == GUEST
        given = clean(identity_name(caller))
        participant.named = bool(given)
        participant.name = given or participant.name
        self.rename(participant, name, color)
        return participant

    def leave(self, participant: ViewerPresence, viewer: object, *, link_lost: bool = False) -> None:
        """Detach `viewer`. A participant without viewers is removed unless it reconnects in time.

        Args:
            participant: The viewer's participant.
            viewer: The object passed to `join`.
            link_lost: Whether the connection to the gateway has been lost, along with all its viewers. If so, the
                participant has `RESTART_TIMEOUT` seconds to reconnect; otherwise, `REJOIN_TIMEOUT` seconds.
        """
        participant.viewers.pop(viewer, None)
        if participant.viewers:
            participant.read_only = all(participant.viewers.values())
            self._changed(participant)
        elif participant.leaving is None and participant.id in self._participants:
            timeout = RESTART_TIMEOUT if link_lost else REJOIN_TIMEOUT
            participant.leaving = asyncio.get_running_loop().call_later(timeout, self._remove, participant)

    def rename(self, participant: ViewerPresence, name: str | None, color: str | None) -> None:
        """Set the name unless it is fixed or empty, and the colour if it is in the palette and unused."""
        if name is not None and not participant.named:
            participant.name = clean(name) or participant.name
        if color in PALETTE and color not in self._colors():
            participant.color = color
        self._changed(participant)

    def set_focus(self, participant: ViewerPresence, focus: bool) -> None:
        if focus is not participant.focus:
            participant.focus = focus
            self._changed(participant)

    def set_pointer(self, participant: ViewerPresence, at: PointerPosition | None) -> None:
        """Move the participant's pointer. None hides the pointer."""
        if at != participant.at:
            participant.at = at
            self._changed(participant)

    def set_asks(self, participant: ViewerPresence, asks: bool) -> None:
        """Show or clear a participant's request for the writer lease. A request expires after `ASK_TIMEOUT` seconds."""
        if participant.asks is asks:
            return
        participant.asks = asks
        if participant.asking is not None:
            participant.asking.cancel()
            participant.asking = None
        if asks:
            participant.unanswered = False
            loop = asyncio.get_running_loop()
            participant.asking = loop.call_later(ASK_TIMEOUT, self._ask_timeout, participant)
        self._changed(participant)

    def clear_unanswered(self) -> None:
        """Clear unanswered requests. Called whenever the lease has changed."""
        for participant in self._participants.values():
            if participant.unanswered:
                participant.unanswered = False
                self._changed(participant)

    def set_view(self, participant: ViewerPresence, scroll: int | None, view: str | None) -> None:
        """Set how many rows the participant has scrolled back and its current view. None leaves a value unchanged."""
        before = (participant.scroll, participant.view)
        participant.scroll = participant.scroll if scroll is None else scroll
        participant.view = participant.view if view is None else view
        if (participant.scroll, participant.view) != before:
            self._changed(participant)

    def mark_typing(self, participant: ViewerPresence) -> None:
        """Show `participant` as typing until `TYPING_TIMEOUT` seconds have passed since the last call."""
        loop = asyncio.get_running_loop()
        participant.typed_at = loop.time()
        if not participant.typing:
            participant.typing = True
            participant.timer = loop.call_later(TYPING_TIMEOUT, self._typing_timeout, participant)
            self._changed(participant)

    def describe(self, cursor: PresenceCursor) -> list[Participant]:
        """Return all participants, and advance `cursor` to their current state."""
        cursor.revision = self._revision
        cursor.versions = {participant.id: participant.version for participant in self._participants.values()}
        return [participant.describe(whole=cursor.whole) for participant in self._participants.values()]

    def next_event(self, cursor: PresenceCursor) -> tuple[str, ParticipantEvent | ParticipantLeft] | None:
        """Return the name and value of the next event after `cursor`, and advance `cursor`. Return None if there is no
        event.
        """
        if cursor.revision == self._revision:
            return None
        for left in cursor.versions:
            if left not in self._participants:
                del cursor.versions[left]
                return "left", ParticipantLeft(id=left)
        for participant in self._participants.values():
            known = cursor.versions.get(participant.id)
            if known != participant.version:
                cursor.versions[participant.id] = participant.version
                event = ParticipantEvent(viewer=participant.describe(whole=cursor.whole))
                return ("joined" if known is None else "presence"), event
        cursor.revision = self._revision
        return None

    def close(self) -> None:
        """Cancel all timers. After that, neither `notify` nor `on_removed` is called."""
        timers = [
            self._timer,
            *(timer for participant in self._participants.values() for timer in _timers(participant)),
        ]
        for timer in timers:
            if timer is not None:
                timer.cancel()

    # ----

    def _new(self, key: str | None, color: str | None, kind: ParticipantKind, *, read_only: bool) -> ViewerPresence:
        self._make_room(read_only=read_only)
        self._count += 1
        used = self._colors()
        free = color if color in PALETTE and color not in used else None
        free = free or min(PALETTE, key=lambda each: (used.count(each), PALETTE.index(each)))
        name = f"{'agent' if kind == 'agent' else 'guest'}-{self._count}"
        participant = ViewerPresence(f"v{self._count}", key, name, free, kind)
        self._participants[participant.id] = participant
        if key is not None:
            self._keys[key] = participant
        return participant

    def _make_room(self, *, read_only: bool) -> None:
        """If the limit is reached, remove a participant without viewers. Raises `limit_exceeded` if there is none."""
        counted = [participant for participant in self._participants.values() if participant.read_only or not read_only]
        limit = READ_ONLY_LIMIT if read_only else PARTICIPANTS_LIMIT
        if len(counted) < limit:
            return
        leaving = next((participant for participant in counted if participant.leaving is not None), None)
        if leaving is None:
            kind = "read-only viewers" if read_only else "viewers"
            raise HawseError("limit_exceeded", f"participant limit reached: {limit} {kind} are attached")
        self._remove(leaving)

    def _colors(self) -> list[str]:
        return [participant.color for participant in self._participants.values()]

    def _typing_timeout(self, participant: ViewerPresence) -> None:
        loop = asyncio.get_running_loop()
        remaining = participant.typed_at + TYPING_TIMEOUT - loop.time()
        if remaining > 0.01:
            participant.timer = loop.call_later(remaining, self._typing_timeout, participant)
        else:
            participant.timer, participant.typing = None, False
            self._changed(participant)

    def _ask_timeout(self, participant: ViewerPresence) -> None:
        participant.asking, participant.unanswered = None, True
        if self._on_unanswered is not None:
            self._on_unanswered(participant)

    def _remove(self, participant: ViewerPresence) -> None:
        for timer in _timers(participant):
            if timer is not None:
                timer.cancel()
        del self._participants[participant.id]
        if participant.key is not None:
            del self._keys[participant.key]
        self._changed(participant)
        self._on_removed(participant)

    def _changed(self, participant: ViewerPresence) -> None:
        """Notify immediately, or once `NOTIFY_INTERVAL` seconds have passed since the last notification."""
        participant.version += 1
        loop = asyncio.get_running_loop()
        due = self._notified_at + NOTIFY_INTERVAL
        if self._timer is None and loop.time() >= due:
            self._publish()
        elif self._timer is None:
            self._timer = loop.call_at(due, self._publish)

    def _publish(self) -> None:
        self._timer = None
        self._notified_at = asyncio.get_running_loop().time()
        self._revision += 1
        self._notify()


def _timers(participant: ViewerPresence) -> tuple[asyncio.TimerHandle | None, ...]:
    return participant.timer, participant.asking, participant.leaving


def clean(name: str) -> str:
    """Return `name` as one line of at most `NAME_MAX` characters, without control, format or private-use characters."""
    shown = "".join(" " if char.isspace() else char for char in name[: 8 * NAME_MAX])
    shown = "".join(char for char in shown if unicodedata.category(char)[0] != "C")
    return " ".join(shown.split())[:NAME_MAX].rstrip()
