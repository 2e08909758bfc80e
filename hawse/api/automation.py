"""Terminals for agents: `terminal.screen`, `terminal.send`, `terminal.wait` and `terminal.history`."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hawse.api.people import ViewerKey
from hawse.api.rights import VIEW, WRITE
from hawse.api.spec import Params, Reply, method
from hawse.api.types import Exit, Id, Offset, OutputMatch, Pattern, WaitSeconds

KEYS_LIMIT = 1024  # keys in one call
SCROLLBACK_LIMIT = 6000  # rows: as many as the emulator keeps

ScreenFormat = Literal["text", "ansi", "html"]
KeyName = Annotated[str, Meta(min_length=1, max_length=64)]


# ---- values


class ScreenCursor(Reply, frozen=True, kw_only=True):
    """The cursor of a screen.

    Attributes:
        x: Column, from 0.
        y: Row of the screen, from 0.
        visible: Whether the program shows the cursor.
        shape: Shape of the cursor; null if it is not known.
    """

    x: int
    y: int
    visible: bool
    shape: Literal["block", "bar", "underline", "hollow"] | None = None


class ScreenModes(Reply, frozen=True, kw_only=True):
    """The modes that the program has set in its terminal.

    Attributes:
        application_cursor: Arrow keys send application sequences (DECCKM).
        application_keypad: The keypad sends application sequences (DECKPAM).
        bracketed_paste: Pasted text is enclosed in bracket sequences (mode 2004).
        reverse: Foreground and background of the whole screen are swapped (DECSCNM).
        origin: Cursor positions are relative to the scrolling region (DECOM).
        autowrap: Text continues on the next row at the right margin (DECAWM).
        insert: Characters are inserted rather than overwritten (IRM).
        focus: The program is notified when the terminal gains or loses focus (mode 1004).
        synchronized: The program is drawing a frame that is to be shown at once (mode 2026).
        mouse: Which mouse events the program gets; null: none.
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
    """A screen as all output up to `offset` has drawn it.

    Attributes:
        format: Format of `content`.
        content: The rows, from the oldest row of the scrollback to the last row of the screen.
        truncated: Whether rows are missing at the top, because `content` has reached 786,432 bytes as JSON.
        scrollback: Number of rows in `content` that are above the screen.
        cols: Columns of the screen.
        rows: Rows of the screen.
        cursor: The cursor.
        alternate: Whether the alternate screen is shown, as full-screen programs use it.
        modes: The modes that the program has set.
        title: Title that a program has set last (OSC 0, 2); null: none.
        cwd: Directory that the shell has reported last (OSC 7); null: none.
        offset: Offset of the output up to which the screen is drawn, in bytes.
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
    """What was typed, and where the output was before.

    Attributes:
        offset: End of the output before the input. `terminal.wait` with it as `since` sees all that follows.
        bytes: Number of bytes that were typed.
    """

    offset: int
    bytes: int


class CommandInfo(Reply, frozen=True, kw_only=True):
    """A command as the shell has reported it.

    Programs can print such reports too, so they are not reliable.

    Attributes:
        number: Number of the command in this terminal, from 1.
        line: The command line, cut after 4,096 characters; null if it is not known.
        cwd: Directory in which it was started; null if it is not known.
        started: When it was started, in seconds since 1970.
        start: Offset where its output begins, in bytes.
        code: Exit code; null while it runs, and if the shell did not report one.
        end: Offset where its output ends, in bytes; null while it runs.
        ended: When it ended, in seconds since 1970; null while it runs.
        after: Offset where the output after the command begins, such as the prompt; null while it runs.
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
    """The wait has begun.

    Attributes:
        start: Offset where the wait begins; above `since` if the journal no longer holds that output.
    """

    start: int = msgspec.field(name="from")


class TerminalWaitResult(TerminalWaitOpened, frozen=True, kw_only=True):
    """The event that ended a wait.

    Attributes:
        event: Which condition was met first; `timeout` if none was.
        offset: Offset in the output where a following wait continues, in bytes.
        match: The match, for the event `pattern`.
        command: The command that ended, for the event `command`.
        exit: How the program ended, for the event `exit`.
    """

    event: Literal["pattern", "silence", "command", "prompt", "exit", "timeout"]
    offset: int
    match: OutputMatch | None = None
    command: CommandInfo | None = None
    exit: Exit | None = None


class TerminalHistoryResult(Reply, frozen=True, kw_only=True):
    """Commands of a terminal.

    Attributes:
        commands: The commands, the oldest first. One that still runs is the last.
        more: Whether there are older commands.
        reports_commands: Whether the shell reports its commands: it was started to do so, or has done so.
    """

    commands: list[CommandInfo]
    more: bool
    reports_commands: bool


# ---- methods


