"""Terminals: the `terminal.*` methods, for users who type and for agents that automate programs."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

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
from hawse.api.types import (
    INPUT_ERRORS,
    KEYS_LIMIT,
    SPAWN_ERRORS,
    Argv,
    Env,
    Exit,
    Grace,
    Id,
    InputId,
    KeyName,
    Offset,
    OutputMatch,
    Path,
    Pattern,
    Signal,
    Size,
    WaitSeconds,
)

# ---- values


StartAt = Literal["start", "resume", "snapshot"]


class RecordOptions(ParamsValue):
    """Options for recording a terminal from its start.

    Args:
        input: Whether to record input as well, including passwords.
    """

    input: bool = False


class TerminalWaiting(Reply, frozen=True, kw_only=True):
    """Whether a terminal's foreground program is waiting for input.

    The runtime asks the kernel whether a process is blocked reading from the terminal, 0.1 to 0.5 seconds after output
    has stopped. As long as nothing is printed, the runtime asks at least every 2 seconds.

    Attributes:
        kind: `line` for a line with echo, `secret` for a line without echo, `key` for single keys; otherwise `no`, or
            `unknown`.
        idle_shell: Whether a shell is waiting for its next command. `kind` is then `no`.
        guess: Whether `kind` is a guess based on silence and the last row of output, because the kernel doesn't expose
            the state.
        since: When it was first seen waiting, in seconds since 1970; null if `kind` is `no`.
        command: The waiting program and its arguments, truncated to 256 characters; null if `kind` is `no` or the
            program is unknown.
        prompt: Text of the unfinished last row of output; null if that row is empty, and for full-screen programs.
    """

    kind: Literal["no", "line", "secret", "key", "unknown"]
    idle_shell: bool = False
    guess: bool = False
    since: float | None = None
    command: str | None = None
    prompt: str | None = None


class TerminalInfo(Reply, frozen=True, kw_only=True):
    """A terminal.

    Attributes:
        id: Id of the terminal.
        instance: Unique id for this instance of the terminal; a terminal started later with the same `id` gets a new
            one.
        pid: Process id of the program.
        cols: Number of columns.
        rows: Number of rows.
        argv: The program and its arguments, as requested.
        cwd: Last directory reported by the shell (OSC 7); before the first report, its initial directory.
        title: Last title set by a program (OSC 0, 2); null if none has been set.
        started: When it was started, in seconds since 1970.
        state: Whether the program is running.
        exit: How the program ended; null while it is running.
        ended: When it ended, in seconds since 1970; null while it is running.
        start: Offset of the first byte of output still in the journal.
        offset: Offset where the output ends, in bytes.
        viewers: Number of channels attached to it.
        waiting: Whether its program was waiting for input when last checked.
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
    waiting: TerminalWaiting = TerminalWaiting(kind="no")


class TerminalViewer(Reply, frozen=True, kw_only=True):
    """A viewer and its terminal.

    Attributes:
        terminal: Id of the terminal.
        viewer: The viewer.
    """

    terminal: str
    viewer: Participant


class TerminalViewersResult(Reply, frozen=True, kw_only=True):
    """The viewers of all terminals.

    Attributes:
        viewers: The first 200 viewers. A person or agent viewing two terminals counts twice.
        total: Total number of viewers.
    """

    viewers: list[TerminalViewer]
    total: int


class TerminalCreateResult(TerminalInfo, frozen=True, kw_only=True):
    """The terminal with the requested id.

    Attributes:
        created: Whether it was started by this call.
    """

    created: bool


class TerminalListResult(Reply, frozen=True, kw_only=True):
    """Terminals.

    Attributes:
        terminals: All running terminals and the 64 that exited most recently.
    """

    terminals: list[TerminalInfo]


class TerminalSize(Reply, frozen=True, kw_only=True):
    """The size of a terminal.

    Attributes:
        cols: Number of columns.
        rows: Number of rows.
    """

    cols: int
    rows: int


