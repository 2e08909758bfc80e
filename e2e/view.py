"""Drives a page with a terminal. All waits are for conditions, not for a fixed time."""

import asyncio
from abc import ABC, abstractmethod
from typing import Any

from playwright.async_api import Page

WAIT = 30_000  # ms: time-out of each condition

# A page that has not loaded its terminal yet has no rows.
_SCREEN = """() => {
  if (!window.hawse) return [];
  const { active } = window.hawse.terminal.buffer;
  const { rows } = window.hawse.terminal;
  return Array.from({ length: rows }, (_, y) =>
    active.getLine(active.baseY + y)?.translateToString(true) ?? "");
}"""

# All state that two equal screens share: every cell with width, attributes and colours, the cursor and the modes.
_CELLS = """() => {
  const { buffer, modes, cols, rows } = window.hawse.terminal;
  const lines = [];
  for (let y = 0; y < buffer.active.length; y++) {
    const line = buffer.active.getLine(y);
    let text = line.isWrapped ? "~" : "";
    for (let x = 0; x < cols; x++) {
      const cell = line.getCell(x);
      const style = [cell.isBold(), cell.isItalic(), cell.isDim(), cell.isUnderline(), cell.isInverse(),
        cell.isInvisible(), cell.isStrikethrough(), cell.getFgColor(), cell.getBgColor(), cell.getWidth()];
      text += (cell.getChars() || " ") + (style.some(v => v !== 0 && v !== -1 && v !== 1) ? `{${style}}` : "");
    }
    lines.push(text.trimEnd());
  }
  return { lines, cols, rows, kind: buffer.active.type, x: buffer.active.cursorX, y: buffer.active.cursorY,
    modes: { ...modes } };
}"""


class TerminalView(ABC):
    """One page on one terminal, in any browser."""

    @abstractmethod
    async def evaluate(self, expression: str, argument: Any = None) -> Any:
        """Return the JSON value, or that of the promise, which the JavaScript function `expression` returns."""

    @abstractmethod
    async def wait_for(self, expression: str, argument: Any = None) -> None:
        """Wait until the JavaScript function `expression`, which is not asynchronous, returns a truthy value."""

    @abstractmethod
    async def type(self, text: str) -> None:
        """Type `text` with keyboard events."""

    @abstractmethod
    async def press(self, key: str) -> None:
        """Press a key, such as `Enter` or `Control+Shift+B`."""

    async def state(self) -> dict[str, Any]:
        state: dict[str, Any] = await self.evaluate("() => window.hawse.state()")
        return state

    async def until_live(self) -> None:
        await self.wait_for("() => window.hawse?.state().terminal === 'live'")

    async def until(self, expression: str, argument: Any = None) -> None:
        """Wait until the JavaScript function `expression`, called with `argument`, returns a truthy value."""
        if not expression.startswith("async"):
            await self.wait_for(expression, argument)
            return
        async with asyncio.timeout(WAIT / 1000):
            # `wait_for` takes a promise for true, and returns.
            while not await self.evaluate(expression, argument):  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    async def until_text(self, text: str) -> None:
        """Wait until the screen shows `text`."""
        await self.until(f"text => ({_SCREEN})().join('\\n').includes(text)", text)

    async def until_pattern(self, pattern: str) -> None:
        """Wait until the regular expression `pattern` matches the rows of the screen, joined by newlines."""
        await self.until(f"pattern => new RegExp(pattern).test(({_SCREEN})().join('\\n'))", pattern)

    async def until_prompt(self) -> None:
        """Wait until the screen ends with a prompt. Call this when it shows the output of the command."""
        await self.until_pattern(r"[$#] \s*$")
        await self.settled()

    async def run(self, command: str) -> None:
        await self.type(command)
        await self.press("Enter")

    async def screen(self) -> list[str]:
        """Return the visible rows without trailing blanks."""
        rows: list[str] = await self.evaluate(_SCREEN)
        return rows

    async def cells(self) -> dict[str, Any]:
        """Return the whole buffer: see `_CELLS`."""
        cells: dict[str, Any] = await self.evaluate(_CELLS)
        return cells

    async def settled(self) -> None:
        """Wait until all input has been applied, and the screen has the size and all output of the server."""
        await self.until(
            """async () => {
              const { client, channel, state, terminal } = window.hawse;
              if (state().inputOffset < state().inputEnd) return false;
              const { id, sandbox } = channel.address;
              const info = await client.call("terminal.get", { id }, { sandbox });
              const sized = info.cols === terminal.cols && info.rows === terminal.rows;
              return sized && info.offset === state().offset;
            }"""
        )


class View(TerminalView):
    """One page on one terminal in Chromium."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(error.stack or str(error)))

    async def evaluate(self, expression: str, argument: Any = None) -> Any:
        return await self.page.evaluate(expression, argument)

    async def wait_for(self, expression: str, argument: Any = None) -> None:
        await self.page.wait_for_function(expression, arg=argument, timeout=WAIT, polling=50)

    async def type(self, text: str) -> None:
        await self.page.keyboard.type(text)

    async def press(self, key: str) -> None:
        await self.page.keyboard.press(key)

    async def choose(self, name: str) -> None:
        """Choose an entry of the page's menu."""
        await self.page.get_by_role("button", name="More", exact=True).click()
        await self.page.get_by_role("menu", name="More").get_by_text(name, exact=True).click()

    async def swipe(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Swipe with one finger from `start` to `end` (CSS pixels). The context needs touch."""
        finger = await self.page.context.new_cdp_session(self.page)
        steps = [(start[0] + (end[0] - start[0]) * n / 10, start[1] + (end[1] - start[1]) * n / 10) for n in range(11)]
        events = [("touchStart", steps[:1]), *(("touchMove", [step]) for step in steps[1:]), ("touchEnd", [])]
        # Sent without waiting for each: on a busy machine, the first would otherwise become a long press.
        await asyncio.gather(
            *(
                finger.send(
                    "Input.dispatchTouchEvent",
                    {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]},
                )
                for kind, points in events
            )
        )
        await finger.detach()
