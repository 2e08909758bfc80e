"""The rights a principal can have, roles as sets of rights, and how rights are checked.

A right is a name. For each call it forwards to a runtime, a gateway lists the caller's rights in `principal`. To add a
finer-grained right, add a constant here; it becomes another possible value in that list, and the wire format stays the
same. A right can be limited to one terminal (`view@main`). At the gateway, it can also be limited to one sandbox
(`view/SANDBOX`, `view/SANDBOX@main`) or to the sandboxes owned by the caller (`operate/~`). A runtime gets only the
rights in its own sandbox.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, Literal, NamedTuple

from hawse.wire import HawseError, Principal

ALL: Final = "*"  # every right except `CONTROL`, including future ones
VIEW: Final = "view"  # the right to read terminals and recordings, and to attach as a viewer
WRITE: Final = "write"  # the right to type into terminals, and to read and write files
OPERATE: Final = "operate"  # the right to do anything in a sandbox: run commands, forward ports, use git and so on
CONTROL: Final = "control"  # the right to call runtime methods meant only for gateways; not included in `ALL`
PREVIEW: Final = "preview"  # the right to connect to a port with its preview token
JOIN: Final = "join"  # the right to connect a machine as the sandbox, if the sandbox's provider is `joined`
ACCESS: Final = "access"  # the right to create and revoke tokens and share links, and to read the audit log

OWN: Final = "~"  # stands for the caller's own sandboxes; no sandbox can have this id

Role = Literal["owner", "operator", "writer", "viewer", "joiner"]

ROLES: Final[Mapping[Role, tuple[str, ...]]] = {
    "owner": (ALL,),
    "operator": (OPERATE,),
    "writer": (WRITE,),
    "viewer": (VIEW,),
    "joiner": (JOIN,),
}

# Each role with the right that identifies it. A caller has the first role whose right it holds in any sandbox or
# terminal.
_NEAREST: Final[tuple[tuple[Role, str], ...]] = (
    ("owner", ACCESS),
    ("operator", OPERATE),
    ("writer", WRITE),
    ("viewer", VIEW),
    ("joiner", JOIN),
)

# The rights that each right includes.
_INCLUDES: Final[Mapping[str, frozenset[str]]] = {
    OPERATE: frozenset((WRITE, VIEW, PREVIEW, JOIN)),
    WRITE: frozenset((VIEW,)),
}
_NONE: Final = frozenset[str]()


class Right(NamedTuple):
    """A parsed right. Its text form is `name[/sandbox][@terminal]`.

    Attributes:
        name: One of the constants above, or one from a later version.
        sandbox: The only sandbox it applies to. `OWN` means the caller's sandboxes; None means all sandboxes.
        terminal: The only terminal it applies to. None means the whole sandbox.
    """

    name: str
    sandbox: str | None = None
    terminal: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Right":
        where, limited, terminal = text.partition("@")
        name, scoped, sandbox = where.partition("/")
        return cls(name, sandbox if scoped else None, terminal if limited else None)

    def __str__(self) -> str:
        sandbox = "" if self.sandbox is None else f"/{self.sandbox}"
        return self.name + sandbox + ("" if self.terminal is None else f"@{self.terminal}")

    def includes(self, other: "Right") -> bool:
        """Return whether a caller with this right also has the right `other`."""
        return (
            _includes(self.name, other.name)
            and self.sandbox in (None, other.sandbox)
            and self.terminal in (None, other.terminal)
        )


def limited(right: str, terminal: str) -> str:
    """Return `right` limited to one terminal, in text form."""
    return str(Right(right, terminal=terminal))


def covers(rights: Iterable[str], wanted: str) -> bool:
    """Return whether a caller with `rights` may grant the right `wanted` to another caller."""
    right = Right.parse(wanted)
    return any(Right.parse(text).includes(right) for text in rights)


def in_sandbox(rights: Iterable[str], sandbox: str, *, own: bool) -> tuple[str, ...]:
    """Return a caller's rights in one sandbox, in the form that runtimes understand.

    Args:
        rights: The rights at the gateway.
        sandbox: The id of the sandbox.
        own: Whether the caller owns it.
    """
    places = (None, sandbox, OWN) if own else (None, sandbox)
    parsed = map(Right.parse, rights)
    return tuple(str(right._replace(sandbox=None)) for right in parsed if right.sandbox in places)


def allows(rights: Collection[str], required: str, terminal: str | None = None) -> bool:
    """Return whether `rights` include a right.

    Args:
        rights: The rights of a principal.
        required: The right to look for.
        terminal: The terminal in question. None requires the right in the whole sandbox.
    """
    return (ALL in rights and required != CONTROL) or covers(rights, str(Right(required, terminal=terminal)))


def allows_somewhere(rights: Collection[str], required: str) -> bool:
    """Return whether `rights` include `required` anywhere: in all sandboxes, in one sandbox, or at one terminal."""
    names = (Right.parse(text).name for text in rights)
    return any(_includes(name, required) for name in names)


def check(principal: Principal, required: str, terminal: str | None = None) -> None:
    """Raise `HawseError` (`forbidden`) unless `principal` has the required right, according to `allows`."""
    if not allows(principal.rights, required, terminal):
        raise missing_right(principal, required)


def check_somewhere(principal: Principal, required: str) -> None:
    """Raise `HawseError` (`forbidden`) unless `principal` has `required` anywhere, according to `allows_somewhere`."""
    if not allows_somewhere(principal.rights, required):
        raise missing_right(principal, required)


def role_of(rights: Collection[str]) -> Role:
    """Return the role to display for `rights`: the most powerful role whose right they include anywhere."""
    for role, right in _NEAREST:
        if allows_somewhere(rights, right):
            return role
    return "viewer"


def missing_right(principal: Principal, required: str) -> HawseError:
    """Return the error for a missing right. The error names the credentials, because a user can have several tokens."""
    text = f"this requires the right {required!r}, which these credentials of {principal.id!r} do not have"
    return HawseError("forbidden", text)


def _includes(right: str, required: str) -> bool:
    return right == required or required in _INCLUDES.get(right, _NONE) or (right == ALL and required != CONTROL)