@method(
    "terminal.screen", safe=True, requires=VIEW, terminal="id", raises=("not_found", "stale_handle", "limit_exceeded")
)
class TerminalScreen(Params[TerminalScreenResult], kw_only=True):
    """Return a terminal's screen as text, ANSI or HTML.

    `text` has one line for each row, without the blanks at its end. `ansi` has rows with their styles, separated by CR
    LF. `html` is one `div` with escaped text; links are kept only to http, https, ftp, mailto and file targets.
    At most 256 screens for one caller are made at a time (`limit_exceeded`).

    Args:
        id: Id of the terminal.
        instance: Instance that the call is for, otherwise `stale_handle`; null: the current one.
        format: Format of the content; null: `text`.
        scrollback: Number of rows above the screen to include, at most; null: 0.
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
    raises=("not_found", "stale_handle", "exited", "forbidden", "lease_held", "input_overflow", "limit_exceeded"),
)
class TerminalSend(Params[TerminalSendResult], kw_only=True):
    """Type text, pasted text and keys into a terminal, in this order, in one piece.

    Keys are encoded for the modes that the program has set. A key is a character or one of `enter`, `tab`, `escape`,
    `backspace`, `delete`, `insert`, `home`, `end`, `pageup`, `pagedown`, `up`, `down`, `left`, `right`, `space` and
    `f1` to `f25`, after any of `ctrl+`, `alt+`, `shift+` and `super+`.

    Either all of it is typed or nothing: `input_overflow` if the program does not read its input, `lease_held` if
    another viewer holds the writer lease, `forbidden` if `viewer` is read-only.

    Args:
        id: Id of the terminal.
        instance: Instance that the call is for, otherwise `stale_handle`; null: the current one.
        text: Text to type as it is; null: none.
        paste: Text to paste, with CR for each line end and a space for every other control character except tab;
            enclosed in brackets if the program has set that mode. Null: none.
        keys: Names of the keys to press, such as `enter` or `ctrl+c`; null: none.
        viewer: Key of the viewer that types; null: a client that is not a viewer.
    """

    id: Id
    instance: str | None = None
    text: str | None = None
    paste: str | None = None
    keys: Annotated[list[KeyName], Meta(max_length=KEYS_LIMIT)] | None = None
    viewer: ViewerKey | None = None


@method(
    "terminal.wait",
    audit=False,
    events={"opened": TerminalWaitOpened},
    requires=VIEW,
    terminal="id",
    raises=("not_found", "stale_handle", "too_large", "limit_exceeded"),
)
class TerminalWait(Params[TerminalWaitResult], kw_only=True):
    """Wait for a match, for silence, for the end of a command, for a prompt or for the end of the program.

    The first of these events ends the wait. At least one of `pattern`, `silence`, `command`, `prompt` and `exit` is
    required, and the end of the program always ends the wait. The program does not run ahead of the search.
    How the last 1,024 terminals ended that are no longer readable is kept, for `exit` with `instance`.

    A pattern is matched against the output without escape sequences and control characters, with LF for CR LF. `^` and
    `$` match at every line, and a match has at most 65,536 bytes. A pattern that needs too much work for each byte is
    `too_large`. At most 512 waits are open (`limit_exceeded`).

    Args:
        id: Id of the terminal.
        instance: Instance that the call is for, otherwise `stale_handle`; null: the current one.
        pattern: What to search for, in RE2's syntax; null: nothing.
        literal: Whether `pattern` is plain text rather than a regular expression; null: false.
        on: Search the output, or the visible screen as it is now and after each change; null: `output`.
        echo: Whether the pattern is searched in the echo of input as well; null: true. It is always searched on the
            screen.
        silence: Seconds without output that end the wait; null: silence does not end it.
        command: Whether the end of a command ends the wait. The shell must report its commands (OSC 133).
        prompt: Whether the wait ends when no command runs and the shell has begun a prompt (OSC 133) since a line or
            Ctrl-C was typed last; null: false.
        exit: Whether to wait for the end of the program. With `instance`, also of one whose id another one has now.
        since: Offset of the output from which on it counts, in bytes; null: the end of the output now.
        timeout: Seconds after which the result is `timeout`; null: 30.
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
    exit: bool | None = None
    since: Offset | None = None
    timeout: WaitSeconds | None = None


@method("terminal.history", safe=True, requires=VIEW, terminal="id", raises=("not_found", "stale_handle"))
class TerminalHistory(Params[TerminalHistoryResult], kw_only=True):
    """List the commands that a terminal's shell has reported, the oldest first.

    The latest 1,000 commands are kept, and 256 KiB of their command lines.

    Args:
        id: Id of the terminal.
        instance: Instance that the call is for, otherwise `stale_handle`; null: the current one.
        limit: Number of commands, at most: the latest ones. Null: 100.
        before: Only commands with a lower number; null: all.
    """

    id: Id
    instance: str | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] | None = None
    before: Annotated[int, Meta(ge=1)] | None = None