class TerminalOpened(TerminalInfo, frozen=True, kw_only=True):
    """The channel is attached.

    It first sends a snapshot of `screen` bytes, then output from offset `from` on. `cols` and `rows` are the terminal's
    size at this offset.

    Attributes:
        start_at: `resume` if output is sent from `since` on, `start` if all output is sent, `snapshot` if a snapshot is
            sent first.
        from_: Offset of the first byte of output to be sent.
        screen: Length of the snapshot that precedes the output, in bytes; 0 if there is no snapshot.
        input_offset: Number of bytes in this input stream that have already been applied.
        answers: Whether this viewer's emulator answers programs' queries.
        read_only: Whether this viewer is not allowed to type.
        viewer: Public id of this viewer.
        presence: All viewers of the terminal, including this one.
        lease: The viewers that may type.
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
    """The terminal was resized at `offset` in its output.

    Attributes:
        offset: Offset of the first byte of output printed at the new size.
    """

    offset: int


class TerminalLive(Reply, frozen=True, kw_only=True):
    """The replay of earlier output is complete.

    Attributes:
        offset: Offset in the output where the replay ends, in bytes.
    """

    offset: int


class TerminalReseed(TerminalSize, frozen=True, kw_only=True):
    """Output was skipped. A new snapshot follows, then the output from offset `from` on.

    Attributes:
        start: Offset of the first byte of output after the snapshot.
        screen: Length of the snapshot, in bytes.
    """

    start: int = msgspec.field(name="from")
    screen: int


class TerminalAnswers(Reply, frozen=True, kw_only=True):
    """A different viewer was chosen to answer programs' queries.

    Attributes:
        answers: Whether this viewer's emulator answers the queries from now on.
    """

    answers: bool


class TerminalKillResult(Reply, frozen=True, kw_only=True):
    """The program of a terminal has ended.

    Attributes:
        exit: How it ended.
    """

    exit: Exit


class TerminalAttachResult(TerminalKillResult, frozen=True, kw_only=True):
    """A terminal's program has ended, and all its output has been sent.

    Attributes:
        offset: Offset where the output ends, in bytes.
    """

    offset: int


ATTACH_EVENTS = {
    "opened": TerminalOpened,
    "resized": TerminalResized,
    "live": TerminalLive,
    "reseed": TerminalReseed,
    "answers": TerminalAnswers,
    "waiting": TerminalWaiting,
    "joined": ParticipantEvent,
    "presence": ParticipantEvent,
    "left": ParticipantLeft,
    "lease": WriterLeaseEvent,
    "exit": Exit,
}


SCROLLBACK_LIMIT = 6000  # maximum number of rows above the screen; the emulator keeps no more

ScreenFormat = Literal["text", "ansi", "html"]


class ScreenCursor(Reply, frozen=True, kw_only=True):
    """A screen's cursor.

    Attributes:
        x: Column, from 0.
        y: Row on the screen, from 0.
        visible: Whether the program shows the cursor.
        shape: The cursor's shape; null if unknown.
    """

    x: int
    y: int
    visible: bool
    shape: Literal["block", "bar", "underline", "hollow"] | None = None


class ScreenModes(Reply, frozen=True, kw_only=True):
    """The terminal modes set by the program.

    Attributes:
        application_cursor: Arrow keys send application sequences (DECCKM).
        application_keypad: The keypad sends application sequences (DECKPAM).
        bracketed_paste: Pasted text is enclosed in bracket sequences (mode 2004).
        reverse: Foreground and background of the whole screen are swapped (DECSCNM).
        origin: Cursor positions are relative to the scrolling region (DECOM).
        autowrap: Text continues on the next row at the right margin (DECAWM).
        insert: Characters are inserted instead of overwriting others (IRM).
        focus: The program is notified when the terminal gains or loses focus (mode 1004).
        synchronized: The program is drawing a frame that is displayed when it is complete (mode 2026).
        mouse: Mouse events sent to the program; null means none.
        mouse_format: Encoding of the mouse events.
        kitty_keyboard: Flags of the kitty keyboard protocol; 0 if it is off.
    """

    application_cursor: bool
    application_keypad: bool
    bracketed_paste: bool
    reverse: bool
    origin: bool
    autowrap: bool
    insert: bool
    focus: bool
    synchronized: bool
    mouse: Literal["x10", "press", "drag", "any"] | None = None
    mouse_format: Literal["x10", "utf8", "urxvt", "sgr", "sgr_pixels"]
    kitty_keyboard: int


class TerminalScreenResult(Reply, frozen=True, kw_only=True):
    """The screen after all output up to `offset`.

    Attributes:
        format: Format of `content`.
        content: The rows, from the oldest scrollback row to the last row on the screen.
        truncated: Whether rows are missing at the top because `content` would exceed 786,432 bytes as JSON.
        scrollback: Number of rows in `content` that are above the screen.
        cols: Number of columns on the screen.
        rows: Number of rows on the screen.
        cursor: The cursor.
        alternate: Whether the alternate screen is shown, which full-screen programs use.
        modes: The modes set by the program.
        title: Last title set by a program (OSC 0, 2); null if none has been set.
        cwd: Last directory reported by the shell (OSC 7); null if none has been reported.
        offset: Offset where the output shown on the screen ends, in bytes.
    """

    format: ScreenFormat
    content: str
    truncated: bool
    scrollback: int
    cols: int
    rows: int
    cursor: ScreenCursor
    alternate: bool
    modes: ScreenModes
    title: str | None = None
    cwd: str | None = None
    offset: int


class TerminalSendResult(Reply, frozen=True, kw_only=True):
    """The number of bytes typed, and the output offset before they were typed.

    Attributes:
        offset: Offset where the output ended before the input was typed. Pass it to `terminal.wait` as `since` to
            search all output after the input.
        bytes: Number of bytes typed.
    """

    offset: int
    bytes: int


class CommandInfo(Reply, frozen=True, kw_only=True):
    """A command as reported by the shell.

    These reports are not reliable, because programs can print the same escape sequences.

    Attributes:
        number: The command's number in this terminal, starting at 1.
        line: The command line, truncated to 4,096 characters; null if unknown.
        cwd: Directory where it was started; null if unknown.
        started: When it was started, in seconds since 1970.
        start: Offset where its output starts, in bytes.
        code: Exit code; null while it is running, or if the shell did not report one.
        end: Offset where its output ends, in bytes; null while it is running.
        ended: When it ended, in seconds since 1970; null while it is running.
        after: Offset where the output after the command, such as the prompt, starts; null while it is running.
    """

    number: int
    line: str | None = None
    cwd: str | None = None
    started: float
    start: int
    code: int | None = None
    end: int | None = None
    ended: float | None = None
    after: int | None = None


class TerminalWaitOpened(Reply, frozen=True, kw_only=True):
    """The wait has started.

    Attributes:
        start: Offset where the wait starts; greater than `since` if the journal no longer holds that output.
    """

    start: int = msgspec.field(name="from")


class TerminalWaitResult(TerminalWaitOpened, frozen=True, kw_only=True):
    """The event that ended a wait.

    Attributes:
        event: The condition that was met first, or `timeout`.
        offset: Offset in the output where the next wait should continue, in bytes.
        match: For `pattern` events: the match.
        command: For `command` events: the command that ended.
        exit: For `exit` events: how the program ended.
        waiting: For `waiting` events: the waiting program and its prompt.
    """

    event: Literal["pattern", "silence", "command", "prompt", "waiting", "exit", "timeout"]
    offset: int
    match: OutputMatch | None = None
    command: CommandInfo | None = None
    exit: Exit | None = None
    waiting: TerminalWaiting | None = None


class TerminalHistoryResult(Reply, frozen=True, kw_only=True):
    """Commands run in a terminal.

    Attributes:
        commands: The commands, oldest first. If a command is running, it is the last one.
        more: Whether there are older commands.
        reports_commands: Whether the shell reports its commands, because it was configured to do so or has already
            reported one.
    """

    commands: list[CommandInfo]
    more: bool
    reports_commands: bool


# ---- methods


@method("terminal.create", raises=(*SPAWN_ERRORS, "no_space"))
class TerminalCreate(Params[TerminalCreateResult], kw_only=True):
    """Start a terminal, or return the running one with the same id.

    Concurrent calls with the same id start only one terminal. A terminal that has exited is replaced with a new
    instance.

    Unless `integration` is false, bash and zsh without arguments are configured to report their directory and commands.
    If `record` is set but the recording cannot be started, no terminal is started.

    Args:
        id: Id of the terminal; null lets the server choose one.
        argv: The program and its arguments; null means the user's shell.
        cwd: Directory to start in, relative to the workspace; null means the workspace.
        env: Variables to add to the environment; a null value removes the variable.
        cols: Number of columns; null means 80.
        rows: Number of rows; null means 24.
        record: Options for recording it from its first byte of output; null disables recording.
        integration: Whether the shell reports its directory and commands; null means true.
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

    Output is sent from `since` on if the journal still holds it; otherwise, a snapshot of the screen is sent first.
    Input from the channel is typed into the terminal. `cancel` detaches; the terminal continues.

    Input ends the channel with an error in these cases: `lease_held` if another viewer holds the writer lease,
    `forbidden` if this viewer is read-only, `input_overflow` if the program is not reading its input. The error is
    `limit_exceeded` if there are too many viewers, or if the snapshot for a lossless viewer is too large.

    Args:
        id: Id of the terminal.
        instance: The expected instance. If the terminal has been replaced, the error is `stale_handle`. Null accepts
            any instance.
        since: Offset after the last byte of output that the client has; null means all output.
        input: Id of the input stream, which a reconnecting client must reuse; null for a channel without input.
        lossless: Whether the program waits for this viewer, so that the viewer never skips output; null means false.
        emulator: Whether this viewer can answer programs' queries; null means false.
        read_only: Whether this viewer only watches; null means false. Callers without the `operate` right can only
            watch.
        viewer: Identity of this viewer; null means a new viewer with the defaults.
        cols: Number of columns this viewer can show; null if unknown.
        rows: Number of rows this viewer can show; null if unknown.
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
    """Set a terminal's size directly, or report the size that fits a viewer.

    With `viewer`, the terminal takes this size only while that viewer controls it. The result is the terminal's current
    size.

    Args:
        id: Id of the terminal.
        cols: Number of columns.
        rows: Number of rows.
        viewer: Key of the viewer that the size fits; null resizes the terminal directly.
        claim: Whether `viewer` controls the size from now on, as if it had typed; null means false.
    """

    id: Id
    cols: Size
    rows: Size
    viewer: ViewerKey | None = None
    claim: bool | None = None


