"""Results from the client's methods and items from its streams, in addition to the results defined in `hawse.api`."""

from enum import Enum
from typing import Any

import msgspec

from hawse.api.people import Participant, WriterLease
from hawse.api.terminals import StartAt, TerminalWaiting
from hawse.api.types import Exit


class ConnectionState(Enum):
    """The state of the connection."""

    CONNECTING = "connecting"  # a connection attempt is in progress
    OPEN = "open"  # connected: calls are sent immediately
    WAITING = "waiting"  # the connection was lost; the next attempt follows after a delay
    CLOSED = "closed"  # closed permanently: by this side, after a refusal, or after giving up


SHOWN = 200  # maximum number of bytes or characters in a result's representation
SHOWN_ITEMS = 10


def short(value: object) -> str:
    """Return a value's representation, truncated to its first bytes, characters or items if it is long."""
    if isinstance(value, bytes) and len(value) > SHOWN:
        return f"{value[:SHOWN]!r}… ({len(value):,} bytes)"
    if isinstance(value, str) and len(value) > SHOWN:
        return f"{value[:SHOWN]!r}… ({len(value):,} characters)"
    if isinstance(value, list | tuple) and len(value) > SHOWN_ITEMS:
        return f"[{', '.join(map(short, value[:SHOWN_ITEMS]))}, … ({len(value):,} items)]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{short(key)}: {short(item)}' for key, item in value.items())}}}"
    return repr(value)


def represent(result: Any) -> str:
    """Return the representation of a struct or dataclass with its fields shortened."""
    names = getattr(result, "__struct_fields__", None) or result.__dataclass_fields__
    shown = (f"{name}={short(getattr(result, name))}" for name in names)
    return f"{type(result).__name__}({', '.join(shown)})"


class CommandResult(Exit, frozen=True):
    """A command's exit status and output.

    Attributes:
        stdout: The bytes it printed to stdout.
        stderr: The bytes it printed to stderr.
        truncated: Whether only the first bytes of the output were kept.
        duration: How long it ran, in seconds; None if the runtime is too old to report it.
    """

    stdout: bytes = b""
    stderr: bytes = b""
    truncated: bool = False
    duration: float | None = None

    def __repr__(self) -> str:
        """Show the fields that differ from their defaults. For long output, show only its first bytes and its size."""
        fields = ((each.name, getattr(self, each.name), each.default) for each in msgspec.structs.fields(self))
        shown = (f"{name}={short(value)}" for name, value, default in fields if name == "code" or value != default)
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def text(self) -> str:
        """stdout decoded as UTF-8, with invalid bytes replaced by U+FFFD."""
        return self.stdout.decode(errors="replace")

    @property
    def stderr_text(self) -> str:
        """stderr decoded as UTF-8, with invalid bytes replaced by U+FFFD."""
        return self.stderr.decode(errors="replace")


# ---- items from a terminal, in order


class Attached(msgspec.Struct, frozen=True):
    """The viewer is attached or reattached. Output from `offset` on is a replay until `Live` arrives."""

    start_at: StartAt
    offset: int
    cols: int
    rows: int


class Output(msgspec.Struct, frozen=True):
    """Bytes of output. `offset` is the first byte's offset."""

    offset: int
    data: bytes
    __repr__ = represent


class Snapshot(msgspec.Struct, frozen=True):
    """Output is missing. On an emulator that has been reset, `data` paints the screen and its scrollback as of
    `offset`.
    """

    offset: int
    data: bytes
    cols: int
    rows: int
    __repr__ = represent


class Resized(msgspec.Struct, frozen=True):
    """The terminal was resized. The size applies to its output from `offset` on."""

    offset: int
    cols: int
    rows: int


class Live(msgspec.Struct, frozen=True):
    """The replay of earlier output has ended. From now on, the emulator's answers to programs' queries can be sent."""

    offset: int


class Answers(msgspec.Struct, frozen=True):
    """Whether this viewer's emulator must answer a program's queries. Only `emulator` viewers get this item."""

    answers: bool


class Joined(msgspec.Struct, frozen=True):
    """A viewer has joined."""

    viewer: Participant


class Left(msgspec.Struct, frozen=True):
    """A viewer has left."""

    viewer: Participant


class PresenceChanged(msgspec.Struct, frozen=True):
    """A viewer's name, typing, focus or pointer has changed. `viewer` is the viewer's current state."""

    viewer: Participant


class LeaseChanged(msgspec.Struct, frozen=True):
    """The writer lease has changed. `applied` is the number of bytes of this viewer's input that were applied before
    the change.
    """

    lease: WriterLease
    applied: int


class WaitingChanged(msgspec.Struct, frozen=True):
    """The program has started or stopped waiting for input, or is waiting for different input."""

    waiting: TerminalWaiting


TerminalEvent = (
    Answers
    | Attached
    | Output
    | Snapshot
    | Resized
    | Live
    | Exit
    | Joined
    | Left
    | PresenceChanged
    | LeaseChanged
    | WaitingChanged
)


class Repaint(bytes):
    """A replacement for missing output, to write to an emulator: a reset (RIS), then a snapshot."""

    snapshot: Snapshot

    def __repr__(self) -> str:
        return f"Repaint({short(bytes(self))})"

    @classmethod
    def of(cls, snapshot: Snapshot) -> "Repaint":
        """Return the bytes that reset an emulator and then paint `snapshot`."""
        painted = cls(b"\x1bc" + snapshot.data)
        painted.snapshot = snapshot
        return painted
