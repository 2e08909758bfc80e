"""Terminals: `terminal.create`, `attach`, `resize`, `signal`, `kill`, `list`, `get`."""

from typing import Literal

import msgspec

from hawse.api.people import (
    Participant,
    ParticipantEvent,
    ParticipantLeft,
    ViewerKey,
    ViewerProfile,
    WriterLease,
    WriterLeaseEvent,
)
from hawse.api.rights import VIEW
from hawse.api.spec import Nothing, Params, ParamsValue, Reply, method
from hawse.api.types import Argv, Env, Exit, Grace, Id, InputId, Offset, Path, Signal, Size

StartAt = Literal["start", "resume", "snapshot"]


# ---- values


class RecordOptions(ParamsValue):
    """How a terminal is recorded from its start. `input`: what is typed as well, passwords included."""

    input: bool = False


class TerminalInfo(Reply, frozen=True, kw_only=True):
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


class TerminalCreateResult(TerminalInfo, frozen=True, kw_only=True):
    """`created`: it was started by this call."""

    created: bool


class TerminalListResult(Reply, frozen=True, kw_only=True):
    """All of them."""

    terminals: list[TerminalInfo]


class TerminalSize(Reply, frozen=True, kw_only=True):
    """Columns and rows, as they are now."""

    cols: int
    rows: int


class TerminalOpened(TerminalInfo, frozen=True, kw_only=True):
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
    presence: list[Participant] = msgspec.field(default_factory=list)
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


class TerminalKillResult(Reply, frozen=True, kw_only=True):
    """How it ended."""

    exit: Exit


class TerminalAttachResult(TerminalKillResult, frozen=True, kw_only=True):
    """The program has ended; `offset` is the end of its output."""

    offset: int


ATTACH_EVENTS = {
    "opened": TerminalOpened,
    "resized": TerminalResized,
    "live": TerminalLive,
    "reseed": TerminalReseed,
    "answers": TerminalAnswers,
    "joined": ParticipantEvent,
    "presence": ParticipantEvent,
    "left": ParticipantLeft,
    "lease": WriterLeaseEvent,
    "exit": Exit,
}


# ---- methods


@method("terminal.create")
class TerminalCreate(Params[TerminalCreateResult], kw_only=True):
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
    record: RecordOptions | bool | None = None
    integration: bool | None = None


@method("terminal.attach", events=ATTACH_EVENTS, output=("output", "", "screen"), input=True, requires=VIEW)
class TerminalAttach(Params[TerminalAttachResult], kw_only=True):
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
    viewer: ViewerProfile | None = None
    cols: Size | None = None
    rows: Size | None = None


@method("terminal.resize")
class TerminalResize(Params[TerminalSize], kw_only=True):
    """Give a terminal another size; with `viewer` (a key), say what fits that viewer."""

    id: Id
    cols: Size
    rows: Size
    viewer: ViewerKey | None = None


@method("terminal.signal")
class TerminalSignal(Params[Nothing], kw_only=True):
    """Send a signal to a terminal's foreground process group: a name with or without SIG, or a number."""

    id: Id
    signal: Signal


@method("terminal.kill")
class TerminalKill(Params[TerminalKillResult], kw_only=True):
    """End everything in a terminal: HUP and CONT, and KILL after `grace` seconds (2 by default)."""

    id: Id
    grace: Grace | None = None


@method("terminal.list", safe=True, requires=VIEW)
class TerminalList(Params[TerminalListResult], kw_only=True):
    """All terminals, running and exited."""


@method("terminal.get", safe=True, requires=VIEW)
class TerminalGet(Params[TerminalInfo], kw_only=True):
    """One terminal as it is now."""

    id: Id
