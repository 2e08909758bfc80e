"""The participants of a terminal: `terminal.presence`, `terminal.lease`, and the events about viewers and the lease."""

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
# No character needs an escape in JSON, so that the viewers of a full terminal fit into one event.
_LOOKED_AT = "printable ASCII without quotation marks and backslashes"
LookedAt = Annotated[str, matching(r"^[ !#-\[\]-~]*$(?!\n)", _LOOKED_AT, max_length=200)]


# ---- values


class ViewerProfile(ParamsValue):
    """How a viewer introduces itself in `terminal.attach`.

    Args:
        key: Random secret that identifies the viewer when it reconnects; null means a new viewer each time.
        name: Displayed name, cut after 40 characters; null means `guest-N` or `agent-N`. The name of a token, account
            or link replaces it.
        color: Preferred color (`#rrggbb`) from the palette of ten; any other one, or one in use, is ignored.
        kind: Whether it is a person or an agent; null means unchanged, initially `person`.
        focus: Whether its user is looking at the terminal; null means unchanged, initially false.
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
    """A viewer as the other viewers see it.

    Attributes:
        id: Public id of the viewer, such as `v3`.
        name: Name to show, 1 to 40 characters without control and format characters.
        color: Color of the viewer, `#rrggbb`. Dark text is readable on it.
        kind: Whether it is a person or an agent.
        read_only: Whether it is not allowed to type.
        typing: Whether it types; it ends 2 s after the last key.
        focus: Whether its user is looking at the terminal.
        at: Cell where its pointer is; null means the pointer is hidden.
        guest: Whether it uses a share link. Guests choose their names, unless the link has one.
        asks: Whether it asks the holder of the writer lease for it; it ends after 60 s without an answer.
        unanswered: Whether its last request for the lease expired without an answer; reset by the next request or a
            change of the lease.
        scroll: Rows that its user has scrolled back; 0 at the end of the output.
        view: The object that its user is looking at, in the notation of its client; empty if unknown, or if the
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
        holder: Public id of the viewer that holds the lease; null in mode `free`.
        epoch: Number of changes of the lease so far.
    """

    mode: Literal["free", "exclusive"]
    holder: str | None = None
    epoch: int


class WriterLeaseEvent(WriterLease, frozen=True, kw_only=True):
    """The writer lease has changed.

    Attributes:
        applied: Bytes of this channel's own input stream that were applied before the change.
    """

    applied: int


# ---- methods


@method("terminal.presence", audit=False, requires=VIEW, terminal="id", raises=("not_found",))
class TerminalPresence(Params[ParticipantEvent], kw_only=True):
    """Change how a viewer appears to the other viewers of a terminal.

    An omitted field remains unchanged.

    Args:
        id: Id of the terminal.
        viewer: Key of the viewer.
        name: Name to show; null means unchanged.
        color: Wanted color (`#rrggbb`); null, not in the palette or in use: unchanged.
        focus: Whether its user is looking at the terminal; null means unchanged.
        at: Cell of its pointer; null hides the pointer, omitted means unchanged.
        scroll: Rows that its user has scrolled back from the end; null means unchanged.
        view: The object that its user is looking at, in the notation of its client; null means unchanged.
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
    """Change the viewers that may type into a terminal.

    `take` makes `viewer` the holder. `exclusive` does so only if no other viewer is. `release` lets all viewers type
    again unless another viewer is the holder. `free` does so in any case.

    `ask` asks the holder to hand the lease over: `asks` of `viewer` becomes true, until the lease changes, `viewer`
    sends `withdraw` or leaves, the holder sends `keep`, or 60 s have passed. It has no effect while all viewers may
    type. `give` makes the viewer `to` the holder in place of `viewer`.

    A refused `exclusive` or `release`, `give` and `keep` from a viewer that is not the holder, and an outdated `epoch`
    are `conflict`, with the lease in `details`. A read-only viewer is refused with `forbidden`.

    Args:
        id: Id of the terminal.
        action: The action.
        viewer: Key of the viewer that acts; null only for `release` and `free`.
        to: Public id of another viewer: the next holder, required for `give`, or the one that `keep` refuses; null
            means all that ask.
        epoch: The epoch that the lease must have; null means any.
    """

    id: str
    action: LeaseAction
    viewer: ViewerKey | None = None
    to: str | None = None
    epoch: int | None = None
