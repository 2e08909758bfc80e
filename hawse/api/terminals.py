"""Terminals: `terminal.create`, `attach`, `resize`, `signal`, `kill`, `list`, `get`."""

from typing import Literal

import msgspec

from hawse.api.people import Guest, Key, LeaseTold, Person, PersonLeft, WithPerson, WriterLease
from hawse.api.spec import Nothing, Reply, Spec
from hawse.api.types import Argv, Env, Exit, Grace, Id, InputId, Offset, Path, Signal, Size

StartAt = Literal["start", "resume", "snapshot"]


class Record(msgspec.Struct):
    """How a terminal is recorded from its start. `input`: what is typed as well, passwords included."""

    input: bool = False


class CreateTerminal(msgspec.Struct):
    """Start a terminal, unless one of that id runs.

    A running terminal of `id` is returned as it is; an exited one is replaced by a new instance. `argv` defaults to the
    user's shell, which is started so that it tells its directory and commands unless `integration` is false.
    80 columns and 24 rows by default.
    """

    id: Id | None = None
    argv: Argv | None = None
    cwd: Path | None = None
    env: Env | None = None
    cols: Size | None = None
    rows: Size | None = None
    record: Record | bool | None = None
    integration: bool | None = None


class AttachTerminal(msgspec.Struct):
    """Follow a terminal: its output from an offset on, or its screen where that is no longer kept; and type into it.

    `since`: the offset after the last byte that is known. `input` names the stream of what is typed. `viewer`, `cols`
    and `rows` say who looks and what would fit. `lossless` asks never to be outrun by the program.
    """

    id: Id
    instance: str | None = None
    since: Offset | None = None
    input: InputId | None = None
    lossless: bool | None = None
    emulator: bool | None = None
    read_only: bool | None = None
    viewer: Guest | None = None
    cols: Size | None = None
    rows: Size | None = None


class ResizeTerminal(msgspec.Struct):
    """Give a terminal another size; with `viewer` (a key), say what fits that viewer."""

    id: Id
    cols: Size
    rows: Size
    viewer: Key | None = None


class SignalTerminal(msgspec.Struct):
    """Send a signal to a terminal's foreground process group: a name with or without SIG, or a number."""

    id: Id
    signal: Signal


class KillTerminal(msgspec.Struct):
    """End everything in a terminal: HUP and CONT, and KILL after `grace` seconds (2 by default)."""

    id: Id
    grace: Grace | None = None


class ListTerminals(msgspec.Struct):
    """All terminals, running and exited."""


class GetTerminal(msgspec.Struct):
    """One terminal as it is now."""

    id: Id


class Terminal(Reply, frozen=True, kw_only=True):
    """A terminal. `instance` is new each time one of that id is started.

    `cwd` and `title` are what its programs say; `started` in seconds since 1970; `start` and `offset` are where its
    journal begins and ends, in bytes of output.
    """

    id: str
    instance: str
    pid: int
    cols: int
    rows: int
    argv: list[str]
    cwd: str
    title: str | None = None
    started: float
    state: Literal["running", "exited"]
    exit: Exit | None = None
    start: int
    offset: int
    viewers: int


class TerminalCreated(Terminal, frozen=True, kw_only=True):
    """`created`: it was started by this call."""

    created: bool


class Terminals(Reply, frozen=True, kw_only=True):
    """All of them."""

    terminals: list[Terminal]


class TerminalSize(Reply, frozen=True, kw_only=True):
    """Columns and rows, as they are now."""

    cols: int
    rows: int


class TerminalOpened(Terminal, frozen=True, kw_only=True):
    """Attached. Output comes from `from` on, after `screen` bytes that paint the screen as it was there.

    `cols`, `rows` hold from there on. `answers`: this viewer answers what programs ask of an emulator. `viewer`: its
    own public id; `presence`: all that are here.
    """

    start_at: StartAt
    from_: int = msgspec.field(name="from")
    screen: int = 0
    input_offset: int = 0
    answers: bool = False
    read_only: bool = False
    viewer: str | None = None
    presence: list[Person] = msgspec.field(default_factory=list)
    lease: WriterLease | None = None


class TerminalResized(TerminalSize, frozen=True, kw_only=True):
    """The terminal has this size from `offset` of its output on."""

    offset: int


class TerminalLive(Reply, frozen=True, kw_only=True):
    """The replay is over at `offset`."""

    offset: int


class TerminalReseed(TerminalSize, frozen=True, kw_only=True):
    """Output is left out: `screen` bytes of snapshot follow, then output from `from` on."""

    start: int = msgspec.field(name="from")
    screen: int


class TerminalAnswers(Reply, frozen=True, kw_only=True):
    """Whether this viewer answers what programs ask of an emulator."""

    answers: bool


class TerminalKilled(Reply, frozen=True, kw_only=True):
    """How it ended."""

    exit: Exit


class TerminalEnd(TerminalKilled, frozen=True, kw_only=True):
    """The program has ended; `offset` is the end of its output."""

    offset: int


ATTACH_EVENTS = {
    "opened": TerminalOpened,
    "resized": TerminalResized,
    "live": TerminalLive,
    "reseed": TerminalReseed,
    "answers": TerminalAnswers,
    "joined": WithPerson,
    "presence": WithPerson,
    "left": PersonLeft,
    "lease": LeaseTold,
    "exit": Exit,
}

METHODS = {
    "terminal.create": Spec(CreateTerminal, TerminalCreated),
    "terminal.attach": Spec(AttachTerminal, TerminalEnd, ATTACH_EVENTS, ("output", "", "screen"), True, True),
    "terminal.resize": Spec(ResizeTerminal, TerminalSize),
    "terminal.signal": Spec(SignalTerminal, Nothing),
    "terminal.kill": Spec(KillTerminal, TerminalKilled),
    "terminal.list": Spec(ListTerminals, Terminals, viewer=True),
    "terminal.get": Spec(GetTerminal, Terminal, viewer=True),
}
