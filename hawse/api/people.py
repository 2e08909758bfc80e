"""The participants of a terminal: `terminal.presence`, `terminal.lease`, and the events about viewers and the writer
lease.
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from hawse.api.rights import VIEW, WRITE
from hawse.api.spec import Params, ParamsValue, Reply, method
from hawse.api.types import matching

ParticipantKind = Literal["person", "agent"]
LeaseAction = Literal["take", "release", "free", "exclusive", "ask", "withdraw", "give", "keep"]

ViewerKey = Annotated[str, Meta(min_length=1, max_length=64)]
ParticipantName = Annotated[str, Meta(max_length=256)]
Coordinate = Annotated[int, Meta(ge=0, le=999)]
ScrolledRows = Annotated[int, Meta(ge=0, le=10_000_000)]
# None of these characters is escaped in JSON, so an event with the maximum number of viewers fits into a control
# message.
_LOOKED_AT = "printable ASCII without quotation marks and backslashes"
LookedAt = Annotated[str, matching(r"^[ !#-\[\]-~]*$(?!\n)", _LOOKED_AT, max_length=200)]


# ---- values


class ViewerProfile(ParamsValue):
    """How a viewer introduces itself in `terminal.attach`.

    Args:
        key: Random secret that identifies the viewer when it reconnects; null means a new viewer on each connection.
        name: Display name, truncated to 40 characters; null means `guest-N` or `agent-N`. If the token, account or link
            has a name, that name is used instead.
        color: Preferred color (`#rrggbb`), one of the ten in the palette. Ignored if the color is in use or not in the
            palette.
        kind: Whether it is a person or an agent; null keeps the current value, which is initially `person`.
        focus: Whether the viewer's user is looking at the terminal; null keeps the current value, which is initially
            false.
    """

    key: ViewerKey | None = None
    name: ParticipantName | None = None
    color: str | None = None
    kind: ParticipantKind | None = None
    focus: bool | None = None


class PointerPosition(ParamsValue):
    """A cell of the screen.

    Args:
        x: Column, from 0.
        y: Row, from 0.
    """

    x: Coordinate
    y: Coordinate


class Participant(Reply, frozen=True, kw_only=True):
    """A viewer, as seen by the other viewers.

    Attributes:
        id: The viewer's public id, such as `v3`.
        name: Display name, 1 to 40 characters, with no control or format characters.
        color: The viewer's color, `#rrggbb`. Dark text is readable on it.
        kind: Whether it is a person or an agent.
        read_only: Whether it is not allowed to type.
        typing: Whether it is typing; reset 2 seconds after the last keystroke.
        focus: Whether the viewer's user is looking at the terminal.
        at: The cell that the viewer's pointer is on; null if the pointer is hidden.
        guest: Whether it uses a share link. Guests choose their own names unless the link has one.
        asks: Whether it is asking the holder for the writer lease; reset after 60 seconds without a reply.
        unanswered: Whether its last request for the lease expired without a reply; reset when it asks again or the
            lease changes.
        scroll: Number of rows the viewer's user has scrolled back; 0 at the end of the output.
        view: The object the viewer's user is looking at, in the client's own notation; empty if unknown, or if the
            receiver may not see the whole sandbox.
    """

    id: str
    name: str
    color: str
    kind: ParticipantKind
    read_only: bool
    typing: bool
    focus: bool
    at: PointerPosition | None = None
    guest: bool = False
    asks: bool = False
    unanswered: bool = False
    scroll: int = 0
    view: str = ""


class ParticipantEvent(Reply, frozen=True, kw_only=True):
    """A viewer has joined or changed.

    Attributes:
        viewer: The viewer after the change.
    """

    viewer: Participant


class ParticipantLeft(Reply, frozen=True, kw_only=True):
    """A viewer has left.

    Attributes:
        id: Public id of the viewer.
    """

    id: str


class WriterLease(Reply, frozen=True, kw_only=True):
    """The viewers that may type into a terminal.

    Attributes:
        mode: `free` if all viewers may type, `exclusive` if only the holder may.
        holder: Public id of the viewer that holds the lease; null in `free` mode.
        epoch: Number of times the lease has changed so far.
    """

    mode: Literal["free", "exclusive"]
    holder: str | None = None
    epoch: int


class WriterLeaseEvent(WriterLease, frozen=True, kw_only=True):
    """The writer lease has changed.

    Attributes:
        applied: Number of bytes of this channel's own input stream that were applied before the change.
    """

    applied: int


# ---- methods


@method("terminal.presence", audit=False, requires=VIEW, terminal="id", raises=("not_found",))
class TerminalPresence(Params[ParticipantEvent], kw_only=True):
    """Change how a viewer appears to the other viewers of a terminal.

    Omitted fields stay the same.

    Args:
        id: Id of the terminal.
        viewer: Key of the viewer.
        name: Display name; null keeps the current name.
        color: Preferred color (`#rrggbb`). If it is null, in use or not in the palette, the color remains unchanged.
        focus: Whether the viewer's user is looking at the terminal; null keeps the current value.
        at: The cell that the viewer's pointer is on. Null hides the pointer; if this field is omitted, the pointer is
            unchanged.
        scroll: Number of rows the viewer's user has scrolled back from the end; null keeps the current value.
        view: The object the viewer's user is looking at, in the client's own notation; null keeps the current value.
    """

    id: str
    viewer: ViewerKey
    name: ParticipantName | None = None
    color: str | None = None
    focus: bool | None = None
    at: PointerPosition | UnsetType | None = UNSET
    scroll: ScrolledRows | None = None
    view: LookedAt | None = None


@method("terminal.lease", requires=WRITE, terminal="id", raises=("not_found", "conflict", "forbidden"))
class TerminalLease(Params[WriterLease], kw_only=True):
    """Change which viewers may type into a terminal.

    `take` makes `viewer` the holder. `exclusive` does the same, but only if no other viewer is the holder. `release`
    lets all viewers type again, but only if no other viewer is the holder. `free` always lets all viewers type again.

    `ask` asks the holder to hand the lease over. The `asks` field of `viewer` is then true until the lease changes,
    `viewer` sends `withdraw` or leaves, the holder sends `keep`, or 60 seconds pass. `ask` has no effect while all
    viewers may type. `give` transfers the lease from `viewer` to the viewer `to`.

    The error is `conflict` if `exclusive` or `release` is refused, if `give` or `keep` comes from a viewer that is not
    the holder, or if `epoch` is outdated. The lease is in `details`. For a read-only viewer, the error is `forbidden`.

    Args:
        id: Id of the terminal.
        action: The action to take.
        viewer: Key of the viewer taking the action; can be null only for `release` and `free`.
        to: Public id of another viewer. For `give`, the next holder (required); for `keep`, the viewer whose request to
            refuse, or null to refuse all requests.
        epoch: The epoch that the lease must have; null means any.
    """

    id: str
    action: LeaseAction
    viewer: ViewerKey | None = None
    to: str | None = None
    epoch: int | None = None
