"""Terminals for agents: `terminal.screen`, `send`, `wait`, `history`."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from hawse.api.people import ViewerKey
from hawse.api.rights import VIEW
from hawse.api.spec import Params, Reply, method
from hawse.api.types import Exit, Id, Offset, Pattern, WaitSeconds

KEYS_LIMIT = 1024
SCROLLBACK_LIMIT = 6000  # rows: as many as a screen remembers

ScreenFormat = Literal["text", "ansi", "html"]
KeyName = Annotated[str, Meta(min_length=1, max_length=64)]


# ---- values


class ScreenCursor(Reply, frozen=True, kw_only=True):
    """Column and row from 0."""

    x: int
    y: int
    visible: bool
    shape: Literal["block", "bar", "underline", "hollow"] | None = None


class ScreenModes(Reply, frozen=True, kw_only=True):
    """What the program has asked of its terminal. `kitty_keyboard`: the flags of that protocol."""

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
    """A screen as all output up to `offset` has made it. `truncated`: rows are missing at the top.

    `scrollback`: how many rows of `content` are above the screen.
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
    """`offset`: the end of the output before it; `bytes`: how many were typed."""

    offset: int
    bytes: int


class OutputMatch(Reply, frozen=True, kw_only=True):
    """`start` and `end`: offsets in the output. `truncated`: text or a group was cut after 4,096 bytes."""

    start: int
    end: int
    text: str
    groups: list[str | None]
    named: dict[str, str | None]
    truncated: bool


class CommandInfo(Reply, frozen=True, kw_only=True):
    """A command that the shell has told of. None: not known, or (end, ended, after, code) not yet.

    `start`, `end`: the offsets of its output; times in seconds since 1970; `line` is cut after 4,096 characters.
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
    """`from`: where the wait begins, above `since` if output was no longer kept."""

    start: int = msgspec.field(name="from")


class TerminalWaitResult(TerminalWaitOpened, frozen=True, kw_only=True):
    """What ended a wait, at `offset`. `from`: where it began."""

    event: Literal["pattern", "silence", "command", "exit", "timeout"]
    offset: int
    match: OutputMatch | None = None
    command: CommandInfo | None = None
    exit: Exit | None = None


class TerminalHistoryResult(Reply, frozen=True, kw_only=True):
    """Commands, the oldest first. `more`: there are older ones. `tells`: the shell tells its commands."""

    commands: list[CommandInfo]
    more: bool
    tells: bool


# ---- methods


@method("terminal.screen", safe=True, requires=VIEW)
class TerminalScreen(Params[TerminalScreenResult], kw_only=True):
    """A terminal's screen as text, ANSI or HTML, below up to `scrollback` rows of what has scrolled away."""

    id: Id
    instance: str | None = None
    format: ScreenFormat | None = None
    scrollback: Annotated[int, Meta(ge=0, le=SCROLLBACK_LIMIT)] | None = None


@method("terminal.send")
class TerminalSend(Params[TerminalSendResult], kw_only=True):
    """Type into a terminal: `text` as it is, then `paste` as pasted text, then `keys` by name, in one piece.

    With a key it is typed once. Keys are names such as "enter" or "ctrl+c". `viewer` is the key of who types: without
    it, somebody else's lease is `lease_held`.
    """

    id: Id
    instance: str | None = None
    text: str | None = None
    paste: str | None = None
    keys: Annotated[list[KeyName], Meta(max_length=KEYS_LIMIT)] | None = None
    viewer: ViewerKey | None = None


@method("terminal.wait", events={"opened": TerminalWaitOpened}, requires=VIEW)
class TerminalWait(Params[TerminalWaitResult], kw_only=True):
    """Wait for what comes first in a terminal's output: a match, silence, the end of a command, or of the program.

    At least one of `pattern` (in RE2's syntax; `literal`: as it is), `silence` (seconds), `command` and `exit` is
    needed. Output from `since` on counts, by default from now on. `on`: match against the output's text, or the visible
    screen. After `timeout` seconds (30 by default) the result says `timeout`.
    """

    id: Id
    instance: str | None = None
    pattern: Pattern | None = None
    literal: bool | None = None
    on: Literal["output", "screen"] | None = None
    silence: WaitSeconds | None = None
    command: bool | None = None
    exit: bool | None = None
    since: Offset | None = None
    timeout: WaitSeconds | None = None


@method("terminal.history", safe=True, requires=VIEW)
class TerminalHistory(Params[TerminalHistoryResult], kw_only=True):
    """The commands that a terminal's shell told of: the latest `limit` with a number below `before`."""

    id: Id
    instance: str | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] | None = None
    before: Annotated[int, Meta(ge=1)] | None = None
