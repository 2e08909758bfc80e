"""People at a terminal: `terminal.presence`, `terminal.lease`, and what viewers are told of each other."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from hawse.api.rights import VIEW
from hawse.api.spec import Params, ParamsValue, Reply, method

ParticipantKind = Literal["person", "agent"]
LeaseAction = Literal["take", "release", "free", "exclusive"]

ViewerKey = Annotated[str, Meta(min_length=1, max_length=64)]
ParticipantName = Annotated[str, Meta(max_length=256)]
Coordinate = Annotated[int, Meta(ge=0, le=999)]


# ---- values


class ViewerProfile(ParamsValue):
    """How somebody introduces itself in `terminal.attach`. `key` (random, secret) names it across its reconnects."""

    key: ViewerKey | None = None
    name: ParticipantName | None = None
    color: str | None = None
    kind: ParticipantKind | None = None
    focus: bool | None = None


class PointerPosition(ParamsValue):
    """A place on the screen in cells, from 0."""

    x: Coordinate
    y: Coordinate


class Participant(Reply, frozen=True, kw_only=True):
    """Somebody at a terminal; `id` is public. `typing` ends 2 s after the last key, `at` is where its pointer is."""

    id: str
    name: str
    color: str
    kind: ParticipantKind
    read_only: bool
    typing: bool
    focus: bool
    at: PointerPosition | None = None


class ParticipantEvent(Reply, frozen=True, kw_only=True):
    """A viewer as it is now."""

    viewer: Participant


class ParticipantLeft(Reply, frozen=True, kw_only=True):
    """A viewer has left."""

    id: str


class WriterLease(Reply, frozen=True, kw_only=True):
    """Who may type: the viewer whose id is `holder`, or everybody if it is null. `epoch` grows with each change."""

    mode: Literal["free", "exclusive"]
    holder: str | None = None
    epoch: int


class WriterLeaseEvent(WriterLease, frozen=True, kw_only=True):
    """`applied`: how much of the channel's own input stream had been applied by then."""

    applied: int


# ---- methods


@method("terminal.presence", requires=VIEW)
class TerminalPresence(Params[ParticipantEvent], kw_only=True):
    """Tell the others at a terminal what `viewer` (a key) is up to.

    What is left out stays as it is; `at: null` hides the pointer.
    """

    id: str
    viewer: ViewerKey
    name: ParticipantName | None = None
    color: str | None = None
    focus: bool | None = None
    at: PointerPosition | UnsetType | None = UNSET


@method("terminal.lease")
class TerminalLease(Params[WriterLease], kw_only=True):
    """Change who may type into a terminal.

    `take` makes `viewer` (a key) the one who types, `exclusive` only if nobody else does; `release` lets everybody
    type again, `free` whoever it was. With an `epoch` that is not the present one: `conflict`.
    """

    id: str
    action: LeaseAction
    viewer: ViewerKey | None = None
    epoch: int | None = None
