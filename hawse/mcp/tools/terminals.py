"""Tools for programs that need a terminal: `terminal_open`, `_send`, `_ask`, `_wait` and `_screen`."""

import asyncio
from typing import Annotated, Any

from msgspec import Meta

from hawse.api.people import Choices, QuestionKind, Reason
from hawse.api.terminals import SCROLLBACK_LIMIT
from hawse.api.types import Id, KeyName, Offset, Path, Pattern, Size
from hawse.mcp.screens import Changes
from hawse.mcp.tool import Answer, Arguments, ToolCall, tool
from hawse.mcp.tools.commands import STEP_LIMIT, Command, step_answer
from hawse.plain.excerpt import excerpt
from hawse.plain.lines import size_of

ANSWERED = 10.0  # seconds to wait for the program after its question was answered
SETTLE = 0.5  # seconds without output before a screen is considered complete

Wait = Annotated[float, Meta(gt=0, le=600)]
Keys = Annotated[list[KeyName], Meta(max_length=100)]
Rows = Annotated[int, Meta(ge=0, le=SCROLLBACK_LIMIT)]


@tool("terminal_open")
class TerminalOpenTool(Arguments):
    """Open a terminal and return its screen. A running terminal is reused. Users can also watch it and type into it.

    Args:
        id: The terminal's id.
        command: The shell command to run; null means the user's shell.
        cwd: The working directory, relative to the workspace; null means the workspace.
        cols: Number of columns.
        rows: Number of rows.
    """

    id: Id = "agent"
    command: Command | None = None
    cwd: Path | None = None
    cols: Size = 120
    rows: Size = 40

    async def run(self, call: ToolCall) -> Answer:
        argv = None if self.command is None else ["sh", "-c", self.command]
        params = {"id": self.id, "argv": argv, "cwd": self.cwd, "cols": self.cols, "rows": self.rows}
        await call.box.call("terminal.create", params)
        settled = {"id": self.id, "silence": SETTLE, "prompt": True, "waiting": True, "since": 0, "timeout": 5.0}
        await call.box.call("terminal.wait", settled)
        return await _screen(call, self.id)


@tool("terminal_send")
class TerminalSendTool(Arguments):
    """Type text and press keys in a terminal, wait until the program needs input or ends, and return its new output.

    For a full-screen program, the screen is returned instead. If the program is still running after `timeout`, use
    terminal_wait to continue reading.

    Args:
        id: The terminal's id.
        text: Literal text to type. Add the key enter to run it.
        keys: Keys to press after the text, such as enter, ctrl+c, up, escape or f10.
        paste: Text to paste after the text and before the keys. If the program supports pasting, it does not run the
            lines one by one.
        question: The question that this input answers, as reported by exec or terminal_send. If someone else has
            answered it, or the program is no longer waiting for it, nothing is typed.
        timeout: Maximum number of seconds to wait.
    """

    id: Id = "agent"
    text: str | None = None
    keys: Keys | None = None
    paste: str | None = None
    question: float | None = None
    timeout: Wait = 10.0

    async def run(self, call: ToolCall) -> Answer:
        typed = {"text": self.text, "paste": self.paste, "keys": self.keys, "question": self.question}
        sent = await call.box.call("terminal.send", {"id": self.id, **typed})
        return await _follow(call, self.id, sent["offset"], self.timeout)


@tool("terminal_ask")
class TerminalAskTool(Arguments):
    """Ask a person to answer a terminal program's question, wait for the answer, and return the new output.

    Use it for passwords, which you must not know, and for decisions that a person must make. The person types the
    answer into the program; you never see a password. If there is no answer within `timeout`, the question stays open,
    and terminal_wait continues to wait for the program.

    Args:
        reason: Why an answer is needed, in one line, for a person who does not know what you are doing.
        id: The terminal's id.
        choices: The possible answers, if there are only a few.
        takeover: Whether a person should use the terminal instead of answering a question.
        question: The question, as reported by exec or terminal_send.
        timeout: Maximum number of seconds to wait.
    """

    reason: Reason
    id: Id = "agent"
    choices: Choices | None = None
    takeover: bool = False
    question: float | None = None
    timeout: Wait = 300.0

    async def run(self, call: ToolCall) -> Answer:
        since = (await call.box.terminals.get(self.id)).offset
        kind: QuestionKind | None = "takeover" if self.takeover else None
        asked = await call.box.questions.ask(
            self.id, self.reason, kind=kind, choices=self.choices, question=self.question
        )
        try:
            async with asyncio.timeout(self.timeout):
                settled = await call.box.questions.wait(asked)
        except TimeoutError:
            note = f"not answered within {self.timeout:g} s; to continue: terminal_wait id={self.id} since={since}"
            return Answer(f"[{note}]", data={"id": self.id, "offset": since, "state": "open"})
        ended = settled.state if settled.by is None else f"{settled.state} by {settled.by}"
        if settled.state == "refused":
            return Answer(f"[{ended}]", data={"state": settled.state}, failed=True)
        answer = await _follow(call, self.id, since, ANSWERED)
        return Answer(f"[{ended}]\n{answer.text}", data={**(answer.data or {}), "state": settled.state})