@method("terminal.signal", requires=WRITE, terminal="id", raises=("not_found", "exited", "permission_denied"))
class TerminalSignal(Params[Nothing], kw_only=True):
    """Send a signal to a terminal's foreground process group.

    Args:
        id: Id of the terminal.
        signal: Name of the signal with or without `SIG`, or its number.
    """

    id: Id
    signal: Signal


@method("terminal.kill", raises=("not_found", "stale_handle", "permission_denied"))
class TerminalKill(Params[TerminalKillResult], kw_only=True):
    """End all processes in a terminal with SIGHUP and SIGCONT, then SIGKILL.

    This includes daemons started in the terminal. The call returns once all of them have exited. If the terminal has
    already exited, any processes still running are ended.

    Args:
        id: Id of the terminal.
        instance: The expected instance. If the terminal has been replaced, the error is `stale_handle`. Null accepts
            any instance.
        grace: Seconds to wait after HUP before sending KILL; null means 2.
    """

    id: Id
    instance: str | None = None
    grace: Grace | None = None


@method("terminal.list", safe=True, passive=True, requires=VIEW, terminal=SELECTED)
class TerminalList(Params[TerminalListResult], kw_only=True):
    """List all terminals, running and exited."""


@method("terminal.watch", events={"terminals": TerminalListResult}, requires=VIEW, terminal=SELECTED, passive=True)
class TerminalWatch(Params[Nothing], kw_only=True):
    """Report all terminals, running and exited, now and whenever one of them changes.

    A change is a new, ended or removed terminal, or a different title, directory, size, number of viewers or `waiting`
    state. Output alone is not a change. There is at most one event per second; changes in the meantime are merged, as
    are changes that occur while the client has no credit.
    """


