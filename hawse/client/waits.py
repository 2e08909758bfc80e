"""`terminal.wait`: for a match, silence, the end of a command or of the program (docs/wire.md section 9)."""

import time
from typing import Any, Literal

import msgspec

from hawse.api.fields import Exit
from hawse.client.call import Call, event_cost
from hawse.client.replies import Reply, parse
from hawse.wire import Event

WINDOW = 64 << 10  # bytes of events; there is one


class Match(Reply, frozen=True, kw_only=True):
    """`start` and `end`: offsets in the output. `truncated`: text or a group was cut after 4,096 bytes."""

    start: int
    end: int
    text: str
    groups: list[str | None]
    named: dict[str, str | None]
    truncated: bool = False


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


class Waited(Reply, frozen=True, kw_only=True):
    """What ended a wait, at `offset`. `start`: where it began, above `since` if output was no longer kept."""

    event: Literal["pattern", "silence", "command", "exit", "timeout"]
    start: int = msgspec.field(name="from")
    offset: int
    match: Match | None = None
    command: CommandInfo | None = None
    exit: Exit | None = None


class _From(Reply, frozen=True, kw_only=True):
    start: int = msgspec.field(name="from")


class WaitCall(Call):
    """`terminal.wait`. After a cut it goes on where it began, for the time that is left."""

    def __init__(self, sandbox: str, params: dict[str, Any], *, timeout: float) -> None:
        super().__init__("terminal.wait", params, sandbox=sandbox, repeats=True, window=WINDOW)
        self._until = time.monotonic() + timeout

    def params(self) -> dict[str, Any]:
        return {**self.base, "timeout": max(self._until - time.monotonic(), 0.001)}

    def receive_event(self, event: Event) -> None:
        if event.name == "opened" and self.base.get("on") != "screen":
            self.base.setdefault("since", parse(event.value, _From).start)
        self.spend(event_cost(event))

    def finished(self, value: msgspec.Raw) -> Waited:
        return parse(value, Waited)
