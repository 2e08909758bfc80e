"""Terminals: `terminal.create`, `attach`, `resize`, `signal`, `kill`, `list` and `get`."""

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
from hawse.api.rights import VIEW, WRITE
from hawse.api.spec import SELECTED, Nothing, Params, ParamsValue, Reply, method
from hawse.api.types import INPUT_ERRORS, SPAWN_ERRORS, Argv, Env, Exit, Grace, Id, InputId, Offset, Path, Signal, Size

StartAt = Literal["start", "resume", "snapshot"]


# ---- values


class RecordOptions(ParamsValue):
    """How a terminal is recorded from its start.

    Args:
        input: Whether input is recorded as well, passwords included.
    """

    input: bool = False


class TerminalInfo(Reply, frozen=True, kw_only=True):
    """A terminal.

    Attributes:
        id: Id of the terminal.
        instance: Id of this start; a new one each time a terminal with this `id` is started.
        pid: Process id of the program.
        cols: Columns.
        rows: Rows.
        argv: The program and its arguments, as requested.
        cwd: Directory that the shell has reported last (OSC 7); until then the one in which it was started.
        title: Title that a program has set last (OSC 0, 2); null: none.
        started: When it was started, in seconds since 1970.
        state: Whether the program runs.
        exit: How the program ended; null while it runs.
        ended: When it ended, in seconds since 1970; null while it runs.
        start: Offset of the first byte of output that the journal still holds.
        offset: Offset of the end of the output, in bytes.
        viewers: Number of attached channels.
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
    ended: float | None = None
    start: int
    offset: int
    viewers: int


class TerminalViewer(Reply, frozen=True, kw_only=True):
    """A viewer and where it is.

    Attributes:
        terminal: Id of the terminal.
        viewer: The viewer.
    """

    terminal: str
    viewer: Participant


class TerminalViewersResult(Reply, frozen=True, kw_only=True):
    """The viewers of the terminals.

    Attributes:
        viewers: At most 200 of them. A person or agent at two terminals is two viewers.
        total: Number of viewers, also of those that are not in `viewers`.
    """

    viewers: list[TerminalViewer]
    total: int


class TerminalCreateResult(TerminalInfo, frozen=True, kw_only=True):
    """The terminal with the requested id.

    Attributes:
        created: Whether this call has started it.
    """

    created: bool


class TerminalListResult(Reply, frozen=True, kw_only=True):
    """Terminals.

    Attributes:
        terminals: All terminals: those that run, and the latest 64 that have exited.
    """

    terminals: list[TerminalInfo]


class TerminalSize(Reply, frozen=True, kw_only=True):
    """The size of a terminal.

    Attributes:
        cols: Columns.
        rows: Rows.
    """

    cols: int
    rows: int


class TerminalOpened(TerminalInfo, frozen=True, kw_only=True):
    """The channel is attached.

    It is the terminal with `screen` bytes of a snapshot, and then output from `from` on. `cols` and `rows` hold from
    there.

    Attributes:
        start_at: `resume`: at `since`. `start`: at the beginning of all output. `snapshot`: with a snapshot.
        from_: Offset of the first byte of output that is sent.
        screen: Length of the snapshot that comes before, in bytes; 0: none.
        input_offset: Bytes of this input stream that were applied already.
        answers: Whether this viewer's emulator answers the queries of programs.
        read_only: Whether this viewer may not type.
        viewer: Public id of this viewer.
        presence: All viewers of the terminal, this one included.
        lease: Which viewers may type.
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
    """The terminal has another size from `offset` of its output on.

    Attributes:
        offset: Offset of the first byte of output that was printed at this size.
    """

    offset: int


class TerminalLive(Reply, frozen=True, kw_only=True):
    """The replay of earlier output has ended.

    Attributes:
        offset: Offset of the output where it ended, in bytes.
    """

    offset: int


class TerminalReseed(TerminalSize, frozen=True, kw_only=True):
    """Output is skipped: a new snapshot follows, then output from `from` on.

    Attributes:
        start: Offset of the first byte of output after the snapshot.
        screen: Length of the snapshot, in bytes.
    """

    start: int = msgspec.field(name="from")
    screen: int


class TerminalAnswers(Reply, frozen=True, kw_only=True):
    """Another viewer was chosen to answer the queries of programs.

    Attributes:
        answers: Whether this viewer's emulator answers them from now on.
    """

    answers: bool


class TerminalKillResult(Reply, frozen=True, kw_only=True):
    """The program of a terminal has ended.

    Attributes:
        exit: How it ended.
    """

    exit: Exit


class TerminalAttachResult(TerminalKillResult, frozen=True, kw_only=True):
    """The program of a terminal has ended, and all output was sent.

    Attributes:
        offset: Offset of the end of the output, in bytes.
    """

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


