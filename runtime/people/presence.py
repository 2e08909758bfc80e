"""Who is at a terminal, and what they are up to.

A *participant* (or an agent) is named by a key that only it knows, so that it stays the same one across its reconnects;
others see its id. What each viewer was told is kept as one number for each participant, never as a queue: a viewer that
stalls is told the latest state when it reads again, in as many events as there are people.
"""

import asyncio
import unicodedata
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from hawse.api.people import ParticipantKind
from hawse.wire import HawseError

PARTICIPANTS_LIMIT: Final = 1024  # at one terminal
READ_ONLY_LIMIT: Final = 768  # of them: however many only watch, there is room for those who may write
NAME_MAX: Final = 40  # characters
LINGER: Final = 3.0  # s that somebody stays whose line is gone: most come back by the next
TYPING: Final = 2.0  # s from the last key until somebody is said to type no more
TELL: Final = 0.05  # s between two tellings: what changes meanwhile is told once
PALETTE: Final = (  # all of them carry dark letters
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


class PointerCell(NamedTuple):
    """A place on the screen, from 0."""

    x: int
    y: int


class ViewerPresence:
    """Somebody at the terminal, by however many lines at the moment."""

    def __init__(self, id: str, key: str | None, name: str, color: str, kind: ParticipantKind) -> None:
        self.id = id
        self.key = key
        self.name = name
        self.color = color
        self.kind: ParticipantKind = kind
        self.lines: dict[object, bool] = {}  # each with whether it is read-only
        self.read_only = False  # all of them are, or were
        self.typing = False
        self.focus = False
        self.at: PointerCell | None = None  # where its pointer is
        self.version = 0  # of all of this; never goes back
        self.typed_at = 0.0
        self.timer: asyncio.TimerHandle | None = None  # until it types no more
        self.leaving: asyncio.TimerHandle | None = None  # while no line is left

    def describe(self) -> dict[str, Any]:
        """As docs/wire.md shows it."""
        at = None if self.at is None else {"x": self.at.x, "y": self.at.y}
        return {
            "id": self.id,
            "name": self.name,
            "color": self.color,
            "kind": self.kind,
            "read_only": self.read_only,
            "typing": self.typing,
            "focus": self.focus,
            "at": at,
        }


class PresenceChange:
    """What one viewer knows of the others."""

    def __init__(self) -> None:
        self.tick = 0
        self.versions: dict[str, int] = {}


class Presence:
    """The people at one terminal. `tell` is called when there is news, `gone` when somebody has left for good."""

    def __init__(self, tell: Callable[[], None], gone: Callable[[ViewerPresence], None]) -> None:
        self._tell = tell
        self._gone = gone
        self._people: dict[str, ViewerPresence] = {}  # by id
        self._keys: dict[str, ViewerPresence] = {}
        self._count = 0
        self._tick = 0  # grows with each telling
        self._notified_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def find(self, key: str) -> ViewerPresence:
        """Raises `not_found`."""
        if key not in self._keys:
            raise HawseError("not_found", "no viewer of that key is attached")
        return self._keys[key]

    def join(
        self,
        line: object,
        *,
        key: str | None = None,
        name: str | None = None,
        color: str | None = None,
        kind: ParticipantKind | None = None,
        read_only: bool = False,
    ) -> ViewerPresence:
        """`line` is attached now. Whoever has the key is the same participant. Raises `limit_exceeded`."""
        participant = self._keys.get(key) if key is not None else None
        if participant is None:
            participant = self._new(key, color, kind or "person", read_only=read_only)
        if participant.leaving is not None:
            participant.leaving.cancel()
            participant.leaving = None
        participant.lines[line] = read_only
        participant.read_only = all(participant.lines.values())
        participant.kind = kind or participant.kind
        self.rename(participant, name, color)
        return participant

    def part(self, participant: ViewerPresence, line: object) -> None:
        """`line` is gone; the participant stays for `LINGER` seconds."""
        participant.lines.pop(line, None)
        if participant.lines:
            participant.read_only = all(participant.lines.values())
            self._changed(participant)
        elif participant.leaving is None and participant.id in self._people:
            participant.leaving = asyncio.get_running_loop().call_later(LINGER, self._leave, participant)

    def rename(self, participant: ViewerPresence, name: str | None, color: str | None) -> None:
        """Take another name or colour, where they can be had."""
        participant.name = clean(name) or participant.name if name is not None else participant.name
        if color in PALETTE and color not in self._colors():
            participant.color = color
        self._changed(participant)

    def turn(self, participant: ViewerPresence, *, focus: bool | None = None) -> None:
        if focus is not None and focus is not participant.focus:
            participant.focus = focus
            self._changed(participant)

    def point(self, participant: ViewerPresence, at: PointerCell | None) -> None:
        if at != participant.at:
            participant.at = at
            self._changed(participant)

    def typed(self, participant: ViewerPresence) -> None:
        """A key of it has come."""
        loop = asyncio.get_running_loop()
        participant.typed_at = loop.time()
        if not participant.typing:
            participant.typing = True
            participant.timer = loop.call_later(TYPING, self._rest, participant)
            self._changed(participant)

    def describe(self, told: PresenceChange) -> list[dict[str, Any]]:
        """All of them; `told` knows that now."""
        told.tick = self._tick
        told.versions = {participant.id: participant.version for participant in self._people.values()}
        return [participant.describe() for participant in self._people.values()]

    def next_event(self, told: PresenceChange) -> tuple[str, dict[str, Any]] | None:
        """The next thing that `told` does not know: an event's name and value."""
        if told.tick == self._tick:
            return None
        for left in told.versions:
            if left not in self._people:
                del told.versions[left]
                return "left", {"id": left}
        for participant in self._people.values():
            known = told.versions.get(participant.id)
            if known != participant.version:
                told.versions[participant.id] = participant.version
                return ("joined" if known is None else "presence"), {"viewer": participant.describe()}
        told.tick = self._tick
        return None

    def close(self) -> None:
        """Nobody is to be told any more."""
        timers = [
            self._timer,
            *(t for participant in self._people.values() for t in (participant.timer, participant.leaving)),
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
        self._people[participant.id] = participant
        if key is not None:
            self._keys[key] = participant
        return participant

    def _make_room(self, *, read_only: bool) -> None:
        """Let a participant without a connection leave if there are too many. Raises `limit_exceeded`."""
        people = [participant for participant in self._people.values() if participant.read_only or not read_only]
        limit = READ_ONLY_LIMIT if read_only else PARTICIPANTS_LIMIT
        if len(people) < limit:
            return
        leaving = next((participant for participant in people if participant.leaving is not None), None)
        if leaving is None:
            kind = "read-only viewers" if read_only else "viewers"
            raise HawseError("limit_exceeded", f"{limit} {kind} are attached to this terminal: no more are admitted")
        self._leave(leaving)

    def _colors(self) -> list[str]:
        return [participant.color for participant in self._people.values()]

    def _rest(self, participant: ViewerPresence) -> None:
        loop = asyncio.get_running_loop()
        left = participant.typed_at + TYPING - loop.time()
        if left > 0.01:
            participant.timer = loop.call_later(left, self._rest, participant)
        else:
            participant.timer, participant.typing = None, False
            self._changed(participant)

    def _leave(self, participant: ViewerPresence) -> None:
        for timer in (participant.timer, participant.leaving):
            if timer is not None:
                timer.cancel()
        del self._people[participant.id]
        if participant.key is not None:
            del self._keys[participant.key]
        self._changed(participant)
        self._gone(participant)

    def _changed(self, participant: ViewerPresence) -> None:
        """Tell now, or when the last telling is `TELL` seconds old."""
        participant.version += 1
        loop = asyncio.get_running_loop()
        due = self._notified_at + TELL
        if self._timer is None and loop.time() >= due:
            self._publish()
        elif self._timer is None:
            self._timer = loop.call_at(due, self._publish)

    def _publish(self) -> None:
        self._timer = None
        self._notified_at = asyncio.get_running_loop().time()
        self._tick += 1
        self._tell()


def clean(name: str) -> str:
    """A name that can be shown anywhere: no control, format or private characters, one line, not too long."""
    shown = "".join(" " if char.isspace() else char for char in name[: 8 * NAME_MAX])
    shown = "".join(char for char in shown if unicodedata.category(char)[0] != "C")
    return " ".join(shown.split())[:NAME_MAX].rstrip()
