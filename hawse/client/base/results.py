"""What the methods of the client return, and what its streams yield: frozen values without behaviour."""

from dataclasses import dataclass
from enum import Enum

from hawse.api.terminals import StartAt
from hawse.api.types import Exit


class ConnectionState(Enum):
    """What has become of the connection."""

    CONNECTING = "connecting"  # an attempt is being made
    OPEN = "open"  # calls go out
    WAITING = "waiting"  # the line was lost; the next attempt comes after a delay
    CLOSED = "closed"  # for good: we closed, were refused, or gave up


class CommandResult(Exit, frozen=True):
    """A command's end, and what it printed, byte for byte: all, or with `truncated` as much as was asked for."""

    stdout: bytes = b""
    stderr: bytes = b""
    truncated: bool = False

    @property
    def text(self) -> str:
        """stdout as UTF-8; what is none becomes U+FFFD."""
        return self.stdout.decode(errors="replace")


@dataclass(frozen=True)
class FileInfo:
    """A file as it was opened. `size` in bytes, `mtime` in seconds since 1970; `version` names its content."""

    size: int
    version: str
    mode: int
    mtime: float


# ---- what a terminal yields, in order


@dataclass(frozen=True)
class Attached:
    """We are attached, for the first time or again. Output comes from `offset` on; until `Live` it is a replay."""

    start_at: StartAt
    offset: int
    cols: int
    rows: int


@dataclass(frozen=True)
class Output:
    """Bytes of output, of which the first is at `offset`."""

    offset: int
    data: bytes


@dataclass(frozen=True)
class Snapshot:
    """Output is missing; `data` paints the screen and its scrollback as they were at `offset`, on a reset emulator."""

    offset: int
    data: bytes
    cols: int
    rows: int


@dataclass(frozen=True)
class Resized:
    """The terminal has had this size from `offset` on."""

    offset: int
    cols: int
    rows: int


@dataclass(frozen=True)
class Live:
    """The replay is over: from here on, what an emulator answers to queries may be sent."""

    offset: int


@dataclass(frozen=True)
class Answers:
    """Whether this viewer's emulator is the one that answers a program's queries: only of `emulator` viewers."""

    answers: bool


@dataclass(frozen=True)
class ParticipantInfo:
    """Somebody at a terminal: `kind` is "person" or "agent", `at` where its pointer is (column and row from 0)."""

    id: str
    name: str
    color: str = ""
    kind: str = "person"
    read_only: bool = False
    typing: bool = False
    focus: bool = False
    at: tuple[int, int] | None = None


@dataclass(frozen=True)
class LeaseInfo:
    """Who may type: the viewer whose id is `holder`, or everybody if it is None. `epoch` grows with each change."""

    holder: str | None = None
    epoch: int = 0


@dataclass(frozen=True)
class Joined:
    viewer: ParticipantInfo


@dataclass(frozen=True)
class Left:
    viewer: ParticipantInfo


@dataclass(frozen=True)
class PresenceChanged:
    """The viewer as it is now: its name, typing, focus or pointer have changed."""

    viewer: ParticipantInfo


@dataclass(frozen=True)
class LeaseChanged:
    """`applied`: how much of what was written here had been applied by then."""

    lease: LeaseInfo
    applied: int


TerminalEvent = (
    Answers | Attached | Output | Snapshot | Resized | Live | Exit | Joined | Left | PresenceChanged | LeaseChanged
)


class Repaint(bytes):
    """What stands for output that is missing, for who just feeds an emulator: a reset (RIS), then a snapshot."""

    snapshot: Snapshot

    @classmethod
    def of(cls, snapshot: Snapshot) -> "Repaint":
        painted = cls(b"\x1bc" + snapshot.data)
        painted.snapshot = snapshot
        return painted