@method("terminal.viewers", safe=True, passive=True, requires=VIEW, terminal=SELECTED)
class TerminalViewers(Params[TerminalViewersResult], kw_only=True):
    """List the viewers of all terminals. The caller does not become a viewer."""


@method("terminal.get", safe=True, requires=VIEW, terminal="id", raises=("not_found", "stale_handle"))
class TerminalGet(Params[TerminalInfo], kw_only=True):
    """Describe one terminal.

    Args:
        id: Id of the terminal.
        instance: The expected instance. If the terminal has been replaced, the error is `stale_handle`. Null accepts
            any instance.
    """

    id: Id
    instance: str | None = None


@method(
    "terminal.screen", safe=True, requires=VIEW, terminal="id", raises=("not_found", "stale_handle", "limit_exceeded")
)
class TerminalScreen(Params[TerminalScreenResult], kw_only=True):
    """Return a terminal's screen as text, ANSI or HTML.

    `text` has one line per row, without trailing blanks. `ansi` has styled rows, separated by CR LF. `html` is one
    `div` with escaped text; only links to http, https, ftp, mailto and file targets are kept. At most 256 screens can
    be rendered at a time for the same caller (`limit_exceeded`).

    Args:
        id: Id of the terminal.
        instance: The expected instance. If the terminal has been replaced, the error is `stale_handle`. Null accepts
            any instance.
        format: Format of the content; null means `text`.
        scrollback: Maximum number of rows above the screen to include; null means 0.
    """

    id: Id
    instance: str | None = None
    format: ScreenFormat | None = None
    scrollback: Annotated[int, Meta(ge=0, le=SCROLLBACK_LIMIT)] | None = None


