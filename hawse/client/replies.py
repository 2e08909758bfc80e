"""The shapes of what servers say (docs/wire.md section 9): checked on arrival, so that nothing behind is surprised."""

from typing import TypeVar

import msgspec

from hawse.api.fields import Exit
from hawse.client.results import StartAt
from hawse.wire import RemoteProtocolError

T = TypeVar("T")


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A value of an `event` or a `result`. Unknown fields are ignored."""


class WithExit(Reply, frozen=True, kw_only=True):
    """The end of a terminal, and the answer to `terminal.kill`."""

    exit: Exit


class TerminalInfo(Reply, frozen=True, kw_only=True):
    id: str
    instance: str
    created: bool = False


class CellTold(Reply, frozen=True, kw_only=True):
    x: int
    y: int


class PersonTold(Reply, frozen=True, kw_only=True):
    id: str
    name: str
    color: str = ""
    kind: str = "person"
    read_only: bool = False
    typing: bool = False
    focus: bool = False
    at: CellTold | None = None


class WithViewer(Reply, frozen=True, kw_only=True):
    viewer: PersonTold


class Gone(Reply, frozen=True, kw_only=True):
    id: str


class LeaseTold(Reply, frozen=True, kw_only=True):
    holder: str | None = None
    epoch: int
    applied: int = 0


class TerminalOpened(Reply, frozen=True, kw_only=True):
    id: str
    instance: str
    start_at: StartAt
    start: int = msgspec.field(name="from")
    cols: int
    rows: int
    offset: int | None = None  # the end of the output
    screen: int = 0
    input_offset: int = 0
    pid: int | None = None
    answers: bool = False
    viewer: str | None = None
    presence: list[PersonTold] = []
    lease: LeaseTold | None = None


class Reseed(Reply, frozen=True, kw_only=True):
    start: int = msgspec.field(name="from")
    screen: int
    cols: int
    rows: int


class Size(Reply, frozen=True, kw_only=True):
    cols: int
    rows: int
    offset: int


class LiveAt(Reply, frozen=True, kw_only=True):
    offset: int


class Chosen(Reply, frozen=True, kw_only=True):
    answers: bool


class TerminalEnd(WithExit, frozen=True, kw_only=True):
    offset: int


class RecordingInfo(Reply, frozen=True, kw_only=True):
    """A recording: `state` is recording or finished, `reason` why it ended; `size` in bytes, `duration` in seconds."""

    id: str
    terminal: str
    state: str
    started: float
    duration: float
    size: int
    reason: str | None = None
    title: str | None = None
    input: bool = False
    lost: int = 0
    truncated: bool = False


def parse(raw: bytes | msgspec.Raw, shape: type[T]) -> T:
    """Decode a value. Raises `RemoteProtocolError` if it is not what the protocol promises."""
    try:
        return msgspec.json.decode(raw, type=shape)
    except ValueError as error:
        raise RemoteProtocolError(f"not a {shape.__name__}: {error}") from None
