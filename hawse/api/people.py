"""People at a terminal: `terminal.presence`, `terminal.lease`, and what viewers are told of each other."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hawse.api.spec import Reply, Spec

Kind = Literal["person", "agent"]
Action = Literal["take", "release", "free", "exclusive"]

Key = Annotated[str, Meta(min_length=1, max_length=64)]
Name = Annotated[str, Meta(max_length=256)]
Coordinate = Annotated[int, Meta(ge=0, le=999)]


class Guest(msgspec.Struct):
    """How somebody introduces itself in `terminal.attach`. `key` (random, secret) names it across its reconnects."""

    key: Key | None = None
    name: Name | None = None
    color: str | None = None
    kind: Kind | None = None
    focus: bool | None = None


class Place(msgspec.Struct):
    """A place on the screen in cells, from 0."""

    x: Coordinate
    y: Coordinate


class SetPresence(msgspec.Struct):
    """Tell the others at a terminal what `viewer` (a key) is up to.

    What is left out stays as it is; `at: null` hides the pointer.
    """

    id: str
    viewer: Key
    name: Name | None = None
    color: str | None = None
    focus: bool | None = None
    at: Place | UnsetType | None = UNSET


class SetLease(msgspec.Struct):
    """Change who may type into a terminal.

    `take` makes `viewer` (a key) the one who types, `exclusive` only if nobody else does; `release` lets everybody
    type again, `free` whoever it was. With an `epoch` that is not the present one: `conflict`.
    """

    id: str
    action: Action
    viewer: Key | None = None
    epoch: int | None = None


class Person(Reply, frozen=True, kw_only=True):
    """Somebody at a terminal; `id` is public. `typing` ends 2 s after the last key, `at` is where its pointer is."""

    id: str
    name: str
    color: str
    kind: Kind
    read_only: bool
    typing: bool
    focus: bool
    at: Place | None = None


class WithPerson(Reply, frozen=True, kw_only=True):
    """A viewer as it is now."""

    viewer: Person


class PersonLeft(Reply, frozen=True, kw_only=True):
    """A viewer has left."""

    id: str


class WriterLease(Reply, frozen=True, kw_only=True):
    """Who may type: the viewer whose id is `holder`, or everybody if it is null. `epoch` grows with each change."""

    mode: Literal["free", "exclusive"]
    holder: str | None = None
    epoch: int


class LeaseTold(WriterLease, frozen=True, kw_only=True):
    """`applied`: how much of the channel's own input stream had been applied by then."""

    applied: int


METHODS = {
    "terminal.presence": Spec(SetPresence, WithPerson, viewer=True),
    "terminal.lease": Spec(SetLease, WriterLease),
}