@method(
    "terminal.send",
    audit=False,
    requires=WRITE,
    terminal="id",
    raises=(
        *("not_found", "stale_handle", "exited", "conflict"),
        *("forbidden", "lease_held", "input_overflow", "limit_exceeded"),
    ),
)
class TerminalSend(Params[TerminalSendResult], kw_only=True):
    """Type text, then pasted text, then keys into a terminal, as a single uninterrupted input.

    Keys are encoded according to the modes set by the program. A key is a character or one of `enter`, `tab`, `escape`,
    `backspace`, `delete`, `insert`, `home`, `end`, `pageup`, `pagedown`, `up`, `down`, `left`, `right`, `space` and
    `f1` to `f25`, optionally preceded by any of `ctrl+`, `alt+`, `shift+` and `super+`.

    Either all input is typed or none. The error is `input_overflow` if the program is not reading its input,
    `lease_held` if another viewer holds the writer lease, `forbidden` if `viewer` is read-only, or `conflict` if the
    program is no longer waiting for the answer to `question`.

    Args:
        id: Id of the terminal.
        instance: The expected instance. If the terminal has been replaced, the error is `stale_handle`. Null accepts
            any instance.
        text: Literal text to type.
        paste: Text to paste, bracketed if the program has enabled bracketed paste. Line ends become CR; other control
            characters except tab become spaces.
        keys: Names of the keys to press, such as `enter` or `ctrl+c`.
        viewer: Key of the viewer that is typing; null for a client that is not a viewer.
        question: `since` of the `waiting` state that this input answers; if outdated, nothing is typed. Null types in
            any state.
    """

    id: Id
    instance: str | None = None
    text: str | None = None
    paste: str | None = None
    keys: Annotated[list[KeyName], Meta(max_length=KEYS_LIMIT)] | None = None
    viewer: ViewerKey | None = None
    question: float | None = None