@tool("terminal_wait", safe=True)
class TerminalWaitTool(Arguments):
    """Wait until a terminal's screen shows certain text, or its program needs input or ends, and return the screen.

    Args:
        id: The terminal's id.
        text: The text to wait for. Without `text` and `pattern`, this waits until a program needs input, the shell
            shows its next prompt, or the program ends.
        pattern: A regular expression in RE2's syntax, instead of `text`.
        since: The offset to return the output from, instead of the screen. Not allowed with `text` and `pattern`.
        timeout: Seconds to wait.
    """

    id: Id = "agent"
    text: Pattern | None = None
    pattern: Pattern | None = None
    since: Offset | None = None
    timeout: Wait = 30.0

    async def run(self, call: ToolCall) -> Answer:
        wanted: dict[str, Any] = {"prompt": True, "waiting": True}
        if [self.text, self.pattern, self.since].count(None) < 2:
            return Answer("specify only one of `text`, `pattern` and `since`", failed=True)
        if self.since is not None:
            return await _follow(call, self.id, self.since, self.timeout)
        if (sought := self.text or self.pattern) is not None:
            wanted = {"pattern": sought, "literal": self.text is not None, "on": "screen"}
        params = {"id": self.id, "exit": True, "timeout": self.timeout, **wanted}
        done = await call.box.call("terminal.wait", params)
        shown = await _screen(call, self.id)
        if done["event"] != "timeout":
            return shown
        return Answer(f"[not within {self.timeout:g} s]\n{shown.text}", data=shown.data, failed=True)


@tool("terminal_screen", safe=True)
class TerminalScreenTool(Arguments):
    """Return the current screen of a terminal, or the rows that have changed since it was last returned.

    Args:
        id: The terminal's id.
        scrollback: The number of rows above the screen to include.
        since: The offset of an earlier returned screen, from the line below that screen. Only the rows that have
            changed since then are returned, with their numbers. Not allowed with `scrollback`.
    """

    id: Id = "agent"
    scrollback: Rows = 0
    since: Offset | None = None

    async def run(self, call: ToolCall) -> Answer:
        if self.since is not None and self.scrollback:
            return Answer("specify only one of `scrollback` and `since`", failed=True)
        return await _screen(call, self.id, self.scrollback, self.since)


async def _follow(call: ToolCall, id: str, since: int, timeout: float) -> Answer:
    """Wait until the program needs input or ends, and return its output since an offset."""
    run = await call.box.terminals.follow(id, since=since, timeout=timeout, max_output=STEP_LIMIT)
    return await step_answer(call, run)


async def _screen(call: ToolCall, id: str, scrollback: int = 0, since: int | None = None) -> Answer:
    shown = await call.box.call("terminal.screen", {"id": id, "format": "text", "scrollback": scrollback})
    info = await call.box.call("terminal.get", {"id": id})
    rows = [line.rstrip() for line in shown["content"].split("\n")]
    content = whole = "\n".join(rows).rstrip("\n")
    if since is not None:
        content = _changed(call.screens.changes(info["instance"], since, rows)) or whole
    if cut := size_of(content) > call.limit:
        content = excerpt(whole, call.limit)
    if not scrollback and not cut:
        call.screens.add(info["instance"], shown["offset"], rows)
    cursor = shown["cursor"]
    state = "running" if info["state"] == "running" else "its program has ended"
    program = ", a full-screen program" if shown["alternate"] else ""
    place = f"cursor in row {cursor['y'] + 1}, column {cursor['x'] + 1}"
    note = f"[{shown['cols']}×{shown['rows']}, {place}{program}; offset {shown['offset']}; {state}]"
    data = {"running": info["state"] == "running", "cursor": [cursor["x"], cursor["y"]], "offset": shown["offset"]}
    return Answer(f"{content}\n{note}", data=data)


def _changed(changes: Changes | None) -> str | None:
    """Return the changed rows as text; None if the whole screen has to be returned."""
    if changes is None:
        return None
    moved = f"scrolled by {changes.scrolled} rows" if changes.scrolled else ""
    if not changes.rows:
        return f"[{moved or 'unchanged'}]"
    lines = [f"{number}: {row}" for number, row in changes.rows.items()]
    return "\n".join([f"[{moved + ', ' if moved else ''}changed rows:]", *lines])