@method("terminal.create", raises=(*SPAWN_ERRORS, "no_space"))
class TerminalCreate(Params[TerminalCreateResult], kw_only=True):
    """Start a terminal, or return the running one with the same id.

    Any number of concurrent calls with one id start one terminal. A terminal that has exited is replaced by a new
    instance.

    A bash or zsh without arguments is started so that it reports its directory and its commands, unless `integration`
    is false. If a recording is requested and cannot be made, no terminal is started.

    Args:
        id: Id of the terminal; null: the server chooses one.
        argv: The program and its arguments; null: the user's shell.
        cwd: Directory to start in, relative to the workspace; null: the workspace.
        env: Variables to add to the environment; a null value removes one. Null: none.
        cols: Columns; null: 80.
        rows: Rows; null: 24.
        record: Whether and how to record it from its first byte of output; null: not recorded.
        integration: Whether the shell reports its directory and commands; null: true.
    """

    id: Id | None = None
    argv: Argv | None = None
    cwd: Path | None = None
    env: Env | None = None
    cols: Size | None = None
    rows: Size | None = None
    record: RecordOptions | bool | None = None
    integration: bool | None = None


@method(
    "terminal.attach",
    events=ATTACH_EVENTS,
    output=("output", "", "screen"),
    input=True,
    requires=VIEW,
    terminal="id",
    raises=("not_found", "stale_handle", "forbidden", "lease_held", "limit_exceeded", *INPUT_ERRORS),
)
class TerminalAttach(Params[TerminalAttachResult], kw_only=True):
    """Follow the output of a terminal and type into it.

    Output is sent from `since` on if the journal still holds it, otherwise a snapshot of the screen comes first. The
    input of the channel is typed. `cancel` detaches, and the terminal continues.

    Input ends the channel with `lease_held` if another viewer holds the writer lease, `forbidden` if this viewer is
    read-only and `input_overflow` if the program does not read. `limit_exceeded`: too many viewers, or no room for the
    snapshot of a lossless one.

    Args:
        id: Id of the terminal.
        instance: Instance that the call is for, otherwise `stale_handle`; null: the current one.
        since: Offset after the last byte of output that the client has; null: from the beginning.
        input: Id of the stream of input, the same for each reconnect; null: this channel does not type.
        lossless: Whether the program waits for this viewer rather than skip output; null: false.
        emulator: Whether this viewer can answer the queries of programs; null: false.
        read_only: Whether this viewer only watches; null: false. A caller without the right `operate` always does.
        viewer: How this viewer introduces itself; null: a new viewer with the defaults.
        cols: Columns that fit this viewer; null: not known.
        rows: Rows that fit this viewer; null: not known.
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


@method("terminal.resize", audit=False, requires=WRITE, terminal="id", raises=("not_found",))
class TerminalResize(Params[TerminalSize], kw_only=True):
    """Set the size of a terminal, or the size that fits a viewer.

    The result is the size of the terminal as it is now.

    Args:
        id: Id of the terminal.
        cols: Columns.
        rows: Rows.
        viewer: Key of the viewer that the size fits; null: the terminal takes the size at once.
        claim: Whether `viewer` decides the size from now on, as if it had typed; null: false.
    """

    id: Id
    cols: Size
    rows: Size
    viewer: ViewerKey | None = None
    claim: bool | None = None


@method("terminal.signal", requires=WRITE, terminal="id", raises=("not_found", "exited", "permission_denied"))
class TerminalSignal(Params[Nothing], kw_only=True):
    """Send a signal to the foreground process group of a terminal.

    Args:
        id: Id of the terminal.
        signal: Name of the signal with or without `SIG`, or its number.
    """

    id: Id
    signal: Signal


@method("terminal.kill", raises=("not_found", "permission_denied"))
class TerminalKill(Params[TerminalKillResult], kw_only=True):
    """End all processes of a terminal: HUP and CONT, then KILL.

    Daemons that were started in the terminal are included. It returns when nothing is left, and also ends what an
    exited terminal left running.

    Args:
        id: Id of the terminal.
        grace: Seconds from HUP to KILL; null: 2.
    """

    id: Id
    grace: Grace | None = None


@method("terminal.list", safe=True, passive=True, requires=VIEW, terminal=SELECTED)
class TerminalList(Params[TerminalListResult], kw_only=True):
    """List all terminals, running and exited."""


@method("terminal.viewers", safe=True, passive=True, requires=VIEW, terminal=SELECTED)
class TerminalViewers(Params[TerminalViewersResult], kw_only=True):
    """List the viewers of all terminals, without joining them."""


@method("terminal.get", safe=True, requires=VIEW, terminal="id", raises=("not_found",))
class TerminalGet(Params[TerminalInfo], kw_only=True):
    """Describe one terminal.

    Args:
        id: Id of the terminal.
    """

    id: Id