@method(
    "terminal.wait",
    audit=False,
    events={"opened": TerminalWaitOpened},
    requires=VIEW,
    terminal="id",
    raises=("not_found", "stale_handle", "too_large", "limit_exceeded"),
)
class TerminalWait(Params[TerminalWaitResult], kw_only=True):
    """Wait for a match, silence, the end of a command, a prompt, a question, or the end of the program.

    The wait ends at the first of these events. Set at least one of `pattern`, `silence`, `command`, `prompt`, `waiting`
    and `exit`. The end of the program always ends the wait. If the search falls behind the output, the program is
    paused until the search catches up.

    A pattern is matched against the output without escape sequences and control characters, and with LF in place of CR
    LF. `^` and `$` match at every line, and a match is at most 65,536 bytes long. If the pattern is too expensive to
    match, the error is `too_large`. At most 512 waits can be open (`limit_exceeded`).

    If the shell doesn't report its commands (OSC 133), `prompt` ends the wait when the shell is waiting for its next
    command.

    Args:
        id: Id of the terminal.
        instance: The expected instance. If the terminal has been replaced, the error is `stale_handle`. Null accepts
            any instance.
        pattern: Pattern to search for, in RE2 syntax; null means none.
        literal: Whether `pattern` is plain text rather than a regular expression; null means false.
        on: `output` searches the output; `screen` searches the visible screen now and after each change. Null means
            `output`.
        echo: Whether to search the echoed input as well; null means true. Searches of the screen always include it.
        silence: Number of seconds without output before the wait ends; null means that silence does not end it.
        command: Whether the end of a command ends the wait. The shell must report its commands (OSC 133).
        prompt: Whether the wait ends when no command is running and the shell has printed a prompt (OSC 133) since the
            last line or Ctrl-C was typed; null means false.
        waiting: Whether the wait ends when a program is waiting for input that hasn't been provided yet; null means
            false. A shell at its prompt does not end it.
        exit: Whether to wait for the program to end. With `instance`, you can also wait for a replaced or removed
            terminal; the exits of the last 1,024 are kept.
        since: Offset in the output where the search starts, in bytes; null means the current end.
        timeout: Time limit in seconds. If it is exceeded, the result is `timeout`. Null means 30.
    """

    id: Id
    instance: str | None = None
    pattern: Pattern | None = None
    literal: bool | None = None
    on: Literal["output", "screen"] | None = None
    echo: bool | None = None
    silence: WaitSeconds | None = None
    command: bool | None = None
    prompt: bool | None = None
    waiting: bool | None = None
    exit: bool | None = None
    since: Offset | None = None
    timeout: WaitSeconds | None = None


@method("terminal.history", safe=True, requires=VIEW, terminal="id", raises=("not_found", "stale_handle"))
class TerminalHistory(Params[TerminalHistoryResult], kw_only=True):
    """List the commands reported by a terminal's shell, oldest first.

    The last 1,000 commands are kept, with up to 256 KiB of their command lines.

    Args:
        id: Id of the terminal.
        instance: The expected instance. If the terminal has been replaced, the error is `stale_handle`. Null accepts
            any instance.
        limit: Maximum number of commands to return, starting with the latest. Null means 100.
        before: Only commands with a lower number; null means all.
    """

    id: Id
    instance: str | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] | None = None
    before: Annotated[int, Meta(ge=1)] | None = None
