"""Drives Debian's Firefox over WebDriver BiDi. Playwright drives only a Firefox of its own, puppeteer any."""

import asyncio
import json
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from types import TracebackType
from typing import Any

from e2e.view import WAIT, TerminalView

FOLDER = Path(__file__).parent
LINE = 16 << 20  # bytes of an answer at most
# What Firefox reports like an error of a script when a connection is lost: of a WebSocket, and of a font in loading.
LOST = ("connection to ws", "downloadable font: download failed")


class Firefox:
    """A Firefox without windows. Its pages share no cookies and no storage.

    async with Firefox(path) as firefox:
        view = await firefox.open(url)
    """

    def __init__(self, path: str) -> None:
        """`path`: the program."""
        self._path = path
        self._process: Process | None = None
        self._turn = asyncio.Lock()
        self._requests = 0

    async def __aenter__(self) -> "Firefox":
        command = ["node", str(FOLDER / "bridge.mjs"), self._path, str(WAIT)]
        self._process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, limit=LINE)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(WAIT / 1000):
                await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def do(self, verb: str, **request: Any) -> Any:
        """Ask the bridge to do something; see bridge.mjs. Raises AssertionError with the browser's message."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        async with self._turn:
            self._requests += 1
            process.stdin.write(json.dumps({"id": self._requests, "verb": verb, **request}).encode() + b"\n")
            await process.stdin.drain()
            line = await process.stdout.readline()
        assert line, "Firefox or its bridge has ended"
        answer = json.loads(line)
        assert answer["id"] == self._requests
        assert "error" not in answer, answer["error"]
        return answer["result"]

    async def errors(self) -> list[str]:
        """Return what scripts of pages have thrown since the last call, without lost connections."""
        thrown: list[str] = await self.do("errors")
        return [error for error in thrown if not any(lost in error for lost in LOST)]

    async def open(self, url: str, *, width: int = 1024, height: int = 768) -> "FirefoxView":
        """Open a page of another user, `width` by `height` CSS pixels."""
        view = FirefoxView(self, await self.do("open", viewport={"width": width, "height": height}))
        await view.goto(url)
        return view


class FirefoxView(TerminalView):
    """One page in Firefox. Selectors are those of puppeteer: CSS, `aria/NAME` or `text/TEXT`."""

    def __init__(self, firefox: Firefox, page: int) -> None:
        self._firefox = firefox
        self._page = page

    async def _do(self, verb: str, **request: Any) -> Any:
        return await self._firefox.do(verb, page=self._page, **request)

    async def goto(self, url: str) -> None:
        await self._do("goto", url=url)

    async def reload(self) -> None:
        await self._do("reload")

    async def close(self) -> None:
        await self._do("close")

    async def evaluate(self, expression: str, argument: Any = None) -> Any:
        return await self._do("evaluate", expression=expression, argument=argument)

    async def wait_for(self, expression: str, argument: Any = None) -> None:
        await self._do("wait", expression=expression, argument=argument)

    async def wait_in_frame(self, frame: int, expression: str) -> None:
        """Wait until `expression` returns a truthy value in a frame of the page. The page itself is the frame 0."""
        await self._do("waitInFrame", frame=frame, expression=expression)

    async def type(self, text: str) -> None:
        await self._do("type", text=text)

    async def press(self, key: str) -> None:
        await self._do("press", keys=key.split("+"))

    async def click(self, selector: str) -> None:
        """Click the element once it is visible, enabled and does not move."""
        await self._do("click", selector=selector)

    async def until_shown(self, selector: str) -> None:
        await self._do("shown", selector=selector)

    async def screenshot(self, path: Path) -> None:
        await self._do("screenshot", path=str(path))
