"""`terminal_open`, `terminal_send`, `terminal_wait` and `terminal_screen`: programs that need a terminal."""

from typing import Annotated, Any

from msgspec import Meta

from hawse.api.terminals import SCROLLBACK_LIMIT, KeyName
from hawse.api.types import Id, Path, Pattern, Size
from hawse.mcp.excerpt import excerpt
from hawse.mcp.tool import Answer, Arguments, ToolCall, tool
from hawse.mcp.tools.commands import Command

SETTLE = 0.5  # seconds without output before a screen is considered complete

Wait = Annotated[float, Meta(gt=0, le=600)]
Keys = Annotated[list[KeyName], Meta(max_length=100)]
Rows = Annotated[int, Meta(ge=0, le=SCROLLBACK_LIMIT)]


@tool("terminal_open")
class TerminalOpenTool(Arguments):
    """Open a terminal and return its screen. A running terminal is reused. People can also watch it and type into it.

    Args:
        id: The terminal's id.
        command: The shell command of the program to run; null means the user's shell.
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
        await _settle(call, self.id, 0, 5.0)
        return await _screen(call, self.id)


@tool("terminal_send")
class TerminalSendTool(Arguments):
    """Type text and press keys in a terminal, wait for half a second without output, and return the screen.

    A program that pauses its output for longer may not have finished. Use terminal_wait to wait for certain text or for
    the prompt.

    Args:
        id: The terminal's id.
        text: Literal text to type. Add the key enter to run it.
        keys: Keys to press after the text, such as enter, ctrl+c, up, escape or f10.
        paste: Text to paste before the text and the keys. If the program supports pasting, it does not run the lines
            one by one.
        timeout: Maximum number of seconds to wait for the end of the output.
    """

    id: Id = "agent"
    text: str | None = None
    keys: Keys | None = None
    paste: str | None = None
    timeout: Wait = 10.0

    async def run(self, call: ToolCall) -> Answer:
        if self.paste is not None:
            await call.box.call("terminal.send", {"id": self.id, "paste": self.paste})
        sent = await call.box.call("terminal.send", {"id": self.id, "text": self.text, "keys": self.keys})
        await _settle(call, self.id, sent["offset"], self.timeout)
        return await _screen(call, self.id)


@tool("terminal_wait", safe=True)
class TerminalWaitTool(Arguments):
    """Wait until a terminal's screen shows certain text or its shell shows a prompt, and return the screen.

    Args:
        id: The terminal's id.
        text: The text to wait for. Without `text` and `pattern`, this waits for the shell's next prompt or the end of
            the program.
        pattern: A regular expression in RE2's syntax, instead of `text`.
        timeout: Seconds to wait.
    """

    id: Id = "agent"
    text: Pattern | None = None
    pattern: Pattern | None = None
    timeout: Wait = 30.0

    async def run(self, call: ToolCall) -> Answer:
        wanted: dict[str, Any] = {"prompt": True}
        if self.text is not None and self.pattern is not None:
            return Answer("specify either `text` or `pattern`", failed=True)
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
    """Return the current screen of a terminal.

    Args:
        id: The terminal's id.
        scrollback: The number of rows above the screen to include.
    """

    id: Id = "agent"
    scrollback: Rows = 0

    async def run(self, call: ToolCall) -> Answer:
        return await _screen(call, self.id, self.scrollback)


async def _settle(call: ToolCall, id: str, since: int, timeout: float) -> None:
    """Wait until output has started and then paused, or until the shell shows a prompt."""
    params = {"id": id, "silence": SETTLE, "prompt": True, "since": since, "timeout": timeout}
    await call.box.call("terminal.wait", params)


async def _screen(call: ToolCall, id: str, scrollback: int = 0) -> Answer:
    shown = await call.box.call("terminal.screen", {"id": id, "format": "text", "scrollback": scrollback})
    info = await call.box.call("terminal.get", {"id": id})
    cursor = shown["cursor"]
    state = "running" if info["state"] == "running" else "its program has ended"
    program = ", a full-screen program" if shown["alternate"] else ""
    place = f"cursor in row {cursor['y'] + 1}, column {cursor['x'] + 1}"
    note = f"[{shown['cols']}×{shown['rows']}, {place}{program}; {state}]"
    content = "\n".join(line.rstrip() for line in shown["content"].split("\n")).rstrip("\n")
    data = {"running": info["state"] == "running", "cursor": [cursor["x"], cursor["y"]], "offset": shown["offset"]}
    return Answer(f"{excerpt(content, call.limit)}\n{note}", data=data)
